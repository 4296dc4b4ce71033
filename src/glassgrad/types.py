"""Roof: the ``torch.types`` namespace: names for annotations; of symbolic numbers there are none here."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias, Union

from .core.tensor import Tensor as Tensor
from .ground.device import device as _device
from .ground.dtypes import dtype as _dtype
from .ground.dtypes import layout as _layout  # noqa: F401
from .ground.size import Size as Size

__all__ = ["Device", "FileLike", "Number", "Storage"]

# By these names annotations reach Python's own types in the package, where ``bool``, ``int`` and ``float`` are dtypes.
_bool, _bytes, _complex = builtins.bool, builtins.bytes, builtins.complex
_float, _int, _str = builtins.float, builtins.int, builtins.str

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors: TypeAlias = Tensor | Sequence[Tensor | None]
_TensorOrTensorsOrGradEdge: TypeAlias = Union[Tensor, Sequence[Tensor], "GradientEdge", Sequence["GradientEdge"]]  # type: ignore[name-defined] # noqa: F821
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_symsize: TypeAlias = Size | Sequence[int]

IntLikeType: TypeAlias = int
FloatLikeType: TypeAlias = float
BoolLikeType: TypeAlias = bool
py_sym_types: tuple[type, ...] = ()

Number: TypeAlias = int | float | bool
_Number = (int, float, bool)
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
Device: TypeAlias = _device | str | int | None


class _Symbol:
    """A number that is not known yet: there are none, and their classes are there to be asked for."""

    def __init__(self, node: Any) -> None:
        raise NotImplementedError(f"torch.{type(self).__name__}: sizes are numbers in glassgrad, and never symbols")


class SymInt(_Symbol):
    """A whole number that is not known yet."""


class SymFloat(_Symbol):
    """A floating point number that is not known yet."""


class SymBool(_Symbol):
    """A truth value that is not known yet."""


SymInt.__module__ = SymFloat.__module__ = SymBool.__module__ = "torch"


class Storage:
    """What annotations say of a storage of any kind; no storage derives from it, in PyTorch neither."""

    device: _device
    dtype: _dtype

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    __deepcopy__ = _new_shared = _write_file = element_size = is_shared = share_memory_ = nbytes = _refuse
    cpu = data_ptr = from_file = _new_with_file = _refuse
