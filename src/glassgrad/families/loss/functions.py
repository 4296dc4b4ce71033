"""Losses and embeddings as ``torch`` itself spells them: reduction as a number, checks of sizes and types."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ops.declare import composite
from ..activation.rows import logsigmoid
from ..arithmetic.rows import add_number, div_number, mul, mul_number, neg, sub_number
from ..compare.rows import minimum, where
from ..distance.functions import pairwise_distance, together
from ..index.rows import masked_fill
from ..pointwise.limit import clamp_min_number, xlogy
from ..pointwise.rows import exp, log, sqrt
from ..reduce.functions import check_tensor
from ..reduce.rows import mean, sum, sum_dim
from ..shape.rows import squeeze_dim, unsqueeze, view
from ..softmax.rows import log_softmax
from . import rows as loss
from .ctc import ctc_loss_forward

_KINDS = "iub"


def reduce(values: Any, reduction: int) -> Any:
    """Elementwise losses averaged (1) or summed (2)."""
    return mean(values) if reduction == 1 else sum(values) if reduction == 2 else values


# -- classes -----------------------------------------------------------------------------------------------------------


def _check_weight(input: Any, weight: Any, classes: int) -> None:
    if weight is None:
        return
    if weight._array.ndim != 1 or weight._array.size != classes:
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(weight._array.shape)}"
        )
    if weight._array.dtype != input._array.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.scalar_name} but found {weight.dtype.scalar_name}")
    if weight.requires_grad:
        raise RuntimeError(
            "The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'. This input "
            "cannot have requires_grad True."
        )


def nll_loss_nd(input: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100) -> Any:
    """The negative log likelihood of classes, of vectors, matrices or maps of scores."""
    check_tensor(input, "nll_loss_nd")
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
        _check_weight(input, weight, sizes[-1])
        return loss.nll_loss(input, target, weight, reduction, ignore_index)[0]
    if len(sizes) == 4:
        if len(wanted) != 3:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(wanted)}"
            )
        if sizes[2:] != wanted[1:]:
            raise RuntimeError(f"size mismatch (got input: {list(sizes)} , target: {list(wanted)}")
        _check_target(target)
        _check_weight(input, weight, sizes[1])
        return loss.nll_loss2d(input, target, weight, reduction, ignore_index)[0]
    if wanted[1:] != sizes[2:]:
        raise RuntimeError(f"Expected target size {[sizes[0], *sizes[2:]]}, got {list(wanted)}")
    _check_target(target)
    _check_weight(input, weight, sizes[1])
    flat = input.contiguous().view(sizes[0], sizes[1], 1, -1) if input._array.size else input.view(*sizes[:2], 0, 0)
    labels = target.contiguous().view(sizes[0], 1, -1) if target._array.size else target.view(sizes[0], 0, 0)
    losses = loss.nll_loss2d(flat, labels, weight, reduction, ignore_index)[0]
    return losses.view(wanted) if reduction == 0 else losses


def _check_target(target: Tensor) -> None:
    if target._array.dtype != np.int64 and target._array.dtype != np.uint8:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}")


def cross_entropy_loss(
    input: Any, target: Any, weight: Any = None, reduction: int = 1, ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross entropy of scores and classes, given as numbers or as probabilities."""
    check_tensor(input, "cross_entropy_loss")
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    dim = 0 if input._array.ndim <= 1 else 1
    if input._array.shape == target._array.shape:
        if target._array.dtype.kind in _KINDS:
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.scalar_name}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _of_probabilities(input, target, weight, reduction, label_smoothing, dim)
    scores = log_softmax(input, dim)
    if label_smoothing == 0.0:
        return nll_loss_nd(scores, target, weight, reduction, ignore_index)
    return _smoothed(scores, target, weight, reduction, ignore_index, label_smoothing, dim)


def _by_class(weight: Tensor, like: Tensor, dim: int) -> Tensor:
    """A weight for each class, broadcastable against scores."""
    if like._array.ndim <= 1:
        return weight
    return view(weight, tuple([-1 if i == dim else 1 for i in range(like._array.ndim)]))


def _of_probabilities(input: Any, target: Any, weight: Any, reduction: int, smoothing: float, dim: int) -> Any:
    classes = input._array.shape[dim] if input._array.ndim else 1
    if weight is not None:
        _check_weight(input, weight, classes)
    if smoothing > 0.0:
        target = add_number(mul_number(target, 1 - smoothing), smoothing / classes)
    scores = log_softmax(input, dim) * target
    if weight is not None:
        scores = scores * _by_class(weight, input, dim)
    if reduction == 0:
        return neg(sum_dim(scores, (dim,), False))
    total = neg(sum(scores))
    return total if reduction == 2 else div_number(total, input._array.size // max(classes, 1) if classes else 0)


def _smoothed(
    scores: Any, target: Any, weight: Any, reduction: int, ignore_index: int, smoothing: float, dim: int
) -> Any:
    likelihood = nll_loss_nd(scores, target, weight, reduction, ignore_index)
    weighed = scores if weight is None else scores * _by_class(weight, scores, dim)
    ignored = target._array == ignore_index
    smooth = masked_fill(neg(sum_dim(weighed, (dim,), False)), wrap(np.asarray(ignored)), 0.0)
    if reduction == 1:
        counted = np.logical_not(ignored)
        if weight is None:
            amount = np.asarray(counted.sum(), scores._array.dtype)[()]
        else:
            amount = np.asarray(weight._array[target._array[counted]].sum(), scores._array.dtype)[()]
        smooth = sum(smooth) / wrap(amount)
    elif reduction == 2:
        smooth = sum(smooth)
    classes = scores._array.shape[dim]
    return mul_number(likelihood, 1 - smoothing) + mul_number(smooth, smoothing / classes)


# -- losses made of other operations -----------------------------------------------------------------------------------


@composite(method=False)
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 1
) -> Any:
    """Minus the log likelihood of ``target`` under the probabilities ``sigmoid(input)``."""
    for name, tensor in (("weight", weight), ("pos_weight", pos_weight)):
        if tensor is not None and tensor.requires_grad:
            raise RuntimeError(
                f"The function 'binary_cross_entropy_with_logits' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )
    for tensor in (pos_weight, weight):
        if tensor is not None:
            together(tensor, input)
    return loss.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


@composite(method=False)
def kl_div(input: Any, target: Any, reduction: int = 1, *, log_target: bool = False) -> Any:
    """The Kullback-Leibler divergence of ``target`` from the log probabilities ``input``, elementwise, reduced."""
    if log_target:
        values = mul(exp(target), target - input)
    else:
        values = xlogy(target, target) - target * input
    return reduce(values, reduction)


@composite(method=False)
def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 1) -> Any:
    """How far pairs meant to be alike (1) are from parallel, and others (-1) from apart."""
    ndim = target._array.ndim
    if ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if ndim == 1 and (input1._array.ndim != 2 or input2._array.ndim != 2):
        raise RuntimeError(
            "1D target tensor expects 2D input tensors, but found inputs with sizes "
            f"{list(input1._array.shape)} and {list(input2._array.shape)}."
        )
    if ndim == 0 and (input1._array.ndim != 1 or input2._array.ndim != 1):
        raise RuntimeError(
            "0D target tensor expects 1D input tensors, but found inputs with sizes "
            f"{list(input1._array.shape)} and {list(input2._array.shape)}."
        )
    dim = (ndim,)
    first = add_number(sum_dim(input1 * input1, dim, False), 1e-12)
    second = add_number(sum_dim(input2 * input2, dim, False), 1e-12)
    cosine = sum_dim(input1 * input2, dim, False) / sqrt(first * second)
    zeros = wrap(np.zeros_like(cosine._array))
    ones = wrap(np.ones_like(cosine._array))
    apart = clamp_min_number(sub_number(cosine, margin), 0)
    alike = where(target == 1, ones - cosine, zeros)
    return reduce(alike + where(target == -1, apart, zeros), reduction)


@composite(method=False)
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 1) -> Any:
    """By how much pairs miss the order that ``target`` (1 or -1) wants."""
    return reduce(clamp_min_number(add_number(-target * (input1 - input2), margin), 0), reduction)


@composite(method=False)
def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: int = 1) -> Any:
    """``input`` where ``target`` is 1; what it lacks of ``margin`` where it is -1."""
    zeros = wrap(np.zeros_like(input._array))
    lacking = clamp_min_number(wrap(np.asarray(margin, input._array.dtype)[()]) - input, 0)
    return reduce(where(target != 1, lacking, zeros) + where(target != -1, input, zeros), reduction)


@composite(method=False)
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, reduction: int = 1,
) -> Any:  # fmt: skip
    """How much nearer than ``margin`` the negative is to the anchor than the positive."""
    dims = [tensor._array.ndim for tensor in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduce(clamp_min_number(add_number(near, margin) - far, 0), reduction)


@composite(method=False)
def poisson_nll_loss(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    """Minus the log likelihood of counts under Poisson distributions."""
    if log_input:
        values = exp(input) - target * input
    else:
        values = input - target * log(add_number(input, eps))
    if full:
        stirling = target * log(target) - target + mul_number(log(mul_number(target, 2 * math.pi)), 0.5)
        values = values + masked_fill(stirling, target <= 1, 0)
    return reduce(values, reduction)


def multilabel_soft_margin(input: Any, target: Any, weight: Any, reduction: int) -> Any:
    """The binary cross entropy of every class, averaged over classes."""
    values = neg(target * logsigmoid(input) + (1 - target) * logsigmoid(neg(input)))
    if weight is not None:
        values = values * weight
    dim = input._array.ndim - 1
    return reduce(sum_dim(values, (dim,), False) / input._array.shape[dim], reduction)


# -- PyTorch's signature of the CTC loss: batched or not, targets padded or in one line, lengths as tensors or
# numbers.

_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def _lengths(lengths: Any, name: str) -> tuple[int, ...]:
    if not isinstance(lengths, Tensor):
        return tuple(int(n) for n in lengths)
    if lengths._array.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    return tuple(lengths._array.reshape(-1).tolist())


def _check(log_probs: Any, targets: Any, inputs: tuple[int, ...], labels: tuple[int, ...], blank: int) -> None:
    """Raise PyTorch's error unless sizes and lengths fit together."""
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 'log_probs' "
            + _CHECKING
        )
    times, n, classes = log_probs.shape
    if not 1 <= targets.ndim <= 2:
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 'targets' "
            + _CHECKING
        )
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", labels)):
        if len(lengths) != n:
            raise RuntimeError(f"{name} must be of size batch_size")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", labels)):
        least = min(lengths)
        if least < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {least} {_CHECKING}")
    if targets.ndim == 1:
        wanted, dim, fits = np.sum(labels), 0, targets.shape[0] == np.sum(labels)
    else:
        wanted, dim, fits = n, 0, targets.shape[0] == n
        if fits and targets.shape[1] < max(labels):
            raise RuntimeError(
                f"Expected tensor to have size at least {max(labels)} at dimension 1, but got size {targets.shape[1]} "
                f"for argument #2 'targets' {_CHECKING}"
            )
    if not fits:
        raise RuntimeError(
            f"Expected tensor to have size {wanted} at dimension {dim}, but got size {targets.shape[0]} for argument "
            f"#2 'targets' {_CHECKING}"
        )
    if max(inputs) > times:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {times}, but got value {max(inputs)} {_CHECKING}"
        )


@composite(method=False)
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """The connectionist temporal classification loss; ``reduction`` is 0 for none, 1 for mean, 2 for sum.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html
    """
    check_tensor(log_probs, "ctc_loss")
    batched = log_probs._array.ndim == 3
    inputs, labels = _lengths(input_lengths, "input_lengths"), _lengths(target_lengths, "target_lengths")
    if not log_probs._array.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if not batched:
        log_probs = unsqueeze(log_probs, 1)
        if targets._array.ndim == 1:
            targets = unsqueeze(targets, 0)
    _check(log_probs._array, targets._array, inputs, labels, blank)
    if targets._array.dtype.kind not in "iu":
        targets = wrap(targets._array.astype(np.int64))
    loss = ctc_loss_forward(log_probs, targets, inputs, labels, blank, zero_infinity)[0]
    if zero_infinity:
        kind = loss._array.dtype
        loss = where(wrap(loss._array == np.inf), wrap(np.zeros((), kind)), loss)
    if reduction == 1:
        return mean(loss / wrap(np.maximum(labels, 1).astype(loss._array.dtype)))
    if reduction == 2:
        return sum(loss)
    return loss if batched else squeeze_dim(loss, 0)
