"""PyTorch's signatures of running sums, products and extremes; differences, trapezoids and slopes of samples."""

from __future__ import annotations

from typing import Any

from ...core import call, write
from ...core.tensor import Tensor
from ...ground import dtypes, errors
from ...ground.dtypes import called, is_int, need_int
from ...ops import return_types as results
from ...ops.declare import composite
from ...tensor import writable
from ...tensor.out import Composed, into
from ..arithmetic.functions import is_number, no_match, plain
from ..arithmetic.rows import div_number, mul_number, sub
from ..compare.rows import logical_xor
from ..index.rows import slice as piece
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
    return _written(scan.cumsum, "cumsum_", input, dim)


@composite(function=False)
def cumprod_(input: Any, dim: Any = UNSET, *, dtype: Any = None) -> Any:
    """In-place :func:`cumprod`."""
    return _written(scan.cumprod, "cumprod_", input, dim)


def _written(running: Any, function: str, input: Tensor, dim: Any) -> Any:
    """In place: that ``dim`` is no number is told before that nothing may be written, that it is too large after."""
    if type(dim) is not int:
        dim = one_dim(dim, input._array.ndim, function)
    writable.check_writable(input, False)
    kind = numpy_dtype(None, function, input)
    return write.in_place(running.row, input, (), (one_dim(dim, input._array.ndim, function), kind))


def _running_dim(function: str, input: Tensor, dim: Any) -> int:
    if not input._array.ndim and type(dim) is int and dim not in (0, -1):
        raise IndexError(f"{function}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
    return one_dim(dim, input._array.ndim, function)


@composite()
def cummax(input: Any, dim: Any = UNSET, *, out: Any = None) -> Any:
    """The largest of everything up to each place along ``dim``, and where it stands."""
    check_tensor(input, "cummax")
    return _new(results.cummax, scan.cummax_dim(input, _running_dim("cummax", input, dim), out=out))


@composite()
def cummin(input: Any, dim: Any = UNSET, *, out: Any = None) -> Any:
    """The smallest of everything up to each place along ``dim``, and where it stands."""
    check_tensor(input, "cummin")
    return _new(results.cummin, scan.cummin_dim(input, _running_dim("cummin", input, dim), out=out))


@composite()
def logcumsumexp(input: Any, dim: Any = UNSET, *, out: Any = None) -> Any:
    """The logarithms of the running sums of exponentials along ``dim``."""
    check_tensor(input, "logcumsumexp")
    return scan.logcumsumexp(input, one_dim(dim, input._array.ndim, "logcumsumexp"), out=out)


# -- differences and areas ---------------------------------------------------------------------------------------------


_COPIED = Composed("diff", errors.OUT_RUNNING, copied=True)


@composite()
def diff(
    input: Any, n: int = 1, dim: Any = -1, prepend: Any = None, append: Any = None, *, out: Any = None
) -> Any:  # fmt: skip
    """The ``n``-th differences of neighbours along ``dim``."""
    check_tensor(input, "diff")
    n = need_int("diff", "n", 2, n)
    if input._array.ndim == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    dim = one_dim(dim, input._array.ndim, "diff", 3)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if not n:
        return input.clone() if out is None else into(_COPIED, (input,), out, input)
    parts = [part for part in (prepend, input, append) if part is not None]
    for part in (prepend, append):
        _check_part(input, part, dim)
    if len(parts) > 1:
        input = cat(parts, dim)
    less = logical_xor if input._array.dtype.kind == "b" else sub
    count = min(n, input._array.shape[dim])
    for left in range(count - 1 if out is None else max(count, 1) - 1, -1, -1):
        input = less(_but_first(input, dim), _but_last(input, dim), out=None if left else out)
    return input


def _check_part(input: Any, part: Any, dim: int) -> None:
    if part is None:
        return
    if part._array.ndim != input._array.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for at, (n, m) in enumerate(zip(input._array.shape, part._array.shape, strict=True)):
        if at != dim and n != m:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({at}) = {n}, but got tensor.size({at}) = {m}"
            )


def _between(input: Any, dim: Any, start: int, end: int | None) -> Any:
    if not input._array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    return piece(input, one_dim(dim, input._array.ndim), start, end, 1)


def _but_first(input: Any, dim: Any) -> Any:
    return _between(input, dim, 1, None)


def _but_last(input: Any, dim: Any) -> Any:
    return _between(input, dim, 0, -1)


def _check_places(function: str, x: Any) -> None:
    if x is not UNSET and not isinstance(x, Tensor):
        raise TypeError(f"{function}(): argument 'x' (position 2) must be Tensor, not {called(x)}")


def _widths(function: str, x: Any, y: Any, dim: int) -> Any:
    """The distances of the sample points ``x``, broadcastable against ``y``."""
    if x._array.ndim == 1:
        if x._array.shape[0] != y.size(dim):
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
    if not is_number(dx):
        raise TypeError(f"{function}(): argument 'dx' must be Number, not {called(dx)}")
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{function}: Currently, we only support dx as a real number.")
    return float(dx)


@composite("trapz", method=False)
def trapezoid(y: Any, x: Any = UNSET, *, dx: Any = 1, dim: Any = -1) -> Any:
    """The area under ``y`` along ``dim`` by trapezoids, sampled at ``x`` or every ``dx``."""
    check_tensor(y, "trapezoid")
    _check_places("trapezoid", x)
    _refuse_truth("trapezoid", y, x)
    if isinstance(x, Tensor):
        dim = one_dim(dim, y._array.ndim, "trapezoid")
    is_empty = y.size(dim) == 0
    dim = one_dim(dim, y._array.ndim, "trapezoid")
    if is_empty:
        return y.new_zeros([n for i, n in enumerate(y._array.shape) if i != dim])
    if isinstance(x, Tensor):
        heights = _but_last(y, dim) + _but_first(y, dim)
        return div_number(sum_dim(heights * _widths("trapezoid", x, y, dim), (dim,), False), 2.0)
    ends = y.select(dim, 0) + y.select(dim, y._array.shape[dim] - 1)
    whole = sum_dim(y, (dim,), False) - mul_number(ends, 0.5)
    return mul_number(whole, _distance("trapezoid", dx))


@composite(method=False)
def cumulative_trapezoid(y: Any, x: Any = UNSET, *, dx: Any = 1, dim: Any = -1) -> Any:
    """The areas under ``y`` up to each place along ``dim``."""
    check_tensor(y, "cumulative_trapezoid")
    _check_places("cumulative_trapezoid", x)
    _refuse_truth("cumulative_trapezoid", y, x)
    if isinstance(x, Tensor):
        dim = one_dim(dim, y._array.ndim, "cumulative_trapezoid")
        widths = _widths("cumulative_trapezoid", x, y, dim)
        return div_number(scan.cumsum((_but_last(y, dim) + _but_first(y, dim)) * widths, dim), 2.0)
    step = _distance("cumulative_trapezoid", dx) / 2.0
    heights = _but_last(y, dim) + _but_first(y, dim)
    return scan.cumsum(mul_number(heights, step), one_dim(dim, y._array.ndim))


# -- slopes of functions known at sample points -----------------------------------------------------------------------

_SIGNATURES = (
    "Tensor input, *, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, Number spacing, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, Number spacing = None, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Numbers spacing, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, tuple of Numbers spacing, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Tensors spacing, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Tensors spacing, tuple of ints dim, int edge_order = 1",
)


def _even(values: Any, dim: int, step: float, order: int) -> Any:
    """The slopes along ``dim`` of values ``step`` apart."""

    def of(start: int, end: int | None) -> Any:
        return _between(values, dim, start, end)

    inner = div_number(div_number(of(2, None) - of(0, -2), step), 2)
    if order == 1:
        first, last = of(1, 2) - of(0, 1), of(-1, None) - of(-2, -1)
    else:
        first = mul_number(of(0, 1), -1.5) + mul_number(of(1, 2), 2) - mul_number(of(2, 3), 0.5)
        last = mul_number(of(-3, -2), 0.5) - mul_number(of(-2, -1), 2) + mul_number(of(-1, None), 1.5)
    return cat([div_number(first, step), inner, div_number(last, step)], dim)


def _uneven(values: Any, dim: int, points: Any, order: int) -> Any:
    """The slopes along ``dim`` of values at ``points``, by the parabola through neighbours."""
    if points._array.ndim != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{points._array.ndim} dimensions!"
        )
    gaps = points.diff()

    def at(start: int, end: int | None) -> Any:
        return _between(gaps, 0, start, end).view([-1 if i == dim else 1 for i in range(values._array.ndim)])

    def of(start: int, end: int | None) -> Any:
        return _between(values, dim, start, end)

    left, right = at(0, -1), at(1, None)
    inner = (
        -right / (left * (left + right)) * of(0, -2)
        + (right - left) / (left * right) * of(1, -1)
        + left / (right * (left + right)) * of(2, None)
    )
    if order == 1:
        first = (of(1, 2) - of(0, 1)) / gaps.select(0, 0)
        last = (of(-1, None) - of(-2, -1)) / gaps.select(0, -1)
        return cat([first, inner, last], dim)
    right, left = gaps.select(0, 1), gaps.select(0, 0)  # PyTorch looks in this order
    first = (
        -(left * 2 + right) / (left * (left + right)) * of(0, 1)
        + (left + right) / (left * right) * of(1, 2)
        + -left / (right * (left + right)) * of(2, 3)
    )
    left, right = gaps.select(0, -2), gaps.select(0, -1)
    last = (
        right / (left * (left + right)) * of(-3, -2)
        + -(left + right) / (left * right) * of(-2, -1)
        + (right * 2 + left) / (right * (left + right)) * of(-1, None)
    )
    return cat([first, inner, last], dim)


@composite(method=False, page="torch")
def gradient(input: Any, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slopes of sampled values along each of ``dim``: central differences, one-sided at the ends.

    ``spacing`` is the distance of samples, one for each dimension, or tensors of coordinates; ``edge_order`` (1 or 2)
    the accuracy at the ends.
    """
    count = input._array.ndim
    if isinstance(spacing, Tensor) and not spacing._array.ndim:
        spacing = spacing.item()  # type: ignore[attr-defined]
    listed = isinstance(spacing, (list, tuple))
    dim_list = list(dim) if isinstance(dim, (list, tuple)) else [dim] * (dim is not None)
    is_taken = all(map(is_int, dim_list))
    if listed and (not is_taken or any(isinstance(step, Tensor) for step in spacing)):
        for position, step in enumerate(spacing):
            if not isinstance(step, Tensor):
                raise TypeError(f"expected Tensor as element {position} in argument 1, but got {type(step).__name__}")
    if not (is_taken and (spacing is None or is_number(spacing) or listed)):
        raise no_match("gradient", (input, spacing, dim), *_SIGNATURES)
    if dim is None:
        dims = list(range(count))
        if listed and len(spacing) != count:
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() "
                f"= {count}', since dim argument was not given, but got a list of length {len(spacing)}"
            )
    else:
        if listed and len(spacing) != len(dim_list):
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have "
                f"the same length, but got a spacing argument of length {len(spacing)} and a dim argument of length "
                f"{len(dim_list)}."
            )
        dims = [one_dim(axis, count, "gradient") for axis in dim_list]
        for position, axis in enumerate(dims):
            if axis in dims[:position]:
                raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    if input._array.dtype == "u1":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for axis in dims:
        if input._array.shape[axis] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    if input._array.dtype.kind in "iu" and not (listed and isinstance(spacing[0], Tensor)):
        input = input.to(dtypes.get_default_dtype())
    steps = list(spacing) if listed else [1.0 if spacing is None else spacing] * len(dims)
    if any(isinstance(step, complex) for step in steps) and not input.is_complex():  # type: ignore[attr-defined]
        input = input.to(input.dtype.to_complex())
    if any(isinstance(step, Tensor) for step in steps):
        return tuple(_uneven(input, axis, points, edge_order) for axis, points in zip(dims, steps, strict=True))
    return tuple(_even(input, axis, plain(step), edge_order) for axis, step in zip(dims, steps, strict=True))
