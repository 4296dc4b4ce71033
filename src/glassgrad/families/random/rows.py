"""Random numbers written over a tensor, as rows: what was there before gets no gradient.

Numbers are drawn in the order in which PyTorch fills memory, so that the same seed gives the same tensor whatever its
strides.  The draws themselves are in ``kernels.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.row import op
from ...core.tensor import wrap
from ...ground import dtypes
from ...ground.generator import Generator, default_generator
from ...ground.layout import order_of
from ...ground.window import overlaps, strides_of
from ...kernels.columns import not_implemented
from ..arithmetic.quotients import NOT_IMPLEMENTED, refuse
from ..cast.rows import fill_number
from ..shape.rows import on_arrays
from . import counts
from . import counts as dirichlet
from . import kernels as draws


@on_arrays(np.zeros_like)
def nothing(grad: Any) -> Any:
    """Zeros: the gradient of what was overwritten."""
    return fill_number(grad.detach(), 0)


def source(generator: Generator | None) -> Generator:
    """The generator meant: the default one unless another is named."""
    return default_generator if generator is None else generator


def turned(order: Sequence[int], draw: Callable[..., Any], *arrays: Any) -> Any:
    """What ``draw`` gives of arrays whose dimensions are put in an order; its own are put back."""
    return draw(*(array.transpose(order) for array in arrays)).transpose(np.argsort(order))


def placed(self: Any, draw: Callable[[tuple[int, ...]], Any]) -> Any:
    """Numbers drawn by ``draw(sizes)`` in the order of the memory of ``self``, in its shape."""
    if self.ndim < 2 or self.flags.c_contiguous or overlaps((self.shape, strides_of(self), 0)):
        return draw(self.shape)
    order = sorted(range(self.ndim), key=lambda axis: -self.strides[axis])
    return turned(order, lambda array: draw(array.shape), self)


@op(node="NormalBackward0", public=False)
def normal_over(self: Any, /, mean: float, std: float, generator: Any) -> Any:
    """Normal numbers in the shape of ``self``."""
    gap = not self.flags.c_contiguous
    return placed(self, lambda n: draws.normal(source(generator), n, self.dtype, mean, std, contiguous=not gap))


@op(node="UniformBackward0", public=False)
def uniform_over(self: Any, /, low: float, high: float, generator: Any) -> Any:
    """Numbers spread evenly from ``low`` to ``high`` in the shape of ``self``."""
    return placed(self, lambda n: draws.uniform(source(generator), n, self.dtype, low, high))


@op(node="RandomBackward2", public=False)
def random_over(self: Any, /, generator: Any) -> Any:
    """Whole numbers over all that the dtype of ``self`` counts exactly."""
    return placed(self, lambda n: draws.random_(source(generator), n, self.dtype))


@op(node="RandomBackward1", public=False)
def random_below(self: Any, /, high: int, generator: Any) -> Any:
    """Whole numbers from 0 to ``high - 1`` in the shape of ``self``."""
    return placed(self, lambda n: draws.random_(source(generator), n, self.dtype, 0, high))


@op(node="RandomBackward0", public=False)
def random_between(self: Any, /, low: int, high: Any, generator: Any) -> Any:
    """Whole numbers from ``low`` to ``high - 1``, or up to the largest, in the shape of ``self``."""
    return placed(self, lambda n: draws.random_(source(generator), n, self.dtype, low, high))


@op(node="BernoulliBackward2", public=False)
def bernoulli_over(self: Any, /, p: float, generator: Any) -> Any:
    """Ones with chance ``p``, else zeros, in the shape of ``self``."""
    return placed(self, lambda n: draws.bernoulli(source(generator), p, n, self.dtype))


@op(node="BernoulliBackward1", public=False)
def bernoulli_by(self: Any, p: Any, /, generator: Any) -> Any:
    """Ones with the chances of ``p``, which broadcasts, in the shape of ``self``."""
    if self.ndim < 2:
        return draws.bernoulli(source(generator), np.asarray(p), self.shape, self.dtype)
    chances = np.broadcast_to(p, self.shape)
    order = order_of(self.shape, [strides_of(self), strides_of(chances)])[::-1]
    return turned(order, lambda p: draws.bernoulli(source(generator), p, p.shape, self.dtype), chances)


bernoulli_by.derivative(self=lambda grad: nothing(grad), p=lambda grad, p_sizes: nothing_of(grad, p_sizes))


@op(node="ExponentialBackward0", public=False)
def exponential_over(self: Any, /, lambd: float, generator: Any) -> Any:
    """Waiting times of rate ``lambd`` in the shape of ``self``."""
    return placed(self, lambda n: draws.exponential(source(generator), n, self.dtype, lambd))


@op(node="GeometricBackward0", public=False)
def geometric_over(self: Any, /, p: float, generator: Any) -> Any:
    """Numbers of trials up to the first success of chance ``p`` in the shape of ``self``."""
    return placed(self, lambda n: draws.geometric(source(generator), n, self.dtype, p))


@op(node="CauchyBackward0", public=False)
def cauchy_over(self: Any, /, median: float, sigma: float, generator: Any) -> Any:
    """Numbers of the Cauchy distribution in the shape of ``self``."""
    return placed(self, lambda n: draws.cauchy(source(generator), n, self.dtype, median, sigma))


@op(node="LogNormalBackward0", public=False)
def log_normal_over(self: Any, /, mean: float, std: float, generator: Any) -> Any:
    """Exponentials of normal numbers in the shape of ``self``."""
    return placed(self, lambda n: draws.log_normal(source(generator), n, self.dtype, mean, std))


@op(node="BernoulliBackward0", public=False)
def bernoulli_like(self: Any, /, generator: Any) -> Any:
    """Ones with the chances that ``self`` holds, else zeros."""
    array = np.asarray(self)
    return draws.bernoulli(source(generator), array, array.shape, array.dtype)


@op(out=None)
def poisson(self: Any, /, generator: Any = None) -> Any:
    """Counts of events whose mean numbers ``self`` holds."""
    if self.dtype.kind not in "fV":
        raise NotImplementedError(f"\"poisson_cpu\" not implemented for '{dtypes.of(self.dtype).scalar_name}'")
    return counts.poisson(source(generator), np.asarray(self)).astype(self.dtype)


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


for _overwritten in (
    normal_over, uniform_over, random_over, random_below, random_between, bernoulli_over, exponential_over,
    geometric_over, cauchy_over, log_normal_over, bernoulli_like, poisson,
):  # fmt: skip
    _overwritten.derivative(self=lambda grad: nothing(grad))


@on_arrays(lambda grad, sizes: np.zeros(sizes, grad.dtype))
def nothing_of(grad: Any, sizes: tuple[int, ...]) -> Any:
    """Zeros of the sizes of an input."""
    return wrap(np.zeros(sizes, grad._array.dtype))


def check_together(n: tuple[int, ...], m: tuple[int, ...]) -> None:
    """Raise PyTorch's error where parameters of these sizes do not broadcast."""
    for k in range(1, min(len(n), len(m)) + 1):
        if n[-k] != m[-k] and 1 not in (n[-k], m[-k]):
            raise RuntimeError(
                f"The size of tensor a ({n[-k]}) must match the size of tensor b ({m[-k]}) at non-singleton dimension "
                f"{max(len(n), len(m)) - k}"
            )


# -- Random numbers whose parameters are tensors: gamma, Dirichlet and binomial, as rows; the draws are in
# ``kernels``.


def _floating(array: Any, kernel: str) -> Any:
    """``array`` as one of float32 or float64, which are all that PyTorch's kernels know."""
    if array.dtype.kind != "f" or array.dtype.itemsize < 4:
        raise not_implemented(kernel, array)
    return np.asarray(array)


def refuse_second() -> None:
    """Raise PyTorch's error for the second derivative of gamma numbers."""
    raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


@op()
def _standard_gamma(self: Any, /, generator: Any = None) -> Any:
    """Gamma numbers of the shape parameters that ``self`` holds and rate one."""
    return dirichlet.standard_gamma(source(generator), _floating(self, "gamma_cpu"))


_standard_gamma.derivative(self=lambda grad, self, result: grad * _standard_gamma_grad(self, result))


@op(serves=("fd", "_standard_gamma_grad_cpu"), batched="point")
def _standard_gamma_grad(self: Any, output: Any, /) -> Any:
    """How the gamma numbers ``output`` move with their shape parameters, at a fixed chance of smaller ones."""
    return dirichlet.standard_gamma_grad(np.asarray(self), np.asarray(output))


_standard_gamma_grad.derivative(self=lambda grad: refuse_second(), output=lambda grad: refuse_second())


@op(node=NOT_IMPLEMENTED)
def _sample_dirichlet(self: Any, /, generator: Any = None) -> Any:
    """Vectors of chances along the last dimension, of the concentrations that ``self`` holds."""
    return dirichlet.dirichlet(source(generator), _floating(self, "dirichlet"))


_sample_dirichlet.derivative(self=lambda grad: refuse("_sample_dirichlet"))


@op(node=NOT_IMPLEMENTED, batched="first")
def _dirichlet_grad(x: Any, alpha: Any, total: Any, /) -> Any:
    """How Dirichlet numbers move with their own concentration ``alpha``, over ``1 - x``."""
    arrays = [np.asarray(part) for part in (x, alpha, total)]
    return dirichlet.dirichlet_grad(_floating(arrays[0], "_dirichlet_grad_cpu"), *arrays[1:])


_dirichlet_grad.derivative(
    x=lambda grad: refuse("_dirichlet_grad"),
    alpha=lambda grad: refuse("_dirichlet_grad"),
    total=lambda grad: refuse("_dirichlet_grad"),
)


@op(node=NOT_IMPLEMENTED, out=None)
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
    check_together(count.shape, prob.shape)
    both = np.broadcast_arrays(_floating(count, "binomial_cpu"), np.asarray(prob))
    sizes = both[0].shape
    if count.shape == sizes:  # what is drawn lies in rows, else as what is given
        return counts.binomial(source(generator), *both)
    order = order_of(sizes, [*map(strides_of, both)])[::-1]
    return turned(order, lambda *given: counts.binomial(source(generator), *given), *both)


binomial.derivative(count=lambda grad: refuse("binomial"), prob=lambda grad: refuse("binomial"))
