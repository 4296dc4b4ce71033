"""Values and first derivatives where functions have corners, ties, and numbers that are none: beside PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import glassgrad
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

nan, inf = float("nan"), float("inf")
NUMBERS = [
    [0.0, 0.0], [nan, 1.0], [1.0, nan], [nan, nan], [inf, 1.0], [-inf, 2.0], [inf, inf], [0.0, 3.0], [2.0, 2.0],
    [-2.0, 2.0], [0.0, 0.0, 5.0], [1.0, 0.0, nan], [inf, nan, 0.0], [-0.0, 0.0], [1.0, 1.0, 0.0], [0.0, inf, 0.0],
    [2.0, 0.0, 0.0], [3.0], [0.0], [nan], [inf],
]  # fmt: skip
#: What differs, docs/limits.md tells: products beside infinities, norms of fractional order at them, and the like.
EXPRESSIONS = """
x.abs()
x.abs().sqrt()
x.norm()
x.norm(1)
x.norm(2)
x.norm(inf)
x.norm(-inf)
x.norm(0)
x.norm(3)
x.norm(1.5)
x.norm(4, 0)
t.linalg.vector_norm(x, 1)
t.linalg.vector_norm(x, inf)
t.linalg.vector_norm(x, -inf)
t.linalg.vector_norm(x, 2)
t.linalg.vector_norm(x, 3.5, 0)
t.linalg.vector_norm(x, 0)
x.amax()
x.amin()
x.amax(0)
x.amin(0, True)
x.max()
x.min()
x.max(0)[0]
x.min(0)[0]
x.median()
x.median(0)[0]
x.nanmedian()
x.nanmedian(0)[0]
x.sort()[0]
x.clamp(0, 1)
x.clamp(0)
x.clamp(max=0)
x.clamp_min(2)
x.clamp_max(0)
x.clamp(nan, 1)
x.clamp(0, nan)
x.clamp(2, 1)
x.clamp(t.zeros_like(x), t.ones_like(x))
x.clamp(t.ones_like(x), t.zeros_like(x))
x.clamp(t.full_like(x, nan), t.ones_like(x))
x.clip(-inf, inf)
x.std()
x.std(0)
x.std(unbiased=False)
x.std(0, correction=0)
t.std_mean(x)[0]
t.std_mean(x, 0, correction=0)[0]
x.prod(0)
x.cumsum(0)
x.cummax(0)[0]
x.cummin(0)[0]
x.logcumsumexp(0)
x.logsumexp(0)
x.softmax(0)
x.log_softmax(0)
t.maximum(x, x.flip(0))
t.minimum(x, x.flip(0))
t.maximum(x, x*1)
t.maximum(x, t.zeros_like(x))
t.minimum(x, t.zeros_like(x))
t.fmax(x, x.flip(0))
t.fmin(x, x.flip(0))
t.fmax(x, t.zeros_like(x))
t.aminmax(x)[0]
t.aminmax(x, dim=0)[1]
x.relu()
F.relu6(x)
F.hardtanh(x, -2, 2)
F.leaky_relu(x)
F.elu(x)
F.selu(x)
F.celu(x)
F.gelu(x)
F.gelu(x, approximate='tanh')
F.silu(x)
F.mish(x)
F.softplus(x)
F.softplus(x, 1, 1)
F.hardsigmoid(x)
F.hardswish(x)
F.hardshrink(x, 2.)
F.softshrink(x, 2.)
F.threshold(x, 0., 1.)
F.threshold(x, 2., 1.)
F.logsigmoid(x)
F.softsign(x)
F.tanhshrink(x)
F.prelu(x, t.tensor([0.25], dtype=t.float64))
F.normalize(x, dim=0)
F.normalize(x, 1, 0)
F.l1_loss(x, t.zeros_like(x))
F.l1_loss(x, x.detach(), reduction='none')
F.smooth_l1_loss(x, t.ones_like(x), reduction='none')
F.huber_loss(x, t.ones_like(x), reduction='none')
F.mse_loss(x, t.ones_like(x), reduction='none')
F.pairwise_distance(x, t.zeros_like(x))
F.pairwise_distance(x, x.detach(), p=1)
F.cosine_similarity(x, t.ones_like(x), 0)
t.dist(x, t.zeros_like(x))
t.dist(x, x.detach())
t.dist(x, x.detach(), 1)
t.dist(x, t.zeros_like(x), inf)
t.cdist(x[:, None], t.zeros_like(x)[:, None])
t.cdist(x[None], t.zeros_like(x)[None], p=3.)
t.cdist(x[None], t.zeros_like(x)[None], p=0.)
t.cdist(x[None].detach(), t.zeros_like(x)[None], p=inf) + x.nansum()
F.pdist(t.stack([x, t.zeros_like(x)]), 0)
F.pdist(t.stack([x, t.zeros_like(x)]).detach(), inf) + x.nansum()
t.renorm(x[:, None], 2, 0, 1.)
x.sign()
x.sqrt()
x.rsqrt()
x.reciprocal()
x.log()
x.log1p()
x.exp()
x**2
x**0.5
x**0
x**1
x**3
x**-1
x**1.5
2.0**x
0.0**x
x**x
t.pow(x, t.zeros_like(x))
t.pow(t.zeros_like(x), x)
x.atan2(t.zeros_like(x))
t.atan2(t.zeros_like(x), x)
t.hypot(x, t.zeros_like(x))
t.xlogy(x, x)
t.xlogy(x, t.zeros_like(x))
t.xlogy(t.zeros_like(x), x)
t.special.xlog1py(x, x)
t.special.entr(x)
t.sinc(x)
x.asin()
x.acos()
x.atanh()
x.asinh()
x.tan()
x.tanh()
x.sigmoid()
x.logit(0.1)
x.erfinv()
x.erf()
x.lgamma()
x.floor()
x.frac()
x.fmod(2)
x.remainder(2)
t.fmod(x, t.full_like(x, 2))
x.nan_to_num()
x.nansum()
x.nanmean()
x.copysign(-1)
t.copysign(x, t.zeros_like(x))
t.copysign(t.ones_like(x), x)
t.heaviside(x.detach(), x.detach())+x
t.where(x>0, x, x*2)
t.lerp(x, t.ones_like(x), 0.5)
t.logaddexp(x, t.zeros_like(x))
t.logaddexp2(x, x)
t.nn.functional.log_softmax(x, 0)
x.quantile(0.5)
x.nanquantile(0.5)
x.quantile(0.3, 0)
x.diff()
x.div(2)
x/t.zeros_like(x)
x/x.detach()
t.ones_like(x)/x
t.addcdiv(x, x, x)
x.index_reduce(0, t.tensor([0]), x[:1], 'prod')
x.index_reduce(0, t.tensor([0]), x[:1], 'amax')
x.scatter_reduce(0, t.tensor([0]), x[:1], 'amin')
x.scatter_reduce(0, t.tensor([0]), x[:1], 'mean')
t.expm1(x)
t.cosh(x)
t.deg2rad(x)
F.kl_div(x, t.zeros_like(x), reduction='none')
F.kl_div(x, x.detach(), reduction='none')
F.binary_cross_entropy_with_logits(x, t.zeros_like(x), reduction='none')
F.hinge_embedding_loss(x, t.full_like(x, -1), reduction='none')
F.margin_ranking_loss(x, x.flip(0), t.ones_like(x), reduction='none')
F.poisson_nll_loss(x, t.zeros_like(x), reduction='none')
F.gaussian_nll_loss(x, t.zeros_like(x), t.ones_like(x), reduction='none')
F.avg_pool1d(x[None, None], 1)[0]
F.max_pool1d(x[None, None], len(x))[0]
F.lp_pool1d(x[None, None], 2, 1)[0]
F.adaptive_max_pool1d(x[None, None], 1)[0]
F.layer_norm(x, (len(x), ))
F.layer_norm(x, (len(x), ), eps=0.)
F.rms_norm(x, (len(x), ), eps=0.)
t.trapezoid(x)
t.cumulative_trapezoid(x)
t.masked.amax(x, mask=x==x)
"""


def corner(engine: Any, expression: str, numbers: list[float]) -> Any:
    """The value and the gradient of a weighted sum, as an array; the type of the error where there is one."""
    x = engine.tensor(numbers, dtype=engine.float64, requires_grad=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names = {"t": engine, "F": engine.nn.functional, "x": x, "nan": nan, "inf": inf}
            value = eval(expression, names)  # noqa: S307  the expressions are the tests' own
            weights = engine.arange(1.0, value.numel() + 1, dtype=x.dtype).reshape(value.shape)
            (grad,) = engine.autograd.grad((value * weights).sum(), x)
    except (RuntimeError, IndexError, ValueError, NotImplementedError) as error:
        return type(error).__name__
    return np.asarray([*value.flatten().tolist(), *grad.tolist()])


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_values_and_slopes_at_corners(expression):
    for numbers in NUMBERS:
        wanted, actual = (corner(engine, expression, numbers) for engine in (torch, glassgrad))
        if isinstance(wanted, str) or isinstance(actual, str):
            assert wanted == actual, numbers
        else:
            np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6, err_msg=str(numbers))


#: Settings that came in a 0-d tensor met a 0-d input, and the result held a tensor where its array belongs.
SETTINGS = """
F.celu(x, a)
F.celu_(x + 0, a)
F.elu(x, a)
F.elu_(x + 0, a)
F.leaky_relu(x, a)
F.leaky_relu(x + 0, a, inplace=True)
F.hardshrink(x, a)
F.rrelu(x, a, a)
t.isclose(x, x + 0.1, a, a)
t.isclose(x, x + 0.1, 0.0, a)
t.tensor(t.allclose(x, x + 2.0, a))
"""


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("expression", SETTINGS.strip().splitlines())
def test_settings_in_tensors_of_no_dimension(expression, tracked):
    for numbers in (-0.75, [-0.75, 2.0]):
        told = []
        for engine in (torch, glassgrad):
            x, a = engine.tensor(numbers), engine.tensor(0.5, requires_grad=tracked)
            try:
                told.append(eval(expression, {"t": engine, "F": engine.nn.functional, "x": x, "a": a}).tolist())  # noqa: S307
            except TypeError as error:
                told.append(str(error))
        assert told[1] == pytest.approx(told[0], rel=1e-6) if not tracked else told[1] == told[0]
