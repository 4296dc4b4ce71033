"""Normalisation over batches and samples, and the functions behind PyTorch's normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground.dtypes import need_bool, need_float
from ...ground.generator import default_generator
from ...ground.hidden import Hidden
from ...ground.listening import asking
from ...ops.declare import composite, functional, unit
from ...tensor import lifted
from ..arithmetic.rows import mul_number
from ..norm import rows as norm_rows
from ..norm.functions import check_kinds, check_normalized, several_values
from ..random.kernels import bernoulli
from ..random.rows import placed
from ..reduce.functions import check_tensor
from . import rows

# -- over the batch, over each sample ----------------------------------------------------------------------------------


@composite(method=False)
def batch_norm(
    input: Any, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None,
    training: bool, momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Each channel standardised over the batch (``training``) or by running statistics, which training updates."""
    need_bool("batch_norm", "training", 6, training)
    if type(momentum) is not float:
        need_float("batch_norm", "momentum", 7, momentum)
    if isinstance(input, Tensor) and not input._array.size:  # of whatever sizes; the gradients are zeros
        out = input.clone()
        out = out if weight is None else out * weight[0]
        return out if bias is None else out + bias[0]
    return with_statistics(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def with_statistics(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """What ``batch_norm`` gives, with the means and the inverse deviations that it used."""
    check_tensor(input, "batch_norm")
    sizes = input._array.shape
    channels = sizes[1] if len(sizes) > 1 else 0
    running = (("running_mean", running_mean), ("running_var", running_var))
    for name, tensor in (*running, ("weight", weight), ("bias", bias)):
        if tensor is None:
            if not training and name in ("running_mean", "running_var"):
                raise RuntimeError(f"{name} must be defined in evaluation mode")
        elif tensor._array.size != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {tensor._array.size}")
    if len(sizes) < 2:
        bounds = f"[{-max(len(sizes), 1)}, {max(len(sizes), 1) - 1}]"
        raise IndexError(f"Dimension out of range (expected to be in range of {bounds}, but got 1)")
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    for name, tensor in running:
        if tensor is not None and tensor._edge is not None:
            lifted.no_gradient("native_batch_norm", name, tensor)
            if not training:
                lifted.no_tangent("batch_norm", name, tensor)
    if input._array.dtype.kind in "fV":  # what else there is, the kernel refuses
        check_kinds(input, weight, bias, running_mean, running_var)
    out, mean, deviation, variance = rows.native_batch_norm(
        input, weight, bias, running_mean, running_var, training, eps
    )
    if training and running_mean is not None and input._array.size:
        move_statistics(running_mean, running_var, mean, variance, momentum, input._array.size // channels)
    return out, mean, deviation


@unit
def move_statistics(
    running_mean: Tensor, running_var: Tensor, mean: Tensor, variance: Tensor, momentum: float, count: int
) -> None:
    """Move running statistics towards those of a batch; the memory is written without a new version, as in PyTorch."""
    if any([type(tensor._array) is Hidden for tensor in (running_mean, running_var, mean, variance)]):
        factor = count / (count - 1) if count > 1 else np.nan
        for tensor, statistic in ((running_mean, mean), (running_var, variance * factor)):
            tensor.copy_((tensor * (1 - momentum) + statistic * momentum).detach())  # type: ignore[attr-defined]
        return
    unbiased = variance._array * (count / (count - 1)) if count > 1 else variance._array * np.nan
    for tensor, statistic in ((running_mean, mean._array.astype(unbiased.dtype, copy=False)), (running_var, unbiased)):
        running = tensor._array
        if not running.dtype.metadata:
            if running.dtype.kind == "V":  # PyTorch rounds every step to bfloat16, and to float16 only the last
                rate, rest = running.dtype.type(momentum), running.dtype.type(1 - momentum)
                running[...] = rate * statistic.astype(running.dtype) + rest * running
            else:
                old = running.astype(statistic.dtype) if running.dtype.itemsize == 2 else running
                np.copyto(running, old * (1 - momentum) + momentum * statistic, casting="unsafe")


@composite(method=False)
def instance_norm(
    input: Any, weight: Any, bias: Any, running_mean: Tensor | None, running_var: Tensor | None,
    use_input_stats: bool, momentum: float, eps: float, cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    """Each channel of each sample standardised by itself, or by running statistics."""
    check_tensor(input, "instance_norm")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    sizes = input._array.shape
    batch, channels = input.size(0), input.size(1)
    if weight is not None:
        weight = weight.repeat(batch)
    if bias is not None:
        bias = bias.repeat(batch)
    kind = input.dtype if weight is None else weight.dtype
    if running_mean is not None and running_var is not None and running_mean.dtype is input.dtype:
        if running_var.dtype is not input.dtype and input._array.dtype.kind in "fV":  # else both are cast
            found = running_var.dtype.scalar_name
            raise RuntimeError(f"expected scalar type {input.dtype.scalar_name} but found {found}")
    means: Any = running_mean.repeat(batch).to(kind) if running_mean is not None else None
    variances: Any = running_var.repeat(batch).to(kind) if running_var is not None else None
    merged = input.contiguous().view(1, batch * channels, *sizes[2:])
    out = batch_norm(merged, weight, bias, means, variances, use_input_stats, momentum, eps)
    for running, repeated in ((running_mean, means), (running_var, variances)):
        if running is not None and use_input_stats:
            running.copy_(repeated.view(batch, channels).mean(0))
    return out.view(sizes)


@functional
def functional_batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None,
    bias: Any = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel standardised over the batch (``training``) or by running statistics, which training updates."""
    if training:
        several_values(tuple(input.size()), f"{input.size()!r}")
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@functional
def functional_instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None,
    weight: Any = None, bias: Any = None, use_input_stats: bool = True, momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel of each sample standardised by itself, or by running statistics."""
    if use_input_stats:
        count = 1
        for n in input.size()[2:]:
            count *= n
        if count == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape!r}")
    return instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


# -- the functions behind them -----------------------------------------------------------------------------------------


@composite(method=False)
def native_layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """What ``layer_norm`` gives, with the means and the inverse deviations."""
    sizes = tuple(normalized_shape)
    check_normalized(input, sizes, weight, bias)
    check_kinds(input, weight, bias)
    return norm_rows.native_layer_norm(input, weight, bias, sizes, eps)  # type: ignore[no-any-return]


@composite(method=False)
def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """What ``group_norm`` gives for N samples of C channels of HxW elements, with means and inverse deviations."""
    check_kinds(input, weight, bias)
    out, mean, deviation = norm_rows.native_group_norm(input, weight, bias, N, C, HxW, group, eps)
    if lifted.derives(input):  # here the statistics carry gradients, too
        lines = input.reshape(N, group, C // group * HxW)
        mean, deviation = lines.mean(2), (lines.var(2, correction=0) + eps).rsqrt()
    return out, mean, deviation


@composite(method=False)
def native_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """What ``batch_norm`` gives, with means and inverse deviations; these are empty unless ``training``."""
    out, mean, deviation = with_statistics(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )  # fmt: skip
    if not training:
        empty = np.empty(0, mean._array.dtype)
        return out, wrap(empty), wrap(empty.copy())
    return out, mean, deviation


@composite(method=False)
@asking
def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """``input`` with elements dropped with probability ``p``, and the mask of those that stay."""
    shape = input._array.shape
    if train is False or not input._array.size:
        return input.clone(), wrap(np.ones(shape, bool))
    like = input._array if type(input._array) is np.ndarray else np.empty(shape)
    mask = wrap(placed(like, lambda sizes: bernoulli(default_generator, 1 - p, sizes, np.dtype(bool))))
    return mul_number(input * mask, 0.0 if p == 1 else 1 / (1 - p)), mask
