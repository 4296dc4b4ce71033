"""Blocks in which matrix products are computed in bfloat16 or float16, and what is delicate in float32."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ground import device as devices
from ..ground import dtypes, modes
from ..ops.autocast import Policy, lowered

_DEFAULT = {"cpu": dtypes.bfloat16, **dict.fromkeys(("cuda", "ipu", "mps", "xpu"), dtypes.float16)}
_AVAILABLE = ("cpu", "cuda", "mtia", "maia", "xpu", "ipu", "hpu", "xla", "privateuseone", "mps")
_NOT_SUPPORTED = (
    "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
    "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
)


def is_autocast_available(device_type: str) -> bool:
    """Whether ``autocast`` knows the device type; of those, only "cpu" has an effect here."""
    return devices.device(device_type).type in _AVAILABLE


class autocast:  # noqa: N801  PyTorch's name
    """A block, or a function, in which operations choose their precision.

    device_type    "cpu"; other types are accepted and disabled, with PyTorch's warning
    dtype          what products are computed in: bfloat16 (unless told) or float16
    enabled        False switches it off within a block that has it on
    cache_enabled  whether a weight that is used twice is cast once
    Source: https://docs.pytorch.org/docs/stable/amp.html#autocasting
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = devices.device(device_type).type
        if not is_autocast_available(self.device):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{self.device}'")
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._enabled = bool(enabled)
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if self._enabled and self.device == "cpu" and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn(_NOT_SUPPORTED, stacklevel=2)
            self._enabled = False
        elif self._enabled and self.device == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            self._enabled = False
        elif self.device != "cpu":
            self._enabled = False
        self._before: tuple[Policy | None, ...] = ()

    def __enter__(self) -> autocast:
        _need_dtype(self.fast_dtype)
        before = modes.local.autocast
        policy = before
        if self.device == "cpu":
            policy = Policy(self.fast_dtype, self._cache_enabled, before) if self._enabled else None
        modes.expect_unusual()
        self._before = (*self._before, before)
        modes.local.autocast = policy
        return self

    def __exit__(self, *exception: object) -> None:
        modes.local.autocast = self._before[-1]
        self._before = self._before[:-1]
        modes.settle()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def in_block(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return in_block


# -- custom functions --------------------------------------------------------------------------------------------------


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """A decorator for the ``forward`` of a custom Function: what autocast is in it, and what its inputs are cast to."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype = get_autocast_dtype(device_type)
        on = is_autocast_enabled(device_type)
        if cast_inputs is None or not on:
            args[0]._fwd_used_autocast = on and cast_inputs is None
            return fwd(*args, **kwargs)
        args[0]._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """A decorator for the ``backward`` of a custom Function: autocast is in it as it was in its ``forward``."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args: Any, **kwargs: Any) -> Any:
        if device_type != "cpu":
            return bwd(*args, **kwargs)
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return backward


def _cast(value: Any, dtype: Any) -> Any:
    """Every floating tensor in nested arguments, in ``dtype``; float64 stays."""
    if isinstance(value, Tensor):
        return lowered(value, dtype)
    if isinstance(value, dict):
        return {_cast(key, dtype): _cast(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(piece, dtype) for piece in value])
    return value


# -- the switches by function ------------------------------------------------------------------------------------------


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on for a device type; without one, for GPUs."""
    return device_type == "cpu" and modes.local.autocast is not None


def is_autocast_cpu_enabled() -> bool:
    """Whether autocast is on for the CPU."""
    return modes.local.autocast is not None


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a device type; without one, for GPUs."""
    if enabled is None and type(device_type) is not str:
        device_type, enabled = "cuda", device_type
    dtypes.need_bool("set_autocast_enabled", "enabled", 2, enabled)
    if device_type == "cpu":
        modes.expect_unusual()
        modes.local.autocast = Policy(get_autocast_dtype("cpu"), True, modes.local.autocast) if enabled else None
        modes.settle()


def get_autocast_dtype(device_type: str) -> Any:
    """What products are computed in when autocast is on: bfloat16 on the CPU, float16 on GPUs."""
    policy = modes.local.autocast
    if device_type == "cpu" and policy is not None:
        return policy.dtype
    kind = devices.device(device_type).type
    if kind not in _AVAILABLE:
        raise RuntimeError(f"unsupported scalarType for autocast device {kind}")
    return _chosen.get(kind, _DEFAULT.get(kind, dtypes.bfloat16))


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set what products are computed in when autocast is on."""
    _need_dtype(dtype)
    _chosen[devices.device(device_type).type] = dtype


def _need_dtype(value: Any) -> None:
    if not isinstance(value, dtypes.dtype):
        message = f"set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not {dtypes.called(value)}"
        raise TypeError(message)


_chosen: dict[str, Any] = {}
_cache = [True]


def is_autocast_cache_enabled() -> bool:
    """Whether cast weights are kept for the length of a block."""
    return _cache[0]


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set whether cast weights are kept for the length of a block."""
    if type(enabled) is not bool:
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    _cache[0] = enabled


def clear_autocast_cache() -> None:
    """Forget the cast weights of the present block."""
    if modes.local.autocast is not None:
        modes.local.autocast.cache.clear()
