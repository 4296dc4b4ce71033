"""What a checkpoint may name when only weights are wanted: PyTorch's list, and what the user adds to it."""

from __future__ import annotations

from _codecs import encode
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import cache
from pickle import UnpicklingError
from typing import Any

from ..core.tensor import Tensor
from ..families.storage.functions import UntypedStorage
from ..families.storage.typed import NAMES, TYPES, TypedStorage
from ..ground import dtypes
from ..ground.device import device
from ..ground.names import path_of
from ..ground.size import Size
from ..tensor.parameter import Parameter
from . import rebuild

#: Modules that nothing may be taken from, whatever the user allows.
BLOCKED = ("sys", "os", "posix", "nt")

#: What PyTorch allows and glassgrad does not have: dtypes, and what describes quantized tensors.
_ABSENT = (
    "float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz float8_e8m0fnu float4_e2m1fn_x2 bits8 bits16 bits1x8 "
    "bits2x4 bits4x2 qint8 qint32 quint8 quint4x2 quint2x4 uint1 uint2 uint3 uint4 uint5 uint6 uint7 int1 int2 int3 "
    "int4 int5 int6 int7 per_tensor_affine per_tensor_symmetric per_channel_affine per_channel_symmetric "
    "per_channel_affine_float_qparams QInt8Storage QInt32Storage QUInt8Storage QUInt4x2Storage QUInt2x4Storage"
).split()

SafeGlobal = Callable[..., Any] | tuple[Callable[..., Any], str]


class StorageType:
    """The kind of a storage in a pickle: its dtype."""

    def __init__(self, name: str) -> None:
        matches = [dtype for dtype, known in NAMES.items() if known == name]
        if not matches:
            raise KeyError(f'pickle storage type "{name}" is not recognized')
        self._dtype = matches[0]

    @property
    def dtype(self) -> Any:
        """The dtype of the storage's numbers."""
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


# -- calls that may be made, each with its arguments checked -----------------------------------------------------------


def _demand(holds: bool, name: str, args: tuple[Any, ...]) -> None:
    if not holds:
        raise UnpicklingError(f"{name} may not be called with ({', '.join(type(a).__name__ for a in args)}) here")


def _encode(*args: Any) -> bytes:
    fits = len(args) == 2 and all(type(a) is str for a in args)
    fits = fits and args[1] in ("latin1", "latin-1", "utf-8", "utf8", "ascii")
    _demand(fits, "_codecs.encode", args)
    return encode(*args)


def _bytearray(*args: Any) -> bytearray:
    fits = not args or type(args[0]) is bytes and len(args) == 1
    text = len(args) == 2 and all(type(a) is str for a in args) and args[1] in ("latin1", "latin-1")
    _demand(fits or text, "bytearray", args)  # of a number it would be memory that the file does not hold
    return bytearray(*args)


def _set(*args: Any) -> set[Any]:
    _demand(not args or len(args) == 1 and type(args[0]) in (list, tuple, set), "set", args)
    return set(*args)


def _complex(*args: Any) -> complex:
    _demand(len(args) <= 2 and all(type(a) in (int, float, complex) for a in args), "complex", args)
    return complex(*args)


def _ordered(*args: Any) -> OrderedDict[Any, Any]:
    _demand(not args or len(args) == 1 and type(args[0]) in (list, tuple, dict, OrderedDict), "OrderedDict", args)
    return OrderedDict(*args)


def _counter(*args: Any) -> Counter[Any]:
    _demand(not args or len(args) == 1 and type(args[0]) in (list, tuple, dict, Counter), "Counter", args)
    return Counter(*args)


def _size(*args: Any) -> Size:
    _demand(not args or len(args) == 1 and type(args[0]) in (list, tuple, Size), "torch.Size", args)
    return Size(*args)


def _empty(*args: Any) -> Tensor:
    _demand(not args, "a constructor of tensors", args)
    return Tensor()


def _parameter(*args: Any) -> Any:
    fits = len(args) <= 2 and all(type(a) in (Tensor, Parameter) for a in args[:1]) and type((*args, True)[-1]) is bool
    _demand(fits or len(args) == 1 and isinstance(args[0], Tensor), "torch.nn.Parameter", args)
    return Parameter(*args)


#: How an allowed class or function is called: by itself, unless its arguments want a look first.
CALLS: dict[Any, Callable[..., Any]] = {
    encode: _encode, bytearray: _bytearray, set: _set, complex: _complex, OrderedDict: _ordered, Counter: _counter,
    Size: _size, Tensor: _empty, device: device, Parameter: _parameter, rebuild._get_layout: rebuild._get_layout,
    rebuild._rebuild_from_type_v2: rebuild._rebuild_from_type_v2,
    **{function: function for function in rebuild.REBUILDERS},
}  # fmt: skip


@cache
def globals_by_default() -> dict[str, Any]:
    """What names in a checkpoint stand for, by PyTorch's names."""
    known: dict[str, Any] = {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "torch.nn.parameter.Parameter": Parameter,
        "torch.serialization._get_layout": rebuild._get_layout,
        "torch.Size": Size,
        "torch.Tensor": Tensor,
        "torch.device": device,
        "_codecs.encode": encode,
        "builtins.bytearray": bytearray,
        "builtins.set": set,
        "builtins.complex": complex,
        "torch._tensor._rebuild_from_type_v2": rebuild._rebuild_from_type_v2,
        "torch.storage.UntypedStorage": UntypedStorage,
        "torch.storage.TypedStorage": TypedStorage,
    }
    known |= {str(dtype): dtype for dtype in (*dtypes.ALL, *dtypes.FLOAT8)}
    known |= {f"torch.{name}": kind for name, kind in TYPES.items()}
    known |= {f"torch.{name}": StorageType(name) for name in NAMES.values()}
    known |= {f"torch._utils.{function.__name__}": function for function in rebuild.REBUILDERS}
    return known


# -- what the user allows ----------------------------------------------------------------------------------------------

_added: set[SafeGlobal] = set()


def globals_by_user() -> dict[str, Any]:
    """What the user allowed, by the names checkpoints have for it."""
    known: dict[str, Any] = {}
    for item in _added:
        if isinstance(item, tuple):
            if len(item) != 2:
                raise ValueError(
                    "Expected tuple of length 2 (global, str of callable full path), but got tuple of length: "
                    f"{len(item)}"
                )
            if type(item[1]) is not str:
                raise TypeError(
                    f"Expected second item in tuple to be str of callable full path, but got: {type(item[1])}"
                )
            known[item[1]] = item[0]
        else:
            known[path_of(item)] = item
            known[f"{item.__module__}.{item.__qualname__}"] = item
    return known


def add_safe_globals(safe_globals: list[SafeGlobal]) -> None:
    """Allow checkpoints to name these classes and functions, to call them and to set their instances' state.

    Each is a class or function, or a pair of it and the full name that checkpoints have for it.
    """
    global _added
    _added = _added | set(safe_globals)


def get_safe_globals() -> list[SafeGlobal]:
    """What was allowed by :func:`add_safe_globals`."""
    return list(_added)


def clear_safe_globals() -> None:
    """Allow no more than PyTorch's own list."""
    global _added
    _added = set()


class safe_globals:  # noqa: N801  a context manager
    """A block in which these classes and functions are allowed as by :func:`add_safe_globals`."""

    def __init__(self, safe_globals: list[SafeGlobal]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exception: object) -> None:
        global _added
        _added = _added - set(self.safe_globals)


def find(module: str, name: str) -> Any:
    """What a name in a checkpoint stands for; PyTorch's UnpicklingError where it is not allowed."""
    path = f"{module}.{name}"
    if module in BLOCKED:
        raise UnpicklingError(f"Trying to load unsupported GLOBAL {path} whose module {module} is blocked.")
    for known in (globals_by_default(), globals_by_user()):
        if path in known:
            return known[path]
    if module == "torch" and name in _ABSENT:
        raise UnpicklingError(f"the checkpoint uses {path}, which glassgrad does not have")
    full = path.removeprefix("builtins.")
    raise UnpicklingError(
        f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{full}])` or the `torch.serialization.safe_globals([{full}])` context "
        "manager to allowlist this global if you trust this class/function."
    )
