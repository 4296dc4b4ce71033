"""First values of parameters: each function fills a tensor in place, unrecorded, from PyTorch's stream of numbers.

Source: https://docs.pytorch.org/docs/stable/nn.init.html
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..autograd.grad_mode import no_grad
from ..core.tensor import Tensor, wrap
from ..families.random.uniform import randperm
from ..ground import dtypes
from ..ground.generator import Generator, default_generator
from ..ground.listening import audible
from ..kernels.columns import not_implemented

_LINEAR = (
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
)  # fmt: skip
_EMPTY = "Initializing zero-element tensors is a no-op"


# -- plain values ---------------------------------------------------------------------------------------------------


@audible
@no_grad()
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Any:
    """Numbers spread evenly over [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@audible
@no_grad()
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Any:
    """Normal numbers of mean ``mean`` and deviation ``std``."""
    return tensor.normal_(mean, std, generator=generator)


@audible
@no_grad()
def constant_(tensor: Any, val: float) -> Any:
    """``val`` everywhere."""
    return tensor.fill_(val)


@no_grad()
def ones_(tensor: Any) -> Any:
    """Ones."""
    return tensor.fill_(1.0)


@no_grad()
def zeros_(tensor: Any) -> Any:
    """Noughts."""
    return tensor.zero_()


def eye_(tensor: Any) -> Any:
    """The identity matrix, of whatever height and width."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _put(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The weight of a convolution that hands as many channels on as it can, in each group."""
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.shape
    if sizes[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    filters = np.zeros(sizes)
    height = sizes[0] // groups
    middle = tuple(size // 2 for size in sizes[2:])
    for group in range(groups):
        for channel in range(min(height, sizes[1])):
            filters[(group * height + channel, channel, *middle)] = 1
    return _put(tensor, filters)


# -- by the width of a layer ------------------------------------------------------------------------------------------


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much deviations must grow so that ``nonlinearity`` leaves them as they are."""
    if nonlinearity in _LINEAR or nonlinearity == "sigmoid":
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param**2))
    if nonlinearity == "selu":
        return 3.0 / 4  # found by experiment
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs each output of such a weight has, and how many outputs each input."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    known = ["fan_in", "fan_out"]
    if mode not in known:
        raise ValueError(f"Mode {mode} not supported, please use one of {known}")
    return _calculate_fan_in_and_fan_out(tensor)[known.index(mode)]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Evenly spread numbers of variance 2 gain^2 / (inputs + outputs). Source: Glorot and Bengio (2010)."""
    bound = math.sqrt(3.0) * _xavier(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Generator | None = None) -> Any:
    """Normal numbers of variance 2 gain^2 / (inputs + outputs). Source: Glorot and Bengio (2010)."""
    return normal_(tensor, 0.0, _xavier(tensor, gain), generator)


def _xavier(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


@audible
def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Evenly spread numbers of variance gain^2 / inputs (or outputs). Source: He et al. (2015)."""
    if 0 in tensor.shape:
        warnings.warn(_EMPTY, stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Any:
    """Normal numbers of variance gain^2 / inputs (or outputs). Source: He et al. (2015)."""
    if 0 in tensor.shape:
        warnings.warn(_EMPTY, stacklevel=2)
        return tensor
    return normal_(tensor, 0, _kaiming(tensor, a, mode, nonlinearity), generator)


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


# -- other distributions ----------------------------------------------------------------------------------------------


@no_grad()
def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: Generator | None = None,
) -> Any:  # fmt: skip
    """Normal numbers from within [a, b]: drawn again, until all of them are."""
    if _is_meta(tensor):
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=3,
        )
    inside = _below((b - mean) / std) - _below((a - mean) / std)
    if inside > 0.3:
        return _by_drawing_again(tensor, mean, std, a, b, generator)
    return _by_rejection(tensor, mean, std, a, b, generator)


def _below(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _by_drawing_again(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    lowest, highest = np.array([a, b]).astype(tensor._array.dtype)
    values = np.array(tensor.normal_(mean, std, generator=generator)._array)
    fresh = _like(tensor)
    while True:
        outside = (values < lowest) | (values > highest)
        if not outside.any():
            return _put(tensor, values)
        values = np.where(outside, fresh.normal_(mean, std, generator=generator)._array, values)


def _by_rejection(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> Any:
    """Evenly spread candidates, each taken with the probability that the bell has there."""
    mode = max(a, min(mean, b))
    peak = -0.5 * ((mode - mean) / std) ** 2
    fresh, chances = _like(tensor), _like(tensor)
    values = np.array(tensor.uniform_(a, b, generator=generator)._array)
    candidates, pending = values, np.ones(values.shape, bool)
    while True:
        log_chance = ((candidates - mean) / std) ** 2 * -0.5 - peak
        with np.errstate(divide="ignore"):
            refused = np.log(chances.uniform_(generator=generator)._array) > log_chance
        pending = np.where(pending, refused, pending)
        if not pending.any():
            return _put(tensor, values)
        candidates = np.array(fresh.uniform_(a, b, generator=generator)._array)
        values = np.where(pending, candidates, values)


def orthogonal_(tensor: Any, gain: float = 1, generator: Generator | None = None) -> Any:
    """Rows (or columns, of the fewer) that stand at right angles, times ``gain``. Source: Saxe et al. (2013)."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor._array.size or _is_meta(tensor):
        return tensor
    rows = tensor.shape[0]
    columns = tensor._array.size // rows
    draws = wrap(np.empty((rows, columns), tensor._array.dtype))
    flat: Any = draws.normal_(0, 1, generator=generator)._array  # type: ignore[attr-defined]
    if tensor.dtype in (dtypes.float16, dtypes.bfloat16):
        raise not_implemented("geqrf_cpu", tensor._array)
    q, r = np.linalg.qr(flat.T if rows < columns else flat)
    q = q * np.sign(np.diagonal(r))
    q = q.T if rows < columns else q
    return _put(tensor, (q * gain).reshape(tensor.shape))


@no_grad()
def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Any:
    """Normal numbers, but a share ``sparsity`` of zeros in each column. Source: Martens (2010)."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if _is_meta(tensor):
        return tensor
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    values = np.array(tensor.normal_(0, std, generator=generator)._array)
    for column in range(columns):
        values[randperm(default_generator, rows)[:zeros], column] = 0
    return _put(tensor, values)


# -- how it is done ---------------------------------------------------------------------------------------------------


def _is_meta(tensor: Tensor) -> bool:
    return bool(tensor.is_meta)


def _like(tensor: Tensor) -> Any:
    return wrap(np.empty_like(tensor._array))


@no_grad()
def _put(tensor: Any, values: Any) -> Any:
    """Write an array into a tensor."""
    return tensor if _is_meta(tensor) else tensor.copy_(wrap(values.astype(tensor._array.dtype)))


def _deprecated(function: Callable[..., Any]) -> Callable[..., Any]:
    new = function.__name__
    old = new.removesuffix("_")

    @functools.wraps(function)
    def renamed(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    return renamed


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
#: PyTorch's inner names, which a few packages call.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_
