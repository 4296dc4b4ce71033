"""PyTorch's signatures of activations, as ``torch.nn.functional`` and ``torch`` have them."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ...core import write
from ...core.row import FLOATS
from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ...ground.dtypes import Number
from ...ground.generator import default_generator
from ...ground.listening import asking, audible
from ...kernels.columns import not_implemented
from ...ops.autocast import low
from ...ops.declare import composite, functional
from ...tensor import lifted, writable
from ..arithmetic.functions import need_tensor
from ..arithmetic.rows import add, div
from ..arithmetic.rows import sub as minus
from ..create.functions import number_of
from ..pointwise import rows as pointwise
from ..pointwise.limit import abs as size_of
from ..random.uniform import unit64
from . import parametric, rows

# -- relu and its like -----------------------------------------------------------------------------------------------


def _written(row: Any, target: Tensor, *settings: Any) -> Tensor:
    return write.in_place(row.row, target, (), settings)


@audible
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The elements, negative ones replaced by zero."""
    return _written(rows.relu, input) if inplace else rows.relu(input)


@audible
def relu_(input: Tensor) -> Tensor:
    """In-place :func:`relu`."""
    return _written(rows.relu, input)


@audible
def hardtanh(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0, inplace: bool = False) -> Tensor:
    """The elements, limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _clipped(input, min_val, max_val, inplace)


_I64 = np.dtype("i8")


def _clipped(input: Tensor, min_val: Number, max_val: Number, inplace: bool) -> Tensor:
    if type(min_val) not in _REAL or type(max_val) not in _REAL:
        widest = _WIDEST.get(input._array.dtype.kind, input._array.dtype)
        min_val, max_val = _real(widest, "hardtanh_", min_val=min_val, max_val=max_val)
    if input._array.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if input._array.dtype.kind == "c":
        raise NotImplementedError("clamp is not supported for complex types")
    if input._array.dtype.kind in "iu":
        for limit in (min_val, max_val):
            dtypes.check_number(limit, _I64)
        min_val, max_val = int(min_val), int(max_val)
        if input._array.dtype.kind == "u" and min_val < 0:
            raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _written(rows.hardtanh, input, min_val, max_val) if inplace else rows.hardtanh(input, min_val, max_val)


@audible
def hardtanh_(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
    """In-place :func:`hardtanh`."""
    return _clipped(input, min_val, max_val, True)


@audible
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The elements, limited to [0, 6]."""
    return hardtanh(input, 0, 6, inplace)


@audible
def leaky_relu(input: Tensor, negative_slope: Number = 0.01, inplace: bool = False) -> Tensor:
    """The elements, negative ones times a small slope."""
    if type(negative_slope) is not float:
        negative_slope = number_of("leaky_relu_" if inplace else "leaky_relu", "negative_slope", 2, negative_slope)
    if isinstance(negative_slope, complex):
        dtypes.check_number(negative_slope, _checked_as(input))
    return (
        _written(rows.leaky_relu_written, input, negative_slope) if inplace else rows.leaky_relu(input, negative_slope)
    )


@audible
def leaky_relu_(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """In-place :func:`leaky_relu`."""
    return leaky_relu(input, negative_slope, True)


def _stored(input: Tensor, *numbers: Any) -> list[Any]:
    """Numbers as an element of a tensor holds them; PyTorch's error where one does not fit."""
    for number in numbers:
        dtypes.check_number(number, input._array.dtype)
    return [np.asarray(number).astype(input._array.dtype).item() for number in numbers]


_REAL = (float, int)
#: As what PyTorch takes numbers before it looks at the dtype, by that one's kind.
_WIDEST = {**dict.fromkeys("fV", np.dtype("f8")), **dict.fromkeys("iu", np.dtype("i8"))}


def _checked_as(input: Tensor) -> np.dtype[Any]:
    """The dtype that numbers must fit: any number does beside whole ones, which the kernel refuses."""
    kind = input._array.dtype
    return np.dtype(bool) if kind.kind in "iu" else kind


def _real(kind: np.dtype[Any], function: str, **numbers: Any) -> list[Any]:
    """Settings as real numbers; PyTorch's errors where they are none, which NumPy would take."""
    values = [number_of(function, name, position, value) for position, (name, value) in enumerate(numbers.items(), 2)]
    for value in values:
        if isinstance(value, complex):
            dtypes.check_number(value, kind)
    return values


def _limits(input: Tensor, threshold: Any, value: Any) -> Any:
    if type(threshold) not in _REAL:
        (threshold,) = _real(input._array.dtype, "threshold", threshold=threshold)
    if type(value) not in _REAL:
        value = number_of("threshold", "value", 3, value)
    if input._array.dtype.char in FLOATS:  # PyTorch compares halves in single precision
        return (threshold, value) if type(value) is float else (threshold, *_stored(input, value))
    return _stored(input, threshold, value)


@composite(method=False)
def threshold(input: Tensor, threshold: Number, value: Number, *, out: Any = None) -> Tensor:
    """The elements above ``threshold``, ``value`` for the others."""
    return rows.threshold(input, *_limits(input, threshold, value), out=out)


@composite(method=False)
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """In-place :func:`threshold`."""
    writable.check_writable(input, False)
    return _written(rows.threshold_written, input, *_limits(input, threshold, value))


@functional
def functional_threshold(input: Tensor, threshold: Number, value: Number, inplace: bool = False) -> Tensor:
    """The elements above ``threshold``, ``value`` for the others."""
    limits = _limits(input, threshold, value)
    return _written(rows.threshold_written, input, *limits) if inplace else rows.threshold(input, *limits)


@composite()
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Any = None) -> Tensor:
    """The elements, those within ``lambd`` of zero replaced by zero."""
    if type(lambd) is not float:
        lambd = number_of("hardshrink", "lambd", 2, lambd)
    if isinstance(lambd, complex):
        dtypes.check_number(lambd, _checked_as(input))
    return rows.hardshrink(input, lambd, out=out)


@audible
def softshrink(input: Tensor, lambd: Number = 0.5, *, out: Any = None) -> Tensor:
    """The elements moved towards zero by ``lambd``, but not across it."""
    if type(lambd) not in _REAL:
        (lambd,) = _real(_WIDEST["f"], "softshrink", lambd=lambd)
    if not 0 <= lambd <= 65504 and input.dtype.is_floating_point:  # the largest number of the smallest dtype
        name, most = input.dtype.scalar_name, dtypes.finfo(input.dtype).max
        if not 0 <= lambd <= most:
            raise RuntimeError(f"lambda must be in range [0, {most:g}] for input dtype {name}, but found {lambd:g}")
    return rows.softshrink(input, lambd, out=out)


# -- exponential units -----------------------------------------------------------------------------------------------

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@audible
def elu(input: Tensor, alpha: Number = 1.0, inplace: bool = False) -> Tensor:
    """The elements, negative ones replaced by alpha (exp(x) - 1)."""
    if type(alpha) is not float:
        alpha = number_of("elu_" if inplace else "elu", "alpha", 2, alpha)
    return _written(rows.elu_written, input, alpha, 1, 1) if inplace else rows.elu(input, alpha)


@audible
def elu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """In-place :func:`elu`."""
    return elu(input, alpha, True)


@composite(method=False)
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled exponential unit that keeps mean and variance."""
    if inplace:
        return _written(rows.elu_written, input, _SELU_ALPHA, _SELU_SCALE, 1)
    return rows.elu(input, _SELU_ALPHA, _SELU_SCALE)


@composite(method=False)
def selu_(input: Tensor) -> Tensor:
    """In-place :func:`selu`."""
    return selu(input, True)


@composite(method=False)
def celu(input: Tensor, alpha: Number = 1.0, inplace: bool = False) -> Tensor:
    """The elements, negative ones replaced by alpha (exp(x / alpha) - 1)."""
    if type(alpha) is not float:
        name = "celu_" if inplace else "celu"
        need_tensor(name, "input", 1, input)
        alpha = number_of(name, "alpha", 2, alpha)
        dtypes.check_number(alpha, np.dtype("f8"))
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _written(rows.celu_written, input, alpha) if inplace else rows.celu(input, alpha)


@composite(method=False)
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """In-place :func:`celu`."""
    return celu(input, alpha, True)


# -- smooth units ----------------------------------------------------------------------------------------------------


@audible
def gelu(input: Tensor, *, approximate: str = "none", out: Any = None) -> Tensor:
    """x times the normal distribution function of x; ``approximate="tanh"`` by a hyperbolic tangent."""
    if approximate != "none" and approximate != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return rows.gelu(input, approximate, out=out)


@audible
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times its logistic function."""
    return _written(rows.silu, input) if inplace else rows.silu(input)


@audible
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times the hyperbolic tangent of log(1 + exp(x))."""
    return _written(rows.mish, input) if inplace else rows.mish(input)


@audible
def softplus(input: Tensor, beta: Number = 1, threshold: Number = 20, *, out: Any = None) -> Tensor:
    """log(1 + exp(beta x)) / beta; x itself where ``beta`` x exceeds ``threshold``."""
    if type(beta) not in _REAL or type(threshold) not in _REAL:
        beta, threshold = _real(_checked_as(input), "softplus", beta=beta, threshold=threshold)
    return rows.softplus(input, beta, threshold, out=out)


@audible
def logsigmoid(input: Tensor, *, out: Any = None) -> Tensor:
    """The logarithm of the logistic function."""
    return rows.logsigmoid(input, out=out)


@audible
def sigmoid(input: Tensor) -> Tensor:
    """The logistic function 1 / (1 + exp(-x))."""
    return pointwise.sigmoid(input)


@audible
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return pointwise.tanh(input)


@audible
def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return div(input, add(size_of(input), 1))


@audible
def tanhshrink(input: Tensor) -> Tensor:
    """x minus its hyperbolic tangent."""
    return minus(input, pointwise.tanh(input))


@audible
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1/2, limited to [0, 1]."""
    return _written(rows.hardsigmoid, input) if inplace else rows.hardsigmoid(input)


@audible
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x times its hardsigmoid."""
    return _written(rows.hardswish, input) if inplace else rows.hardswish(input)


# -- with parameters -------------------------------------------------------------------------------------------------


@composite()
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """The elements, those not positive times ``weight``: one number, or one for each channel (dimension 1)."""
    input, weight = low(input, weight)
    if input._array.dtype != weight._array.dtype:
        input_type, weight_type = input.dtype.scalar_name, weight.dtype.scalar_name
        raise RuntimeError(f"prelu: Type promoting not supported. Got {input_type} and {weight_type}")
    shape = input._array.shape
    if weight._array.size != 1:
        if not shape:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = shape[1] if len(shape) > 1 else 1
        if channels != weight._array.size:
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{weight._array.size} and channel size = {channels}."
            )
    if weight._array.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight._array.ndim}"
        )
    if len(shape) != 1 or not weight._array.ndim:  # one number for each channel, lined up with dimension 1
        size = weight._array.size
        weight = weight.view((1, size) + (1,) * (len(shape) - 2) if len(shape) > 1 else (size,) * len(shape))  # type: ignore[attr-defined]
    return parametric.prelu_kernel(input, weight)


@audible
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the logistic function of the second."""
    ndim = input._array.ndim
    if not ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    size = input._array.shape[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim % ndim} is size {size}")
    return parametric.glu(input, dim)


@composite(method=False)
@asking
def rrelu(
    input: Tensor, lower: Number = 1.0 / 8, upper: Number = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """The elements, negative ones times a random slope from [lower, upper] while training, their mean otherwise."""
    if type(lower) is not float or type(upper) is not float:
        name = "rrelu_" if inplace else "rrelu"
        lower, upper = number_of(name, "lower", 2, lower), number_of(name, "upper", 3, upper)
        for bound in (lower, upper):
            dtypes.check_number(bound, np.dtype("f8"))
    for name, bound in (("lower", lower), ("upper", upper)):
        if not isfinite(bound) and not inplace:
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    if not lower <= upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    data = input._array
    if data.dtype.char not in FLOATS:
        raise not_implemented("rrelu_with_noise_out_cpu" if training else "leaky_relu_cpu", data)
    noise = np.zeros(data.shape, data.dtype)
    if training:
        if modes.transforming and (raised := lifted.chances(input)) is not input:
            return rrelu(raised, lower, upper, training, inplace)
        noise[...] = 1
        down = np.asarray(data <= 0)
        low, high = (float(data.dtype.type(bound)) for bound in (lower, upper))
        noise[down] = unit64(default_generator, int(np.count_nonzero(down))) * (high - low) + low
    tensor = wrap(noise[()])
    if inplace:
        return write.in_place(parametric.rrelu_with_noise_written.row, input, (tensor,), (lower, upper, training))
    return parametric.rrelu_with_noise(input, tensor, lower, upper, training)


@composite(method=False)
def rrelu_(input: Tensor, lower: Number = 1.0 / 8, upper: Number = 1.0 / 3, training: bool = False) -> Tensor:
    """In-place :func:`rrelu`."""
    return rrelu(input, lower, upper, training, True)
