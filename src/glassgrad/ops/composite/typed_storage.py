"""TypedStorage and its old names, FloatStorage and so on: the memory under tensors, as numbers of one type."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground import dtypes
from ...ground.runtime import warn
from ..declare import composite
from .storage import Conversions, UntypedStorage, storage_of

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
        return typed_storage_of, (self._untyped_storage._owner, self.dtype, self._untyped_storage._meta, False)

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
