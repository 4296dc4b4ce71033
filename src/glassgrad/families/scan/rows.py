"""Running sums, products and extremes along one dimension, and the linear recurrences their gradients are made of."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...ground import dtypes, errors
from ...kernels import compiled
from ...kernels.columns import not_implemented
from ..pointwise.limit import of_both

ndarray = np.ndarray
_WIDER = {np.dtype("f4"): np.dtype("f8"), np.dtype("f2"): np.dtype("f4")}


def running(ufunc: Any, a: Any, dim: int, dtype: Any = None) -> Any:
    """``ufunc`` accumulated along ``dim``: integers in int64, small floats in a wider type, as PyTorch does."""
    kind = a.dtype if dtype is None else dtype
    if kind.kind in "bui" and dtype is None:
        kind = np.dtype("i8")
    if kind.kind == "b" and a.ndim and a.size:
        raise NotImplementedError(f"\"cum{'sum' if ufunc is np.add else 'prod'}_out_cpu\" not implemented for 'Bool'")
    if a.ndim == 0:
        return a.astype(kind)
    if a.size >= compiled.least and a.dtype is kind:
        values = compiled.scan.running(a, dim, ufunc is np.multiply)
        if values is not None:
            return values
    wide = _WIDER.get(kind, np.dtype("f4") if kind.kind == "V" else kind)
    if kind.kind == "c" and ufunc is np.multiply and a.size:  # PyTorch begins with one, which spoils infinities
        a = a.astype(kind)
        np.moveaxis(a, dim, 0)[0] *= 1
    return ufunc.accumulate(a.astype(kind, copy=False).astype(wide, copy=False), axis=dim).astype(kind, copy=False)


def forwards(a: Any, dim: int | None, reverse: bool) -> Any:
    """A view of ``a`` whose first axis runs along ``dim`` (flattened if None), backwards if ``reverse``."""
    turned = a.reshape(-1) if dim is None or a.ndim == 0 else np.moveaxis(a, dim, 0)
    return turned[::-1] if reverse else turned


def as_input(turned: Any, dim: int | None, reverse: bool, sizes: tuple[int, ...]) -> Any:
    """The inverse of ``forwards``, in memory of its own."""
    if reverse and len(turned) > 1:  # one would be memory of its own as it lies, with a stride backwards
        turned = turned[::-1]
    if dim is None or not sizes:
        return np.ascontiguousarray(turned).reshape(sizes)
    return np.ascontiguousarray(np.moveaxis(turned, 0, dim))


# -- sums --------------------------------------------------------------------------------------------------------------


@op(inplace=True, layout="plain", forward="linear", batched="dims", aligned=True)
def cumsum(self: Any, /, dim: int, dtype: Any = None) -> Any:
    """The sums of everything up to each place along ``dim``."""
    return running(np.add, self, dim, dtype)


cumsum.derivative(self=lambda grad, dim: tail_sums(grad, dim))


@op(public=False, forward="linear", batched="dims")
def tail_sums(self: Any, /, dim: int) -> Any:
    """The sums of everything from each place on along ``dim``: the adjoint of ``cumsum``."""
    if self.ndim == 0:
        return self + 0
    if self.size >= compiled.least and (sums := compiled.scan.running(self, dim, reverse=True)) is not None:
        return sums
    return as_input(running(np.add, forwards(self, dim, True), 0), dim, True, self.shape)


tail_sums.derivative(self=lambda grad, dim: cumsum(grad, dim))


# -- linear recurrences ------------------------------------------------------------------------------------------------


@op(public=False, forward="linear", batched="dims")
def shifted(self: Any, /, dim: int | None, reverse: bool) -> Any:
    """Everything one place later along ``dim`` (earlier if ``reverse``), with a zero where nothing came from."""
    a = self.reshape(-1) if dim is None or not self.ndim else self
    where = (slice(None),) * ((dim or 0) % a.ndim)
    later, earlier = (*where, slice(1, None)), (*where, slice(None, -1))
    target, source = (earlier, later) if reverse else (later, earlier)
    out = np.empty(a.shape, a.dtype)
    out[target] = a[source]
    out[(*where, slice(-1, None) if reverse else slice(0, 1))] = 0
    return out.reshape(self.shape)


shifted.derivative(self=lambda grad, dim, reverse: shifted(grad, dim, not reverse))


@op(
    public=False,
    halves="single",
    few=True,
    native=lambda self, factor, dim, reverse: compiled.scan.recur(self, factor, dim, reverse),
    batched="dims",
)
def recur(self: Any, factor: Any, /, dim: int | None, reverse: bool) -> Any:
    """``y`` with ``y[j] = self[j] + factor[j] * y[j - 1]`` along ``dim`` (``y[j + 1]`` if ``reverse``)."""
    a, x = forwards(self, dim, reverse), forwards(factor, dim, reverse)
    out = np.array(a)
    for j in range(1, len(out)):
        out[j] += x[j] * out[j - 1]
    return as_input(out, dim, reverse, self.shape)


recur.derivative(
    self=lambda grad, factor, dim, reverse: recur(grad, shifted(factor, dim, not reverse), dim, not reverse),
    factor=lambda grad, factor, result, dim, reverse: (
        recur(grad, shifted(factor, dim, not reverse), dim, not reverse) * shifted(result, dim, reverse)
    ),
)


# -- products ----------------------------------------------------------------------------------------------------------


@op(inplace=True, widens=True, layout="plain", batched="dims", aligned=True)
def cumprod(self: Any, /, dim: int, dtype: Any = None) -> Any:
    """The products of everything up to each place along ``dim``."""
    return running(np.multiply, self, dim, dtype)


@cumprod.derivative("self")
def _cumprod_rule(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    return before(self, dim, False) * recur(grad, shifted(self, dim, True), dim, True)


@op(public=False, native=lambda self, dim, reverse: compiled.scan.before(self, dim, reverse), batched="dims")
def before(self: Any, /, dim: int | None, reverse: bool) -> Any:
    """The products of everything before each place along ``dim`` (after it if ``reverse``)."""
    a = forwards(self, dim, reverse)
    out = np.ones_like(a)
    out[1:] = running(np.multiply, a[:-1], 0)
    return as_input(out, dim, reverse, self.shape)


@before.derivative("self")
def _before_rule(grad: Any, self: Any, dim: Any, reverse: Any) -> Any:
    """The gradient of each factor: what stands before it, times what is made of it further on."""
    return before(self, dim, reverse) * shifted(recur(grad, self, dim, not reverse), dim, not reverse)


@op(auxiliary=("result",), public=False, batched="dims")
def others(self: Any, result: Any, /, dim: int | None, keepdim: bool) -> Any:
    """The product ``result`` along ``dim`` without each factor in turn."""
    if not self.ndim:
        return np.ones_like(self)
    if np.all(self):
        return (result if dim is None or keepdim or self.ndim == 0 else np.expand_dims(result, dim)) / self
    return before.row.kernel(self, dim, False) * before.row.kernel(self, dim, True)


@others.derivative("self")
def _others_rule(grad: Any, self: Any, dim: Any) -> Any:
    left, right = before(self, dim, False), before(self, dim, True)
    later, earlier = recur(grad * right, self, dim, True), recur(grad * left, self, dim, False)
    return left * shifted(later, dim, True) + right * shifted(earlier, dim, False)


# -- extremes ----------------------------------------------------------------------------------------------------------


def _extremes(ufunc: Any, a: Any, dim: int) -> tuple[Any, Any]:
    """The running extremes and the last place where each was found."""
    if a.ndim == 0:
        return a.copy(), np.int64(0)
    if a.dtype.kind == "c" and a.size:
        raise not_implemented("cummax_cpu" if ufunc is np.maximum else "cummin_cpu", a)
    if a.size >= compiled.least:
        extremes = compiled.scan.extremes(a, dim, 1 if ufunc is np.maximum else -1)
        if extremes is not None:
            return extremes  # type: ignore[no-any-return]
    values = ufunc.accumulate(a, axis=dim)
    positions = np.arange(a.shape[dim]).reshape([-1 if i == dim % a.ndim else 1 for i in range(a.ndim)])
    mask = a == values
    if a.dtype.kind in "fV":
        mask |= np.isnan(a)
    return values, np.maximum.accumulate(np.where(mask, positions, 0), axis=dim)


#: The columns of running extremes.
_RUNNING: Any = {
    "outputs": ("values", "indices"), "differentiable": ("values",), "public": False, "out": errors.OUT_RUNNING,
    "layout": "plain", "batched": "dims",
}  # fmt: skip


@op(node="CummaxBackward0", **_RUNNING)
def cummax_dim(self: Any, /, dim: int) -> Any:
    """The largest of everything up to each place along ``dim``, and where it stands."""
    return _extremes(np.maximum, self, dim)


cummax_dim.derivative(self=lambda grad, indices, dim: add_along(grad, indices, dim))


@op(node="CumminBackward0", **_RUNNING)
def cummin_dim(self: Any, /, dim: int) -> Any:
    """The smallest of everything up to each place along ``dim``, and where it stands."""
    return _extremes(np.minimum, self, dim)


cummin_dim.derivative(self=lambda grad, indices, dim: add_along(grad, indices, dim))


@op(auxiliary=("index",), public=False, halves="single", batched="dims")
def add_along(self: Any, index: Any, /, dim: int) -> Any:
    """Zeros into which each element is added at its ``index`` along ``dim``."""
    if self.ndim == 0:
        return self + 0
    out = np.zeros(self.shape, self.dtype)
    indices = list(np.indices(self.shape, sparse=True))
    indices[dim] = index
    np.add.at(out, tuple(indices), self)
    return out


add_along.derivative(self=lambda grad, index, dim: take_along(grad, index, dim))


@op(auxiliary=("index",), public=False, batched="dims")
def take_along(self: Any, index: Any, /, dim: int) -> Any:
    """The elements that ``index`` points at along ``dim``."""
    if self.ndim == 0:
        return self + 0
    indices = list(np.indices(self.shape, sparse=True))
    indices[dim] = index
    return self[tuple(indices)]


take_along.derivative(self=lambda grad, index, dim: add_along(grad, index, dim))


# -- log-sum-exp -------------------------------------------------------------------------------------------------------


@op(public=False, batched="first")
def decay(self: Any, other: Any, /) -> Any:
    """``exp(self - other)``; of real numbers zero where it is more than one, NaN where it is none."""
    with np.errstate(all="ignore"):
        difference = self - other
        if self.dtype.kind == "c":  # sums may cancel: then it is more than one
            return np.exp(difference)
        return np.where(difference > 0, self.dtype.type(0), np.exp(difference)).astype(self.dtype, copy=False)[()]


decay.derivative(self=lambda grad, result: grad * result, other=lambda grad, result: -(grad * result))


@op(out=errors.OUT_RUNNING, halves="single", widens=True, aligned=True, layout="plain", batched="dims")
def logcumsumexp(self: Any, /, dim: int) -> Any:
    """The logarithms of the running sums of exponentials along ``dim``."""
    if self.dtype.kind in "bui":
        raise NotImplementedError(f"\"logcumsumexp_out_cpu\" not implemented for '{dtypes.of(self.dtype).scalar_name}'")
    if self.ndim == 0:
        return self + self.dtype.type(0)
    if self.dtype.kind == "c":
        return _complex_sums(self, dim)
    return np.logaddexp.accumulate(self, axis=dim)


def _complex_sums(a: Any, dim: int) -> Any:
    """``logcumsumexp`` of complex numbers, in double precision throughout."""
    out = np.moveaxis(a, dim, 0).astype(np.complex128)
    out[np.isnan(out)] = complex(np.nan, np.nan)
    before = np.full((1, *out.shape[1:]), -np.inf, np.complex128)
    for here in out[:, np.newaxis]:
        here[...] = before = of_both(here, before)
    return np.moveaxis(out, 0, dim).astype(a.dtype)


@logcumsumexp.derivative("self")
def _logcumsumexp_rule(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    """Each sum's gradient, faded to the place it reaches: no exponential above one appears."""
    if not self.ndim:
        return grad  # the sum of one element is that element, infinite or not
    sums = finite(result)  # from one infinite sum to the next nothing fades
    return decay(self, result) * recur(grad, decay(sums, shifted(sums, dim, True)), dim, True)


@op(public=False, batched="point")
def finite(self: Any, /) -> Any:
    """The elements, infinite ones replaced by the largest number; complex ones as they are."""
    if self.dtype.kind == "c":
        return self + 0
    most = np.finfo(self.dtype).max if self.dtype.kind != "V" else self.dtype.type(3.3895313892515355e38)
    return np.clip(self, -most, most)


finite.derivative(self=lambda grad: grad)
