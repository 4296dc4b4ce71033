"""UntypedStorage: the memory under tensors, as bytes.

A storage holds the array that owns the memory, so it keeps the memory alive and sees what tensors write into it.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.tensor import Tensor, share
from ...ground import device as devices
from ...ground import dtypes
from ...ground.layout import format_name, format_strides, suggested
from ...ground.meta import blank
from ...ground.names import is_torch
from ...ground.shared import Shared
from ...ground.window import as_bytes, dense, look, owner_of, strides_of
from ...ops.declare import composite, named
from ..shape.functions import sizes_of

_KEEPS = (
    "the memory of a tensor keeps its size: {had} bytes cannot become {wanted} in place. Resize the tensor itself "
    "(Tensor.resize_), or copy the storage (storage.clone()) and resize the copy"
)


def storage_of(owner: Any, is_meta: bool = False, lent: bool = True) -> UntypedStorage:
    """The storage of an array that owns its memory; ``lent`` where tensors may look at it."""
    storage = object.__new__(UntypedStorage)
    storage._owner, storage._meta, storage._lent = owner, is_meta, lent
    return storage


class Conversions:
    """What both kinds of storages offer for every type of numbers: a copy in that type."""

    def _to(self, dtype: Any) -> Any:
        raise NotImplementedError


def _conversion(name: str, kind: Any) -> Any:
    @named(name, kind=str(kind).removeprefix("torch."))
    def convert(self: Any) -> Any:
        """A copy as {kind}."""
        return self._to(kind)

    convert.__qualname__ = f"Conversions.{name}"
    return convert


for _name, _kind in {
    "double": dtypes.float64, "float": dtypes.float32, "half": dtypes.float16, "bfloat16": dtypes.bfloat16,
    "long": dtypes.int64, "int": dtypes.int32, "short": dtypes.int16, "char": dtypes.int8, "byte": dtypes.uint8,
    "bool": dtypes.bool, "complex_float": dtypes.complex64, "complex_double": dtypes.complex128,
}.items():  # fmt: skip
    setattr(Conversions, _name, _conversion(_name, _kind))


def reduced_as_torch(storage: Any) -> tuple[Any, ...] | None:
    """What PyTorch's pickles keep of a storage, a file of its own; None where ``torch`` does not mean this package."""
    if not is_torch():
        return None
    from io import BytesIO

    # a floor above: who pickles under PyTorch's names has its own needs of it
    from ...serialization.rebuild import _load_from_bytes
    from ...serialization.writing import save  # a floor above, too

    file = BytesIO()
    save(storage, file, _use_new_zipfile_serialization=False)
    return _load_from_bytes, (file.getvalue(),)


class UntypedStorage(Conversions):
    """Memory as bytes: ``UntypedStorage(5)`` is new memory, ``tensor.untyped_storage()`` is what a tensor looks at.

    Source: https://docs.pytorch.org/docs/stable/storage.html
    """

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False
    filename: str | None = None
    _owner: Any
    _meta: Any
    _lent: Any

    def __init__(self, *args: Any, device: Any = None) -> None:
        where = devices.require(device, "zeros") if device is not None else "cpu"
        self._meta, self._lent = where == "meta", False
        content = args[0] if args else 0
        if len(args) > 1:
            raise TypeError(f"torch.UntypedStorage(): expected at most 1 positional argument, got {len(args)}")
        if isinstance(content, (int, np.integer)):
            if content < 0:
                raise RuntimeError(f"torch.UntypedStorage(): the size must not be negative, got {content}")
            size = int(content)
            marked = np.dtype("u1", metadata={"device": "meta"}) if self._meta else np.dtype(np.uint8)
            self._owner = np.broadcast_to(np.zeros((), marked), (size,)) if self._meta else np.empty(size, np.uint8)
            return
        for item in content:
            if not isinstance(item, (int, np.integer)):
                raise RuntimeError(
                    "torch.UntypedStorage(): tried to construct a storage from a sequence "
                    f"({type(content).__name__}), but one of the items was of type {type(item).__name__} instead of int"
                )
        self._owner = np.array([int(item) & 0xFF for item in content], np.uint8)

    # -- what it is ---------------------------------------------------------------------------------------------------

    def nbytes(self) -> Any:
        """The number of bytes."""
        return int(self._owner.nbytes)

    size = nbytes
    __len__ = nbytes

    def element_size(self) -> Any:
        """1: an element is a byte."""
        return 1

    def data_ptr(self) -> Any:
        """The address of the first byte; 0 where there is none."""
        if self._meta or not self._owner.size:
            return 0
        return int(self._owner.__array_interface__["data"][0])

    @property
    def _cdata(self) -> Any:
        return id(self._owner)

    @property
    def device(self) -> Any:
        """Where the memory is."""
        return devices.device("meta" if self._meta else "cpu")

    def get_device(self) -> Any:
        """None: main memory has no number."""
        return self.device.index

    def type(self, dtype: Any = None, non_blocking: Any = False) -> Any:
        """The name of this class; with a name, a copy of that type."""
        if dtype is None:
            return "torch.storage.UntypedStorage"
        return dtype(self.tolist())

    def is_shared(self) -> Any:
        """Whether other processes can see the memory."""
        return type(self._owner) is Shared

    def is_pinned(self, device: Any = None) -> Any:
        """False: no memory is pinned."""
        return False

    def share_memory_(self) -> UntypedStorage:
        """The storage itself; threads share memory anyway."""
        return self

    def resizable(self) -> Any:
        """Whether ``resize_`` may change the size: not where a tensor looks at the memory."""
        return not self._lent

    def untyped(self) -> UntypedStorage:
        """The storage itself."""
        return self

    # -- its bytes ----------------------------------------------------------------------------------------------------

    def _bytes(self) -> Any:
        if self._meta:
            raise NotImplementedError("Not available for 'meta' device type")
        return as_bytes(self._owner)

    def __getitem__(self, index: Any) -> Any:
        content = self._bytes()
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
            return storage_of(content[index])
        if not isinstance(index, (int, np.integer)):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        return int(content[self._checked(index)])

    def _checked(self, index: Any) -> Any:
        if not -self.nbytes() <= index < self.nbytes():
            raise IndexError(f"index {index} out of range for storage of size {self.nbytes()}")
        return index

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, (int, np.integer)):
            raise RuntimeError(f"can only set storage content with a int types, but got {type(value).__name__} instead")
        content = self._bytes()
        content[index if isinstance(index, slice) else self._checked(index)] = int(value) & 0xFF

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """The bytes as integers."""
        return self._bytes().tolist()  # type: ignore[no-any-return]

    def fill_(self, value: Any) -> UntypedStorage:
        """Set every byte."""
        self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: Any = None) -> UntypedStorage:
        """Take the bytes of another storage of the same size."""
        source = source.untyped()
        if source.nbytes() != self.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {source.nbytes()} bytes"
            )
        if not self._meta:
            self._bytes()[...] = source._bytes()
        return self

    def clone(self) -> UntypedStorage:
        """A copy of the memory."""
        return UntypedStorage(self.nbytes(), device=self.device).copy_(self)

    __copy__ = clone

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        known = memo.setdefault("torch", {})
        if self._cdata not in known:
            known[self._cdata] = self.clone()
        return known[self._cdata]  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return reduced_as_torch(self) or (storage_of, (self._owner, self._meta, False))

    def new(self) -> UntypedStorage:
        """An empty storage."""
        return UntypedStorage(0, device=self.device)

    def cpu(self) -> UntypedStorage:
        """The storage itself; of a meta storage, uninitialised memory of its size."""
        return UntypedStorage(self.nbytes()) if self._meta else self

    def to(self, *, device: Any, non_blocking: Any = False) -> UntypedStorage:
        """The storage on a device: itself where it is there already."""
        where = devices.require(device, "to")
        if where == self.device.type:
            return self
        return UntypedStorage(self.nbytes(), device=where)

    def cuda(self, device: Any = None, non_blocking: Any = False) -> UntypedStorage:
        """PyTorch's refusal: there is no such device."""
        return self.to(device=devices.device("cuda", device) if device else devices.device("cuda"))

    def resize_(self, size: Any) -> UntypedStorage:
        """Give the storage another size, keeping what fits; RuntimeError where a tensor looks at the memory."""
        wanted = operator.index(size)
        if wanted == self.nbytes():
            return self
        if self._lent:
            raise RuntimeError(_KEEPS.format(had=self.nbytes(), wanted=wanted))
        fresh = UntypedStorage(wanted, device=self.device)
        if not self._meta:
            common = min(wanted, self.nbytes())
            fresh._bytes()[:common] = self._bytes()[:common]
        self._owner = fresh._owner
        return self

    def byteswap(self, dtype: Any) -> None:
        """Turn the bytes of every number of ``dtype`` round, in place."""
        width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        if width > 1:
            self._bytes().view(f"u{width}").byteswap(True)

    def _to(self, dtype: Any) -> Any:
        from .typed import typed_storage_of

        if not isinstance(dtype, dtypes.dtype):
            raise TypeError(f"Argument 'dtype' must be torch.dtype, not {type(dtype)}")
        return typed_storage_of(self._bytes().astype(dtype.numpy), dtype, lent=False)

    @staticmethod
    def from_buffer(buffer: Any, byte_order: Any = None, dtype: Any = None, **extra: Any) -> UntypedStorage:
        """A copy of a buffer's bytes, read as ``dtype`` in ``byte_order``."""
        if byte_order is None and dtype not in (None, dtypes.uint8, dtypes.int8):
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        storage = storage_of(np.frombuffer(bytes(buffer), np.uint8).copy(), lent=False)
        if byte_order not in (None, "native", sys.byteorder) and dtype is not None:
            storage.byteswap(dtype)
        return storage

    @staticmethod
    def from_file(filename: Any, shared: Any = False, nbytes: Any = 0) -> UntypedStorage:
        """The content of a file as memory: ``shared`` writes go into the file, others are seen here alone."""
        storage = storage_of(mapped(filename, shared, nbytes, np.dtype(np.uint8)))
        storage.filename = str(filename) if shared else None
        return storage

    def __sizeof__(self) -> Any:
        return object.__sizeof__(self) + self.nbytes()

    def __repr__(self) -> str:
        summary = f"[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"
        return f"...\n{summary}" if self._meta else " " + "\n ".join(map(str, self.tolist())) + "\n" + summary


def mapped(filename: Any, shared: Any, size: Any, dtype: Any) -> Any:
    """``size`` numbers of a file as an array; a file too short for shared memory is made longer."""
    import mmap

    wanted = operator.index(size) * dtype.itemsize
    if not wanted:
        return np.empty(0, dtype)
    with open(filename, "r+b" if shared else "rb") as file:
        length = file.seek(0, 2)
        if length < wanted:
            if not shared:
                raise RuntimeError(f"unable to mmap {wanted} bytes from file <{filename}>: it holds {length}")
            file.truncate(wanted)
        content = mmap.mmap(file.fileno(), wanted, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    return np.frombuffer(content, dtype)


composite(method=False)(UntypedStorage)


# -- other sizes in place, over the same memory or over more of it -----------------------------------------------------


@composite(function=False)
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None, **named: Any) -> Tensor:
    """Give the tensor other sizes over the same memory, or over more of it; what is new has no particular value."""
    wanted = sizes_of("resize_", sizes, named)
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if memory_format is dtypes.preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    if min(wanted, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    share(self)
    old = self._array
    if old.dtype.metadata:
        self._array = blank(wanted, old.dtype)
        return self
    strides = strides_of(old) if wanted == old.shape else dense(wanted)
    if memory_format is not None:
        strides = format_strides(wanted, format_name(memory_format, len(wanted)))
    memory = owner_of(old)
    offset = (old.ctypes.data - memory.ctypes.data) // old.itemsize
    count = math.prod(wanted)
    if count and (offset + count) * old.itemsize > memory.nbytes:
        grown = np.empty(offset + count, old.dtype)
        grown.view(np.uint8)[: memory.nbytes] = as_bytes(memory)
        self._array = look(grown, (wanted, strides, offset))
    else:
        self._array = look(old, (wanted, strides, 0))
    if wanted != old.shape:
        share(self).version += 1
    return self


@composite(function=False)
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the sizes of another."""
    template = the_template._array
    if memory_format is dtypes.preserve_format:
        memory_format = getattr(dtypes, suggested(template.shape, strides_of(template)))
    return resize_(self, tuple(template.shape), memory_format=memory_format)
