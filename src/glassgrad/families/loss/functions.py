"""Losses of values, probabilities and unaligned sequences, as ``torch`` and ``nn.functional`` spell them.

``torch`` takes ``reduction`` as a number, as rows do; ``nn.functional`` as a word, or in two retired forms.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ...ground.listening import audible
from ...ground.meta import need_data
from ...ground.runtime import warn
from ...kernels.columns import not_implemented
from ...ops.autocast import single
from ...ops.declare import composite, functional
from ...tensor.lifted import no_slope
from ...tensor.refusals import check_broadcast
from ...tensor.writable import check_cast, check_fits
from ..arithmetic.functions import need_tensor
from ..arithmetic.powers import pow_number
from ..arithmetic.rows import mul, neg, no_single_bool
from ..compare.rows import where
from ..distance.functions import together
from ..index.rows import together as _joint
from ..pointwise.limit import abs, xlogy
from ..pointwise.rows import exp
from ..reduce.functions import check_tensor
from ..reduce.rows import mean, sum
from ..shape.rows import squeeze_dim, unsqueeze
from . import rows
from .ctc import ctc_loss_forward

MODES = {"none": 0, "mean": 1, "sum": 2}


def number(reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """0 for none, 1 for mean, 2 for sum; ValueError for other words."""
    if size_average is not None or reduce is not None:
        reduction = retired(size_average, reduce)
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        reduction = "mean"
    if reduction not in [*MODES]:  # as a list could not be a key
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return MODES[reduction]


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of what ``size_average`` and ``reduce`` stood for."""
    return number(retired(size_average, reduce, emit_warning))


def retired(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word that ``size_average`` and ``reduce`` stood for."""
    averages = True if size_average is None else size_average
    reduces = True if reduce is None else reduce
    word = "none" if not reduces else "mean" if averages else "sum"
    if emit_warning:
        warn(f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.")
    return word


def reduced(values: Any, reduction: int) -> Any:
    """Elementwise losses averaged (1) or summed (2)."""
    return mean(values) if reduction == 1 else sum(values) if reduction == 2 else values


# -- values ------------------------------------------------------------------------------------------------------------


def _same_sizes(input: Any, target: Any, weight: Any = None) -> tuple[Any, Any]:
    """Input and target at their common sizes, with PyTorch's warning where those differ; weights have the input's."""
    if target.size() != input.size():
        warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        )
    common = together(input, target)
    if weight is not None and weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    return common


def _weighed(loss: Callable[[Any], Any], input: Any, target: Any, weight: Any, reduction: str) -> Tensor:
    """The loss of each difference times ``weight``, of the sizes of ``input``; their mean is that of weights."""
    input, target = _same_sizes(input, target, weight)
    values = loss(input - target) * weight
    if reduction == "none":
        return values
    if reduction == "sum":
        return sum(values)
    if reduction == "mean":
        return sum(values) / sum(weight)
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


@audible
def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Tensor:  # fmt: skip
    """The mean squared error."""
    try:
        if weight is None and size_average is None and reduce is None and input._array.shape == target._array.shape:
            return rows.mse_loss(input, target, MODES[reduction])
    except (AttributeError, KeyError, TypeError):
        pass
    if weight is not None:
        return _weighed(lambda off: pow_number(off, 2), input, target, weight, reduction)
    input, target = _same_sizes(input, target)
    return rows.mse_loss(input, target, number(reduction, size_average, reduce))


@audible
def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Tensor:  # fmt: skip
    """The mean absolute error."""
    input, target = single(input, target)
    if weight is not None:
        return _weighed(abs, input, target, weight, reduction)
    input, target = _same_sizes(input, target)
    return reduced(abs(input - target), number(reduction, size_average, reduce))


@audible
def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """Squares of differences below ``beta``, absolute values of larger ones."""
    input, target = _same_sizes(input, target)
    mode = number(reduction, size_average, reduce)
    if beta == 0.0:
        input, target = single(input, target)
        return reduced(abs(input - target), mode)
    if not beta > 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return rows.smooth_l1_loss(input, target, mode, beta)


@audible
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Tensor:
    """Half the squares of differences below ``delta``, a straight line for larger ones."""
    input, target = _same_sizes(input, target, weight)
    dtypes.need_float("huber_loss", "delta", 4, delta)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        return reduced(_written(rows.huber_loss, input, input, target, 0, delta) * weight, number(reduction))
    return _written(rows.huber_loss, input, input, target, number(reduction), delta)


def _written(row: Any, target: Any, first: Any, second: Any, *others: Any) -> Any:
    """A loss that PyTorch writes into a tensor of the dtype of ``target``, one of the two: in that, or refused."""
    if first._array.dtype != second._array.dtype:
        target, first, second = single(target, first, second)
        check_cast(dtypes.promote_types(first.dtype, second.dtype).numpy, target)
        return row(first, second, *others, target.dtype)
    return row(first, second, *others)


@audible
def soft_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
    need_tensor("soft_margin_loss", "target", 2, target)
    no_slope("soft_margin_loss", target=target)
    values = input if input._array.dtype != bool else neg(input)  # which raises
    check_fits(values, check_broadcast(rows.soft_margin_loss.row, (values._array, target._array)))
    if values._array.dtype.kind == "c" and input.requires_grad and modes.grad_enabled():
        raise RuntimeError(f"soft_margin_loss {rows.NO_COMPLEX_SLOPE}")
    return _written(rows.soft_margin_loss, input, *together(input, target), number(reduction, size_average, reduce))


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
        common = _joined(tuple(target.shape), tuple(weight.size()))
        check_fits(target, common)
        weight = weight.expand(common)
        no_slope("binary_cross_entropy", weight=weight)
    return rows.binary_cross_entropy(input, target, weight, mode)


def _joined(sizes: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(sizes, other)
    except ValueError:
        at = next(i for i in range(-1, -len(other) - 1, -1) if other[i] not in (1, sizes[i]))
        raise RuntimeError(
            f"Attempting to broadcast a dimension of length {other[at]} at {at}! Mismatching argument at index 1 had "
            f"torch.Size({list(other)}); but expected shape should be broadcastable to {list(sizes)}"
        ) from None


@composite(method=False)
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 0
) -> Any:
    """Minus the log likelihood of ``target`` under the probabilities ``sigmoid(input)``."""
    no_slope("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    input, target, weight, pos_weight = single(input, target, weight, pos_weight)
    if pos_weight is not None:
        check_fits(input, _joint(input._array.shape, _joint(pos_weight._array.shape, target._array.shape)))
    for factor in (input, weight):  # by which PyTorch multiplies in the place of the target
        if factor is not None:
            check_fits(target, _joint(target._array.shape, factor._array.shape))
    if input._array.dtype.kind in "biuc":
        raise not_implemented("log_sigmoid_cpu", input._array)
    if pos_weight is not None:
        no_single_bool(pos_weight, input)
    if target._array.dtype.kind == "b":
        no_single_bool(target, target)
    for tensor in (pos_weight, weight):  # by which the loss is multiplied in its place
        if tensor is not None and tensor.dtype is not target.dtype and input.dtype is target.dtype:
            return rows.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction, target.dtype)
    return _written(rows.binary_cross_entropy_with_logits, target, input, target, weight, pos_weight, reduction)


@functional
def functional_binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean", pos_weight: Any = None,
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of ``target`` under the probabilities ``sigmoid(input)``."""
    mode = number(reduction, size_average, reduce)
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return binary_cross_entropy_with_logits(input, target, weight, pos_weight, mode)


@composite(method=False)
def kl_div(input: Any, target: Any, reduction: int = 0, *, log_target: bool = False) -> Any:
    """The Kullback-Leibler divergence of ``target`` from the log probabilities ``input``, elementwise, reduced."""
    for kinds, named in (("c", "Complex"), ("biu", "Integral")):
        if input._array.dtype.kind in kinds or target._array.dtype.kind in kinds:
            raise RuntimeError(f"kl_div: {named} inputs not supported.")
    if log_target:
        values = mul(exp(target), target - input)
    else:
        values = xlogy(target, target) - target * input
    return reduced(values, reduction)


@functional
def functional_kl_div(
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
    divergence = kl_div(input, target, mode, log_target=log_target)
    return divergence / input.size()[0] if reduction == "batchmean" and input.dim() != 0 else divergence


# -- unaligned sequences -----------------------------------------------------------------------------------------------

_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def _lengths(lengths: Any, others: Any, name: str) -> tuple[int, ...]:
    if not isinstance(lengths, Tensor if isinstance(others, Tensor) else (tuple, list)):
        raise TypeError(f"ctc_loss(): argument '{name}_lengths' must be tuple of ints, not {dtypes.called(lengths)}")
    if not isinstance(lengths, Tensor):
        return tuple(dtypes.need_int("ctc_loss", f"{name}_lengths", 1, n) for n in lengths)
    need_data("_ctc_loss.Tensor", lengths._array)
    if lengths._array.dtype.kind in "iu":
        return tuple(lengths._array.reshape(-1).tolist())
    raise RuntimeError(f"{name}_lengths must be integral")


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
    _check_within("target_lengths", labels, inf)
    wanted = np.sum(labels) if targets.ndim == 1 else n
    if targets.shape[0] != wanted:
        raise RuntimeError(
            f"Expected tensor to have size {wanted} at dimension 0, but got size {targets.shape[0]} for argument "
            f"#2 'targets' {_CHECKING}"
        )
    if targets.ndim == 2 and targets.shape[1] < max(labels):
        raise RuntimeError(
            f"Expected tensor to have size at least {max(labels)} at dimension 1, but got size {targets.shape[1]} "
            f"for argument #2 'targets' {_CHECKING}"
        )
    _check_within("input_lengths", inputs, times)


def _check_within(name: str, lengths: tuple[int, ...], most: float) -> None:
    for length in lengths:
        if not 0 <= length <= most:
            bound = "least 0" if length < 0 else f"most {most}"
            raise RuntimeError(f"Expected {name} to have value at {bound}, but got value {length} {_CHECKING}")


@composite(method=False, page="torch.nn.functional")
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """The connectionist temporal classification loss; ``reduction`` is 0 for none, 1 for mean, 2 for sum."""
    check_tensor(log_probs, "ctc_loss")
    need_data("_ctc_loss", log_probs._array)
    batched = log_probs._array.ndim == 3
    inputs, labels = _lengths(input_lengths, target_lengths, "input"), _lengths(target_lengths, input_lengths, "target")
    if not log_probs._array.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if not batched:
        log_probs = unsqueeze(log_probs, 1)
    _check(log_probs._array, targets._array, inputs, labels, blank)
    if targets._array.dtype.kind not in "iu":
        targets = wrap(targets._array.astype(np.int64))
    losses = ctc_loss_forward(log_probs, targets, inputs, labels, blank, zero_infinity)[0]
    if zero_infinity:
        losses = where(wrap(losses._array == np.inf), wrap(np.zeros((), losses._array.dtype)), losses)
    if reduction == 1:
        return mean(losses / wrap(np.maximum(labels, 1).astype(losses._array.dtype)))
    if reduction == 2:
        return sum(losses)
    return losses if batched else squeeze_dim(losses, 0)


@functional
def functional_ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log likelihood of label sequences, summed over their alignments with longer inputs.

    log_probs  (T, N, C), or (T, C) for one sequence; log probabilities, as ``log_softmax`` gives them
    targets    (N, S), padded, or all in one line (sum of ``target_lengths``)
    blank      the class that stands between labels
    """
    return ctc_loss(  # type: ignore[no-any-return]
        log_probs, targets, input_lengths, target_lengths, blank, number(reduction), zero_infinity
    )
