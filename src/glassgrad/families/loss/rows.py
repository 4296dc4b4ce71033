"""Losses: elementwise ones with their reduction, and the negative log likelihood of classes; fused backward rows.

``reduction`` is PyTorch's number: 0 none, 1 mean, 2 sum.  A backward row's ``grad_output`` is 0-d where the loss was
reduced; broadcasting does the rest.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground.dtypes import check_number, of
from ...ground.index import IS_NARROW
from ...ground.meta import in_single
from ...kernels.columns import not_implemented
from ..arithmetic.rows import NEGATED_BOOL, wide_steps
from ..compare.rows import where
from ..norm.rows import shaped
from ..pointwise.limit import sgn
from ..pointwise.rows import logit, sigmoid
from ..reduce.extreme import pick, place
from ..reduce.rows import F16, F32, F64, ones32, ones64, sum_dim, total

ndarray = np.ndarray


def reduced(values: Any, reduction: int, dtype: Any = None) -> Any:
    """An elementwise loss, averaged or summed; in a dtype of its own, if one is given."""
    if dtype is not None:
        values = values.astype(dtype.numpy)
    if reduction not in (1, 2):  # other numbers are no reductions either
        return values
    if reduction == 2:
        return total(values)
    kind = values.dtype
    if kind == F16 or kind.kind == "V":
        return (total(values.astype(F32)) / values.size).astype(kind)
    return total(values) / values.size


def portion(sizes: tuple[int, ...], reduction: int) -> float:
    """What each element contributes to the reduced loss."""
    if reduction != 1:
        return 1
    n = 1
    for size in sizes:
        n *= size
    return 1 / n if n else float("nan")


# -- squared error -----------------------------------------------------------------------------------------------------


@op(typed="promote", public=False, precision="single", serves=(FLOATS, "mse_cpu"), batched="point")
def mse_loss(self: Any, target: Any, /, reduction: int = 1) -> Any:
    """The squared differences, reduced."""
    off = self - target
    if reduction and type(off) is ndarray and (off.dtype is F32 or off.dtype is F64):
        flat = off.ravel()
        return flat.dot(flat) / flat.size if reduction == 1 else flat.dot(flat)
    return reduced(off * off, reduction)


mse_loss.derivative(
    self=lambda grad, self, target, reduction: mse_loss_backward(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: mse_loss_backward(grad, target, self, reduction),
)


@op(typed="promote", public=False)
def mse_loss_backward(grad_output: Any, self: Any, target: Any, /, reduction: int) -> Any:
    """The gradient of ``mse_loss`` by ``self``."""
    if self.dtype.itemsize == 2:
        return wide_steps(mse_loss_backward, grad_output, self, target, reduction)
    off = self - target
    off *= grad_output * (2 / off.size if reduction == 1 and off.size else 2)
    return off


mse_loss_backward.derivative(
    grad_output=lambda grad, self, target, self_sizes, reduction: (
        grad * (self - target) * (2 * portion(self_sizes, reduction))
    ),
    self=lambda grad, grad_output, self_sizes, reduction: grad * (grad_output * (2 * portion(self_sizes, reduction))),
    target=lambda grad, grad_output, self_sizes, reduction: (
        grad * (grad_output * (-2 * portion(self_sizes, reduction)))
    ),
)


# -- absolute error, rounded at its kink -------------------------------------------------------------------------------


#: The columns of losses that are computed element by element, and reduced.
_LOSS: Any = {"typed": "promote", "public": False, "precision": "single", "hidden": ("self_sizes",), "batched": "point"}


@op(**_LOSS, widens=True, serves=(FLOATS, "smooth_l1_cpu"))
def smooth_l1_loss(self: Any, target: Any, /, reduction: int = 1, beta: float = 1.0) -> Any:
    """Squares of small differences, absolute values of large ones; reduced."""
    off = np.abs(in_single(self) - in_single(target))
    kind = off.dtype.type
    each = np.where(off < beta, kind(0.5) * off * off / kind(beta), off - kind(0.5 * beta))[()]
    return reduced(each.astype(self.dtype, copy=False), reduction)


@smooth_l1_loss.derivative("self", "target")
def _smooth_rule(grad: Any, self: Any, target: Any, self_sizes: Any, reduction: Any, beta: Any) -> Any:
    back = clipped((self - target) * (1 / beta), -1.0, 1.0) * (grad * portion(self_sizes, reduction))
    return back, -back


@op(**_LOSS, widens=True, serves=(FLOATS, "huber_cpu"))
def huber_loss(self: Any, target: Any, /, reduction: int = 1, delta: float = 1.0, dtype: Any = None) -> Any:
    """Half the squares of small differences, a straight line for large ones; reduced."""
    off = np.abs(in_single(self) - in_single(target))
    kind = off.dtype.type
    each = np.where(off < delta, kind(0.5) * off * off, kind(delta) * (off - kind(0.5 * delta)))[()]
    return reduced(each.astype(self.dtype, copy=False), reduction, dtype)


@huber_loss.derivative("self", "target")
def _huber_rule(grad: Any, self: Any, target: Any, self_sizes: Any, reduction: Any, delta: Any) -> Any:
    back = clipped(self - target, -delta, delta) * (grad * portion(self_sizes, reduction))
    return back, -back


@op(public=False, batched="point")
def clipped(self: Any, /, low: float, high: float) -> Any:
    """``self`` kept between ``low`` and ``high``."""
    return np.minimum(np.maximum(self, self.dtype.type(low)), self.dtype.type(high))


clipped.derivative(self=lambda grad, self, low, high: grad * inside(self, low, high))


@op(constant=True, public=False, batched="point")
def inside(self: Any, /, low: float, high: float) -> Any:
    """One where ``self`` is between ``low`` and ``high``, else zero."""
    return ((self > low) & (self < high)).astype(self.dtype)


# -- classes -----------------------------------------------------------------------------------------------------------


@lru_cache(256)
def _row_starts(rows: int, width: int) -> Any:
    return np.arange(rows) * width


_COUNTS = {kind: [kind.type(n) for n in range(1025)] for kind in (F32, F64)}


def _as_number(n: int, kind: Any) -> Any:
    return _COUNTS[kind][n] if kind in _COUNTS and n <= 1024 else kind.type(n)


def _outside(target: int) -> IndexError:
    return IndexError(f"Target {target} is out of bounds.")


def _all_inside(target: Any, width: int) -> bool:
    """Whether every class is one of ``width``."""
    if len(target) <= 16:
        few = target.tolist()
        return max(few) < width and min(few) >= 0
    return target.item(target.argmax()) < width and target.item(target.argmin()) >= 0


def _chosen(a: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> tuple[Any, Any]:
    """Minus the weighted element of each row of ``a`` that ``target`` names, and the sum of the weights."""
    rows, width = a.shape
    if rows and weight is None and ignore_index < 0 and _all_inside(target, width):
        chosen = a.take(target + _row_starts(rows, width))
        if reduction == 0:
            return -chosen, _as_number(0, a.dtype)
        ones = ones32.get(rows) if a.dtype is F32 else ones64.get(rows) if a.dtype is F64 else None
        added = total(chosen) if ones is None else chosen.dot(ones)
        return added / -rows if reduction == 1 else -added, _as_number(rows, a.dtype)
    target = target.astype(np.int64)
    counted = target != ignore_index
    wrong = counted & ((target < 0) | (target >= width))
    if wrong.any():
        raise _outside(target[wrong.argmax()])
    safe = np.where(counted, target, 0)
    weights = counted.astype(a.dtype) if weight is None else np.where(counted, weight[safe], 0).astype(a.dtype)
    chosen = np.where(counted, a.take(safe + _row_starts(rows, width)) if rows else a[:, 0] if width else 0, -0.0)
    chosen = -(chosen * weights).astype(a.dtype)
    if reduction == 0:
        return chosen, _as_number(0, a.dtype)
    weighed = total(weights)
    return (total(chosen) / weighed if reduction == 1 else total(chosen)), weighed


def _in_rows(a: Any) -> Any:
    """A batch of maps (N, C, H, W) as rows of classes."""
    moved = np.moveaxis(a, 1, -1)
    return moved.reshape(prod(moved.shape[:-1]), moved.shape[-1])


def _nll_rule(
    grad: Any, target: Any, weight: Any, total_weight: Any, self_sizes: Any, reduction: Any, ignore_index: Any
) -> Any:
    return nll_loss_backward(grad, target, total_weight, weight, self_sizes, reduction, ignore_index)


#: The columns of losses that choose an element of each row.
_OF_CLASSES: Any = {
    "auxiliary": ("target", "weight"), "outputs": ("output", "total_weight"), "differentiable": ("output",),
    "public": False, "precision": "single", "hidden": ("self_sizes",),
}  # fmt: skip


@op(**_OF_CLASSES, serves=(FLOATS, "nll_loss_out_frame"))
def nll_loss(self: Any, target: Any, weight: Any = None, /, reduction: int = 1, ignore_index: int = -100) -> Any:
    """Minus the element of each row that ``target`` names, weighted and reduced; and the sum of the weights."""
    shape = self.shape
    if reduction == 1 and weight is None and len(shape) == 2 and self.dtype is F32 and ignore_index < 0:
        rows = shape[0]
        if 0 < rows <= 1024 and _all_inside(target, shape[1]):
            return self.take(target + _row_starts(*shape)).dot(ones32[rows]) / -rows, _COUNTS[F32][rows]
    if len(shape) == 1:
        losses, weighed = _chosen(self.reshape(1, -1), target.reshape(1), weight, reduction, ignore_index)
        return (losses.reshape(()) if reduction == 0 else losses)[()], weighed
    return _chosen(self, target, weight, reduction, ignore_index)


nll_loss.derivative(self=_nll_rule)


def classes(target: Any) -> Any:
    """The target, if it is of classes; PyTorch's error for what is not int64."""
    if target.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {of(target.dtype).scalar_name}")
    return target


@op(node="NllLoss2DBackward0", **_OF_CLASSES, serves=(FLOATS, "nll_loss2d_forward_out_frame"))
def nll_loss2d(self: Any, target: Any, weight: Any = None, /, reduction: int = 1, ignore_index: int = -100) -> Any:
    """``nll_loss`` of maps: classes in dimension 1."""
    losses, weighed = _chosen(_in_rows(self), classes(target).reshape(-1), weight, reduction, ignore_index)
    return (losses.reshape(target.shape) if reduction == 0 else losses), weighed


nll_loss2d.derivative(self=_nll_rule)


@op(auxiliary=("target", "weight", "total_weight"), public=False)
def nll_loss_backward(
    grad_output: Any, target: Any, total_weight: Any, weight: Any = None, /, sizes: Any = (), reduction: int = 1,
    ignore_index: int = -100,
) -> Any:  # fmt: skip
    """The gradient of ``nll_loss``: zeros of ``sizes``, and in each row minus its share where ``target`` points."""
    whole = reduction == 1 and weight is None and len(sizes) == 2 and sizes[1]
    if whole and total_weight == sizes[0]:  # nothing was ignored
        out = np.zeros(sizes, grad_output.dtype)
        positions = target + _row_starts(*sizes)
        out.put(positions.astype(np.intp) if IS_NARROW else positions, grad_output / -sizes[0])
        return out
    return _placed(grad_output, target, weight, total_weight, sizes, reduction, ignore_index)


@nll_loss_backward.derivative("grad_output")
def _nll_twice(grad: Any, target: Any, weight: Any, sizes: Any, reduction: Any, ignore_index: Any) -> Any:
    again = nll_loss if len(sizes) <= 2 else nll_loss2d
    return again(grad, target, weight, reduction, ignore_index)[0]


def _placed(
    grad: Any, target: Any, weight: Any, total_weight: Any, sizes: Any, reduction: int, ignore_index: int
) -> Any:
    if len(sizes) == 1:
        return _placed(grad, target.reshape(1), weight, total_weight, (1, *sizes), reduction, ignore_index)[0].copy()
    rows, width = sizes[0], sizes[1]
    out = np.zeros(sizes, grad.dtype)
    if len(sizes) > 2:
        rows = target.size
        out = np.zeros((rows, width), grad.dtype)
        grad = grad.reshape(-1) if reduction == 0 else grad
    if not rows:
        return np.zeros(sizes, grad.dtype)
    share = -(grad / total_weight) if reduction == 1 else -grad
    if weight is None and (total_weight == rows and reduction):  # nothing was ignored
        positions = target.ravel() + _row_starts(rows, width)
        out.put(positions.astype(np.intp) if IS_NARROW else positions, share)
    else:
        flat = target.reshape(-1).astype(np.int64)
        counted = flat != ignore_index
        safe = np.where(counted, flat, 0)
        weights = counted if weight is None else np.where(counted, weight[safe], 0)
        out.ravel()[safe + _row_starts(rows, width)] = np.where(counted, share * weights, 0)
    if len(sizes) > 2:
        return np.ascontiguousarray(np.moveaxis(out.reshape(sizes[0], *sizes[2:], width), -1, 1))
    return out


# -- probabilities -----------------------------------------------------------------------------------------------------


@op(public=False, batched="point")
def bounded_reciprocal(self: Any, /) -> Any:
    """``1 / self``, as of 1e-12 where ``self`` is smaller."""
    return 1 / np.maximum(self, self.dtype.type(1e-12))


bounded_reciprocal.derivative(self=lambda grad, result: -(grad * result * result))


@op(**_LOSS, serves=(FLOATS, "binary_cross_entropy"))
def binary_cross_entropy(self: Any, target: Any, weight: Any = None, /, reduction: int = 1) -> Any:
    """Minus the log likelihood of ``target`` under the probabilities ``self``; reduced."""
    for name, chances in (("input", self), ("target", target)):
        if chances.size and not (np.minimum.reduce(chances, None) >= 0 and np.maximum.reduce(chances, None) <= 1):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    least = self.dtype.type(-100)
    losses = (target - 1) * np.maximum(np.log1p(-self), least) - target * np.maximum(np.log(self), least)
    return reduced(losses if weight is None else losses * weight, reduction)


@binary_cross_entropy.derivative("self")
def _bce_rule(grad: Any, self: Any, target: Any, weight: Any, self_sizes: Any, reduction: Any) -> Any:
    return binary_cross_entropy_backward(_weighed(grad, weight, self_sizes, reduction), self, target)


@binary_cross_entropy.derivative("target")
def _bce_target_rule(grad: Any, self: Any, weight: Any, self_sizes: Any, reduction: Any) -> Any:
    return -(_weighed(grad, weight, self_sizes, reduction) * logit(self))


def _weighed(grad: Any, weight: Any, sizes: Any, reduction: Any) -> Any:
    """The gradient of each element's loss."""
    grad = grad * portion(sizes, reduction) if reduction == 1 else grad
    return grad if weight is None else grad * weight


@op(typed="promote", public=False, batched="point")
def binary_cross_entropy_backward(grad_output: Any, self: Any, target: Any, /) -> Any:
    """The gradient of each element's binary cross entropy."""
    return grad_output * (self - target) / np.maximum((1 - self) * self, self.dtype.type(1e-12))


binary_cross_entropy_backward.derivative(
    grad_output=lambda grad, self, target: grad * (self - target) / (self + 1e-12) / (1 - self + 1e-12),
    self=lambda grad, grad_output, self, target: (
        (grad * grad_output)
        * ((self * self - self * target * 2 + target) / (((self + 1e-12) * (1 - self + 1e-12)) ** 2))
    ),
    target=lambda grad, grad_output, self: -(grad * grad_output * bounded_reciprocal((1 - self) * self)),
)


@op(public=False, batched="point")
def softplus_of_minus(self: Any, /) -> Any:
    """``log(1 + exp(-self))`` without overflow."""
    return np.log1p(np.exp(-np.abs(self))) + np.maximum(-self, self.dtype.type(0))


softplus_of_minus.derivative(self=lambda grad, self: grad * (sigmoid(self) - 1))


@op(**_LOSS, serves=(FLOATS, "log_sigmoid_cpu"))
def binary_cross_entropy_with_logits(
    self: Any, target: Any, weight: Any = None, pos_weight: Any = None, /, reduction: int = 1, dtype: Any = None
) -> Any:
    """Minus the log likelihood of ``target`` under the probabilities ``sigmoid(self)``; reduced."""
    plus = softplus_of_minus.row.kernel(self)
    losses = (1 - target) * self + (plus if pos_weight is None else ((pos_weight - 1) * target + 1) * plus)
    return reduced(losses if weight is None else losses * weight, reduction, dtype)


@binary_cross_entropy_with_logits.derivative("self")
def _logits_rule(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, self_sizes: Any, reduction: Any
) -> Any:
    grad = _weighed(grad, weight, self_sizes, reduction)
    if pos_weight is None:
        return (sigmoid(self) - target) * grad
    positive = pos_weight * target
    return ((positive + 1 - target) * sigmoid(self) - positive) * grad


@binary_cross_entropy_with_logits.derivative("target")
def _logits_target_rule(grad: Any, self: Any, weight: Any, pos_weight: Any, self_sizes: Any, reduction: Any) -> Any:
    grad = _weighed(grad, weight, self_sizes, reduction)
    return grad * -self if pos_weight is None else grad * ((pos_weight - 1) * softplus_of_minus(self) - self)


# -- margins -----------------------------------------------------------------------------------------------------------


NO_COMPLEX_SLOPE = "does not support automatic differentiation for outputs with complex dtype."


def _no_float_fits(self: Any, target: Any, reduction: int = 1, dtype: Any = None) -> RuntimeError:
    kind = dtype or of(self.dtype)
    if kind.numpy.kind == "b":
        return RuntimeError(NEGATED_BOOL)
    return RuntimeError(f"result type Float can't be cast to the desired output type {kind.scalar_name}")


@op(**_LOSS, serves=(FLOATS + "FD", _no_float_fits))
def soft_margin_loss(self: Any, target: Any, /, reduction: int = 1, dtype: Any = None) -> Any:
    """``log(1 + exp(-target * self))``, reduced."""
    wins = target * self
    losses = np.log(1 + np.exp(-wins)) if wins.dtype.kind == "c" else softplus_of_minus.row.kernel(wins)
    return reduced(losses, reduction, dtype)


soft_margin_loss.derivative(
    self=lambda grad, self, target, self_sizes, reduction: (
        (sigmoid(target * self) - 1) * target * (grad * portion(self_sizes, reduction))
    )
)


@op(constant=True, public=False, batched="fold")
def other_classes(self: Any, target: Any, /) -> Any:
    """Ones, and a zero in each row where ``target`` points."""
    out = np.ones_like(self)
    out[np.arange(len(out)), target.reshape(-1)] = 0
    return out


@op(constant=True, public=False)
def weights_of(weight: Any, target: Any, /) -> Any:
    """The weight of each row's class, as a column."""
    return weight[target.reshape(-1)].reshape(-1, 1)


@op(constant=True, public=False, batched="fold")
def label_pairs(self: Any, target: Any, /) -> Any:
    """How often each pair (a label listed in ``target``, a class not listed) counts; a list ends at -1."""
    rows, width = self.shape
    listed = np.minimum.accumulate(target >= 0, axis=1)
    counts = np.zeros((rows, width), self.dtype)
    np.add.at(counts, (np.arange(rows)[:, None], np.where(listed, target, 0)), listed.astype(self.dtype))
    return counts[:, :, None] * (counts == 0)[:, None, :]


def check_rows(self: Any) -> None:
    """Raise PyTorch's error for what is no vector of classes, nor several."""
    if self.ndim > 2 or (self.ndim and not self.shape[-1]):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(self.shape)}"
        )


def as_rows(sizes: tuple[int, ...]) -> tuple[int, int]:
    """The sizes of scores as a batch of one or more samples."""
    return (1, sizes[0]) if len(sizes) == 1 else (1, 1) if not sizes else (sizes[0], sizes[1])


@op(auxiliary=("target", "weight"), public=False, precision="single", hidden=("self_sizes",))
def multi_margin_loss(
    self: Any, target: Any, weight: Any = None, /, p: int = 1, margin: float = 1.0, reduction: int = 1
) -> Any:
    """The mean of ``max(0, margin - self[target] + self[i]) ** p`` over the other classes; reduced."""
    check_rows(self)
    a = self.reshape(as_rows(self.shape))
    if target.ndim > 1 or target.size != len(a):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{len(a)}], but got {list(target.shape)}. Input has shape {list(self.shape)}."
        )
    if weight is not None and weight.shape != a.shape[1:]:
        raise RuntimeError(f"inconsistent weight size, expected {a.shape[1]} but got {list(weight.shape)}")
    if self.dtype.char not in "fd":
        raise not_implemented("multi_margin_loss_cpu_kernel", self)
    labels = classes(target).reshape(-1)
    if weight is not None and weight.dtype != self.dtype:
        wanted, got = of(self.dtype).scalar_name, of(weight.dtype).scalar_name
        raise RuntimeError(f"expected scalar type {wanted} but found {got}")
    if ((labels < 0) | (labels >= a.shape[1])).any():
        raise RuntimeError("target out of range")
    off = np.fmax(margin - a[np.arange(len(a)), labels][:, None] + a, 0)  # which NaN is not above
    off[np.arange(len(a)), labels] = 0
    losses = np.add.reduce(off if p == 1 else off * off, axis=1) / a.shape[1]
    if weight is not None:
        losses = losses * weight[labels]
    losses = losses.astype(self.dtype)
    return reduced(losses if target.ndim else losses[0], reduction)


@multi_margin_loss.derivative("self")
def _multi_margin_rule(
    grad: Any, self: Any, target: Any, weight: Any, self_sizes: Any, p: Any, margin: Any, reduction: Any
) -> Any:
    sizes = as_rows(self_sizes)
    a, labels = shaped(self, sizes), shaped(target, (sizes[0], 1))
    off = a - pick(a, labels, 1, True) + margin
    off = where(off > 0, off, 0) * other_classes(a, target)
    slope = sgn(off) if p == 1 else off * 2
    each = shaped(grad, (sizes[0], 1)) if reduction == 0 else grad * portion(sizes[:1], reduction)
    slope = slope * (each * (1 / sizes[1]))
    if weight is not None:
        slope = slope * weights_of(weight, target)
    return shaped(slope - place(sum_dim(slope, 1, True), labels, sizes, 1, True), self_sizes)


def _per_row(grad: Any, sizes: Any, reduction: Any) -> Any:
    """The gradient of each sample's loss, broadcastable against the scores."""
    if reduction == 0 and len(sizes) == 2:
        return shaped(grad, (sizes[0], 1))
    return grad * portion(as_rows(sizes)[:1], reduction)


@op(auxiliary=("target",), public=False, precision="single", hidden=("self_sizes",))
def multilabel_margin_loss(self: Any, target: Any, /, reduction: int = 1) -> Any:
    """How far the classes that ``target`` does not list come within one of those it does; reduced."""
    check_rows(self)
    a = self.reshape(as_rows(self.shape))
    if target.shape != self.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}")
    if target.dtype.kind == "c":
        raise not_implemented("min_all", target)
    for end in (target.min().item(), target.max().item()) if target.size else ():  # of any dtype, truncated
        check_number(end, np.dtype(np.int64))
        if not -1 <= int(end) < a.shape[1]:
            raise RuntimeError("argument #2 'target' is out of range")
    if self.dtype.char not in "fd":
        raise not_implemented("multilabel_margin_loss_forward_out_frame", self)
    pairs = label_pairs.row.kernel(a, classes(target).reshape(a.shape))
    off = np.where(pairs, np.fmax(1 - a[:, :, None] + a[:, None, :], 0), 0) * pairs  # some are there several times
    losses = (np.add.reduce(off, axis=(1, 2)) / a.shape[1]).astype(self.dtype)
    return reduced(losses if self.ndim == 2 else losses[0], reduction)


@multilabel_margin_loss.derivative("self")
def _multilabel_rule(grad: Any, self: Any, target: Any, self_sizes: Any, reduction: Any) -> Any:
    sizes = as_rows(self_sizes)
    a = shaped(self, sizes)
    listed, unlisted = shaped(a, (*sizes, 1)), shaped(a, (sizes[0], 1, sizes[1]))
    off = unlisted - listed + 1
    slope = sgn(where(off > 0, off, 0)) * label_pairs(a, shaped(target, sizes))
    slope = sum_dim(slope, (1,)) - sum_dim(slope, (2,))
    return shaped(slope * (_per_row(grad, self_sizes, reduction) * (1 / sizes[1])), self_sizes)
