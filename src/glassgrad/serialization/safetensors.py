"""Checkpoints as safetensors files: tensors and text, nothing that could be run; by the library of that name.

Where ``import torch`` means glassgrad, this module is ``safetensors.torch``.
Source: https://huggingface.co/docs/safetensors/api/torch
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share, wrap
from ..ground import dtypes
from ..ground.output import replacing
from ..ground.window import owner_of

_TYPES: dict[str, dtypes.dtype] = {
    "F64": dtypes.float64, "F32": dtypes.float32, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "I64": dtypes.int64,
    "I32": dtypes.int32, "I16": dtypes.int16, "I8": dtypes.int8, "U8": dtypes.uint8, "U16": dtypes.uint16,
    "U32": dtypes.uint32, "U64": dtypes.uint64, "BOOL": dtypes.bool, "C64": dtypes.complex64,
}  # fmt: skip
_NOT_CONTIGUOUS = (
    "You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you are trying to "
    "save tensors which are reference of each other in which case it's recommended to save only the full tensors, and "
    "reslice at load time, or simply call `.contiguous()` on your tensor to pack it before saving."
)
_SHARED = """
            Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them again: {failing}.
            A potential way to correctly save your model is to use `save_model`.
            More information at https://huggingface.co/docs/safetensors/torch_shared_tensors
            """  # noqa: E501
_NO_NAME = (
    "Error while trying to find names to remove to save state dict, but found no suitable name to keep for saving "
    "amongst: {shared}. None is covering the entire storage.Refusing to save/load the model since you could be storing "
    "much more memory than needed. Please refer to https://huggingface.co/docs/safetensors/torch_shared_tensors for "
    "more information. Or open an issue."
)


def _library() -> Any:
    try:
        import safetensors
    except ImportError as error:
        raise ImportError("safetensors files need the safetensors package: pip install safetensors") from error
    return safetensors


# -- memory that several tensors share ---------------------------------------------------------------------------------


def _extent(tensor: Any) -> tuple[int, int]:
    """First and last address of a tensor's elements."""
    share(tensor)
    data = tensor._array
    first = int(data.__array_interface__["data"][0])
    if not data.size:
        return first, first
    return first, first + sum((n - 1) * s for n, s in zip(data.shape, data.strides, strict=True)) + data.itemsize


def storage_ptr(tensor: Any) -> int:
    """The address of the memory that a tensor shows a part of; 0 of a meta tensor."""
    return 0 if tensor.is_meta else int(tensor.untyped_storage().data_ptr())


def storage_size(tensor: Any) -> int:
    """The size of that memory in bytes; of a meta tensor its own."""
    return int(tensor.nbytes if tensor.is_meta else tensor.untyped_storage().nbytes())


def _end_ptr(tensor: Any) -> int:
    """The address after a tensor's last element."""
    return _extent(tensor)[1]


def _shared(tensors: Mapping[str, Any]) -> list[set[str]]:
    """Names whose tensors overlap in memory, in groups; single names in groups of their own."""
    by_memory: dict[int, list[str]] = {}
    for name, tensor in tensors.items():
        if tensor._array.dtype.metadata is None and tensor.untyped_storage().nbytes():
            by_memory.setdefault(id(owner_of(tensor._array)), []).append(name)
    groups: list[set[str]] = []
    for members in by_memory.values():
        stop = None
        for start, end, name in sorted((*_extent(tensors[name]), name) for name in members):
            if stop is None or start >= stop:
                groups.append({name})
            else:
                groups[-1].add(name)
            stop = end
    return groups


def _is_complete(tensor: Any) -> bool:
    return bool(tensor._array.nbytes == owner_of(tensor._array).nbytes)


def _duplicates(
    tensors: Mapping[str, Any], preferred_names: Iterable[str] = (), discard_names: Iterable[str] = ()
) -> dict[str, list[str]]:
    """Of each group of names for the same memory, the one to keep and those to leave out."""
    left_out: dict[str, list[str]] = {}
    for shared in _shared(tensors):
        if len(shared) < 2:
            continue
        complete = {name for name in shared if _is_complete(tensors[name])}
        if not complete:
            raise RuntimeError(_NO_NAME.format(shared=shared))
        keep = min(complete & set(preferred_names) or complete - set(discard_names) or complete)
        left_out[keep] = sorted(shared - {keep})
    return left_out


_find_shared_tensors, _remove_duplicate_names = _shared, _duplicates  # as packages import them

# -- saving ------------------------------------------------------------------------------------------------------------


def _checked(tensors: Any) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
        if tensor._array.dtype.metadata is not None:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        if tensor.dtype not in _TYPES.values():
            raise KeyError(tensor.dtype)
    failing = [names for names in _shared(tensors) if len(names) > 1]
    if failing:
        raise RuntimeError(_SHARED.format(failing=failing))


def save(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """A dictionary of contiguous tensors as the bytes of a safetensors file; ``metadata`` is text to go with them.

    ValueError for what is no tensor or not contiguous, RuntimeError for tensors that share memory.
    """
    library = _library()
    _checked(tensors)
    parts: dict[str, Any] = {}
    alive = []  # the library is told addresses
    for name, tensor in tensors.items():
        data = np.asarray(tensor._array)
        if not data.flags.c_contiguous:
            raise ValueError(_NOT_CONTIGUOUS.format(name=name))
        alive.append(data)
        shape, kind = list(data.shape), tensor.dtype.name
        if hasattr(library, "TensorSpec"):
            address = int(data.__array_interface__["data"][0]) if data.size else 0
            parts[name] = library.TensorSpec(dtype=kind, shape=shape, data_ptr=address, data_len=data.nbytes)
        else:  # before 0.8
            parts[name] = {"dtype": kind, "shape": shape, "data": data.tobytes()}
    return bytes(library.serialize(parts, metadata=metadata))


def save_file(
    tensors: dict[str, Tensor], filename: str | os.PathLike[str], metadata: dict[str, str] | None = None
) -> None:
    """Write a dictionary of tensors to a safetensors file, whole or not at all; errors as of :func:`save`."""
    content = save(tensors, metadata)
    with replacing(os.fspath(filename)) as file:
        file.write(content)


def save_model(
    model: Any, filename: str, metadata: dict[str, str] | None = None, force_contiguous: bool = True
) -> None:
    """Write a module's state to a safetensors file; of names for the same tensor one is kept, and the text says so."""
    state = dict(model.state_dict())
    for keep, names in _duplicates(state).items():
        for name in names:
            metadata = metadata or {}
            metadata.setdefault(name, keep)
            del state[name]
    if force_contiguous:
        state = {name: tensor.contiguous() for name, tensor in state.items()}
    try:
        save_file(state, filename, metadata=metadata)
    except ValueError as error:
        raise ValueError(
            f"{error} Or use save_model(..., force_contiguous=True), read the docs for potential caveats."
        ) from None


# -- loading -----------------------------------------------------------------------------------------------------------


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of the bytes of a safetensors file."""
    tensors: dict[str, Tensor] = {}
    for name, part in _library().deserialize(data):
        if part["dtype"] not in _TYPES:
            raise KeyError(f"{part['dtype']}: glassgrad has no such dtype (tensor `{name}`)")
        kind = _TYPES[part["dtype"]].numpy
        content = part["data"] if isinstance(part["data"], bytearray) else bytearray(part["data"])
        flat = np.frombuffer(content, kind) if content else np.empty(0, kind)
        tensors[name] = wrap(flat.reshape(part["shape"]))
        share(tensors[name])
    return tensors


def load_file(
    filename: str | os.PathLike[str], device: str | int = "cpu", *, backend: str = "mmap"
) -> dict[str, Tensor]:
    """The tensors of a safetensors file."""
    _library()
    try:
        with open(filename, "rb") as file:
            tensors: dict[str, Any] = load(file.read())
    except FileNotFoundError:
        raise FileNotFoundError(f"No such file or directory: {os.fspath(filename)}") from None
    return tensors if str(device) == "cpu" else {name: tensor.to(device) for name, tensor in tensors.items()}


def load_model(
    model: Any, filename: str | os.PathLike[str], strict: bool = True, device: str | int = "cpu", *,
    backend: str = "mmap",
) -> tuple[set[str], list[str]]:  # fmt: skip
    """Load a safetensors file into a module: names that are missing, and names that nobody wanted.

    With ``strict`` such names are a RuntimeError. Names that :func:`save_model` left out are no missing ones.
    """
    saved = load_file(filename, device=device, backend=backend)
    left_out = _duplicates(model.state_dict(), preferred_names=saved)
    result = model.load_state_dict(saved, strict=False)
    missing, unexpected = set(result[0]), list(result[1])
    for others in left_out.values():
        for name in others:
            if name in missing:
                missing.remove(name)
            else:
                unexpected.append(name)
    if strict and (missing or unexpected):
        message = f"Error(s) in loading state_dict for {type(model).__name__}:"
        for kind, names in ("Missing", missing), ("Unexpected", unexpected):
            if names:
                message += f"\n    {kind} key(s) in state_dict: " + ", ".join(f'"{name}"' for name in sorted(names))
        raise RuntimeError(message)
    return missing, unexpected
