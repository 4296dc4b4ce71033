"""Random numbers written over a tensor, as rows: what was there before gets no gradient.

Numbers are drawn in the order in which PyTorch fills memory, so that the same seed gives the same tensor whatever its
strides.  The draws themselves are in ``kernels/random.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.row import op
from ...core.tensor import wrap
from ...ground import dtypes
from ...ground.generator import Generator, default_generator
from ...kernels import counts
from ...kernels import random as draws
from .shape import on_arrays


@on_arrays(np.zeros_like)
def nothing(grad: Any) -> Any:
    """Zeros: the gradient of what was overwritten."""
    return wrap(np.zeros_like(grad._array))


def source(generator: Generator | None) -> Generator:
    """The generator meant: the default one unless another is named."""
    return default_generator if generator is None else generator


def placed(self: Any, draw: Callable[[tuple[int, ...]], Any]) -> Any:
    """Numbers drawn by ``draw(sizes)`` in the order of the memory of ``self``, in its shape."""
    if self.ndim < 2 or self.flags.c_contiguous:
        return draw(self.shape)
    order = sorted(range(self.ndim), key=lambda axis: -self.strides[axis])
    back = np.argsort(order)
    return draw(tuple(self.shape[axis] for axis in order)).transpose(back)


@op(node="NormalBackward0", public=False)
def normal_over(self: Any, /, mean: float, std: float, generator: Any) -> Any:
    """Normal numbers in the shape of ``self``."""
    gap = not self.flags.c_contiguous
    return placed(self, lambda n: draws.normal(source(generator), n, self.dtype, mean, std, contiguous=not gap))


normal_over.derivative(self=lambda grad: nothing(grad))


@op(node="UniformBackward0", public=False)
def uniform_over(self: Any, /, low: float, high: float, generator: Any) -> Any:
    """Numbers spread evenly from ``low`` to ``high`` in the shape of ``self``."""
    return placed(self, lambda n: draws.uniform(source(generator), n, self.dtype, low, high))


uniform_over.derivative(self=lambda grad: nothing(grad))


@op(node="RandomBackward2", public=False)
def random_over(self: Any, /, generator: Any) -> Any:
    """Whole numbers over all that the dtype of ``self`` counts exactly."""
    return placed(self, lambda n: draws.random_(source(generator), n, self.dtype))


random_over.derivative(self=lambda grad: nothing(grad))


@op(node="RandomBackward1", public=False)
def random_below(self: Any, /, high: int, generator: Any) -> Any:
    """Whole numbers from 0 to ``high - 1`` in the shape of ``self``."""
    return placed(self, lambda n: draws.random_(source(generator), n, self.dtype, 0, high))


random_below.derivative(self=lambda grad: nothing(grad))


@op(node="RandomBackward0", public=False)
def random_between(self: Any, /, low: int, high: Any, generator: Any) -> Any:
    """Whole numbers from ``low`` to ``high - 1``, or up to the largest, in the shape of ``self``."""
    return placed(self, lambda n: draws.random_(source(generator), n, self.dtype, low, high))


random_between.derivative(self=lambda grad: nothing(grad))


@op(node="BernoulliBackward2", public=False)
def bernoulli_over(self: Any, /, p: float, generator: Any) -> Any:
    """Ones with chance ``p``, else zeros, in the shape of ``self``."""
    return placed(self, lambda n: draws.bernoulli(source(generator), p, n, self.dtype))


bernoulli_over.derivative(self=lambda grad: nothing(grad))


@op(node="BernoulliBackward1", public=False)
def bernoulli_by(self: Any, p: Any, /, generator: Any) -> Any:
    """Ones with the chances of ``p``, which broadcasts, in the shape of ``self``."""
    return draws.bernoulli(source(generator), np.asarray(p), self.shape, self.dtype)


bernoulli_by.derivative(self=lambda grad: nothing(grad), p=lambda grad, p_sizes: nothing_of(grad, p_sizes))


@op(node="ExponentialBackward0", public=False)
def exponential_over(self: Any, /, lambd: float, generator: Any) -> Any:
    """Waiting times of rate ``lambd`` in the shape of ``self``."""
    return placed(self, lambda n: draws.exponential(source(generator), n, self.dtype, lambd))


exponential_over.derivative(self=lambda grad: nothing(grad))


@op(node="GeometricBackward0", public=False)
def geometric_over(self: Any, /, p: float, generator: Any) -> Any:
    """Numbers of trials up to the first success of chance ``p`` in the shape of ``self``."""
    return placed(self, lambda n: draws.geometric(source(generator), n, self.dtype, p))


geometric_over.derivative(self=lambda grad: nothing(grad))


@op(node="CauchyBackward0", public=False)
def cauchy_over(self: Any, /, median: float, sigma: float, generator: Any) -> Any:
    """Numbers of the Cauchy distribution in the shape of ``self``."""
    return placed(self, lambda n: draws.cauchy(source(generator), n, self.dtype, median, sigma))


cauchy_over.derivative(self=lambda grad: nothing(grad))


@op(node="LogNormalBackward0", public=False)
def log_normal_over(self: Any, /, mean: float, std: float, generator: Any) -> Any:
    """Exponentials of normal numbers in the shape of ``self``."""
    return placed(self, lambda n: draws.log_normal(source(generator), n, self.dtype, mean, std))


log_normal_over.derivative(self=lambda grad: nothing(grad))


@op(node="BernoulliBackward0", public=False)
def bernoulli_like(self: Any, /, generator: Any) -> Any:
    """Ones with the chances that ``self`` holds, else zeros."""
    array = np.asarray(self)
    return draws.bernoulli(source(generator), array, array.shape, array.dtype)


bernoulli_like.derivative(self=lambda grad: nothing(grad))


@op()
def poisson(self: Any, /, generator: Any = None) -> Any:
    """Counts of events whose mean numbers ``self`` holds."""
    if self.dtype.kind not in "fV":
        raise NotImplementedError(f"\"poisson_cpu\" not implemented for '{dtypes.of(self.dtype).scalar_name}'")
    return counts.poisson(source(generator), np.asarray(self)).astype(self.dtype)


poisson.derivative(self=lambda grad: nothing(grad))


@op(node="NormalBackward3", public=False)
def normal_by_both(mean: Any, std: Any, /, generator: Any) -> Any:
    """Normal numbers, each with its own mean and deviation."""
    return draws.normal_of(source(generator), np.asarray(mean), np.asarray(std))


normal_by_both.derivative(
    mean=lambda grad, mean_sizes: nothing_of(grad, mean_sizes), std=lambda grad, std_sizes: nothing_of(grad, std_sizes)
)


@op(node="NormalBackward1", public=False)
def normal_by_mean(mean: Any, /, std: float, generator: Any) -> Any:
    """Normal numbers, each with its own mean."""
    return draws.normal_of(source(generator), np.asarray(mean), std)


normal_by_mean.derivative(mean=lambda grad: nothing(grad))


@op(node="NormalBackward2", public=False)
def normal_by_std(std: Any, /, mean: float, generator: Any) -> Any:
    """Normal numbers, each with its own deviation."""
    return draws.normal_of(source(generator), mean, np.asarray(std))


normal_by_std.derivative(std=lambda grad: nothing(grad))


@on_arrays(lambda grad, sizes: np.zeros(sizes, grad.dtype))
def nothing_of(grad: Any, sizes: tuple[int, ...]) -> Any:
    """Zeros of the sizes of an input."""
    return wrap(np.zeros(sizes, grad._array.dtype))
