"""Where tensors live and which place is the default: knows device names only, cpu and meta being the two that exist."""

from __future__ import annotations

import re
import threading
import warnings
from numbers import Integral
from typing import Any, NoReturn, final

from glassgrad.ground import modes
from glassgrad.ground.dtypes import called

TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
_SPELLED = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?")
_NO_ACCELERATOR = "Cannot access accelerator device when none is available."


@final
class device:
    """A place for tensors: a type such as 'cpu' or 'meta' and, perhaps, an index.

    ``device('cuda:1')``, ``device('cuda', 1)`` or ``device(another)``; as a context manager it is the default device
    of the block, in this thread. Naming a device that is not there is allowed; making a tensor on it is not.
    """

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __new__(cls, *args: Any, **kwargs: Any) -> device:
        if len(args) == 1 and type(args[0]) is str and args[0] in _read_before and not kwargs:
            return _read_before[args[0]]
        total = len(args) + len(kwargs)
        if total == 1 and (args or "device" in kwargs):
            return _read(*args, **kwargs)
        if total != 2 and not (total == 1 and isinstance(kwargs.get("type"), str)):
            raise TypeError(_no_such_call(args, kwargs))
        arguments = dict(zip(("type", "index"), args, strict=False))
        for key, value in kwargs.items():
            if key in arguments:
                raise TypeError(f"device() got multiple values for argument '{key}'")
            arguments[key] = value
        if "type" not in arguments:
            raise TypeError('device() missing 1 required positional arguments: "type"')
        for key in arguments:
            if key not in ("type", "index"):
                raise TypeError(f"device() got an unexpected keyword argument '{key}'")
        return _indexed(arguments["type"], arguments.get("index"))

    def __init_subclass__(cls, **kwargs: object) -> None:
        raise TypeError("type 'torch.device' is not an acceptable base type")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        if name in device.__slots__:
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + ("" if self.index is None else f", index={self.index}") + ")"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return self.type == other.type and self.index == other.index

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        raise TypeError("comparison not implemented")

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return device, ((self.type,) if self.index is None else (self.type, self.index))

    def __enter__(self) -> device:
        _here.stack = [*_here.stack, self]
        _make_on(self)
        return self

    def __exit__(self, *exception: object) -> None:
        if len(_here.stack) > 1:
            _here.stack = _here.stack[:-1]
            _make_on(_here.stack[-1])


_read_before: dict[str, device] = {}

# --- reading what was given -------------------------------------------------------------------------------------------


def _made(kind: str, index: int | None) -> device:
    instance = object.__new__(device)
    object.__setattr__(instance, "type", kind)
    object.__setattr__(instance, "index", index)
    return instance


def _read(device: Any) -> Any:
    if type(device) is _device:
        return device
    if isinstance(device, str):
        return _parse(device)
    if isinstance(device, bytes):
        return _parse(device.decode())
    if isinstance(device, Integral) and not isinstance(device, bool):  # the index of an accelerator
        raise RuntimeError(_NO_ACCELERATOR if int(device) >= 0 else "Device index must not be negative")
    raise TypeError(_no_such_call((device,), {}))


_device = device  # the parameter above has the class's name, being a keyword


def _parse(text: str) -> device:
    if not text:
        raise RuntimeError("Device string must not be empty")
    match = _SPELLED.fullmatch(text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    kind, digits = match.groups()
    index = None if digits is None else int(digits)
    if index is not None and index >= 2**31:
        raise RuntimeError(f"Could not parse device index '{digits}' in device string '{text}'")
    if kind not in TYPES:
        raise RuntimeError(f"Expected one of {', '.join(TYPES)} device type at start of device string: {kind}")
    if kind == "mkldnn":  # never remembered: it warns each time
        warnings.warn(
            "'mkldnn' is no longer used as device type. So torch.device('mkldnn') will be deprecated and removed in "
            "the future. Please use other valid device types instead.",
            stacklevel=4,
        )
    elif index is None:
        return _read_before.setdefault(kind, _made(kind, None))
    return _made(kind, index)


def _indexed(kind: Any, index: Any) -> device:
    if not isinstance(kind, str):
        raise TypeError(f"device(): argument 'type' (position 1) must be str, not {called(kind)}")
    if index is not None and (isinstance(index, bool) or not isinstance(index, Integral)):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not {called(index)}")
    parsed = _parse(kind)
    if parsed.index is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {kind}")
    if index is not None and index < 0:
        raise RuntimeError("Device index must not be negative")
    return parsed if index is None else _made(parsed.type, int(index))


def _no_such_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    named = [f"{key}={called(value)}" for key, value in kwargs.items()]
    got = ", ".join([*map(called, args), *named]) + (", " if kwargs and not args else "")
    why = ""
    if len(kwargs) == 1 and not args:
        why = f"\n      didn't match because some of the keywords were incorrect: {', '.join(kwargs)}"
    elif len(args) == 1 and not kwargs:
        why = f"\n      didn't match because some of the arguments have invalid types: (!{called(args[0])}!)"
    return (
        f"device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        f" * (torch.device device){why}\n * (str type, int index = -1)\n"
    )


# --- the default, per thread ------------------------------------------------------------------------------------------

CPU = _made("cpu", None)
META = _made("meta", None)


class _Here(threading.local):
    """This thread's default devices: the one set, then those of the open ``with`` blocks."""

    stack: list[device] = [CPU]  # replaced, never changed in place: the class attribute serves every thread


_here = _Here()


def _make_on(chosen: device) -> None:
    """Make new tensors of this thread there from now on: ``modes`` names any device but the cpu."""
    modes.local.device = None if chosen == CPU else chosen


def set_default_device(device_like: device | str | None) -> None:
    """Make new tensors of this thread live on ``device_like``; None means the cpu again."""
    chosen = CPU if device_like is None else device(device_like)
    _here.stack = [chosen, *_here.stack[1:]]
    _make_on(chosen)


def get_default_device() -> device:
    """The device of new tensors of this thread; one without index must exist."""
    chosen = modes.local.device or CPU
    return chosen if chosen.index is not None else _made(require(chosen, "tensor"), None)


# --- what exists ------------------------------------------------------------------------------------------------------


def require(device_like: device | str | int | None = None, function: str = "zeros") -> str:
    """'cpu' or 'meta', whichever ``device_like`` names (None: the default); torch's refusal for any other device.

    ``function`` is the caller's name, for messages: 'tensor' and 'to' copy values and refuse in other words.
    """
    if device_like is None:
        device_like = modes.local.device or CPU
    elif not isinstance(device_like, device):
        if isinstance(device_like, bool) or not isinstance(device_like, str | bytes | Integral):
            raise TypeError(f"{function}(): argument 'device' must be torch.device, not {called(device_like)}")
        device_like = device(device_like)
    kind: str = device_like.type
    if kind == "cpu" or kind == "meta":
        return kind
    raise _absent(device_like, function)


def _absent(target: device, function: str) -> Exception:
    kind = target.type
    if kind in ("cuda", "xpu"):
        return AssertionError(f"Torch not compiled with {kind.upper()} enabled")
    if kind == "mtia":
        return AssertionError(
            "Torch not compiled with MTIA enabled. Ensure you have "
            "`import mtia.host_runtime.torch_mtia.dynamic_library` "
            "in your python src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"
        )
    if kind in ("hpu", "privateuseone"):
        return ModuleNotFoundError(f"No module named 'torch.{kind}'")
    copies = function in ("tensor", "as_tensor", "to") and kind != "lazy"
    if copies and target.index is None:
        return RuntimeError(f"PyTorch is not linked with support for {kind} devices")
    if kind in ("opencl", "opengl", "ideep", "mkldnn"):
        return RuntimeError(
            f"This is a grandfathered Caffe2 device type {kind}, it shouldn't ever convert to a DispatchKey."
        )
    backend = {"vulkan": "Vulkan", "lazy": "Lazy"}.get(kind, kind.upper())
    wanted = "empty_strided" if copies else "empty.memory_format"
    return NotImplementedError(
        f"Could not run 'aten::{wanted}' with arguments from the '{backend}' backend. This could be because the "
        "operator doesn't exist for this backend, or was omitted during the selective/custom build process "
        "(if using custom build). It is only available for these backends: [CPU, Meta]."
    )
