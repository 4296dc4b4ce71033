"""Losses of values, classes, probabilities and unaligned sequences, as ``torch`` and ``nn.functional`` spell them.

``torch`` takes ``reduction`` as a number, as rows do; ``nn.functional`` as a word, or in two retired forms.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ...ground.listening import audible
from ...ground.runtime import warn
from ...kernels.columns import not_implemented
from ...ops.autocast import single
from ...ops.declare import composite, functional
from ...tensor.refusals import check_broadcast
from ...tensor.writable import check_cast, check_fits
from ..arithmetic.functions import need_tensor
from ..arithmetic.powers import pow_number
from ..arithmetic.rows import add_number, div_number, mul, mul_number, neg, no_single_bool
from ..compare.rows import where
from ..distance.functions import together
from ..index.rows import masked_fill
from ..matrix.functions import linear
from ..pointwise.limit import abs, xlogy
from ..pointwise.rows import exp
from ..reduce.functions import check_tensor
from ..reduce.rows import mean, sum, sum_dim
from ..shape.functions import whole
from ..shape.rows import axis_of, squeeze_dim, unsqueeze, view
from ..softmax.rows import log_softmax
from . import rows
from .ctc import ctc_loss_forward

_I64 = np.dtype("i8")
MODES = {"none": 0, "mean": 1, "sum": 2}


def number(reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """0 for none, 1 for mean, 2 for sum; ValueError for other words."""
    if size_average is not None or reduce is not None:
        reduction = retired(size_average, reduce)
    if reduction == "elementwise_mean":
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        reduction = "mean"
    if reduction not in MODES:
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
    except (AttributeError, KeyError):
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
        return reduced(abs(input - target), mode)
    if not beta > 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    return rows.smooth_l1_loss(input, target, mode, beta)


@audible
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Tensor:
    """Half the squares of differences below ``delta``, a straight line for larger ones."""
    input, target = _same_sizes(input, target, weight)
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


def no_slope(function: str, **tensors: Any) -> None:
    """Raise PyTorch's error where a gradient is wanted of what it gives none for."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.requires_grad and modes.grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
                "have requires_grad True."
            )


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


# -- classes -----------------------------------------------------------------------------------------------------------


def _check_weight(weight: Any, classes: int, kind: dtypes.dtype | None) -> None:
    """Raise PyTorch's errors unless there is a weight for each class, of a dtype; of any beside probabilities."""
    if weight is None:
        return
    if weight._array.ndim != 1 or weight._array.size != classes:
        raise RuntimeError(
            f"{'' if kind else 'cross_entropy: '}weight tensor should be defined either for all {classes} classes or "
            f"no classes but got weight tensor of shape: {list(weight._array.shape)}"
        )
    if kind is None:
        return
    if weight.dtype is not kind:
        raise RuntimeError(f"expected scalar type {kind.scalar_name} but found {weight.dtype.scalar_name}")
    no_slope("nll_loss_forward", weight=weight)


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
        if len(sizes) == 1 and target._array.size != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {target._array.size}")
        _check_weight(weight, sizes[-1], input.dtype)
        return rows.nll_loss(input, target, weight, reduction, ignore_index)[0]
    if len(sizes) == 4:
        if len(wanted) != 3:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {len(wanted)}"
            )
        if sizes[2:] != wanted[1:]:
            raise RuntimeError(f"size mismatch (got input: {list(sizes)} , target: {list(wanted)}")
        _check_target(target)
        _check_weight(weight, sizes[1], input.dtype)
        return rows.nll_loss2d(input, target, weight, reduction, ignore_index)[0]
    if wanted[1:] != sizes[2:]:
        raise RuntimeError(f"Expected target size {[sizes[0], *sizes[2:]]}, got {list(wanted)}")
    _check_target(target)
    _check_weight(weight, sizes[1], input.dtype)
    flat = input.contiguous().view(sizes[0], sizes[1], 1, -1) if input._array.size else input.view(*sizes[:2], 0, 0)
    labels = target.contiguous().view(sizes[0], 1, -1) if target._array.size else target.view(sizes[0], 0, 0)
    losses = rows.nll_loss2d(flat, labels, weight, reduction, ignore_index)[0]
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
    if isinstance(label_smoothing, Tensor) and label_smoothing._array.ndim:
        raise TypeError("cross_entropy_loss(): argument 'label_smoothing' (position 6) must be float, not Tensor")
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
    if is_plain and reduction == "mean" and size_average is None and reduce is None:
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
    for first, second in ((pos_weight, input), (input, weight)):
        if first is not None and second is not None:
            together(first, second)
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
        return tuple(whole("ctc_loss", n, f"{name}_lengths") for n in lengths)
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
