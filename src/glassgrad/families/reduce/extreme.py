"""Largest, smallest and middle elements along dimensions, and where they stand; knows arrays, no signatures."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...core.row import REALS, op
from ...ground import errors
from ...ground.index import IS_NARROW
from ...kernels import compiled
from ...kernels.columns import not_implemented
from ...ops.declare import named
from ..compare.rows import where
from .rows import kept_sizes, spread_dim

ndarray = np.ndarray


def out_of_range(dim: int, ndim: int) -> IndexError:
    """PyTorch's error for a dimension that is not there."""
    last = max(ndim, 1) - 1
    return IndexError(f"Dimension out of range (expected to be in range of [{-last - 1}, {last}], but got {dim})")


def comparable(array: Any) -> Any:
    """The array in a dtype that NumPy knows how to order, NaN last: bfloat16 as float32."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def refuse_empty(name: str, a: Any, dim: Any) -> None:
    """Raise PyTorch's error where nothing is there to choose from."""
    if a.size:
        return
    if dim is None:
        hint = "" if name.startswith("arg") else " Specify the reduction dim with the 'dim' argument."
        kind: type[Exception] = IndexError if name.startswith("arg") else RuntimeError
        raise kind(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{hint}")
    for d in (dim,) if type(dim) is int else dim:
        if a.ndim and not a.shape[d]:
            call = name if name == "aminmax" else f"{name}()"
            at = d if name in ("amax", "amin") else d % a.ndim
            raise IndexError(f"{call}: Expected reduction dim {at} to have non-zero size.")


def _no_complex(name: str) -> Callable[..., Exception]:
    """What makes PyTorch's error of an extreme of complex numbers."""
    return lambda *arguments, **settings: RuntimeError(f"{name}(): does not support complex input")


# -- one element of each line ------------------------------------------------------------------------------------------


def _offsets(sizes: tuple[int, ...], dim: int) -> Any:
    """Where each line along ``dim`` starts in row-major memory."""
    step = prod(sizes[dim + 1 :])
    outer = np.arange(prod(sizes[:dim]), dtype=np.int64) * (step * sizes[dim])
    starts = outer.reshape(*sizes[:dim], *(1,) * (len(sizes) - dim - 1))
    return starts + np.arange(step).reshape(sizes[dim + 1 :]) if step != 1 else starts


_kept_offsets = lru_cache(256)(_offsets)


def flat_indices(index: Any, sizes: tuple[int, ...], dim: int) -> Any:
    """The places in row-major memory that ``index``, one for each line along ``dim``, points at."""
    dim %= len(sizes)
    starts = (_kept_offsets if index.size < 4096 else _offsets)(sizes, dim)
    return starts + index if dim == len(sizes) - 1 else starts + index * prod(sizes[dim + 1 :])


def picked(a: Any, index: Any, dim: int) -> Any:
    """The elements of ``a`` at ``index``, one for each line along ``dim``."""
    return a[index] if a.ndim == 1 else a.take(flat_indices(index, a.shape, dim))


def _lines(index: Any, dim: int, keepdim: bool) -> Any:
    return np.squeeze(index, dim) if keepdim else index


@op(node="GatherBackward0", auxiliary=("index",), public=False, forward="linear", batched="dims")
def pick(self: Any, index: Any, /, dim: int, keepdim: bool) -> Any:
    """The elements at ``index``, one for each line along ``dim``."""
    if self.ndim == 0:
        return self + 0
    values = picked(self, _lines(index, dim, keepdim), dim)
    return np.expand_dims(values, dim) if keepdim else values


pick.derivative(self=lambda grad, index, self_sizes, dim, keepdim: place(grad, index, self_sizes, dim, keepdim))


@op(node="ScatterBackward0", auxiliary=("index",), public=False, forward="linear", batched="dims")
def place(self: Any, index: Any, /, sizes: tuple[int, ...], dim: int, keepdim: bool) -> Any:
    """Zeros of ``sizes`` that hold ``self`` at ``index``, one element in each line along ``dim``."""
    if len(sizes) == 2 and dim == 1 and not keepdim and index.size < 4096:
        out = np.zeros(sizes, self.dtype)
        positions = _kept_offsets(sizes, 1) + index
        out.put(positions.astype(np.intp) if IS_NARROW else positions, self)
        return out
    if not sizes:
        return self + 0
    out = np.zeros(sizes, self.dtype)
    index = _lines(index, dim, keepdim)
    out.ravel()[flat_indices(index, sizes, dim) if len(sizes) > 1 else index] = _lines(self, dim, keepdim)
    return out


place.derivative(self=lambda grad, index, dim, keepdim: pick(grad, index, dim, keepdim))


# -- extremes with their places ----------------------------------------------------------------------------------------


def _arg_extreme(name: str, a: Any, dim: Any, keepdim: bool) -> Any:
    if a.dtype.kind in "bc":
        raise RuntimeError(f"{name}(): does not support {'bool' if a.dtype.kind == 'b' else 'complex'} input")
    if a.ndim == 0:
        if dim not in (None, 0, -1):
            raise out_of_range(dim, 0)
        return np.int64(0)
    try:
        if not a.size:
            refuse_empty(name, a, dim)
        return getattr(a, name)(dim, keepdims=keepdim) if keepdim else getattr(a, name)(dim)
    except (np.exceptions.AxisError, IndexError) as error:
        if type(dim) is int and not -a.ndim <= dim < a.ndim:
            raise out_of_range(dim, a.ndim) from None
        raise error


def _extreme(name: str, a: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Values and places of the extremes along ``dim``."""
    if a.ndim == 2 and dim == 1 and not keepdim and 0 < a.size < 4096:
        index = a.argmax(1) if name == "max" else a.argmin(1)
        return a.take(index + _kept_offsets(a.shape, 1)), index
    if a.ndim == 0:
        return a[()], np.int64(0)
    if not a.size:
        refuse_empty(name, a, dim)
    index = a.argmax(dim) if name == "max" else a.argmin(dim)
    values = picked(a, index, dim)
    if keepdim:
        return np.expand_dims(values, dim), np.expand_dims(index, dim)
    return values, index


def _at_indices(grad: Any, indices: Any, self_sizes: Any, dim: Any, keepdim: Any) -> Any:
    return place(grad, indices, self_sizes, dim, keepdim)


#: The columns of what gives elements and their places.
_WITH_PLACES: Any = {"outputs": ("values", "indices"), "differentiable": ("values",), "public": False}


def _extreme_along(name: str, word: str) -> tuple[Any, Any]:
    """``argmax`` or ``argmin``, and what gives the elements too."""
    function = f"arg{name}"

    @op(constant=True, indices=True, out=errors.OUT_DTYPE, batched="dims")
    @named(function, which=word)
    def place_of(self: Any, /, dim: int | None = None, keepdim: bool = False) -> Any:
        """The place of the {which} element, along ``dim`` or of all elements in row-major order."""
        return _arg_extreme(function, self, dim, keepdim)

    @op(
        node=f"{name.capitalize()}Backward0",
        **_WITH_PLACES,
        serves=(REALS + "?", _no_complex(name)),
        out=errors.OUT_DTYPE,
        aligned=True,
        layout="plain",
        batched="dims",
    )
    @named(f"{name}_dim", which=word)
    def both(self: Any, /, dim: int, keepdim: bool = False) -> Any:
        """The {which} elements along ``dim`` and the places of the first of them."""
        return _extreme(name, self, dim, keepdim)

    both.derivative(self=_at_indices)
    return place_of, both


argmax, max_dim = _extreme_along("max", "largest")
argmin, min_dim = _extreme_along("min", "smallest")


# -- order statistics --------------------------------------------------------------------------------------------------


def _chosen(a: Any, order: Any, rank: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Values and places of the elements that come ``rank``-th in ``order`` along ``dim``."""
    index = picked(order, np.broadcast_to(rank, tuple(n for i, n in enumerate(a.shape) if i != dim % a.ndim)), dim)
    values = picked(a, index, dim)
    if keepdim:
        return np.expand_dims(values, dim), np.expand_dims(index, dim)
    return values, index


_MANY = 2048  # elements from which on choosing wins over sorting


def _ranked(a: Any, rank: int, dim: int, keepdim: bool) -> Any:
    """Values and places of the elements that a stable sort along ``dim`` puts at ``rank``; no NaN is among them."""
    parted = np.partition(a, rank, axis=dim)
    values = np.take(parted, [rank], axis=dim)
    same = a == values
    before = rank - (a < values).sum(axis=dim, keepdims=True)  # of equal elements, how many come earlier
    if before.any():
        same &= same.cumsum(axis=dim) == before + 1
    index = same.argmax(dim)
    values = values if keepdim else values.squeeze(dim)
    return values, np.expand_dims(index, dim) if keepdim else index


def _sorts_out(a: Any) -> bool:
    return a.size >= _MANY and a.dtype.kind in "fi" and not (a != a).any()


def _middle(name: str, a: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
    """Values and places of the lower medians along ``dim``; a NaN is the ``median``, ``nanmedian`` skips it."""
    if a.ndim == 0:
        return a[()], np.int64(0)
    refuse_empty(name.removeprefix("nan"), a, dim)
    if _sorts_out(a):
        return _ranked(a, (a.shape[dim] - 1) // 2, dim, keepdim)
    order = np.argsort(comparable(a), axis=dim, kind="stable")
    missing = a != a
    if not missing.any():
        return _chosen(a, order, (a.shape[dim] - 1) // 2, dim, keepdim)
    absent = missing.sum(axis=dim)
    if name == "median":
        first = missing.argmax(dim)
        rank = np.full_like(absent, (a.shape[dim] - 1) // 2)
        values, index = _chosen(a, order, rank, dim, False)
        index = np.where(absent > 0, first, index)
        values = picked(a, index, dim)
    else:
        values, index = _chosen(a, order, np.maximum(a.shape[dim] - absent - 1, 0) // 2, dim, False)
    return (np.expand_dims(values, dim), np.expand_dims(index, dim)) if keepdim else (values, index)


_MEDIANS: Any = {
    **_WITH_PLACES,
    "batched": "dims",
    "out": {
        "indices": "Expected tensor for argument #1 'indices' to have scalar type {Wanted}; but got "
        "torch.{Found}Tensor instead (while checking arguments for median)",
        "values": "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
        "torch.{Found}Tensor does not equal torch.{Wanted}Tensor (while checking arguments for median)",
    },
    "serves": (REALS, "median_out"),
}


@op(node="MedianBackward1", **_MEDIANS)
def median_dim(self: Any, /, dim: int, keepdim: bool = False) -> Any:
    """The lower medians along ``dim`` and their places."""
    return _middle("median", self, dim, keepdim)


median_dim.derivative(self=_at_indices)


@op(node="NanmedianBackward1", **_MEDIANS)
def nanmedian_dim(self: Any, /, dim: int, keepdim: bool = False) -> Any:
    """The lower medians along ``dim`` of what is not NaN, and their places."""
    return _middle("nanmedian", self, dim, keepdim)


nanmedian_dim.derivative(self=_at_indices)


def _evenly(grad: Any, self: Any, result: Any) -> Any:
    """A gradient in equal parts for the elements that equal a result; zero for others, whatever the gradient is."""
    shares = ties(self, result, None, False, True)
    return where(shares == 0, 0, grad * shares)


def _median_of_all(name: str, which: str) -> Any:
    @op(node=f"{name.capitalize()}Backward0", public=False, widens=True, serves=(REALS, "median_cpu"))
    @named(f"{name}_all", which=which)
    def middle(self: Any, /) -> Any:
        """The lower median of all elements{which}."""
        return _middle(name, self.reshape(-1), 0, False)[0] if self.size else np.array(np.nan).astype(self.dtype)[()]

    middle.derivative(self=_evenly)
    return middle


median_all, nanmedian_all = _median_of_all("median", ""), _median_of_all("nanmedian", " that are not NaN")


@op(
    node="KthvalueBackward0",
    **_WITH_PLACES,
    batched="dims",
    out={
        "values": "output values must be of same type as input",
        "indices": "output indices must be of scalar type {Wanted}",
    },
    disjoint=("self",),
)
def kthvalue_dim(self: Any, /, k: int, dim: int, keepdim: bool = False) -> Any:
    """The ``k``-th smallest elements along ``dim`` and their places."""
    if self.ndim == 0:  # of any dtype, as in PyTorch
        return self[()], np.int64(0)
    if self.dtype.kind in "bc":
        raise not_implemented("kthvalue_cpu", self)
    if _sorts_out(self):
        return _ranked(self, k - 1, dim, keepdim)
    return _chosen(self, np.argsort(comparable(self), axis=dim, kind="stable"), k - 1, dim, keepdim)


kthvalue_dim.derivative(self=_at_indices)


@op(
    node="ModeBackward0",
    **_WITH_PLACES,
    batched="dims",
    out={
        "values": "expected scalar type '{Wanted}' but got '{Found}' for values output",
        "indices": "expected scalar type '{Wanted}' but got '{Found}' for indices output",
    },
    aligned=True,
)
def mode_dim(self: Any, /, dim: int, keepdim: bool = False) -> Any:
    """The most frequent elements along ``dim`` (the smallest of several), and the place of the last of each."""
    if self.ndim == 0:
        return self[()], np.int64(0)
    refuse_empty("mode", self, dim)
    if self.dtype.kind == "c":
        raise not_implemented("mode_cpu", self)
    order = np.argsort(comparable(self), axis=dim, kind="stable")
    lines = np.moveaxis(np.take_along_axis(self, order, dim), dim, -1)
    n = lines.shape[-1]
    starts = np.ones(lines.shape, bool)
    starts[..., 1:] = lines[..., 1:] != lines[..., :-1]
    begun = np.maximum.accumulate(np.where(starts, np.arange(n), 0), axis=-1)
    length = np.arange(n) - begun + 1
    return _chosen(self, order, length.argmax(-1), dim, keepdim)


mode_dim.derivative(self=_at_indices)


# -- extremes that share their gradient --------------------------------------------------------------------------------


@op(constant=True, public=False, batched="dims")
def ties(self: Any, result: Any, /, dim: Any, keepdim: bool, nan: bool = False) -> Any:
    """One over the number of elements equal to the ``result`` of their reduction, at each of them; else zero.

    ``nan`` says whether NaN equals NaN.
    """
    if not keepdim and self.ndim:
        result = np.reshape(result, kept_sizes(self.shape, dim))
    equal = self == result
    if nan:
        equal = equal | ((self != self) & (result != result))
    if not self.ndim:
        return self.dtype.type(equal) if equal else self.dtype.type(np.nan)
    shares = equal.astype(self.dtype)
    return shares / np.add.reduce(equal, axis=dim, keepdims=True).astype(self.dtype)


def _reduced(ufunc: Any, name: str, a: Any, dim: Any, keepdim: bool) -> Any:
    if a.dtype.kind == "c":
        raise not_implemented(f"{name}_values_cpu", a)
    if not a.ndim:
        return a[()]
    if not a.size:
        refuse_empty(f"a{name}", a, dim)
    if dim == (1,) and not keepdim and a.ndim == 2 and a.size < 4096:
        return a.take((a.argmax(1) if name == "max" else a.argmin(1)) + _kept_offsets(a.shape, 1))
    if a.size >= compiled.least and (extremes := _compiled(name, a, dim)) is not None:
        return np.reshape(extremes, kept_sizes(a.shape, dim)) if keepdim else extremes
    return ufunc.reduce(a, axis=dim, keepdims=keepdim)


def _compiled(name: str, a: Any, dim: Any) -> Any:
    """The extremes along the last dimensions, without them; None where they are not served."""
    if dim is None or not a.size or not a.flags.c_contiguous:
        return None
    sign = 1 if name == "max" else -1
    axes = sorted({d % a.ndim for d in ((dim,) if type(dim) is int else dim)})
    lead = a.ndim - len(axes)
    if not lead or axes != list(range(lead, a.ndim)):
        return None
    extremes = compiled.reduce.most_of_rows(a.reshape(prod(a.shape[:lead]), -1), sign)
    return None if extremes is None else extremes.reshape(a.shape[:lead])


_SAME_OUT = (
    "Expected the dtype for input and out to match, but got {Wanted} for input's dtype and {Found} for out's dtype."
)


def _shared_among_ties(grad: Any, self: Any, result: Any, self_sizes: Any, dim: Any, keepdim: Any) -> Any:
    return spread_dim(grad, self_sizes, dim, keepdim) * ties(self, result, dim, keepdim)


def _extreme_of_several(name: str, word: str) -> tuple[Any, Any]:
    """``amax`` or ``amin``, whose gradient ties share, and the extreme of all elements."""
    ufunc, place_of = (np.maximum, ndarray.argmax) if name == "max" else (np.minimum, ndarray.argmin)

    @op(
        node=f"A{name}Backward0", public=False, widens=True, hidden=("self_sizes",), out=_SAME_OUT, layout="plain",
        batched="dims",
    )  # fmt: skip
    @named(f"a{name}_dim", which=word)
    def along(self: Any, /, dim: Any, keepdim: bool = False) -> Any:
        """The {which} elements along the dimensions ``dim``."""
        return _reduced(ufunc, name, self, dim, keepdim)

    @op(node=f"{name.capitalize()}Backward1", public=False, widens=True)
    @named(f"{name}_all", which=word)
    def of_all(self: Any, /) -> Any:
        """The {which} element."""
        if self.dtype.kind == "c":
            raise not_implemented(f"{name}_all", self)
        if not self.size:
            refuse_empty(name, self, None)
        return self.ravel()[place_of(self)] if self.ndim else self[()]

    along.derivative(self=_shared_among_ties)
    of_all.derivative(self=_evenly)
    return along, of_all


amax_dim, max_all = _extreme_of_several("max", "largest")
amin_dim, min_all = _extreme_of_several("min", "smallest")


@op(
    node="AminmaxBackward0",
    outputs=("min", "max"),
    out=errors.OUT_DTYPE,
    aligned=True,
    public=False,
    serves=(REALS + "?", "aminmax_cpu"),
    widens=True,
    hidden=("self_sizes",),
    layout="plain",
    batched="dims",
)
def aminmax_dim(self: Any, /, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest and the largest elements, along ``dim`` or of all."""
    if self.ndim and not self.size:
        if dim is None:
            raise RuntimeError(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
            )
        refuse_empty("aminmax", self, dim)
    smallest = _reduced(np.minimum, "min", self, dim, keepdim)
    return smallest, _reduced(np.maximum, "max", self, dim, keepdim)


@aminmax_dim.derivative("self")
def _aminmax_rule(grads: Any, self: Any, self_sizes: Any, min: Any, max: Any, dim: Any, keepdim: Any) -> Any:
    back = None
    if grads[0] is not None:
        back = spread_dim(grads[0], self_sizes, dim, keepdim) * ties(self, min, dim, keepdim)
    if grads[1] is not None:
        part = spread_dim(grads[1], self_sizes, dim, keepdim) * ties(self, max, dim, keepdim)
        back = part if back is None else back + part
    return back


# -- truth and counts --------------------------------------------------------------------------------------------------


def _test(name: str, which: str, ufunc: Any) -> Any:
    @op(
        constant=True,
        public=False,
        stores=True,
        out=f"{name} only supports bool tensor for result, got: {{Found}}",
        layout="plain",
        batched="dims",
    )
    @named(f"{name}_dim", which=which)
    def test(self: Any, /, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        """Whether {which} nonzero along ``dim``."""
        truth = np.asarray(ufunc.reduce(self != 0, axis=dim, keepdims=keepdim) if self.ndim else self != 0)
        return truth.astype(dtype or (self.dtype if self.dtype == np.uint8 else np.bool_), copy=False)[()]

    return test


all_dim, any_dim = _test("all", "all elements are", np.logical_and), _test("any", "any element is", np.logical_or)


@op(constant=True, public=False, layout="plain", batched="dims")
def count_nonzero_dim(self: Any, /, dim: Any = None) -> Any:
    """How many elements along ``dim`` are nonzero."""
    nonzero = self != 0
    return np.add.reduce(nonzero, axis=dim, dtype=np.int64) if self.ndim else np.int64(nonzero)
