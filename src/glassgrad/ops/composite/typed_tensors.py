"""The old constructors: ``Tensor(...)``, and the types that stand for one dtype each, such as ``FloatTensor``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import tensor as tensors
from ...core.tensor import Tensor, new
from ...ground import device as devices
from ...ground import dtypes
from ...ground.runtime import warn
from ...ground.size import Size
from ..declare import composite
from ..primitive.matrix import c_name
from ..primitive.shape import alias
from .construct import array_of, place
from .create import allocate, is_size
from .memory import set_
from .storage import UntypedStorage
from .typed_storage import TypedStorage

_NAMES = {
    "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64, "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16, "LongTensor": dtypes.int64, "IntTensor": dtypes.int32,
    "ShortTensor": dtypes.int16, "CharTensor": dtypes.int8, "ByteTensor": dtypes.uint8, "BoolTensor": dtypes.bool,
    "ComplexFloatTensor": dtypes.complex64, "ComplexDoubleTensor": dtypes.complex128,
}  # fmt: skip


def construct(cls: Any, *args: Any, **kwargs: Any) -> Tensor:
    """``Tensor(...)``: of sizes, uninitialised; of a sequence, its values; of a tensor, an alias."""
    source = legacy(None, args, kwargs)
    if cls is Tensor:
        return source
    out = new(cls)
    out._array, out._edge, out._counter = source._array, source._edge, source._counter
    return out


def legacy(wanted: dtypes.dtype | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """What an old constructor gives; ``wanted`` is its dtype, None the default one."""
    kind = (wanted or dtypes.get_default_dtype()).numpy
    device = kwargs.pop("device", None)
    if device is not None:
        chosen = devices.device(device)
        if chosen.type not in ("cpu", "meta"):
            raise RuntimeError(
                f"legacy constructor expects device type: cpu but device type: {chosen.type} was passed"
            )
    for name in ("size", "data", "other"):
        if name in kwargs:
            args = (*args, kwargs.pop(name))
    if kwargs:
        raise TypeError(_no_match(args, kwargs))
    if not args:
        return place(np.empty(0, kind), device)
    if len(args) == 1 and (isinstance(args[0], Tensor) or not is_size(args[0])):
        return _of_one(args[0], wanted, kind, device)
    for index, size in enumerate(args):
        if not is_size(size):
            if not index:
                raise TypeError(_no_match(args, {}))
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {index + 1} with error "
                f'"type must be tuple of ints,but got {dtypes.called(size)}"'
            )
    return place(allocate(np.empty, tuple(int(size) for size in args), kind, "empty"), device)


def _of_one(data: Any, wanted: dtypes.dtype | None, kind: np.dtype[Any], device: Any) -> Tensor:
    if isinstance(data, Tensor):
        if wanted is not None and data._array.dtype != kind:
            raise TypeError(f"expected {_options(np.empty(0, kind))} (got {_options(data._array)})")
        return alias(data)
    if isinstance(data, (TypedStorage, UntypedStorage)):
        return set_(place(np.empty(0, kind), device), data)  # type: ignore[no-any-return]
    if isinstance(data, Size):
        return place(allocate(np.empty, tuple(data), kind, "empty"), device)
    if not hasattr(data, "__len__") or isinstance(data, dict):
        raise TypeError(f"new(): data must be a sequence (got {dtypes.called(data)})")
    array = array_of(data, None if isinstance(data, np.ndarray) else kind)
    return place(np.asarray(array).astype(kind, copy=False), device)


def _options(array: Any) -> str:
    """How PyTorch's message describes a kind of tensor."""
    return (
        f"TensorOptions(dtype={c_name(array)}, device=cpu, layout=Strided, requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))"
    )


def _no_match(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    got = ", ".join([*map(dtypes.called, args), *(f"{key}={dtypes.called(value)}" for key, value in kwargs.items())])
    return (
        f"new() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        " * (*, torch.device device = None)\n * (torch.Storage storage)\n * (Tensor other)\n"
        " * (tuple of ints size, *, torch.device device = None)\n * (object data, *, torch.device device = None)\n"
    )


@composite(function=False)
def new_legacy(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A tensor of the same dtype, made as by the old constructors."""
    return legacy(self.dtype, args, kwargs)


composite(function=False, name="new")(new_legacy)


class tensortype(type):  # noqa: N801  its name in PyTorch
    """The type of ``FloatTensor`` and its like: a tensor of its dtype is an instance of it."""

    dtype: dtypes.dtype
    is_cuda = False

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return legacy(cls.dtype, args, kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and dtypes.of(instance._array.dtype) is cls.dtype

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"

    @property
    def layout(cls) -> Any:
        """How elements are stored."""
        return dtypes.strided


TYPES: dict[str, tensortype] = {}
for _name, _dtype in _NAMES.items():
    _content = {"__module__": "torch", "dtype": _dtype, "__doc__": f"The old name of tensors of {_dtype}."}
    TYPES[_name] = tensortype(_name, (), _content)
    composite(method=False)(TYPES[_name])


def type_named(name: str) -> tensortype:
    """The type that ``"torch.FloatTensor"`` names; ValueError as PyTorch's where there is none such."""
    tensor_type = TYPES.get(name.removeprefix("torch.")) if name.startswith("torch.") else None
    if tensor_type is None:
        raise ValueError(f"invalid type: '{name}'")
    return tensor_type


@composite(method=False)
def set_default_tensor_type(t: Any, /) -> None:
    """Make the dtype of an old tensor type the default; deprecated in favour of ``set_default_dtype``."""
    if isinstance(t, str):
        try:
            t = type_named(t)
        except ValueError:
            t = None
    warn(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    if not isinstance(t, tensortype):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    dtypes.set_default_dtype(t.dtype)


tensors.construct = construct
