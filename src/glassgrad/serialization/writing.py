"""``torch.save``: what of tensors goes into a checkpoint, and into which file."""

from __future__ import annotations

import copyreg
import io
import os
import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FunctionType
from typing import Any

from ..core.tensor import Tensor, share, wrap
from ..families.create.shared import from_numpy
from ..families.query.functions import stride
from ..families.sparse.kernels import Coo
from ..families.storage.functions import UntypedStorage, as_bytes, storage_of
from ..families.storage.interchange import OWN, place_in_memory, saving, warn_of_hooks
from ..families.storage.typed import CLASSES, NAMES, TypedStorage
from ..ground import dtypes
from ..ground.generator import Generator
from ..ground.names import OURS, torch_name
from ..ground.output import replacing
from ..ground.size import Size
from ..tensor.parameter import Parameter
from ..tensor.sparse import SparseTensor
from . import options, rebuild
from .archive import Writer
from .location import location_tag

DEFAULT_PROTOCOL = 2
_SEVERAL = "Cannot save multiple tensors or storages that view the same data as different types"
_NO_FILE = "expected 'f' to be string, path, or a file-like object with a 'write' attribute"


# -- what of a tensor is kept ------------------------------------------------------------------------------------------


def _state(self: Any) -> Any:
    """The attributes that a tensor was given, and the slots of its subclass."""
    if type(self).__getstate__ is not object.__getstate__:
        return self.__getstate__()
    attributes = {name: value for name, value in self.__dict__.items() if name not in OWN} or None
    base_slots = set(copyreg._slotnames(Tensor))  # type: ignore[attr-defined]
    slots = {
        name: getattr(self, name)
        for name in copyreg._slotnames(type(self))  # type: ignore[attr-defined]
        if name not in base_slots and hasattr(self, name)
    }
    return (attributes, slots) if slots else attributes


def reduced(self: Tensor) -> tuple[Any, ...]:
    """What a checkpoint keeps of a tensor: its storage and its place there, ``requires_grad``, attributes."""
    if isinstance(self, SparseTensor):
        carrier = self._array
        by_place = isinstance(carrier, Coo)
        parts = (carrier.indices,) if by_place else (carrier.starts, carrier.places)
        known = (bool(carrier.coalesced),) if by_place else ()
        tensors = map(wrap, (*parts, carrier.values))
        return rebuild._rebuild_sparse_tensor, (self.layout, (*tensors, Size(carrier.shape), *known))
    state = _state(self)
    if isinstance(self, Parameter):
        data = self.data
        if state:
            return rebuild._rebuild_parameter_with_state, (data, self.requires_grad, OrderedDict(), state)
        return rebuild._rebuild_parameter, (data, self.requires_grad, OrderedDict())
    function, args = _placed(self)
    if type(self) is Tensor and not state:
        return function, args
    return rebuild._rebuild_from_type_v2, (function, type(self), args, state)


def _placed(self: Tensor) -> tuple[Any, tuple[Any, ...]]:
    warn_of_hooks(self)
    dtype, sizes = self.dtype, tuple(self._array.shape)
    steps: Any = stride(self)
    if self._array.dtype.metadata is not None:
        return rebuild._rebuild_meta_tensor_no_storage, (dtype, sizes, steps, self.requires_grad)
    share(self)
    owner, offset = place_in_memory(self._array) if self._array.size else (self._array, 0)
    if offset % dtype.itemsize:
        owner, offset = self._array.copy(), 0
    if owner is not self._array and not _is_in(self._array, owner):  # it was copied
        steps = tuple(step // dtype.itemsize for step in owner.strides)
    untyped = storage_of(owner)
    args: tuple[Any, ...] = (offset // dtype.itemsize, sizes, steps, self.requires_grad, OrderedDict())
    if dtype in NAMES:
        return rebuild._rebuild_tensor_v2, (_typed(untyped, dtype), *args)
    return rebuild._rebuild_tensor_v3, (untyped, *args, dtype)


def _is_in(array: Any, owner: Any) -> bool:
    start, first = (int(a.__array_interface__["data"][0]) for a in (array, owner))
    return 0 <= start - first < max(owner.nbytes, 1)


def _typed(untyped: UntypedStorage, dtype: Any) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


def _generator(self: Generator) -> tuple[Any, ...]:
    seed, offset, state = self.__reduce__()[2]
    return type(self), (self.device,), (seed, offset, from_numpy(state))


def _layout(self: Any) -> tuple[Any, ...]:
    return rebuild._get_layout, (str(self),)


# -- the pickle --------------------------------------------------------------------------------------------------------


class Storages:
    """The storages met while pickling, each under a key of its own."""

    def __init__(self) -> None:
        self.by_key: dict[str, UntypedStorage] = {}
        self.keys: dict[int, str] = {}
        self.dtypes: dict[int, Any] = {}

    def add(self, storage: Any) -> tuple[Any, str, str, int]:
        """Class, key, tag and number of elements of a storage, as a checkpoint says them."""
        untyped = storage.untyped()
        if isinstance(storage, TypedStorage) and storage.dtype in CLASSES_OF:
            kind, dtype, count = CLASSES_OF[storage.dtype], storage.dtype, storage.size()
        else:
            kind, dtype, count = UntypedStorage, dtypes.uint8, untyped.nbytes()
        if untyped.data_ptr() and self.dtypes.setdefault(untyped.data_ptr(), dtype) is not dtype:
            raise RuntimeError(_SEVERAL)
        key = self.keys.setdefault(untyped._cdata, self.key(untyped))
        self.by_key.setdefault(key, untyped)
        return kind, key, location_tag(untyped), count

    def key(self, untyped: UntypedStorage) -> str:
        """The key of a new storage."""
        return str(len(self.keys))


CLASSES_OF = {dtype: CLASSES[name] for dtype, name in NAMES.items()}
_NAMED = (type, FunctionType, dtypes.dtype, dtypes._Named)  # what is pickled by its name


@contextmanager
def _reducing() -> Iterator[None]:
    before, saving.reduce = saving.reduce, reduced
    try:
        yield
    finally:
        saving.reduce = before


def pickled(obj: Any, pickle_module: Any, protocol: int, identify: Any) -> bytes:
    """The pickle of an object, with PyTorch's names for what is ours; ``identify(obj)`` gives persistent ids."""
    buffer = io.BytesIO()
    ours: set[tuple[str, str]] = set()
    prefix = OURS + "."
    renaming = _renaming if protocol < 4 else _renaming_late

    class Pickler(renaming(pickle_module, protocol)):  # type: ignore[misc]
        dispatch_table = {**copyreg.dispatch_table, Generator: _generator, dtypes.layout: _layout}

        def persistent_id(self, obj: Any) -> Any:
            if isinstance(obj, _NAMED):
                home = obj.__module__
                if type(home) is str and home.startswith(prefix):
                    name = getattr(obj, "__qualname__", None) or obj.__reduce__()
                    ours.add((home, str(name)))
            return identify(obj)

    with _reducing():
        Pickler(buffer, protocol=protocol).dump(obj)
    content = buffer.getvalue()
    return _renamed(content, ours) if protocol < 4 else content


def _renaming(pickle_module: Any, protocol: int) -> Any:
    return pickle_module.Pickler


def _renaming_late(pickle_module: Any, protocol: int) -> Any:
    """For protocols that spread names over several opcodes: a pickler that writes PyTorch's names itself."""
    if pickle_module is not pickle:
        return pickle_module.Pickler

    python: Any = pickle._Pickler  # type: ignore[attr-defined]

    class Pickler(python):  # type: ignore[misc]
        def save_global(self, obj: Any, name: Any = None) -> None:
            home, own = obj.__module__ or "", name or getattr(obj, "__qualname__", "")
            module, public = torch_name(home, own)
            if (module, public) == (home, own):
                super().save_global(obj, name)
                return
            self.save(module)
            self.save(public)
            self.write(pickle.STACK_GLOBAL)
            self.memoize(obj)

        dispatch = {**python.dispatch, FunctionType: save_global}

    return Pickler


def _renamed(content: bytes, ours: set[tuple[str, str]]) -> bytes:
    """A pickle of protocol 3 or less with PyTorch's names in the place of ours, which stand there once each."""
    for home, name in ours:
        theirs = torch_name(home, name)
        line = f"c{home}\n{name}\n".encode()
        if content.count(line) > 1:  # somebody's string looks like it
            at = _offset_of_global(content, f"{home} {name}")
            if at is None:
                continue
        else:
            at = content.find(line)
        if at >= 0:
            content = content[:at] + "c{}\n{}\n".format(*theirs).encode() + content[at + len(line) :]
    return content


def _offset_of_global(content: bytes, name: str) -> int | None:
    import pickletools

    for opcode, argument, at in pickletools.genops(content):
        if opcode.name == "GLOBAL" and argument == name:
            return at
    return None


# -- the file ----------------------------------------------------------------------------------------------------------


def save(
    obj: object, f: Any, pickle_module: Any = pickle, pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Write an object with its tensors to ``f``, a path or a file, so that PyTorch and :func:`load` can read it.

    Tensors that share memory share it in the file; views keep their strides. A path is replaced only when everything
    is written: a failure on the way leaves the old file. ``pickle_module`` and ``pickle_protocol`` say how the rest of
    the object is written; ``_use_new_zipfile_serialization=False`` gives the format from before PyTorch 1.6.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.save.html
    """
    _check_dill(pickle_module)
    if isinstance(f, (str, os.PathLike)):
        f = os.fspath(f)
    elif not hasattr(f, "write"):
        raise AttributeError(_NO_FILE)
    if not isinstance(f, str) and not callable(f.write if hasattr(f, "write") else None):
        raise TypeError(f"Buffer of {str(type(f)).strip('<>')} has no callable attribute 'write'")
    if not _use_new_zipfile_serialization:
        if options.here.skip:
            raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
        from .legacy import write

        with replacing(f) if isinstance(f, str) else nullcontext(f) as file:
            write(obj, file, pickle_module, pickle_protocol)
            file.flush()
        return
    folder = _folder(f) if isinstance(f, str) else "archive"
    storages = Storages()

    def identify(obj: Any) -> Any:
        if isinstance(obj, (TypedStorage, UntypedStorage)):
            return "storage", *storages.add(obj)
        return None

    content = pickled(obj, pickle_module, pickle_protocol, identify)
    with replacing(f) if isinstance(f, str) else nullcontext(f) as file:
        writer = Writer(file, folder, options.save.compute_crc32, options.save.storage_alignment)
        writer.write("data.pkl", content)
        writer.write(".format_version", b"1")
        writer.write(".storage_alignment", str(options.save.storage_alignment).encode())
        if not _disable_byteorder_record:
            writer.write("byteorder", sys.byteorder.encode())
        for key, storage in storages.by_key.items():
            if options.here.skip or storage._meta:
                writer.reserve(f"data/{key}", storage.nbytes())
            else:
                writer.write(f"data/{key}", as_bytes(storage._owner))
        writer.finish()
        if hasattr(file, "flush"):
            file.flush()


def _folder(path: str) -> str:
    """The archive's folder: the file's name without its ending; RuntimeError for a name or place that will not do."""
    parent, base = os.path.split(path)
    stem, dot, _ = base.rpartition(".")
    stem = stem if dot else base
    if not stem:
        raise RuntimeError(f"invalid file name: {path}")
    if parent and not os.path.isdir(parent):
        raise RuntimeError(f"Parent directory {parent} does not exist.")
    if os.path.isdir(path):
        raise RuntimeError("open file failed with strerror: Is a directory")
    return stem if path.isascii() else "archive"


def _check_dill(pickle_module: Any) -> None:
    if pickle_module is not None and getattr(pickle_module, "__name__", "") == "dill":
        parts = [int(part) if part.isdigit() else 0 for part in pickle_module.__version__.split(".")[:3]]
        if tuple(parts) < (0, 3, 1):
            raise ValueError(
                f"'torch' supports dill >= (0, 3, 1), but you have dill {pickle_module.__version__}. Please upgrade "
                "dill or switch to 'pickle'"
            )
