"""The functions behind PyTorch's normalisation and dropout under their own names, and those of symbolic numbers."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import modes
from ...ground.generator import default_generator
from ...ops.declare import composite
from ..arithmetic.functions import need_tensor
from ..arithmetic.rows import mul_number
from ..distance.rows import norm_dim
from ..norm import rows
from ..norm.functions import check_kinds, check_normalized, with_statistics
from ..random.kernels import bernoulli
from ..reduce.functions import some_dims

# -- normalisation and dropout -----------------------------------------------------------------------------------------


@composite(method=False)
def native_layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """What ``layer_norm`` gives, with the means and the inverse deviations."""
    need_tensor("native_layer_norm", "input", 1, input)
    sizes = tuple(normalized_shape)
    check_normalized(input, sizes, weight, bias)
    check_kinds(input, weight, bias)
    return rows.native_layer_norm(input, weight, bias, sizes, eps)  # type: ignore[no-any-return]


@composite(method=False)
def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """What ``group_norm`` gives for N samples of C channels of HxW elements, with means and inverse deviations."""
    need_tensor("native_group_norm", "input", 1, input)
    check_kinds(input, weight, bias)
    out, mean, deviation = rows.native_group_norm(input, weight, bias, N, C, HxW, group, eps)
    if input.requires_grad and modes.grad_enabled():  # here the statistics carry gradients, too
        lines = input.reshape(N, group, -1)
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
def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """``input`` with elements dropped with probability ``p``, and the mask of those that stay."""
    need_tensor("native_dropout", "input", 1, input)
    shape = input._array.shape
    if train is False or not input._array.size:
        return input.clone(), wrap(np.ones(shape, bool))
    stays = bernoulli(default_generator, 1 - p, shape, np.dtype(bool))
    mask = wrap(stays)
    return mul_number(input * mask, 0.0 if p == 1 else 1 / (1 - p)), mask


@composite(method=False)
def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection of the thread."""
    modes.set_anomaly(enabled, check_nan)


@composite(method=False)
def frobenius_norm(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The square roots of the sums of squares along ``dim``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.norm.html
    """
    need_tensor("frobenius_norm", "input", 1, input)
    return norm_dim(input, 2.0, some_dims(dim, input._array.ndim, "frobenius_norm"), keepdim, out=out)  # type: ignore[no-any-return]


@composite(method=False)
def nuclear_norm(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Tensor:
    """The sums of the singular values of matrices.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.norm.html
    """
    if dim is None and input._array.ndim != 2:
        raise RuntimeError(f"Expected a tensor with 2 dimensions, but got a tensor with {input._array.ndim} dimensions")
    total = input.norm("nuc", dim, keepdim)
    return total if out is None else out.copy_(total)  # type: ignore[no-any-return]


# -- numbers -----------------------------------------------------------------------------------------------------------


@composite(method=False)
def sym_int(a: Any) -> Any:
    """The integer part of a number."""
    return math.floor(a) if isinstance(a, float) and a >= 0 else math.ceil(a) if isinstance(a, float) else int(a)


@composite(method=False)
def sym_float(a: Any) -> Any:
    """A number as a float."""
    return float(a)


@composite(method=False)
def sym_not(a: Any) -> bool:
    """Whether a truth value is false."""
    return not a


@composite(method=False)
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float if one of them is."""
    largest = builtins.max(a, b)
    return float(largest) if isinstance(a, float) or isinstance(b, float) else largest


@composite(method=False)
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is."""
    smallest = builtins.min(a, b)
    return float(smallest) if isinstance(a, float) or isinstance(b, float) else smallest


@composite(method=False)
def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    return builtins.sum(args)


@composite(method=False)
def sym_sqrt(a: Any) -> float:
    """The square root of a number."""
    return math.sqrt(a)


@composite(method=False)
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t`` or ``f``, which have one type, as the truth value ``b`` says."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


@composite(method=False)
def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a number lies between ``min`` and ``max``."""
    low, high = -(2**63) if min is None else min, 2**63 - 1 if max is None else max
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


@composite(method=False)
def sym_constrain_range_for_size(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a size lies between ``min`` and ``max``."""
    if min is not None and max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    sym_constrain_range(size, min=min, max=max)
