"""Losses of values, classes and probabilities with ``torch.nn.functional``'s signatures and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground import dtypes, modes
from ...ground.listening import audible
from ...ground.runtime import warn
from ...ops.autocast import single
from ...ops.composite import ctc
from ...ops.composite import loss as rows
from ...ops.composite.matrix import linear
from ...ops.composite.norm import together
from ...ops.primitive import loss as primitive
from ...ops.primitive.arithmetic import pow_number
from ...ops.primitive.loss import mse_loss as mse_row
from ...ops.primitive.loss import nll_loss as nll_row
from ...ops.primitive.reduce import sum as total
from ...ops.primitive.sign import abs as size_of
from ...ops.primitive.softmax import log_softmax
from .reduction import MODES, number

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
