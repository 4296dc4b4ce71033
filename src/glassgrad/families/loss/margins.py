"""Losses of pairs, triplets, margins between scores, and likelihoods: as ``torch`` and ``nn.functional`` spell them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import modes
from ...ground.dtypes import check_number, need_bool, need_float
from ...ground.listening import audible
from ...ground.meta import need_item
from ...ops.autocast import single
from ...ops.declare import composite, functional
from ...tensor.lifted import all_values, no_slope
from ..activation.rows import logsigmoid
from ..arithmetic.functions import need_tensor
from ..arithmetic.rows import add_number, mul_number, neg, sub_number
from ..cast.rows import fill_number
from ..compare.rows import minimum, where, zero_like
from ..create.functions import number_of
from ..distance.functions import pairwise_distance
from ..index.rows import masked_fill
from ..pointwise.limit import clamp_min_number
from ..pointwise.rows import exp, log, sqrt
from ..reduce.rows import sum_dim
from . import rows
from .functions import number, reduced

# -- pairs -------------------------------------------------------------------------------------------------------------


@composite(method=False)
def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0) -> Any:
    """How far pairs meant to be alike (1) are from parallel, and others (-1) from apart."""
    need_float("cosine_embedding_loss", "margin", 4, margin)
    ndim = target._array.ndim
    if ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1._array.ndim == input2._array.ndim == ndim + 1:
        raise RuntimeError(
            f"{ndim}D target tensor expects {ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(input1._array.shape)} and {list(input2._array.shape)}."
        )
    dim = (ndim,)
    first = add_number(sum_dim(input1 * input1, dim, False), 1e-12)
    second = add_number(sum_dim(input2 * input2, dim, False), 1e-12)
    cosine = sum_dim(input1 * input2, dim, False) / sqrt(first * second)
    zeros = zero_like(cosine.detach())
    ones = add_number(zeros, 1)
    apart = clamp_min_number(sub_number(cosine, float(margin)), 0)
    alike = where(target == 1, ones - cosine, zeros)
    return reduced(alike + where(target == -1, apart, zeros), reduction)


@functional
def functional_cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How far pairs meant to be alike (1) are from parallel, and others (-1) from apart."""
    input1, input2, target = single(input1, input2, target)
    return cosine_embedding_loss(input1, input2, target, margin, number(reduction, size_average, reduce))


@composite(method=False)
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0) -> Any:
    """By how much pairs miss the order that ``target`` (1 or -1) wants."""
    for position, (name, tensor) in enumerate({"input1": input1, "input2": input2, "target": target}.items(), 1):
        need_tensor("margin_ranking_loss", name, position, tensor)
    need_float("margin_ranking_loss", "margin", 4, margin)
    apart = input1 - input2
    return reduced(clamp_min_number(add_number(-target * apart, float(margin)), 0), reduction)


@functional
def functional_margin_ranking_loss(
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
    return margin_ranking_loss(input1, input2, target, margin, mode)


@composite(method=False)
def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: int = 0) -> Any:
    """``input`` where ``target`` is 1; what it lacks of ``margin`` where it is -1."""
    need_tensor("hinge_embedding_loss", "target", 2, target)
    need_float("hinge_embedding_loss", "margin", 3, margin)
    check_number(margin, input._array.dtype)
    zeros = zero_like(input.detach())
    lacking = clamp_min_number(wrap(np.asarray(margin, input._array.dtype)[()]) - input, 0)
    return reduced(where(target != 1, lacking, zeros) + where(target != -1, input, zeros), reduction)


@functional
def functional_hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``input`` where ``target`` is 1; what it lacks of ``margin`` where it is -1."""
    input, target = single(input, target)
    return hinge_embedding_loss(input, target, margin, number(reduction, size_average, reduce))


# -- triplets ----------------------------------------------------------------------------------------------------------


def _distances(anchor: Any, positive: Any, negative: Any, swap: bool, distance: Callable[[Any, Any], Any]) -> Any:
    """How far positive and negative are from the anchor; with ``swap`` the negative from the nearer of the two."""
    dims = [tensor._array.ndim for tensor in (anchor, positive, negative)]
    if len(set(dims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    return near, minimum(far, distance(positive, negative)) if swap else far


@composite(method=False)
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, reduction: int = 0,
) -> Any:  # fmt: skip
    """How much nearer than ``margin`` the negative is to the anchor than the positive."""
    for position, (name, value) in enumerate({"margin": margin, "p": p, "eps": eps}.items(), 4):
        need_float("triplet_margin_loss", name, position, value)
    near, far = _distances(anchor, positive, negative, swap, lambda a, b: pairwise_distance(a, b, p, eps))
    return reduced(clamp_min_number(add_number(near, float(margin)) - far, 0), reduction)


@functional
def functional_triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """How much nearer than ``margin`` the negative is to the anchor than the positive."""
    anchor, positive, negative = single(anchor, positive, negative)
    mode = number(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, mode)


@audible
def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """``triplet_margin_loss`` with a distance of one's own."""
    mode = number(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = _distances(anchor, positive, negative, swap, distance)
    return reduced((margin + near - far).clamp_min(0), mode)


# -- margins between classes -------------------------------------------------------------------------------------------


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
    margin = number_of("multi_margin_loss", "margin", 4, margin)
    if isinstance(margin, complex):
        raise RuntimeError("value cannot be converted to type float without overflow")
    if isinstance(target, Tensor):  # which is refused first
        no_slope("multi_margin_loss", weight=weight)
    return rows.multi_margin_loss(input, target, weight, p, margin, mode)


@audible
def multilabel_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """How far classes that ``target`` does not list come within one of those it does."""
    mode = number(reduction, size_average, reduce)
    return rows.multilabel_margin_loss(input, target, mode)


@audible
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The binary cross entropy of every class, averaged over classes."""
    values = neg(target * logsigmoid(input) + (1 - target) * logsigmoid(neg(input)))
    if weight is not None:
        values = values * weight
    losses = sum_dim(values, (input._array.ndim - 1,), False) / input.size(-1)
    if size_average is None and reduce is None:
        _check_reduction(reduction)
    return reduced(losses, number(reduction, size_average, reduce))


# -- likelihoods -------------------------------------------------------------------------------------------------------


@composite(method=False)
def poisson_nll_loss(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    """Minus the log likelihood of counts under Poisson distributions."""
    need_tensor("poisson_nll_loss", "target", 2, target)
    need_bool("poisson_nll_loss", "log_input", 3, log_input)
    need_bool("poisson_nll_loss", "full", 4, full)
    need_float("poisson_nll_loss", "eps", 5, eps)
    if log_input:
        values = exp(input) - target * input
    else:
        values = input - target * log(add_number(input, eps))
    if full:
        stirling = target * log(target) - target + mul_number(log(mul_number(target, 2 * math.pi)), 0.5)
        values = values.add_(masked_fill(stirling, target <= 1, 0))  # whose dtype it keeps
    return reduced(values, reduction)


@functional
def functional_poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of counts under Poisson distributions."""
    input, target = single(input, target)
    mode = number(reduction, size_average, reduce)
    return poisson_nll_loss(input, target, log_input, full, eps, mode)


@audible
def gaussian_nll_loss(
    input: Any, target: Any, var: Tensor, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """Minus the log likelihood of values under normal distributions of variance ``var``."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        need_tensor("ones_like", "input", 1, input)
        var = var * fill_number(input.detach(), 1)
    else:
        below = var < 0
        need_tensor("any", "input", 1, below)  # which takes no whole number
        signs = all_values(below)
        need_item(signs)
        if signs.any():
            raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not _broadcasts(input, var):
            raise ValueError("var is of incorrect size")
    _check_reduction(reduction)
    var = _at_least(var, eps)
    values = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        values += 0.5 * math.log(2 * math.pi)
    return reduced(values, number(reduction))


def _check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")


def _broadcasts(input: Any, var: Any) -> bool:
    """Whether ``var`` is like ``input`` but for one dimension, in which it has size 1."""
    if len(input.size()) != len(var.size()):
        return False
    return sum([n for m, n in zip(input.size(), var.size(), strict=True) if m != n]) == 1  # as PyTorch asks


def _at_least(var: Any, eps: float) -> Tensor:
    """A copy of ``var`` of at least ``eps``; its gradient knows no bound."""
    copy = var.clone()
    before = modes.local.grad
    try:
        modes.set_grad(False)
        copy.clamp_(min=eps)
    finally:
        modes.local.grad = before
        modes.settle()
    return copy
