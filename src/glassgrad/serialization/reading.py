"""``torch.load``: checkpoints of PyTorch and of :func:`save`, in zip files and in the format before them."""

from __future__ import annotations

import importlib
import io
import os
import pickle
import re
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import IO, Any

import numpy as np

from ..core.tensor import Tensor
from ..families.storage.functions import UntypedStorage, storage_of
from ..families.storage.typed import TypedStorage
from ..ground import dtypes
from ..ground.names import BACK, OURS
from . import allowed, options, rebuild, weights
from .archive import Reader
from .location import is_meta, restorer
from .options import Budget, earn
from .writing import _check_dill

UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
    "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)
_DOCS = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
_TRUE = ("1", "y", "yes", "true")
_SEEKABLE = (
    ". You can only torch.load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO "
    "and try to load from it instead."
)


def _explained(message: str) -> str:
    """An unpickler's message with PyTorch's advice around it."""
    if re.search(r"GLOBAL (\S+) was not an allowed global by default.", message):
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those "
            f"steps only if you trust the source of the checkpoint\033[0m. \n\t(1) {UNSAFE}\n\t(2) Alternatively, to "
            "load with `weights_only=True` please check the recommended steps in the following error message.\n\t"
            f"WeightsUnpickler error: {message}{_DOCS}"
        )
    heading = f"Weights only load failed. {UNSAFE}\n"
    if not re.search(r"whose module (\S+) is blocked", message):
        heading += (
            "Please file an issue with the following so that we can make `weights_only=True` compatible with your use "
            "case: WeightsUnpickler error: "
        )
    return f"{heading}\n\n{message}{_DOCS}"


def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """The object that was saved to ``f``, a path or a seekable file.

    map_location   where storages go: a device, its name, a dictionary of tags, or ``function(storage, tag)``
    pickle_module  what unpickles the rest, with ``weights_only=False``; ``pickle_load_args`` are for it
    weights_only   True (the default): only tensors, plain data and what ``add_safe_globals`` named; anything else is
                   an UnpicklingError and nothing of the file is run. False: whatever the file says is run
    mmap           map the storages of a file at a path instead of reading them

    RuntimeError for damaged files. Files of PyTorch load without PyTorch: its names stand for ours.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.load.html
    """
    weights_only = _weights_only(weights_only, pickle_module)
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if pickle_load_args and weights_only:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    if mmap is None:
        mmap = options.load.mmap
    _check_dill(pickle_module)
    pickle_load_args.setdefault("encoding", "utf-8")
    if isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        if path.endswith(".safetensors"):
            return _safetensors(path, map_location)
        with open(path, "rb") as file:
            return _load(file, f, map_location, pickle_module, weights_only, mmap, pickle_load_args)
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        message = str(error)
        raise type(error)(message + _SEEKABLE if "seek" in message or "tell" in message else message) from None
    return _load(f, f, map_location, pickle_module, weights_only, mmap, pickle_load_args)


def _weights_only(asked: bool | None, pickle_module: Any) -> bool:
    """What the argument, or else the environment, says."""
    force, force_not = (os.getenv(f"TORCH_FORCE_{name}WEIGHTS_ONLY_LOAD", "0").lower() in _TRUE for name in ("", "NO_"))
    if force and force_not:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if force:
        return True
    if force_not and asked is None:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        return False
    return pickle_module is None if asked is None else bool(asked)


def _safetensors(path: str, map_location: Any) -> Any:
    from .safetensors import load_file

    if isinstance(map_location, dict) or callable(map_location):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise RuntimeError(
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or torch.device "
            "instead."
        )
    return load_file(path, device="cpu" if map_location is None else str(map_location))


def _load(
    file: IO[bytes], f: Any, map_location: Any, pickle_module: Any, weights_only: bool, mmap: bool | None,
    arguments: dict[str, Any],
) -> Any:  # fmt: skip
    is_path = file is not f
    make = _restricted if weights_only else _trusting(pickle_module or pickle)
    here = options.here
    before, here.map_location, here.budget = (here.map_location, here.budget), map_location, None
    if weights_only:
        here.budget = Budget()
    try:
        if _is_zip(file):
            return _read_zip(file, f, map_location, make, weights_only, bool(mmap), arguments, is_path)
        if mmap:
            named = f"{f}, " if isinstance(f, str) else ""
            raise RuntimeError(
                f"mmap can only be used with files saved with `torch.save({named}_use_new_zipfile_serialization=True), "
                "please torch.save your checkpoint with this option in order to use mmap."
            )
        from . import legacy

        return legacy.read(file, map_location, make, arguments)
    except pickle.UnpicklingError as error:
        if not weights_only:
            raise
        raise pickle.UnpicklingError(_explained(str(error))) from None
    finally:
        here.map_location, here.budget = before


def _is_zip(file: IO[bytes]) -> bool:
    start = file.tell()
    first = file.read(4)
    file.seek(start)
    return first == b"PK\3\4"


# -- unpicklers --------------------------------------------------------------------------------------------------------

Unpicklers = Callable[..., Any]  # (file, persistent_load, **arguments) -> something with load()


def _restricted(file: Any, persistent_load: Any, **arguments: Any) -> Any:
    """The unpickler that calls only what is allowed."""
    unpickler = weights.Unpickler(file, encoding=arguments.get("encoding", "utf-8"))
    unpickler.persistent_load = persistent_load
    return unpickler


def _trusting(pickle_module: Any) -> Unpicklers:
    """The unpickler of a module, which finds PyTorch's names here."""

    class Unpickler(pickle_module.Unpickler):  # type: ignore[misc]
        def find_class(self, module: str, name: str) -> Any:
            if type(name) is str and "Storage" in name:
                try:
                    return allowed.StorageType(name)
                except KeyError:
                    pass
            if module == "torch.tensor":
                module = "torch._tensor"
            if module == "torch" or module.startswith("torch."):
                return locate(module, name)
            return super().find_class(module, name)

    def make(file: Any, persistent_load: Any, **arguments: Any) -> Any:
        unpickler = Unpickler(file, **arguments)
        unpickler.persistent_load = persistent_load
        return unpickler

    return make


# -- zip files ---------------------------------------------------------------------------------------------------------


def _read_zip(
    file: IO[bytes], f: Any, map_location: Any, make: Unpicklers, weights_only: bool, mmap: bool,
    arguments: dict[str, Any], is_path: bool,
) -> Any:  # fmt: skip
    archive = Reader(file)
    if "constants.pkl" in archive:
        warnings.warn(
            "'torch.load' received a zip file that looks like a TorchScript archive dispatching to 'torch.jit.load' "
            "(call 'torch.jit.load' directly to silence this warning)",
            UserWarning,
            stacklevel=4,
        )
        if weights_only:
            raise RuntimeError(
                f"Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. {UNSAFE}"
            )
        raise RuntimeError(
            "TorchScript programs cannot be run here: load the file with PyTorch and save the state_dict() of its "
            "module instead"
        )
    if mmap and not is_path:
        raise ValueError("f must be a file path in order to use the mmap argument")
    storages = _ZipStorages(archive, map_location, _mapping(file) if mmap else None)
    pickled = io.BytesIO(archive.read("data.pkl"))
    return make(pickled, storages.persistent_load, **arguments).load()


def _mapping(file: IO[bytes]) -> Any:
    """The whole file as memory: writes go into the file where mapping is set to be shared, else nowhere."""
    import mmap

    shared = sys.platform != "win32" and options.load.mmap_flags == mmap.MAP_SHARED
    if not shared:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    with open(file.name, "r+b") as writable:
        return mmap.mmap(writable.fileno(), 0, access=mmap.ACCESS_WRITE)


class _ZipStorages:
    """Makes the storages of an archive when its pickle asks for them, each once."""

    def __init__(self, archive: Reader, map_location: Any, mapping: Any) -> None:
        self.archive, self.mapping = archive, mapping
        self.restore, self.meta = restorer(map_location), is_meta(map_location)
        self.known: dict[str, TypedStorage] = {}
        self.swap = _byte_order(archive) != sys.byteorder

    def persistent_load(self, pid: Any) -> TypedStorage:
        """The storage that a pickle names: ('storage', kind, key, tag, number of elements)."""
        kind, key, tag, count = checked_id(pid, 5)[1:]
        dtype = dtypes.uint8 if kind is UntypedStorage else kind.dtype
        if key not in self.known:
            untyped = self._load(dtype, key, count)
            if not self.meta:
                untyped = self.restore(untyped, tag)
            self.known[key] = TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)
        return self.known[key]

    def _load(self, dtype: Any, key: str, count: int) -> UntypedStorage:
        name, size = f"data/{key}", count * dtype.itemsize
        stored = self.archive.size(name)
        if size > stored:
            raise RuntimeError(
                f"the storage {name} should have {size} bytes, but the file holds {stored}: "
                "it is damaged or was made up"
            )
        if self.meta:
            return UntypedStorage(size, device="meta")
        earn(min(size, self.archive.backing(name)))
        if options.here.skip:
            return UntypedStorage(size)
        if self.mapping is not None and self.archive.is_stored(name):
            owner = self._mapped(name, dtype, count)
        elif size == stored:
            owner = np.empty(count, dtype.numpy)
            self.archive.load(name, owner.view(np.uint8))
        else:
            owner = self.archive.load(name)[:size].view(dtype.numpy).copy()
        untyped = storage_of(owner, lent=False)
        if self.swap:
            untyped.byteswap(dtype)
        return untyped

    def _mapped(self, name: str, dtype: Any, count: int) -> Any:
        start = self.archive.content_offset(name)
        if not count:
            return np.empty(0, dtype.numpy)
        if start % dtype.itemsize:  # not on a boundary, as no writer of today leaves it
            return np.frombuffer(bytearray(self.mapping[start : start + count * dtype.itemsize]), dtype.numpy)
        return np.frombuffer(self.mapping, dtype.numpy, count, start)


def checked_id(pid: Any, length: int) -> tuple[Any, ...]:
    """A persistent id whose parts are what they should be, names as strings; UnpicklingError otherwise."""
    if type(pid) is not tuple or len(pid) != length:
        raise pickle.UnpicklingError(f"a storage is named by a tuple of {length} parts, but got {type(pid).__name__}")
    word, kind, key, tag, count = (weights.plain(part) for part in pid[:5])
    if type(word) is not str or word != "storage":
        raise pickle.UnpicklingError(f"Unknown typename for persistent_load, expected 'storage' but got '{word!s:.80}'")
    if kind is not UntypedStorage and not isinstance(kind, allowed.StorageType):
        raise pickle.UnpicklingError(f"a storage must be of a storage type, but got {type(kind).__name__}")
    if type(key) is not str or type(tag) is not str or type(count) is not int or count < 0:
        raise pickle.UnpicklingError("a storage needs a key, a location and a number of elements")
    return (word, kind, key, tag, count, *pid[5:])


def _byte_order(archive: Reader) -> str:
    if "byteorder" in archive:
        order = archive.read("byteorder", 64)
        if order not in (b"little", b"big"):
            raise ValueError("Unknown endianness type: " + order.decode("ascii", "replace"))
        return order.decode()
    asked = options.load.endianness
    if asked is options.LoadEndianness.NATIVE:
        return sys.byteorder
    return "big" if asked is options.LoadEndianness.BIG else "little"


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The classes and functions that a checkpoint names and that are not allowed; nothing of it is run.

    Source: https://docs.pytorch.org/docs/stable/notes/serialization.html
    """
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return get_unsafe_globals_in_checkpoint(file)
    if not _is_zip(f):
        raise ValueError("Expected input to be a checkpoint returned by torch.save")
    archive = Reader(f)
    if "constants.pkl" in archive:
        raise ValueError("Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint")
    known = {*allowed.globals_by_default(), *allowed.globals_by_user()}
    return sorted(weights.globals_in(archive.read("data.pkl")) - known)


# -- what the names in a checkpoint stand for here ---------------------------------------------------------------------
# A name of PyTorch's is looked up in the module of the same name, then in the modules around it.


def locate(module: str, name: str) -> Any:
    """What PyTorch's name stands for here; AttributeError where it stands for nothing."""
    if (module, name) in BACK:
        module, name = BACK[module, name]
        return getattr(importlib.import_module(module), name)
    if module == "torch._utils" and hasattr(rebuild, name):
        return getattr(rebuild, name)
    if module == "torch._C" and name == "_VariableFunctionsClass":
        return importlib.import_module(OURS)
    if module == "torch._C" and name in ("TensorBase", "_TensorBase"):
        return Tensor
    path = OURS + module[len("torch") :]
    while path:
        attribute = _attribute(_module(path), name)
        if attribute is not None:
            return attribute
        path = path.rpartition(".")[0]
    raise AttributeError(f"{module}.{name} is not in {OURS} {sys.modules[OURS].RELEASE}")


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
            raise
        return None


def _attribute(thing: Any, name: str) -> Any:
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing
