"""PyTorch's signatures of running sums, products and extremes, differences and trapezoids."""

from __future__ import annotations

from typing import Any

from ...core import call, write
from ...core.tensor import Tensor
from ...ops import return_types as results
from ...ops.declare import composite
from ...tensor import writable
from ..arithmetic.rows import div_number, mul_number
from ..join.rows import cat
from ..reduce.functions import UNSET, check_tensor, numpy_dtype, one_dim
from ..reduce.rows import sum_dim
from . import rows as scan

_new = tuple.__new__


# -- running sums and products -----------------------------------------------------------------------------------------


def _running(row: Any, name: str, input: Any, dim: Any, dtype: Any, out: Any) -> Any:
    check_tensor(input, name)
    dim = one_dim(dim, input._array.ndim, name)
    if dtype is None and out is None:
        return row(input, dim, None)
    return call.call(row.row, (input,), (dim, numpy_dtype(dtype, name, out)), out)


@composite()
def cumsum(input: Any, dim: Any = UNSET, *, dtype: Any = None, out: Any = None) -> Any:
    """The sums of everything up to each place along ``dim``."""
    return _running(scan.cumsum, "cumsum", input, dim, dtype, out)


@composite()
def cumprod(input: Any, dim: Any = UNSET, *, dtype: Any = None, out: Any = None) -> Any:
    """The products of everything up to each place along ``dim``."""
    return _running(scan.cumprod, "cumprod", input, dim, dtype, out)


@composite(function=False)
def cumsum_(input: Any, dim: Any = UNSET, *, dtype: Any = None) -> Any:
    """In-place :func:`cumsum`."""
    writable.check_writable(input, False)
    kind = numpy_dtype(None, "cumsum_", input)
    return write.in_place(scan.cumsum.row, input, (), (one_dim(dim, input._array.ndim, "cumsum_"), kind))


@composite(function=False)
def cumprod_(input: Any, dim: Any = UNSET, *, dtype: Any = None) -> Any:
    """In-place :func:`cumprod`."""
    writable.check_writable(input, False)
    kind = numpy_dtype(None, "cumprod_", input)
    return write.in_place(scan.cumprod.row, input, (), (one_dim(dim, input._array.ndim, "cumprod_"), kind))


@composite()
def cummax(input: Any, dim: Any = UNSET, *, out: Any = None) -> Any:
    """The largest of everything up to each place along ``dim``, and where it stands."""
    check_tensor(input, "cummax")
    return _new(results.cummax, scan.cummax_dim(input, one_dim(dim, input._array.ndim, "cummax"), out=out))


@composite()
def cummin(input: Any, dim: Any = UNSET, *, out: Any = None) -> Any:
    """The smallest of everything up to each place along ``dim``, and where it stands."""
    check_tensor(input, "cummin")
    return _new(results.cummin, scan.cummin_dim(input, one_dim(dim, input._array.ndim, "cummin"), out=out))


@composite()
def logcumsumexp(input: Any, dim: Any = UNSET, *, out: Any = None) -> Any:
    """The logarithms of the running sums of exponentials along ``dim``."""
    check_tensor(input, "logcumsumexp")
    return scan.logcumsumexp(input, one_dim(dim, input._array.ndim, "logcumsumexp"), out=out)


# -- differences and areas ---------------------------------------------------------------------------------------------


@composite()
def diff(input: Any, n: int = 1, dim: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """The ``n``-th differences of neighbours along ``dim``."""
    check_tensor(input, "diff")
    if input._array.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    dim = one_dim(dim, input._array.ndim, "diff", 3)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if not n:
        return input.clone()
    parts = [part for part in (prepend, input, append) if part is not None]
    if len(parts) > 1:
        input = cat(parts, dim)
    for _ in range(min(n, input._array.shape[dim])):
        ahead, behind = _but_first(input, dim), _but_last(input, dim)
        input = ahead.logical_xor(behind) if input._array.dtype.kind == "b" else ahead - behind
    return input


def _but_first(input: Any, dim: int) -> Any:
    return input.narrow(dim, 1, input._array.shape[dim] - 1)


def _but_last(input: Any, dim: int) -> Any:
    return input.narrow(dim, 0, input._array.shape[dim] - 1)


def _widths(function: str, x: Any, y: Any, dim: int) -> Any:
    """The distances of the sample points ``x``, broadcastable against ``y``."""
    if x._array.ndim == 1:
        if x._array.shape[0] != y._array.shape[dim]:
            raise RuntimeError(f"{function}: There must be one `x` value for each sample point")
        x = x.view([-1 if i == dim else 1 for i in range(y._array.ndim)])
    if missing := (1,) * (y._array.ndim - x._array.ndim):
        x = x.view(missing + x._array.shape)
    return _but_first(x, dim) - _but_last(x, dim)


def _refuse_truth(function: str, y: Tensor, x: Any) -> None:
    named = "`x` or `y`" if isinstance(x, Tensor) else "`y`"
    if y._array.dtype.kind == "b" or isinstance(x, Tensor) and x._array.dtype.kind == "b":
        raise RuntimeError(f"{function}: received a bool input for {named}, but bool is not supported")


def _distance(function: str, dx: Any) -> float:
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{function}: Currently, we only support dx as a real number.")
    return float(dx)


@composite("trapz", method=False)
def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: Any = -1) -> Any:
    """The area under ``y`` along ``dim`` by trapezoids, sampled at ``x`` or every ``dx``."""
    check_tensor(y, "trapezoid")
    _refuse_truth("trapezoid", y, x)
    dim = one_dim(dim, y._array.ndim, "trapezoid")
    if y._array.shape[dim] == 0:
        return y.new_zeros([n for i, n in enumerate(y._array.shape) if i != dim])
    if isinstance(x, Tensor):
        heights = _but_last(y, dim) + _but_first(y, dim)
        return div_number(sum_dim(heights * _widths("trapezoid", x, y, dim), (dim,), False), 2.0)
    ends = y.select(dim, 0) + y.select(dim, y._array.shape[dim] - 1)
    whole = sum_dim(y, (dim,), False) - mul_number(ends, 0.5)
    return mul_number(whole, _distance("trapezoid", dx if x is None else x))


@composite(method=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: Any = -1) -> Any:
    """The areas under ``y`` up to each place along ``dim``."""
    check_tensor(y, "cumulative_trapezoid")
    _refuse_truth("cumulative_trapezoid", y, x)
    dim = one_dim(dim, y._array.ndim, "cumulative_trapezoid")
    if y._array.shape[dim] == 0:
        return y.clone()
    heights = _but_last(y, dim) + _but_first(y, dim)
    if isinstance(x, Tensor):
        return div_number(scan.cumsum(heights * _widths("cumulative_trapezoid", x, y, dim), dim), 2.0)
    return scan.cumsum(mul_number(heights, _distance("cumulative_trapezoid", dx if x is None else x) / 2.0), dim)
