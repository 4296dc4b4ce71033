"""Sparse tensors for the user: how they are made, what they are made of, how they are written to."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.record import VersionCounter
from ...core.row import TABLE
from ...core.tensor import Tensor, require_grad, wrap
from ...ground import dtypes
from ...ops.declare import composite
from ...tensor.sparse import CompressedTensor, CooTensor, SparseTensor
from ..create import construct, shared
from ..storage import interchange
from . import rows
from .kernels import Compressed, Coo, coalesced

_STANDING: dict[str, Callable[..., Any]] = {}  # by the row of the table that they stand for
#: Functions of one number that give nought for nought: they are taken of the values alone.
_OF_VALUES = (
    "abs", "sqrt", "sin", "sinh", "tan", "tanh", "asin", "asinh", "atan", "atanh", "expm1", "log1p", "erf", "erfinv",
    "ceil", "floor", "round", "trunc", "frac", "sign", "sgn", "relu", "deg2rad", "rad2deg", "conj_physical",
)  # fmt: skip


def dispatch(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What a row of the table gives for sparse tensors."""
    row = func.row
    if row.name in rows.ROWS:
        return NotImplemented  # the row itself takes them
    if row.name in _OF_VALUES:
        return of_values(row.caller, *args)
    standing = _STANDING.get(row.name)
    carrier = next(tensor._array for tensor in (args[0] if row.listed else args) if isinstance(tensor, SparseTensor))
    if standing is None or kwargs:
        return carrier.refuse(row.name)
    return standing(*args)


def of_values(function: Any, self: Any, *args: Any) -> Any:
    """A function of the values alone, at the same places."""
    self = rows.coalesced(self) if isinstance(self, CooTensor) else self
    return rows.at_places_of(function(rows.values_of(self), *args), self.detach())


def stands_for(*names: str) -> Callable[[Any], Any]:
    """Declare what is called in place of rows of the table where an argument is sparse."""

    def declare(function: Any) -> Any:
        for name in names:
            if name not in TABLE:
                raise TypeError(f"no row is called {name}")
            _STANDING[name] = function
        return function

    return declare


def method(*names: str, on: type = SparseTensor) -> Callable[[Any], Any]:
    """Declare a method of sparse tensors."""

    def declare(function: Any) -> Any:
        for name in names or (function.__name__,):
            setattr(on, name, function)
        return function

    return declare


# -- making them ------------------------------------------------------------------------------------------------------


@composite(method=False, page="torch")
def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, check_invariants: bool | None = None, is_coalesced: bool | None = None,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """The tensor whose elements at ``indices`` (dimensions by count) are ``values``, and nought elsewhere.

    Values of the same place add up. ``sparse_coo_tensor(size)`` is empty.
    """
    if values is None:
        shape = tuple(size if indices is None else indices)
        kind = (dtypes.get_default_dtype() if dtype is None else dtype).numpy
        tensor = wrap(Coo(np.zeros((len(shape), 0), np.int64), np.zeros(0, kind), shape, is_coalesced is not False))
        require_grad(tensor, requires_grad)
        return tensor
    at = shared.as_tensor(indices).detach()._array  # type: ignore[attr-defined]
    at = np.asarray(at).astype(np.int64)
    data: Any = values if isinstance(values, Tensor) else construct.tensor(values)
    if dtype is not None:
        data = data.to(dtype)
    if requires_grad:
        data = data.detach()
    if at.ndim == 1:
        at = at[:, None]
    shape = _checked_coo(at, data._array, size)
    if check_invariants or (check_invariants is None and checking[0]):
        if at.size and (at < 0).any():
            raise RuntimeError(f"found negative index {at.min()} for dim {int((at < 0).any(1).argmax())}")
        for dim, row in enumerate(at):
            if len(row) and row.max() >= shape[dim]:
                raise RuntimeError(
                    f"size is inconsistent with indices: for dim {dim}, size is {shape[dim]} but found index "
                    f"{row.max()}"
                )
        if is_coalesced and not np.array_equal(at, coalesced(Coo(at, data._array, shape)).indices):
            raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")
    tensor = rows.sparse_from(wrap(at), data, shape, bool(is_coalesced))
    if requires_grad:
        require_grad(tensor, True)
    return tensor


checking = [False]  # whether new sparse tensors are checked unless told


def _checked_coo(at: Any, values: Any, size: Any) -> tuple[int, ...]:
    if at.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(at.shape)}")
    if size is None:
        return (*(at.max(1) + 1).tolist(), *values.shape[1:]) if at.size else (*[0] * len(at), *values.shape[1:])
    shape = tuple(int(n) for n in size)
    if len(shape) != len(at) + values.ndim - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{len(at)}, dense_dim = {values.ndim - 1}"
        )
    if at.shape[1] != values.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {at.shape[1]}, nnz from values: "
            f"{values.shape[0]}"
        )
    return shape


@composite(function=False)
def to_sparse(
    self: Tensor, sparse_dim: int | None = None, *, layout: Any = None, blocksize: Any = None,
    dense_dim: int | None = None,
) -> Any:  # fmt: skip
    """What is not nought: ``sparse_dim`` leading dimensions sparse (all, unless told), or in a ``layout``."""
    if layout in LAYOUTS:
        return in_layout(self, layout, blocksize)
    if layout is not None and layout is not dtypes.sparse_coo:
        raise NotImplementedError(f"to_sparse: the layout {layout} is not supported; use torch.sparse_coo")
    if isinstance(self, CooTensor):
        return self
    if isinstance(self, CompressedTensor):
        return rows.compressed_to_coo(self)
    if sparse_dim is None:
        return rows.to_sparse_all(self)
    if not 0 < sparse_dim <= max(self._array.ndim, 1):
        raise RuntimeError(f"sparse_dim must be in range [1, {self._array.ndim}], but got {sparse_dim}")
    return rows.to_sparse(self, sparse_dim)


@composite(function=False)
def to_sparse_coo(self: Tensor) -> Any:
    """What is not nought, by coordinates."""
    return to_sparse(self)


LAYOUTS = {getattr(dtypes, f"sparse_{name}"): name for name in rows.to_compressed}


def in_layout(self: Any, layout: Any, block: Any = None) -> Any:
    """What of a matrix is not nought, by compressed lines; in blocks of a height and a width, where it has blocks."""
    name = LAYOUTS[layout]
    if self._array.ndim != 2:
        raise NotImplementedError(f"to_sparse_{name}: only matrices are supported, no batches")
    if self.layout is layout and name[0] != "b":
        return self
    if (block is None) == (name[0] == "b"):
        preposition = "with" if block else "without"
        raise RuntimeError(
            f"dense_to_sparse: conversion from Strided to Sparse{name.capitalize()} {preposition} blocksize argument "
            "given is not supported"
        )
    size = tuple(block or ())
    if any(n % step for n, step in zip(self._array.shape, size, strict=False)):
        sizes, steps = (",".join(map(str, numbers)) for numbers in (self._array.shape, size))
        raise RuntimeError(
            f"dense_to_sparse_{name}: tensor sparse size ({sizes}) must be divisible by given blocksize ({steps})"
        )
    return rows.to_compressed[name](self, name, size)


@composite(function=False)
def sparse_mask(self: Tensor, mask: Any) -> Any:
    """The values of a tensor where the sparse tensor ``mask`` has some."""
    if not isinstance(mask, SparseTensor):
        raise RuntimeError("sparse_mask: expected a sparse mask but got Strided")
    return rows.masked(self, mask)


# -- what they are made of --------------------------------------------------------------------------------------------


@method("coalesce", on=CooTensor)
def _coalesce(self: Any) -> Any:
    """The tensor with each place once, in order."""
    return self if self._array.coalesced else rows.coalesced(self)


@method(on=CooTensor)
def is_coalesced(self: Any) -> bool:
    """Whether each place is known to be there once, in order."""
    return bool(self._array.coalesced)


@method("_coalesced_", on=CooTensor)
def _set_coalesced(self: Any, coalesced: bool) -> Any:
    """Declare the tensor coalesced, or not."""
    self._array = Coo(self._array.indices, self._array.values, self._array.shape, coalesced)
    return self


@method(on=CooTensor)
def indices(self: Any) -> Any:
    """The places of the values: int64, dimensions by count."""
    if not self._array.coalesced:
        raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
    return self._indices()


@method()
def values(self: Any) -> Any:
    """The values at the places."""
    if isinstance(self, CooTensor) and not self._array.coalesced:
        raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
    return rows.values_of(self) if self.requires_grad else self._values()


@method(on=CooTensor)
def sparse_dim(self: Any) -> int:
    """The number of dimensions that places tell."""
    return len(self._array.indices)


@method(on=CooTensor)
def dense_dim(self: Any) -> int:
    """The number of dimensions of each value."""
    return self._array.values.ndim - 1  # type: ignore[no-any-return]


@method("to_dense")
def _to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """The tensor with all its zeros."""
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return rows.densified(self) if masked_grad is False else rows.to_dense(self)


@method()
def detach(self: Any) -> Any:
    """The same without history."""
    out = wrap(self._array)
    out._counter = self._counter
    return out


@method()
def numpy(self: Any, *args: Any, **kwargs: Any) -> Any:
    """TypeError: a sparse tensor is no array."""
    raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")


SparseTensor.__array__ = numpy  # type: ignore[method-assign]


@method("is_contiguous")
def _is_contiguous(self: Any, memory_format: Any = None) -> bool:
    """False: there is no memory of all elements."""
    return False


@method("type")
def _type(self: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
    """The name of the tensor type, or the tensor in another dtype."""
    if dtype is None:
        return f"torch.sparse.{self.dtype.scalar_name}Tensor"
    return self.to(dtype)


@method("__reduce_ex__")
def _reduce(self: Any, protocol: Any) -> Any:
    if interchange.saving.reduce is not None:
        return interchange.saving.reduce(self)
    return rebuild, (self._array.copy(), self.requires_grad)


def rebuild(carrier: Any, requires_grad: bool) -> Any:
    """What a pickle of a sparse tensor calls."""
    tensor = wrap(carrier)
    if requires_grad:
        require_grad(tensor, True)
    return tensor


@method("__deepcopy__")
def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if not self.is_leaf:
        raise RuntimeError(interchange._DEEPCOPY)
    if id(self) not in memo:
        clone = memo[id(self)] = rebuild(self._array.copy(), self.requires_grad)
        clone._grad = copy.deepcopy(self._grad, memo)
    return memo[id(self)]


# -- writes: another carrier in the same tensor -----------------------------------------------------------------------


def _put(self: Any, carrier: Any) -> Any:
    if self.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    self._array = carrier
    self._counter = self._counter or VersionCounter()
    self._counter.version += 1
    return self


def _in_place(name: str) -> None:
    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = getattr(self.detach(), name)(*args, **kwargs)
        return _put(self, result._array if result.dtype is self.dtype else result._array.astype(self._array.dtype))

    write.__doc__ = f"In-place :func:`{name}`."
    write.__name__ = write.__qualname__ = f"{name}_"
    method(f"{name}_")(write)
    operator = {"add": "__iadd__", "sub": "__isub__", "mul": "__imul__", "div": "__itruediv__"}.get(name)
    if operator is not None:
        setattr(SparseTensor, operator, write)


for _name in ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "relu"):
    _in_place(_name)


@method()
def zero_(self: Any) -> Any:
    """Take all values away."""
    if isinstance(self._array, Compressed):
        return _put(self, self._array.of(np.zeros_like(self._array.values)))
    return _put(self, self._array.empty(self._array.dtype))


@method()
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Take over the places and values of another sparse tensor."""
    if not isinstance(src, type(self)) or src.shape != self.shape:
        raise RuntimeError("copy_() between dense and sparse tensors is not supported: use to_sparse() or to_dense()")
    return _put(self, src._array.copy().astype(self._array.dtype))


@method()
def detach_(self: Any) -> Any:
    """Forget the history, in place."""
    self._edge = None
    return self
