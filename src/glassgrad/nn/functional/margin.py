"""Losses of pairs, triplets, margins and likelihoods with ``torch.nn.functional``'s signatures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...core.tensor import Tensor
from ...ground.listening import audible
from ...ops.autocast import single
from ...ops.composite import loss as rows
from ...ops.composite.norm import pairwise_distance
from ...ops.primitive import loss as primitive
from ...ops.primitive.compare import minimum
from .reduction import number


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
