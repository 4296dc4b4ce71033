"""Covariances and correlations of variables in rows, and histograms over several dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, number_of, wrap
from ...ground.dtypes import c_name, called
from ...ground.listening import asking
from ...ground.meta import in_single, need_data
from ...ground.runtime import warn
from ...kernels.columns import not_implemented
from ...ops import return_types as results
from ...ops.declare import composite
from ...tensor.lifted import all_values
from ...tensor.out import Composed, into
from ..arithmetic.combined import lerp
from ..arithmetic.functions import no_match
from ..cast.rows import fill_number
from ..create.ranges import linspace
from ..index.rows import masked_fill
from ..pointwise.limit import complex_from
from ..scatter.rows import gather
from ..shape.functions import broadcast_tensors, squeeze_, transpose_, unsqueeze_
from ..shape.rows import transpose, unsqueeze, view
from ..sort.rows import counted, sort
from .functions import check_tensor, one_dim

_new = tuple.__new__

# -- covariances -------------------------------------------------------------------------------------------------------


def _weights(name: str, weights: Tensor, observations: int, whole: bool) -> None:
    """Raise PyTorch's errors unless these are weights of the observations."""
    if weights._array.ndim > 1:
        raise RuntimeError(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights._array.ndim} "
            f"dimensions"
        )
    if whole and weights._array.dtype.kind not in "iu":
        raise RuntimeError(
            f"cov(): expected {name} to have integral dtype but got {name} with {weights.dtype.scalar_name} dtype"
        )
    if not whole and weights._array.dtype.kind not in "fV":
        raise RuntimeError(
            f"cov(): expected {name} to have floating point dtype but got {name} with {weights.dtype.scalar_name} dtype"
        )
    if weights._array.size != observations:
        raise RuntimeError(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights._array.size} != {observations}"
        )
    need_data("equal", weights._array)
    if not (all_values(weights) >= 0).all():
        raise RuntimeError(f"cov(): {name} cannot be negative")


@composite(page="torch")
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariances of the variables in the rows of ``input``, observed in its columns.

    ``fweights`` (integers) counts each observation, ``aweights`` weighs it.
    """
    if input._array.ndim > 2:
        raise RuntimeError(
            f"cov(): expected input to have two or fewer dimensions but got an input with {input._array.ndim} "
            f"dimensions"
        )
    if input._array.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    lines = input if input._array.ndim == 2 else input.view(1, -1)
    count = lines._array.shape[1]
    weights = None
    if fweights is not None:
        _weights("fweights", fweights, count, True)
        weights = fweights
    if aweights is not None:
        _weights("aweights", aweights, count, False)
        weights = aweights if weights is None else weights * aweights
    free: Any
    if weights is None:
        centre = lines.sum(1) / count if count else lines.sum(1) / math.nan
        free = count - correction
    else:
        total = weights.sum()
        if (all_values(total) == 0).any():
            raise RuntimeError("cov(): weights sum to zero, can't be normalized")
        centre = (lines * weights).sum(1) / total
        if aweights is None or correction == 0:
            free = total - (0 if aweights is not None else correction)
        else:
            free = total - correction * (weights * aweights).sum() / total
    if np.any((all_values(free) if isinstance(free, Tensor) else free) <= 0):
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        free = free * 0
    off = lines - centre.unsqueeze(1)
    other = off if weights is None else off * weights
    product = off.mm(other.t().conj() if lines.is_complex() else other.t())
    return (product / free).squeeze()  # type: ignore[no-any-return]


@composite(page="torch")
def corrcoef(input: Any) -> Tensor:
    """Pearson's correlations of the variables in the rows of ``input``, observed in its columns."""
    if input._array.ndim > 2:
        raise RuntimeError(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input._array.ndim} "
            "dimensions"
        )
    matrix: Any = cov(input)
    if not matrix._array.ndim:
        return matrix / matrix  # type: ignore[no-any-return]
    spread = matrix.diagonal()
    spread = (spread.real if matrix.is_complex() else spread).sqrt()
    matrix = matrix / spread.view(-1, 1) / spread.view(1, -1)
    if matrix.is_complex():
        return complex_from(matrix.real.clip(-1, 1), matrix.imag.clip(-1, 1))  # type: ignore[no-any-return]
    return matrix.clip(-1, 1)  # type: ignore[no-any-return]


# -- histograms --------------------------------------------------------------------------------------------------------


def _no_edges(dim: int) -> RuntimeError:
    return RuntimeError(
        "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins tensor for "
        f"dimension {dim}"
    )


def _ends(columns: Any, bounds: Any) -> list[tuple[float, float]]:
    """The ends of each dimension's histogram: as asked for, or the smallest and largest element."""
    count = columns.shape[1]
    if bounds is not None:
        if len(bounds) != 2 * count:
            raise RuntimeError(
                f"torch.histogramdd: for a {count}-dimensional histogram range should have {2 * count} elements, but "
                f"got {len(bounds)}"
            )
        limits = [(float(bounds[2 * i]), float(bounds[2 * i + 1])) for i in range(count)]
    elif not columns.size:
        limits = [(0.0, 1.0)] * count
    elif columns.dtype not in (np.float32, np.float64):
        raise not_implemented("histogramdd", columns)
    else:
        limits = list(zip(columns.min(0).tolist(), columns.max(0).tolist(), strict=True))
    ends = []
    for dim, (low, high) in enumerate(limits):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
            )
        ends.append((low - 0.5, high + 0.5) if low == high else (low, high))
    return ends


def _edges(input: Tensor, columns: Any, bins: Sequence[Any], bounds: Any, is_grid: bool) -> list[Tensor]:
    """The edges of bins; of a grid they are placed before the numbers of bins are looked at."""
    if bins and isinstance(bins[0], Tensor):
        for dim, edges in enumerate(bins):
            if edges._array.dtype != input._array.dtype:
                raise RuntimeError(
                    "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with "
                    f"dtype {c_name(input.dtype)} and bins for dimension {dim} with dtype {c_name(edges.dtype)}"
                )
            if edges._array.ndim != 1:
                raise RuntimeError(
                    f"torch.histogramdd: bins tensor should have one dimension, but got {edges._array.ndim} dimensions "
                    f"in the bins tensor for dimension {dim}"
                )
            if not edges._array.size:
                raise _no_edges(dim)
        return [edges.clone() for edges in bins]  # type: ignore[attr-defined]
    ends = _ends(columns, bounds) if is_grid else []
    for number in bins if is_grid else ():
        if number < -1:
            raise RuntimeError("number of steps must be non-negative")
    if is_grid and -1 in bins:  # of which no edge is made
        raise _no_edges(bins.index(-1))
    for dim, number in enumerate(bins):
        if number <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {number} for dimension {dim}")
    ends = ends or _ends(columns, bounds)
    how = {"dtype": input.dtype, "device": input.device}
    return [linspace(low, high, number + 1, **how) for number, (low, high) in zip(bins, ends, strict=True)]


def _not_above(edges: Any, values: Any) -> Any:
    """How many edges are not above each value, told by halving, as C++ has it: also where they are out of order."""
    if (edges[1:] >= edges[:-1]).all():
        return np.searchsorted(edges, values, side="right")
    first, left = np.zeros(len(values), np.intp), np.full(len(values), len(edges))
    while left.any():
        half = left // 2
        passed = (left > 0) & ~(values < edges[np.minimum(first + half, len(edges) - 1)])
        first, left = first + (half + 1) * passed, np.where(passed, left - half - 1, half)
    return first


def _counted(
    input: Tensor, bins: Sequence[Any], bounds: Any, weight: Any, density: bool, is_grid: bool
) -> tuple[Tensor, list[Tensor]]:
    """The histogram of the points in the last dimension of ``input``, and the edges of its bins."""
    given = [each._array for each in (input, *bins, weight) if isinstance(each, Tensor)]
    need_data("_histogramdd_bin_edges" if is_grid else "histogram.bin_ct", *given)
    array = np.asarray(input._array)
    count = array.shape[-1]
    if len(bins) != count:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    columns = array.reshape(math.prod(array.shape[:-1]), count)
    edges = _edges(input, columns, bins, bounds, is_grid)
    if weight is not None:
        if weight._array.dtype != input._array.dtype:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
                f"dtype, but got input({c_name(input.dtype)}), and weight({c_name(weight.dtype)})"
            )
        if weight._array.shape != array.shape[:-1]:
            raise RuntimeError(
                "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
                f"excluding its innermost dimension, but got input with shape {list(array.shape)} and weight with "
                f"shape {list(weight._array.shape)}"
            )
    for dim, line in enumerate(edges):
        if line._array.size < 2:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got 0 for dimension {dim}")
    if array.dtype.kind not in "fV":
        raise not_implemented("histogram_cpu", array)
    sizes = [line._array.size - 1 for line in edges]
    flat = np.zeros(len(columns), np.intp)
    inside = np.full(len(columns), count > 0)
    for dim, line in enumerate(edges):
        column, limits = in_single(columns[:, dim]), in_single(line._array)
        index = _not_above(limits, column) - 1
        index[index == sizes[dim]] -= 1  # the last bin holds its upper edge
        inside &= (column >= limits[0]) & (column <= limits[-1])
        flat = flat * sizes[dim] + index
    weights = None if weight is None else np.asarray(weight._array).reshape(-1)[inside].astype(np.float64)
    hist = np.bincount(flat[inside], weights, math.prod(sizes)).astype(array.dtype).reshape(sizes)
    if density:
        hist /= np.add.reduce(hist, None)
        for dim, line in enumerate(edges):
            shape = [-1 if i == dim else 1 for i in range(count)]
            hist /= (line._array[1:] - line._array[:-1]).reshape(shape)
    return wrap(hist), edges


_HISTOGRAM = (
    "Tensor input, Tensor bins, *, Tensor weight = None, bool density = False, tuple of Tensors out = None",
    "Tensor input, int bins = 100, *, tuple of floats range = None, Tensor weight = None, bool density = False, tuple "
    "of Tensors out = None",
)


@composite(page="torch")
@asking
def histogram(
    input: Any, bins: Any = 100, *, range: Sequence[float] | None = None, weight: Tensor | None = None,
    density: bool = False, out: Sequence[Tensor] | None = None,
) -> Any:  # fmt: skip
    """How many elements fall into each bin, and the bins' edges: ``bins`` equal ones within ``range``, or as given.

    Not differentiable.
    """
    if isinstance(bins, np.integer) or (range is not None and isinstance(bins, Tensor) and not bins._array.ndim):
        bins = int(bins)
    if not isinstance(bins, (Tensor, int)) or isinstance(bins, bool) or (range and isinstance(bins, Tensor)):
        raise no_match("histogram", (input, bins), *_HISTOGRAM)
    points = wrap(np.asarray(input._array).reshape(-1, 1))
    heavy = None if weight is None else wrap(np.asarray(weight._array).reshape(-1))
    hist, edges = _of(_counted(points, [bins], range, heavy, density, False), "histogram", input, bins, weight)
    if out is None:
        return _new(results.histogram, (hist, edges[0]))
    for name, target, dim in (("hist", out[0], ""), ("bin_edges", out[1], " for dimension 0")):
        if target.dtype is not input.dtype:
            raise RuntimeError(
                f"torch.histogram: input tensor and {name} tensor should have the same dtype, but got input "
                f"{c_name(input.dtype)} and {name} {c_name(target.dtype)}{dim}"
            )
    places = bins if isinstance(bins, Tensor) else edges[0]  # whose memory is asked about where it is written
    out[1].resize_(places._array.shape).copy_(places)
    out[0].resize_(hist._array.shape).copy_(hist)
    return _new(results.histogram, tuple(out))


def _of(values: tuple[Tensor, list[Tensor]], name: str, *sources: Any) -> tuple[Tensor, list[Tensor]]:
    """A histogram and its edges, with a history, through which there is no way back, where a source has one."""
    hist, edges = values
    source = next((each for each in sources if isinstance(each, Tensor) and each.requires_grad), sources[0])
    hist, *edges = (counted(source, each._array, name) for each in (hist, *edges))
    return hist, edges


@composite(method=False, page="torch")
@asking
def histogramdd(
    input: Any, bins: Any, range: Sequence[float] | None = None, weight: Tensor | None = None, density: bool = False,
    *, out: Any = None,
) -> Any:  # fmt: skip
    """How many points fall into each cell of a grid: coordinates lie along the last dimension of ``input``.

    ``bins`` is a number of equal bins, one for each dimension, or a list of tensors of edges.  Not differentiable.
    """
    if input._array.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if isinstance(bins, (list, tuple)) and {getattr(each, "ndim", 1) for each in bins} == {0}:
        if all(each.dtype.kind in "iu" for each in map(np.asarray, map(number_of, bins))):
            bins = [number_of(each) for each in bins]  # which PyTorch's parser takes for numbers
    if isinstance(bins, int) and not isinstance(bins, bool):
        bins = [bins] * input._array.shape[-1]
    elif not isinstance(bins, (list, tuple)) or any(isinstance(each, (bool, float)) for each in bins):
        raise TypeError(f"histogramdd(): argument 'bins' (position 2) must be tuple of ints, not {called(bins)}")
    name = "_histogramdd_from_bin_" + ("tensors" if any(isinstance(each, Tensor) for each in bins) else "cts")
    hist, edges = _of(_counted(input, list(bins), range, weight, density, True), name, input, *bins, weight)
    return _new(results.histogramdd, (hist, tuple(edges)))


# -- Quantiles: positions between sorted elements.

_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def _checked(name: str, input: Any, q: Any, interpolation: str) -> Any:
    """The fractions as an array of the input's type."""
    check_tensor(input, name)
    if not input._array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    kind = input._array.dtype
    if kind != np.float32 and kind != np.float64:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if isinstance(q, Tensor):
        if q._array.ndim > 1:
            raise RuntimeError("quantile() q must be a scalar or 1D tensor")
        if q._array.dtype != kind:
            raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
        fractions = q
    else:
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
        fractions = wrap(np.asarray(q, kind))
    if interpolation not in _WAYS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    return fractions


def _quantile(name: str, input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str, skip_nan: bool) -> Tensor:
    fractions = _checked(name, input, q, interpolation)
    sizes = input._array.shape
    at = None if dim is None else one_dim(dim, len(sizes), name, 3)
    if at is None:
        lines, rest = input.flatten(), (1,) * len(sizes) if keepdim else ()
    else:
        lines = input if at == len(sizes) - 1 else transpose(unsqueeze(input, -1), at, len(sizes))
        rest = tuple([1 if i == at else size for i, size in enumerate(sizes) if keepdim or i != at])
    if isinstance(q, Tensor):
        values = all_values(q)
        if values.size and not ((values >= 0) & (values <= 1)).all():
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
    ordered = sort(lines, -1)[0]
    n = ordered._array.shape[-1]
    ordered = view(ordered, (*rest, n))
    missing = ordered.detach().isnan()
    if skip_nan:
        ranks = fractions * (n - 1 - missing.sum(-1, True)).clamp(0).to(ordered.dtype)
    else:
        ranks, anywhere = broadcast_tensors(fractions * (n - 1), missing.any(-1, True))
        ranks = masked_fill(ranks, anywhere, n - 1)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": ranks.floor, "higher": ranks.ceil, "nearest": ranks.round}[interpolation]()
    places = ranks.detach()
    below = places.long()
    values = gather(ordered, below, -1)
    if interpolation in ("linear", "midpoint"):
        share = fill_number(places, 0.5) if interpolation == "midpoint" else ranks - below
        values = lerp(values, gather(ordered, places.ceil().long(), -1), share)
    if fractions._array.ndim:  # they come first
        values = transpose_(unsqueeze_(values, 0), 0, -1)
    return squeeze_(values, -1)


@composite(page="torch")
def quantile(
    input: Any, q: Tensor | float, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear",
    out: Any = None,
) -> Any:  # fmt: skip
    """The values below which fractions ``q`` of the elements lie, of all or along ``dim``."""
    values = _quantile("quantile", input, q, dim, keepdim, interpolation, False)
    return values if out is None else _into(input, out, values)


@composite()
def nanquantile(
    input: Any, q: Tensor | float, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear",
    out: Any = None,
) -> Any:  # fmt: skip
    """``quantile`` of what is not NaN."""
    values = _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)
    return values if out is None else _into(input, out, values)


def _into(input: Any, out: Any, values: Tensor) -> Any:
    refusal = "quantile() out tensor must be same dtype as the input tensor"
    return into(Composed("quantile", refusal, copied=True), (input,), out, values)
