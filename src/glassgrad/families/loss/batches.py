"""What losses do to batches under ``vmap``: the losses of all elements or rows at once, each example's then reduced."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import TABLE
from ...core.tensor import wrap
from ..shape.batches import alike, flat, fold, unfold
from .rows import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    mse_loss,
    mse_loss_backward,
    nll_loss,
    nll_loss2d,
    nll_loss_backward,
    other_classes,
    portion,
    smooth_l1_loss,
    soft_margin_loss,
    weights_of,
)


def _reduced(losses: Any, reduction: int) -> Any:
    return losses if reduction == 0 else TABLE["mean" if reduction == 1 else "sum"].caller(losses)


def _reduces(row: Any) -> None:
    """A loss of each element, then reduced."""
    position = len(row.inputs) + row.settings.index("reduction")

    @row.composition
    def composed(*args: Any) -> Any:
        if args[position] == 0:
            return NotImplemented
        return _reduced(row.caller(*args[:position], 0, *args[position + 1 :]), args[position])


for _loss in (
    mse_loss, smooth_l1_loss, huber_loss, soft_margin_loss, binary_cross_entropy, binary_cross_entropy_with_logits,
):  # fmt: skip
    _reduces(_loss.row)


@mse_loss_backward.row.composition
def _mse_loss_backward(grad_output: Any, self: Any, target: Any, reduction: int) -> Any:
    return (self - target) * (grad_output * (2 * portion(tuple(self.shape), reduction)))


# -- classes -----------------------------------------------------------------------------------------------------------


def _in_rows(scores: Any, target: Any) -> tuple[Any, Any]:
    """Scores and targets of all examples as of one: an example may be a single row."""
    return (scores, target) if scores._array.ndim == 2 else (fold(scores), fold(target))


def _of_rows(target: Any, dims: int) -> Any:
    """The targets of a batch of examples with so many dimensions: a row's one may come in a vector."""
    return target.reshape((-1,)) if dims == 1 else target


def _weights(target: Any, weight: Any, ignore_index: int, dtype: Any, is_batch: bool) -> Any:
    """What each target counts; ``is_batch`` where each example has weights of its own."""
    counted = target != ignore_index
    if weight is None:
        return counted.to(dtype)
    indices = TABLE["where"].caller(counted, target, 0)
    if is_batch:
        return weight.gather(1, flat(indices.unsqueeze(-1))).reshape(indices.shape) * counted
    return weight.index_select(0, indices.reshape((-1,))).reshape(indices.shape) * counted


def _nll(row: Any) -> None:
    @row.batch
    def rule(size: int, batched: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
        self, target = alike(size, batched[:2], self, target)
        target = _of_rows(target, self._array.ndim - 1)
        scores, classes = _in_rows(self, target)
        shared = None if batched[2] else weight
        losses = row.caller(scores, classes, shared, 0, ignore_index)[0].reshape(target._array.shape)
        if batched[2]:
            losses = losses * _weights(target, weight, ignore_index, self.dtype, True)
        if reduction == 0:
            return losses, TABLE["fill_number"].caller(flat(losses.detach()).sum(1), 0)
        weighed = flat(_weights(target, weight, ignore_index, self.dtype, batched[2])).sum(1)
        total = flat(losses).sum(1)
        return (total / weighed if reduction == 1 else total), weighed


_nll(nll_loss.row)
_nll(nll_loss2d.row)


@nll_loss_backward.row.batch
def _nll_loss_backward(
    size: int, batched: Any, grad_output: Any, target: Any, total_weight: Any, weight: Any, sizes: Any,
    reduction: int, ignore_index: int,
) -> Any:  # fmt: skip
    grad, target, total = alike(size, batched[:3], grad_output, target, total_weight)
    target = _of_rows(target, len(sizes))
    shape = target._array.shape
    if reduction:
        grad = grad / total if reduction == 1 else grad
        grad = grad.reshape((size, *(1,) * (len(shape) - 1))).expand(shape)
    if batched[3]:
        grad, weight = grad * _weights(target, weight, ignore_index, grad.dtype, True), None
    if len(sizes) == 1:
        return nll_loss_backward(grad, target, total_weight_of_all(grad), weight, (size, *sizes), 0, ignore_index)
    back = nll_loss_backward(
        fold(grad), fold(target), total_weight_of_all(grad), weight, (size * sizes[0], *sizes[1:]), 0, ignore_index
    )
    return unfold(back, size)


def total_weight_of_all(grad: Any) -> Any:
    """What a loss that is not reduced has for the sum of the weights."""
    return wrap(np.zeros((), grad._array.dtype))


@other_classes.row.batch
def _other_classes(size: int, batched: Any, self: Any, target: Any) -> Any:
    self, target = alike(size, batched, self, target)
    return unfold(other_classes(fold(self), target.reshape((-1,))), size)


@weights_of.row.composition
def _weights_of(weight: Any, target: Any) -> Any:
    return weight.index_select(0, target.reshape((-1,))).reshape((-1, 1))
