"""Activations with parameters, of their own or drawn: slopes for negative elements, and halves that open a gate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ..compare.rows import where
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
    self=lambda grad, self, weight: where(self > 0, grad, grad * weight),
    weight=lambda grad, self: where(self > 0, 0, grad * self),
)


@op(public=False, hidden=("self_sizes",), serves=(FLOATS, "glu_cpu"), batched="dims")
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
