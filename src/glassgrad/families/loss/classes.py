"""Losses of classes: likelihoods, cross entropies of indices and of probabilities."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground import dtypes, modes
from ...ground.listening import audible
from ...ground.runtime import warn
from ...ops.autocast import single
from ...tensor.lifted import no_slope
from ..arithmetic.rows import add_number, div_number, mul_number, neg
from ..index.rows import masked_fill
from ..matrix.functions import linear
from ..reduce.functions import check_tensor
from ..reduce.rows import sum, sum_dim
from ..shape.rows import axis_of, view
from ..softmax.rows import log_softmax
from . import rows
from .functions import MODES, number

_I64 = np.dtype("i8")


def _check_weight(weight: Any, classes: int, kind: dtypes.dtype | None, in_planes: bool = False) -> None:
    """Raise PyTorch's errors unless there is a weight for each class, of a dtype; of any beside probabilities."""
    if weight is None:
        return
    if in_planes:  # of any sizes
        if weight._array.size != classes:
            raise RuntimeError("weight tensor should be defined either for all or no classes")
    elif weight._array.ndim != 1 or weight._array.size != classes:
        raise RuntimeError(
            f"{'' if kind else 'cross_entropy: '}weight tensor should be defined either for all {classes} classes or "
            f"no classes but got weight tensor of shape: {list(weight._array.shape)}"
        )
    if kind is None:
        return
    if weight.dtype is not kind and kind.is_floating_point:  # whole numbers are refused by the kernel
        raise RuntimeError(f"expected scalar type {kind.scalar_name} but found {weight.dtype.scalar_name}")
    no_slope(f"nll_loss{'2d' if in_planes else ''}_forward", weight=weight)


def nll_loss_nd(input: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100) -> Any:
    """The negative log likelihood of classes, of vectors, matrices or maps of scores."""
    check_tensor(input, "nll_loss_nd")
    if type(ignore_index) is not int:
        ignore_index = dtypes.need_int("nll_loss_nd", "ignore_index", 5, ignore_index)
    if modes.watch:
        input, weight = single(input, weight)
    sizes, wanted = input._array.shape, target._array.shape
    if not sizes:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(sizes) != 1 and sizes[0] != (wanted[0] if wanted else None):
        have = wanted[0] if wanted else 0
        raise ValueError(f"Expected input batch_size ({sizes[0]}) to match target batch_size ({have}).")
    if len(sizes) <= 2:
        if len(wanted) > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        _check_target(target)
        if len(sizes) == 1 and target._array.size != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target._array.size}")
        _check_weight(weight, sizes[-1], input.dtype)
        return rows.nll_loss(input, target, weight, reduction, ignore_index)[0]
    if len(sizes) == 4:
        if len(wanted) != 3:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(wanted)}"
            )
        _check_target(target)
        if sizes[2:] != wanted[1:]:
            raise RuntimeError(f"size mismatch (got input: {list(sizes)} , target: {list(wanted)}")
        _check_weight(weight, sizes[1], input.dtype, in_planes=True)
        return rows.nll_loss2d(input, target, _in_a_row(weight), reduction, ignore_index)[0]
    if wanted[1:] != sizes[2:]:
        raise RuntimeError(f"Expected target size {[sizes[0], *sizes[2:]]}, got {list(wanted)}")
    _check_target(target)
    _check_weight(weight, sizes[1], input.dtype, in_planes=True)
    flat = input.contiguous().view(sizes[0], sizes[1], 1, -1) if input._array.size else input.view(*sizes[:2], 0, 0)
    labels = target.contiguous().view(sizes[0], 1, -1) if target._array.size else target.view(sizes[0], 0, 0)
    losses = rows.nll_loss2d(flat, labels, _in_a_row(weight), reduction, ignore_index)[0]
    return losses.view(wanted) if reduction == 0 else losses


def _in_a_row(weight: Any) -> Any:
    return weight if weight is None or weight._array.ndim == 1 else weight.reshape(-1)


def _check_target(target: Tensor) -> None:
    if target._array.dtype != np.int64 and target._array.dtype != np.uint8:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}")


def cross_entropy_loss(
    input: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross entropy of scores and classes, given as numbers or as probabilities."""
    check_tensor(input, "cross_entropy_loss")
    if type(ignore_index) is not int:
        ignore_index = dtypes.need_int("cross_entropy_loss", "ignore_index", 5, ignore_index)
    dtypes.need_float("cross_entropy_loss", "label_smoothing", 6, label_smoothing)
    label_smoothing = float(label_smoothing) if label_smoothing > 0 else 0.0  # NaN too is none
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    dim = 0 if input._array.ndim == 1 else 1
    if input._array.shape == target._array.shape:
        if target._array.dtype.kind in "iubc":
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.scalar_name}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, weight, reduction, label_smoothing, dim)
    scores = log_softmax(input, axis_of(dim, input._array.ndim))
    if label_smoothing == 0.0:
        return nll_loss_nd(scores, target, weight, reduction, ignore_index)
    return _smoothed(scores, target, weight, reduction, ignore_index, label_smoothing, dim)


def _by_class(weight: Tensor, like: Tensor, dim: int) -> Tensor:
    """A weight for each class, broadcastable against scores."""
    if like._array.ndim <= 1:
        return weight
    return view(weight, tuple([-1 if i == dim else 1 for i in range(like._array.ndim)]))


def _of_probabilities(input: Any, target: Any, weight: Any, reduction: int, smoothing: float, dim: int) -> Any:
    if not input._array.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    classes = input._array.shape[dim]
    _check_weight(weight, classes, None)
    if smoothing > 0.0:
        target = add_number(mul_number(target, 1 - smoothing), smoothing / classes if classes else inf)
    scores = log_softmax(input, dim) * target
    if weight is not None:
        scores = scores * _by_class(weight, input, dim)
    if reduction == 0:
        return neg(sum_dim(scores, (dim,), False))
    total = sum(scores)
    if reduction == 2:
        return neg(total)
    return div_number(neg(total), input._array.size // classes) if input._array.size else neg(total.fill_(nan))


def _smoothed(
    scores: Any, target: Any, weight: Any, reduction: int, ignore_index: int, smoothing: float, dim: int
) -> Any:
    likelihood = nll_loss_nd(scores, target, weight, reduction, ignore_index)
    weighed = scores if weight is None else scores * _by_class(weight, scores, dim)
    ignored = target == ignore_index
    smooth = masked_fill(neg(sum_dim(weighed, (dim,), False)), ignored, 0.0)
    if reduction == 1:
        counts = (~ignored).to(scores.dtype)
        if weight is not None:
            classes = masked_fill(target, ignored, 0)
            counts = counts * weight.detach().index_select(0, classes.reshape(-1)).reshape(target.shape)
        smooth = sum(smooth) / counts.sum()
    elif reduction == 2:
        smooth = sum(smooth)
    classes = scores._array.shape[dim]
    return mul_number(likelihood, 1 - smoothing) + mul_number(smooth, smoothing / classes if classes else inf)


@audible
def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """The cross entropy of scores and classes, given as numbers or as probabilities."""
    is_plain = weight is None and type(label_smoothing) is float and label_smoothing == 0.0
    if is_plain and type(ignore_index) is int and reduction == "mean" and size_average is None and reduce is None:
        try:
            scores, classes = input._array, target._array
            if scores.ndim == 2 and classes.dtype is _I64 and classes.shape == scores.shape[:1] and not modes.unusual:
                return rows.nll_loss(log_softmax(input, 1), target, None, 1, ignore_index)[0]
        except AttributeError:
            pass
    mode = number(reduction, size_average, reduce)
    if modes.watch:
        input, target, weight = single(input, target, weight)
    return cross_entropy_loss(input, target, weight, mode, ignore_index, label_smoothing)


@audible
def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the log probability of the right class, weighted and reduced."""
    return nll_loss_nd(input, target, weight, number(reduction, size_average, reduce), ignore_index)


@audible
def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
) -> Tensor:  # fmt: skip
    """The cross entropy of ``linear(input, linear_weight, linear_bias)`` and ``target``.

    linear_weight  (C, features), or (C, ..., features) for a loss at several places
    options        what PyTorch's piecewise form may do to save memory; here the numbers are computed at once
    """
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    shape, features = tuple(linear_weight.shape), input.shape[-1]
    if features != shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{features} and {shape[-1]}, respectively"
        )
    if linear_bias is not None and tuple(linear_bias.shape) != shape[:-1]:
        raise RuntimeError(f"expected linear_bias shape {shape[:-1]}, got {tuple(linear_bias.shape)}")
    several = len(shape) > 2
    if several and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {shape} requires batched input, (N, {features}), got "
            f"unbatched input with shape {tuple(input.shape)}"
        )
    sizes = (*input.shape[:-1], *shape[:-1])
    if tuple(target.shape) == sizes and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    plain = reduction in MODES and label_smoothing == 0.0 and target.dtype is dtypes.int64 and not several
    if options is not None and not plain:
        warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            f"label_smoothing == 0, target.dtype == int64, out_features == (). Got reduction={reduction!r}, "
            f"label_smoothing={label_smoothing}, target.dtype={target.dtype}, out_features={shape[1:-1]}, "
            f"tracing=False, linear_bias.shape={None if linear_bias is None else tuple(linear_bias.shape)}.",
        )
    if several:
        linear_weight = linear_weight.reshape(-1, features)
        linear_bias = None if linear_bias is None else linear_bias.reshape(-1)
    scores = linear(input, linear_weight, linear_bias).reshape(sizes)
    return cross_entropy(
        scores, target, weight=weight, reduction=reduction, ignore_index=-100 if ignore_index is None else ignore_index,
        label_smoothing=label_smoothing,
    )  # fmt: skip
