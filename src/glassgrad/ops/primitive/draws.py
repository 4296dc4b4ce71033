"""Random numbers whose parameters are tensors: gamma, Dirichlet and binomial, as rows; the draws are in ``kernels``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...ground import dtypes
from ...kernels import counts, dirichlet
from .arithmetic import NOT_IMPLEMENTED
from .compare import unsupported
from .random import source


def _floating(array: Any, kernel: str) -> Any:
    """``array`` as one of float32 or float64, which are all that PyTorch's kernels know."""
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        raise unsupported(kernel, array)
    return np.asarray(array)


def refuse(name: str) -> None:
    """Raise PyTorch's error for a gradient that it does not define."""
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


def refuse_second() -> None:
    """Raise PyTorch's error for the second derivative of gamma numbers."""
    raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


@op()
def _standard_gamma(self: Any, /, generator: Any = None) -> Any:
    """Gamma numbers of the shape parameters that ``self`` holds and rate one."""
    return dirichlet.standard_gamma(source(generator), _floating(self, "gamma_cpu"))


_standard_gamma.derivative(self=lambda grad, self, result: grad * _standard_gamma_grad(self, result))


@op()
def _standard_gamma_grad(self: Any, output: Any, /) -> Any:
    """How the gamma numbers ``output`` move with their shape parameters, at a fixed chance of smaller ones."""
    return dirichlet.standard_gamma_grad(np.asarray(self), np.asarray(output))


_standard_gamma_grad.derivative(self=lambda grad: refuse_second(), output=lambda grad: refuse_second())


@op(node=NOT_IMPLEMENTED)
def _sample_dirichlet(self: Any, /, generator: Any = None) -> Any:
    """Vectors of chances along the last dimension, of the concentrations that ``self`` holds."""
    return dirichlet.dirichlet(source(generator), _floating(self, "dirichlet"))


_sample_dirichlet.derivative(self=lambda grad: refuse("_sample_dirichlet"))


@op(node=NOT_IMPLEMENTED)
def _dirichlet_grad(x: Any, alpha: Any, total: Any, /) -> Any:
    """How Dirichlet numbers move with their own concentration ``alpha``, over ``1 - x``."""
    arrays = [np.asarray(part) for part in (x, alpha, total)]
    return dirichlet.dirichlet_grad(_floating(arrays[0], "_dirichlet_grad_cpu"), *arrays[1:])


_dirichlet_grad.derivative(
    x=lambda grad: refuse("_dirichlet_grad"),
    alpha=lambda grad: refuse("_dirichlet_grad"),
    total=lambda grad: refuse("_dirichlet_grad"),
)


@op(node=NOT_IMPLEMENTED)
def binomial(count: Any, prob: Any, /, generator: Any = None) -> Any:
    """Numbers of successes among ``count`` trials, each of chance ``prob``; both floating and of one dtype.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.binomial.html
    """
    for array, name in ((count, "count"), (prob, "prob")):
        if array.dtype.kind not in "fV":
            actual = dtypes.of(array.dtype).scalar_name
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {actual}")
    if count.dtype != prob.dtype:
        actual, wanted = (dtypes.of(array.dtype).scalar_name for array in (prob, count))
        raise RuntimeError(f"Found dtype {actual} but expected {wanted}")
    both = np.broadcast_arrays(_floating(count, "binomial_cpu"), np.asarray(prob))
    return counts.binomial(source(generator), both[0], both[1])


binomial.derivative(count=lambda grad: refuse("binomial"), prob=lambda grad: refuse("binomial"))
