"""Activations with parameters, of their own or drawn: slopes for negative elements, and halves that open a gate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ..compare.rows import where, zero_like
from ..index.rows import slice
from ..join.rows import cat
from ..pointwise.rows import sigmoid
from .rows import leaky_relu, leaky_relu_backward


@op(
    node="PreluKernelBackward0",
    typed="promote",
    public=False,
    precision="low",
    serves=(FLOATS, "prelu_cpu"),
    batched="point",
)
def prelu_kernel(self: Any, weight: Any, /) -> Any:
    """The elements, those not positive times ``weight``."""
    return np.where(self > 0, self, self * weight)[()]


prelu_kernel.derivative(
    self=lambda grad, self, weight: prelu_kernel_backward(grad, self, weight),
    weight=lambda grad, self, weight: prelu_kernel_by_weight(grad, self, weight),
)


# As in PyTorch zero counts as not positive at first, and as positive in forward mode and in slopes of slopes.


@prelu_kernel.row.tangent
def _prelu_tangent(self: Any, weight: Any, self_t: Any, weight_t: Any) -> Any:
    """The tangent, and what that of the weight adds where ``self`` is negative."""
    moved = 0 if self_t is None else where(self >= 0, self_t, self_t * weight)
    return moved if weight_t is None else where(self >= 0, 0, self * weight_t) + moved


_SLOPE: Any = {"typed": "promote", "public": False, "batched": "point", "forward": "transposed"}


@op(node="PreluKernelBackwardBackward0", **_SLOPE)
def prelu_kernel_backward(grad_output: Any, self: Any, weight: Any, /) -> Any:
    """``grad_output``, times ``weight`` where ``self`` is not positive."""
    return np.where(self > 0, grad_output, grad_output * weight)[()]


prelu_kernel_backward.derivative(
    grad_output=lambda grad, self, weight: where(self >= 0, grad, grad * weight),
    self=lambda grad, self: zero_like(self),
    weight=lambda grad, grad_output, self: where(self >= 0, 0, grad * grad_output),
)


@op(node="PreluKernelBackwardBackward0", **_SLOPE)
def prelu_kernel_by_weight(grad_output: Any, self: Any, weight: Any, /) -> Any:
    """The gradient in ``weight``, element by element: ``self`` where it is not positive."""
    return np.where(self > 0, grad_output.dtype.type(0), grad_output * self)[()]


prelu_kernel_by_weight.derivative(
    grad_output=lambda grad, self: where(self >= 0, 0, grad * self),
    self=lambda grad, grad_output, self: where(self >= 0, 0, grad * grad_output),
    weight=lambda grad, weight: zero_like(weight),
)


@op(public=False, hidden=("self_sizes",), serves=(FLOATS, "glu_cpu"), halves="single", widens=True, batched="dims")
def glu(self: Any, /, dim: Any = -1) -> Any:
    """The first half along ``dim`` times the logistic function of the second."""
    half = self.shape[dim] // 2
    at = (np.s_[:],) * (dim if dim >= 0 else self.ndim + dim)
    return self[(*at, np.s_[:half])] * sigmoid.row.kernel(self[(*at, np.s_[half:])])


@glu.derivative("self")
def slope_of_glu(grad: Any, self: Any, self_sizes: Any, dim: Any) -> Any:
    """The gradients of the two halves, one after the other."""
    size = self_sizes[dim]
    first, second = slice(self, dim, 0, size // 2), slice(self, dim, size // 2, size)
    gate = sigmoid(second)
    return cat([grad * gate, grad * first * (gate * (1 - gate))], dim)


@op(public=False, serves=(FLOATS, "rrelu_with_noise_out_cpu"), layout="plain", batched="first")
def rrelu_with_noise(self: Any, noise: Any, /, lower: Any, upper: Any, training: Any) -> Any:
    """The elements times ``noise``, one where they are positive; out of training, negative ones times its mean."""
    return self * noise if training else leaky_relu.row.kernel(self, (lower + upper) / 2)


rrelu_with_noise.derivative(
    self=lambda grad, self, noise, lower, upper, training: (
        grad * noise if training and upper - lower > 1e-6 else leaky_relu_backward(grad, self, (lower + upper) / 2)
    )
)


@op(node="RreluWithNoiseBackward1", inplace=True, public=False, batched="first")
def rrelu_with_noise_written(self: Any, noise: Any, /, lower: Any, upper: Any, training: Any) -> Any:
    """What ``rrelu_`` writes."""
    return rrelu_with_noise.row.kernel(self, noise, lower, upper, training)


rrelu_with_noise_written.derivative(
    self=lambda grad, result, noise, lower, upper, training: (
        grad * noise if training and upper - lower > 1e-6 else leaky_relu_backward(grad, result, (lower + upper) / 2)
    )
)
