"""Mixed precision under its older names: functions and classes with a device in their name, and their warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..ground.absent import Namespace
from . import autocast_mode, grad_scaler

_DEVICES = {"cpu": "cpu", "gpu": "cuda", "ipu": "ipu", "xla": "xla"}
_nesting = [0]


def autocast_increment_nesting() -> int:
    """Count one more block; how many there are."""
    _nesting[0] += 1
    return _nesting[0]


def autocast_decrement_nesting() -> int:
    """Count one block less; how many are left."""
    _nesting[0] -= 1
    return _nesting[0]


def _former(verb: str, device: str, what: str, argument: str = "") -> Callable[..., Any]:
    name, kind = f"{verb}_autocast_{device}_{what}", _DEVICES[device]
    newer = getattr(autocast_mode, f"{verb}_autocast_{what}")
    shown = ", ".join(filter(None, [f"'{kind}'", argument]))

    def former(*values: Any) -> Any:
        warnings.warn(
            f"torch.{name}({argument}) is deprecated. Please use torch.{verb}_autocast_{what}({shown}) instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        return newer(kind, *values)

    former.__name__ = former.__qualname__ = name
    former.__doc__ = f"``torch.{verb}_autocast_{what}({shown})``, which is newer."
    return former


get_autocast_cpu_dtype, set_autocast_cpu_dtype = _former("get", "cpu", "dtype"), _former("set", "cpu", "dtype", "dtype")
get_autocast_gpu_dtype, set_autocast_gpu_dtype = _former("get", "gpu", "dtype"), _former("set", "gpu", "dtype", "dtype")
get_autocast_ipu_dtype, set_autocast_ipu_dtype = _former("get", "ipu", "dtype"), _former("set", "ipu", "dtype", "dtype")
get_autocast_xla_dtype, set_autocast_xla_dtype = _former("get", "xla", "dtype"), _former("set", "xla", "dtype", "dtype")
is_autocast_ipu_enabled, is_autocast_xla_enabled = _former("is", "ipu", "enabled"), _former("is", "xla", "enabled")
set_autocast_cpu_enabled = _former("set", "cpu", "enabled", "enabled")
set_autocast_ipu_enabled = _former("set", "ipu", "enabled", "enabled")
set_autocast_xla_enabled = _former("set", "xla", "enabled", "enabled")


def _warn_of_name(device: str, name: str) -> None:
    """Tell who made an object by an older name of the newer one."""
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}('{device}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


def former_autocast(device: str, narrow: Any) -> type:
    """The class of ``torch.{device}.amp``, which computes in the dtype ``narrow`` where none is said."""

    class autocast(autocast_mode.autocast):  # noqa: N801  PyTorch's name
        def __init__(self, enabled: bool = True, dtype: Any = narrow, cache_enabled: bool = True) -> None:
            _warn_of_name(device, "autocast")
            super().__init__(device, enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)

    return _of_device(autocast, device)


def former_scaler(device: str) -> type:
    """The class of ``torch.{device}.amp``."""

    class GradScaler(grad_scaler.GradScaler):
        def __init__(
            self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
            growth_interval: int = 2000, enabled: bool = True,
        ) -> None:  # fmt: skip
            _warn_of_name(device, "GradScaler")
            super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    return _of_device(GradScaler, device)


def _of_device(former: type, device: str) -> type:
    former.__module__ = Namespace.__module__  # the module that shows it takes it over
    former.__doc__ = f"""``torch.amp.{former.__name__}("{device}", ...)`` by its deprecated name.

    Source: https://docs.pytorch.org/docs/stable/amp.html
    """
    return former
