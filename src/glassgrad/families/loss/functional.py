"""How ``reduction=`` and its two retired forms are read: the number that rows take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground import dtypes, modes
from ...ground.listening import audible
from ...ground.runtime import warn
from ...ops.autocast import single
from ..arithmetic.rows import pow_number
from ..compare.rows import minimum
from ..distance.functions import pairwise_distance, together
from ..matrix.functions import linear
from ..pointwise.limit import abs as size_of
from ..reduce.rows import sum as total
from ..softmax.rows import log_softmax
from . import functions as ctc
from . import functions as rows
from . import rows as primitive
from .rows import mse_loss as mse_row
from .rows import nll_loss as nll_row

MODES = {"none": 0, "mean": 1, "sum": 2}


def number(reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """0 for none, 1 for mean, 2 for sum; ValueError for other words."""
    if size_average is not None or reduce is not None:
        reduction = _retired(size_average, reduce)
    found = MODES.get(reduction)
    if found is None:
        if reduction != "elementwise_mean":
            raise ValueError(f"{reduction} is not a valid value for reduction")
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        found = 1
    return found


def _retired(size_average: bool | None, reduce: bool | None) -> str:
    """The word that ``size_average`` and ``reduce`` stood for."""
    averaged = True if size_average is None else size_average
    reduced = True if reduce is None else reduce
    word = "mean" if averaged and reduced else "sum" if reduced else "none"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.")
    return word


# -- Losses of values, classes and probabilities with ``torch.nn.functional``'s signatures and warnings.

_I64 = np.dtype("i8")


# -- values ------------------------------------------------------------------------------------------------------------


def _same_sizes(input: Any, target: Any) -> tuple[Any, Any]:
    """Input and target at their common sizes, with PyTorch's warning where those differ."""
    if target.size() != input.size():
        warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
        )
    return together(input, target)


def _weighed(values: Tensor, weight: Any, reduction: str, input: Any) -> Tensor:
    """Elementwise losses times ``weight``; their mean is that of the weights."""
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    values = values * weight
    if reduction == "none":
        return values
    if reduction == "sum":
        return total(values)
    if reduction == "mean":
        return total(values) / total(weight)
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


@audible
def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Tensor:  # fmt: skip
    """The mean squared error.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html
    """
    try:
        if weight is None and size_average is None and reduce is None and input._array.shape == target._array.shape:
            return mse_row(input, target, MODES[reduction])
    except (AttributeError, KeyError):
        pass
    input, target = _same_sizes(input, target)
    if weight is not None:
        return _weighed(pow_number(input - target, 2), weight, reduction, input)
    return mse_row(input, target, number(reduction, size_average, reduce))


@audible
def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Tensor:  # fmt: skip
    """The mean absolute error."""
    input, target = single(input, target)
    input, target = _same_sizes(input, target)
    if weight is not None:
        return _weighed(size_of(input - target), weight, reduction, input)
    return rows.reduce(size_of(input - target), number(reduction, size_average, reduce))


@audible
def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """Squares of differences below ``beta``, absolute values of larger ones."""
    input, target = _same_sizes(input, target)
    mode = number(reduction, size_average, reduce)
    if beta == 0.0:
        return rows.reduce(size_of(input - target), mode)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return primitive.smooth_l1_loss(input, target, mode, beta)


@audible
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Tensor:
    """Half the squares of differences below ``delta``, a straight line for larger ones."""
    input, target = _same_sizes(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        if weight.size() != input.size():
            raise ValueError("Weights and input must have the same size.")
        return rows.reduce(primitive.huber_loss(input, target, 0, delta) * weight, number(reduction))
    return primitive.huber_loss(input, target, number(reduction), delta)


@audible
def soft_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
    return primitive.soft_margin_loss(*together(input, target), number(reduction, size_average, reduce))


# -- classes -----------------------------------------------------------------------------------------------------------


@audible
def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """The cross entropy of scores and classes, given as numbers or as probabilities.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """
    if weight is None and label_smoothing == 0.0 and reduction == "mean" and size_average is None and reduce is None:
        try:
            scores, classes = input._array, target._array
            if scores.ndim == 2 and classes.dtype is _I64 and classes.shape == scores.shape[:1] and not modes.unusual:
                return nll_row(log_softmax(input, 1), target, None, 1, ignore_index)[0]
        except AttributeError:
            pass
    mode = number(reduction, size_average, reduce)
    if modes.watch:
        input, target, weight = single(input, target, weight)
    return rows.cross_entropy_loss(input, target, weight, mode, ignore_index, label_smoothing)


@audible
def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the log probability of the right class, weighted and reduced."""
    return rows.nll_loss_nd(input, target, weight, number(reduction, size_average, reduce), ignore_index)


# -- probabilities -----------------------------------------------------------------------------------------------------


@audible
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of ``target`` under the probabilities ``input``."""
    input, target = single(input, target)
    mode = number(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if target.dtype is not input.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.scalar_name} but expected {input.dtype.scalar_name}")
    if weight is not None:
        weight = weight.expand(_joined(tuple(target.shape), tuple(weight.shape)))
    return primitive.binary_cross_entropy(input, target, weight, mode)


def _joined(sizes: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(sizes, other)
    except ValueError:
        at = next(i for i in range(-1, -len(other) - 1, -1) if other[i] not in (1, sizes[i]))
        raise RuntimeError(
            f"Attempting to broadcast a dimension of length {other[at]} at {at}! Mismatching argument at index 1 had "
            f"torch.Size({list(other)}); but expected shape should be broadcastable to {list(sizes)}"
        ) from None


@audible
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean", pos_weight: Any = None,
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of ``target`` under the probabilities ``sigmoid(input)``."""
    mode = number(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return rows.binary_cross_entropy_with_logits(input, target, weight, pos_weight, mode)


@audible
def kl_div(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:  # fmt: skip
    """The Kullback-Leibler divergence of ``target`` from the log probabilities ``input``."""
    input, target = single(input, target)
    if size_average is not None or reduce is not None:
        mode = number(reduction, size_average, reduce)
    else:
        if reduction == "mean":
            warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size."
                "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
                "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            )
        mode = 2 if reduction == "batchmean" else number(reduction)
    divergence = rows.kl_div(input, target, mode, log_target=log_target)
    return divergence / input.size()[0] if reduction == "batchmean" and input.dim() != 0 else divergence


@audible
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of label sequences, summed over their alignments with longer inputs.

    log_probs  (T, N, C), or (T, C) for one sequence; log probabilities, as ``log_softmax`` gives them
    targets    (N, S), padded, or all in one line (sum of ``target_lengths``)
    blank      the class that stands between labels
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html
    """
    return ctc.ctc_loss(  # type: ignore[no-any-return]
        log_probs, targets, input_lengths, target_lengths, blank, number(reduction), zero_infinity
    )


@audible
def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
) -> Tensor:  # fmt: skip
    """The cross entropy of ``linear(input, linear_weight, linear_bias)`` and ``target``.

    linear_weight  (C, features), or (C, ..., features) for a loss at several places
    options        what PyTorch's piecewise form may do to save memory; here the numbers are computed at once
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear_cross_entropy.html
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


# -- Losses of pairs, triplets, margins and likelihoods with ``torch.nn.functional``'s signatures.


@audible
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How far pairs meant to be alike (1) are from parallel, and others (-1) from apart."""
    input1, input2, target = single(input1, input2, target)
    return rows.cosine_embedding_loss(input1, input2, target, margin, number(reduction, size_average, reduce))


@audible
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """By how much pairs miss the order that ``target`` (1 or -1) wants."""
    input1, input2, target = single(input1, input2, target)
    mode = number(reduction, size_average, reduce)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return rows.margin_ranking_loss(input1, input2, target, margin, mode)


@audible
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``input`` where ``target`` is 1; what it lacks of ``margin`` where it is -1."""
    input, target = single(input, target)
    return rows.hinge_embedding_loss(input, target, margin, number(reduction, size_average, reduce))


@audible
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The mean of ``max(0, margin - input[target] + input[i]) ** p`` over the other classes."""
    mode = number(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return primitive.multi_margin_loss(input, target, weight, p, margin, mode)


@audible
def multilabel_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """How far classes that ``target`` does not list come within one of those it does."""
    mode = number(reduction, size_average, reduce)
    if target.size() != input.size():
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    return primitive.multilabel_margin_loss(input, target, mode)


@audible
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The binary cross entropy of every class, averaged over classes."""
    return rows.multilabel_soft_margin(input, target, weight, number(reduction, size_average, reduce))


@audible
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How much nearer than ``margin`` the negative is to the anchor than the positive."""
    anchor, positive, negative = single(anchor, positive, negative)
    mode = number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return rows.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, mode)


@audible
def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``triplet_margin_loss`` with a distance of one's own."""
    mode = number(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = [t.ndim for t in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return rows.reduce((margin + near - far).clamp_min(0), mode)


@audible
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of counts under Poisson distributions."""
    input, target = single(input, target)
    mode = number(reduction, size_average, reduce)
    return rows.poisson_nll_loss(input, target, log_input, full, eps, mode)


@audible
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Minus the log likelihood of values under normal distributions of variance ``var``."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * input.detach().mul(0).add(1)
    elif bool((var._array < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1) and not _broadcasts(input, var):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = _at_least(var, eps)
    values = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        values += 0.5 * math.log(2 * math.pi)
    return rows.reduce(values, number(reduction))


def _broadcasts(input: Any, var: Any) -> bool:
    """Whether ``var`` has one size-1 dimension more than it needs."""
    pairs = list(zip(reversed(input.size()), reversed(var.size()), strict=False))
    return all(n in (1, m) or m == 1 for m, n in pairs)


def _at_least(var: Any, eps: float) -> Tensor:
    """A copy of ``var`` of at least ``eps``; its gradient knows no bound."""
    from ...ground import modes

    copy = var.clone()
    before = modes.set_grad(False)
    try:
        copy.clamp_(min=eps)
    finally:
        modes.set_grad(before)
    return copy
