"""TypedStorage and its old names, FloatStorage and so on: the memory under tensors, as numbers of one type."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import call, write
from ...core import tensor as tensors
from ...core.tensor import Tensor, View, share, wrap
from ...ground import device as devices
from ...ground import dtypes, modes
from ...ground.dtypes import called, is_int
from ...ground.exposed import expose
from ...ground.runtime import warn
from ...ground.size import Size
from ...ground.window import as_bytes, dense, look, owner_of, with_strides
from ...ops.declare import composite
from ...tensor.hooks import fit_gradients
from ...tensor.lifted import Lifted, of_class
from ...tensor.writable import check_writable
from ..create.construct import array_of, tensor_of
from ..create.functions import allocate
from ..matrix.rows import c_name
from ..shape.rows import alias
from ..sort.rows import counted
from .functions import Conversions, UntypedStorage, mapped, reduced_as_torch, storage_of

REMOVAL = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. "
    "This should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()"
)

#: The names that pickles and old programs give the storages of these dtypes; others are saved as bytes.
NAMES: dict[dtypes.dtype, str] = {
    dtypes.float64: "DoubleStorage", dtypes.float32: "FloatStorage", dtypes.float16: "HalfStorage",
    dtypes.int64: "LongStorage", dtypes.int32: "IntStorage", dtypes.int16: "ShortStorage",
    dtypes.int8: "CharStorage", dtypes.uint8: "ByteStorage", dtypes.bool: "BoolStorage",
    dtypes.bfloat16: "BFloat16Storage", dtypes.complex128: "ComplexDoubleStorage",
    dtypes.complex64: "ComplexFloatStorage",
}  # fmt: skip


def typed_storage_of(owner: Any, dtype: Any, is_meta: bool = False, lent: bool = True) -> TypedStorage:
    """The numbers of an array that owns its memory."""
    storage = object.__new__(TypedStorage)
    storage._untyped_storage, storage.dtype = storage_of(owner, is_meta, lent), dtype
    return storage


_warned = False


def warn_of_removal() -> None:
    """PyTorch's warning about typed storages, once in a process."""
    global _warned
    if not _warned:
        _warned = True
        warn(REMOVAL)


def _class_of(value: Any) -> str:
    ours = isinstance(value, (UntypedStorage, TypedStorage, Tensor))
    return f"<class 'torch.storage.{type(value).__name__}'>" if ours else str(type(value))


class TypedStorage(Conversions):
    """Memory as numbers of one dtype; deprecated for UntypedStorage.

    ``TypedStorage(5, dtype=...)`` is new memory, ``TypedStorage([1, 2])`` holds these numbers, and
    ``wrap_storage=`` takes the bytes of an UntypedStorage.
    Source: https://docs.pytorch.org/docs/stable/storage.html
    """

    is_sparse = is_cuda = is_hpu = False
    _untyped_storage: UntypedStorage
    dtype: Any

    def __new__(
        cls, *args: Any, wrap_storage: Any = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> TypedStorage:
        if not _internal:
            warn_of_removal()
        storage = object.__new__(TypedStorage)
        storage.dtype = getattr(cls, "dtype", None) or dtype or dtypes.get_default_dtype()
        if wrap_storage is not None:
            if args:
                raise RuntimeError("TypedStorage: No positional arguments should be given when using 'wrap_storage'")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(
                    f"TypedStorage: argument 'wrap_storage' must be UntypedStorage, but got {type(wrap_storage)}"
                )
            storage._untyped_storage = wrap_storage
        elif not args or isinstance(args[0], (int, np.integer)):
            count = int(args[0]) if args else 0
            storage._untyped_storage = UntypedStorage(count * storage.dtype.itemsize, device=device)
        elif isinstance(args[0], (TypedStorage, UntypedStorage, Tensor)) or not hasattr(args[0], "__len__"):
            raise TypeError(
                f"{cls!r}.__new__ received an invalid combination of arguments. Expected one of:\n * no arguments\n"
                " * (int size)\n * (Sequence data)\n * (*, UntypedStorage wrap_storage)\nArgument type not "
                f"recognized: {_class_of(args[0])}"
            )
        else:
            storage._untyped_storage = storage_of(np.array(args[0]).astype(storage.dtype.numpy), lent=False)
        return storage

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def _flat(self) -> Any:
        content = self._untyped_storage._bytes()
        whole = len(content) // self.dtype.itemsize * self.dtype.itemsize
        return content[:whole].view(self.dtype.numpy)

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    def size(self) -> Any:
        """The number of elements."""
        return self.nbytes() // self.dtype.itemsize

    __len__ = size
    _size = size

    def nbytes(self) -> Any:
        """The number of bytes."""
        return self._untyped_storage.nbytes()

    _nbytes = nbytes

    def element_size(self) -> Any:
        """The size of one element in bytes."""
        return self.dtype.itemsize

    def data_ptr(self) -> Any:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    _data_ptr = data_ptr

    @property
    def _cdata(self) -> Any:
        return self._untyped_storage._cdata

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return self._untyped_storage.device

    @property
    def filename(self) -> Any:
        """The file that the memory is, where it is one."""
        return self._untyped_storage.filename

    def get_device(self) -> Any:
        """None: main memory has no number."""
        return self.device.index

    def pickle_storage_type(self) -> str:
        """The name of this kind of storage in pickles; KeyError for dtypes younger than such names."""
        if self.dtype not in NAMES:
            raise KeyError(f"dtype {self.dtype} is not recognized")
        return NAMES[self.dtype]

    _pickle_storage_type = pickle_storage_type

    def type(self, dtype: Any = None, non_blocking: Any = False) -> Any:
        """The old name, such as ``torch.FloatStorage``."""
        if dtype is not None:
            return self._untyped_storage.type(dtype, non_blocking)
        return f"torch.{NAMES[self.dtype]}" if self.dtype in NAMES else "torch.storage.TypedStorage"

    def is_shared(self) -> Any:
        """False: the memory belongs to this process."""
        return False

    def is_pinned(self, device: Any = None) -> Any:
        """False: no memory is pinned."""
        return False

    def share_memory_(self) -> TypedStorage:
        """The storage itself; threads share memory anyway."""
        return self

    def resizable(self) -> Any:
        """Whether ``resize_`` may change the size."""
        return self._untyped_storage.resizable()

    def resize_(self, size: Any) -> None:
        """Give the storage another number of elements."""
        self._untyped_storage.resize_(operator.index(size) * self.dtype.itemsize)

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        flat = self._flat()
        return (flat.astype("f4") if flat.dtype.kind == "V" else flat).tolist()  # type: ignore[no-any-return]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, (int, np.integer)):
            raise RuntimeError(f"can't index a <class 'torch.storage.TypedStorage'> with {type(index)}")
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        number = self._flat()[index]
        return float(number) if number.dtype.kind == "V" else number.item()

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, (int, np.integer, slice)):
            raise RuntimeError(f"can't index a <class 'torch.storage.TypedStorage'> with {type(index)}")
        self._flat()[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        self._flat()[...] = value
        return self

    def copy_(self, source: Any, non_blocking: Any = None) -> TypedStorage:
        """Take the bytes of another storage of the same size."""
        self._untyped_storage.copy_(source)
        return self

    def clone(self) -> TypedStorage:
        """A copy of the memory."""
        return self._of(self._untyped_storage.clone())

    def _of(self, untyped: UntypedStorage) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype, _internal=True)

    __copy__ = clone

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return self._of(self._untyped_storage.__deepcopy__(memo))

    def __reduce__(self) -> tuple[Any, ...]:
        untyped = self._untyped_storage
        return reduced_as_torch(self) or (typed_storage_of, (untyped._owner, self.dtype, untyped._meta, False))

    def cpu(self) -> TypedStorage:
        """The storage itself; of a meta storage, uninitialised memory of its size."""
        return self._of(self._untyped_storage.cpu())

    def to(self, *, device: Any, non_blocking: Any = False) -> TypedStorage:
        """The storage on a device: the same memory where it is there already."""
        return self._of(self._untyped_storage.to(device=device))

    def cuda(self, device: Any = None, non_blocking: Any = False) -> TypedStorage:
        """PyTorch's refusal: there is no such device."""
        return self._of(self._untyped_storage.cuda(device))

    def _to(self, dtype: Any) -> TypedStorage:
        return typed_storage_of(self._flat().astype(dtype.numpy), dtype, lent=False)

    @classmethod
    def from_buffer(cls, buffer: Any, byte_order: Any = None, dtype: Any = None, **extra: Any) -> TypedStorage:
        """A copy of a buffer's bytes as numbers."""
        kind = getattr(cls, "dtype", None) or dtype or dtypes.get_default_dtype()
        untyped = UntypedStorage.from_buffer(buffer, byte_order, kind)
        return TypedStorage(wrap_storage=untyped, dtype=kind, _internal=True)

    @classmethod
    def from_file(cls, filename: Any, shared: Any = False, size: Any = 0) -> TypedStorage:
        """The content of a file as ``size`` numbers."""
        kind = getattr(cls, "dtype", None) or dtypes.get_default_dtype()
        untyped = UntypedStorage.from_file(filename, shared, size * kind.itemsize)
        return TypedStorage(wrap_storage=untyped, dtype=kind, _internal=True)

    def __repr__(self) -> str:
        summary = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"
        if self.device.type == "meta":
            return "...\n" + summary
        return " " + "\n ".join(str(value) for value in self.tolist()) + "\n" + summary


class _Named(type):
    """The type of ``FloatStorage`` and its like: a typed storage of its dtype is an instance of it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is TypedStorage and instance.dtype is cls.dtype  # type: ignore[attr-defined]

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


CLASSES: dict[str, Any] = {}
for _dtype, _name in NAMES.items():
    _content = {"__module__": __name__, "dtype": _dtype, "__doc__": f"The old name of storages of {_dtype}."}
    CLASSES[_name] = globals()[_name] = _Named(_name, (TypedStorage,), _content)
    composite(method=False)(CLASSES[_name])

composite(method=False)(TypedStorage)


# -- Tensors and their memory: the storage of a tensor, and tensors on a given storage or file.


@composite(function=False)
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory of the tensor, which its views share."""
    if isinstance(self, Lifted):
        self = self.level.memory(self)
    share(self)
    if self._array.dtype.metadata is not None:
        return UntypedStorage(self._array.size * self._array.itemsize, device="meta")
    expose(self._array)
    return storage_of(owner_of(self._array))


@composite(function=False)
def _typed_storage(self: Tensor) -> TypedStorage:
    """The memory of the tensor as numbers."""
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype, _internal=True)


@composite(function=False)
def storage(self: Tensor) -> TypedStorage:
    """The memory of the tensor as numbers; deprecated for ``untyped_storage``."""
    warn_of_removal()
    return _typed_storage(self)


@composite(function=False)
def storage_type(self: Tensor) -> Any:
    """The old class of the tensor's storage, such as FloatStorage."""
    return CLASSES.get(NAMES.get(self.dtype, ""), TypedStorage)


@composite(method=False)
def is_storage(obj: Any, /) -> bool:
    """Whether ``obj`` is a storage."""
    return isinstance(obj, UntypedStorage | TypedStorage)


@composite(method=False)
def from_file(
    filename: str, shared: bool | None = False, size: int | None = 0, *, dtype: Any = None, **options: Any
) -> Tensor:
    """A tensor of ``size`` numbers that are the content of a file; ``shared`` writes go into the file."""
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.demand(dtype, "from_file")
    out = wrap(mapped(filename, shared, size or 0, kind.numpy))
    share(out)
    return out


_SET = (
    "set_() received an invalid combination of arguments - got ({got}), but expected one of:\n * ()\n"
    " * (torch.Storage source)\n"
    " * (torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None)\n"
    " * (Tensor source)\n"
    " * (Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)\n"
)


def demand_room(sizes: Any, strides: Any, offset: int, itemsize: int, nbytes: int) -> None:
    """Raise PyTorch's RuntimeErrors unless memory of ``nbytes`` bytes has room for such a tensor."""
    if len(sizes) != len(strides):
        raise RuntimeError(f"unequal size length ({len(sizes)}) and stride length ({len(strides)})")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if any(n < 0 for n in sizes) or math.prod(sizes) * itemsize >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    needed = 0 if 0 in sizes else offset + 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    if any(step < 0 for step in strides) or needed * itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(strides)}")
    if needed * itemsize > nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {needed * itemsize} are out of bounds for storage of size {nbytes}"
        )


def looking_at(owner: Any, kind: Any, offset: int, sizes: Any, strides: Any) -> Any:
    """An array on the memory of ``owner``; offset and strides in elements."""
    demand_room(sizes, strides, offset, kind.itemsize, owner.nbytes)
    if 0 in sizes:
        try:
            return look(as_bytes(owner)[:0].view(kind), (tuple(sizes), tuple(strides), offset))
        except ValueError as error:  # the other sizes are beyond NumPy
            raise RuntimeError("numel: integer multiplication overflow") from error
    steps = [step * kind.itemsize for step in strides]
    memory = owner if owner.flags.forc else as_bytes(owner)
    return np.ndarray(sizes, kind, memory, offset * kind.itemsize, steps)  # type: ignore[arg-type]


_C_TYPES = {"Byte": "unsigned char", "Char": "signed char", "Short": "short int", "Long": "long int"}


@composite(function=False)
def set_(self: Tensor, source: Any = None, storage_offset: Any = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Make the tensor look at other memory: a storage's or another tensor's; sizes and strides in elements."""
    got = [argument for argument in (source, storage_offset or None, size, stride) if argument is not None]
    if not isinstance(source, (UntypedStorage, TypedStorage, Tensor, type(None))) or (
        storage_offset and size is None or size is not None and not isinstance(size, (tuple, list))
    ):
        raise TypeError(_SET.format(got=", ".join(_type_name(argument) for argument in got)))
    kind = self._array.dtype
    if isinstance(source, Tensor) and source._array.dtype != kind:
        words = [_C_TYPES.get(each.dtype.scalar_name) or dtypes.c_name(each.dtype) for each in (source, self)]
        raise RuntimeError(f"Could not set tensor of type {words[0]} to a tensor of type {words[1]}")
    if source is not None and source.device != self.device:
        raise RuntimeError(
            f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on different device '
            f'"{source.device}".  This is no longer allowed; the devices must match.'
        )
    wishing = [each for each in (self, source) if isinstance(each, Tensor) and each.requires_grad]
    is_recorded = modes.grad_enabled() and bool(wishing)
    if is_recorded:
        check_writable(self, True)
    if isinstance(source, Tensor):
        share(source)
        array = source._array
        if size is not None:
            if not array.flags.c_contiguous:
                raise RuntimeError("passed in tensor to be used as storage must be contiguous")
            memory, steps = owner_of(array), dense(tuple(size)) if stride is None else stride
            before = (array.ctypes.data - memory.ctypes.data) // array.itemsize
            array = looking_at(memory, kind, before + storage_offset, size, steps)
    elif source is None:
        array = with_strides(np.empty(0, kind))
    else:
        if isinstance(source, TypedStorage) and source.dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {self.dtype.scalar_name} or an UntypedStorage, but got type "
                f"{source.dtype.scalar_name} for argument 1 'storage'"
            )
        untyped = source.untyped()
        untyped._lent = True
        sizes = (untyped.nbytes() // kind.itemsize,) if size is None else tuple(map(operator.index, size))
        array = looking_at(untyped._owner, kind, storage_offset, sizes, dense(sizes) if stride is None else stride)
    if is_recorded:
        write.finish(self, counted(wishing[0], array, "set_")._edge, lambda: None)  # through which there is no way back
    elif array.shape != self._array.shape:
        fit_gradients(self, self._array)
    self._array = array
    share(self).version += 1
    if is_recorded and type(self._edge) is View:
        call.views.lose(self, "derivative for set_ is not implemented")
    return self


def _type_name(argument: Any) -> str:
    if isinstance(argument, UntypedStorage | TypedStorage):
        return f"torch.storage.{type(argument).__name__}"
    return called(argument)


# -- The old constructors: ``Tensor(...)``, and the types that stand for one dtype each, such as ``FloatTensor``.

_NAMES = {
    "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64, "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16, "LongTensor": dtypes.int64, "IntTensor": dtypes.int32,
    "ShortTensor": dtypes.int16, "CharTensor": dtypes.int8, "ByteTensor": dtypes.uint8, "BoolTensor": dtypes.bool,
    "ComplexFloatTensor": dtypes.complex64, "ComplexDoubleTensor": dtypes.complex128,
}  # fmt: skip


def construct(cls: Any, *args: Any, **kwargs: Any) -> Tensor:
    """``Tensor(...)``: of sizes, uninitialised; of a sequence, its values; of a tensor, an alias."""
    source = legacy(None, args, kwargs)
    return source if cls is Tensor else of_class(cls, source)


def legacy(wanted: dtypes.dtype | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """What an old constructor gives; ``wanted`` is its dtype, None the default one."""
    kind = (wanted or dtypes.get_default_dtype()).numpy
    device = kwargs.pop("device", None)
    if device is not None:
        chosen = devices.device(device)
        if chosen.type not in ("cpu", "meta"):
            raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {chosen.type} was passed")
    for name in ("size", "data", "other"):
        if name in kwargs:
            args = (*args, kwargs.pop(name))
    if kwargs:
        raise TypeError(_no_match(args, kwargs))
    if not args:
        return tensor_of(np.empty(0, kind), device)
    if len(args) == 1 and (isinstance(args[0], Tensor) or not is_int(args[0])):
        return _of_one(args[0], wanted, kind, device)
    for index, size in enumerate(args):
        if not is_int(size):
            if not index:
                raise TypeError(_no_match(args, {}))
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {index + 1} with error "
                f'"type must be tuple of ints,but got {dtypes.called(size)}"'
            )
    return tensor_of(allocate(np.empty, tuple(int(size) for size in args), kind, "empty"), device)


def _of_one(data: Any, wanted: dtypes.dtype | None, kind: np.dtype[Any], device: Any) -> Tensor:
    if isinstance(data, Tensor):
        if wanted is not None and data._array.dtype != kind:
            raise TypeError(f"expected {_options(np.empty(0, kind))} (got {_options(data._array)})")
        return alias(data)
    if isinstance(data, (TypedStorage, UntypedStorage)):
        return set_(tensor_of(np.empty(0, kind), device), data)  # type: ignore[no-any-return]
    if isinstance(data, Size):
        return tensor_of(allocate(np.empty, tuple(data), kind, "empty"), device)
    if not hasattr(data, "__len__") or isinstance(data, dict):
        raise TypeError(f"new(): data must be a sequence (got {dtypes.called(data)})")
    array = array_of(data, None if isinstance(data, np.ndarray) else kind)
    return tensor_of(np.asarray(array).astype(kind, copy=False), device)


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
