"""What is added up, or meets a number, in halves is rounded no oftener than in PyTorch: values and gradients.

How far either engine is off is told by PyTorch's doubles, which begin with the same numbers.
"""

import numpy as np
import pytest

import glassgrad
from tests.property.conditioning import numbers
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

NEARLY = 1.2  # times PyTorch's distance from the truth: both round, in places of their own
UNIT = {"bfloat16": 2**-8, "float16": 2**-11}  # the least that rounding may change

#: Of ``x`` (5, 40) and ``y`` (300, 40): the rows of ``y`` go to, or come from, those of ``x`` that ``i`` names.
SUMS = """
x.index_add(0, i, y)
x.index_add(0, i, y, alpha=2)
x.index_add(0, i.int(), y)
x.mT.contiguous().index_add(1, i, y.mT)
x[:, 0].index_add(0, i, y[:, 0])
x.expand(3, 5, 40).index_add(1, i, y.expand(3, 300, 40))
x.index_reduce(0, i, y, "mean")
x.scatter_add(0, w, y)
x.mT.scatter_add(1, w.mT, y.mT)
x[:, 0].scatter_add(0, i, y[:, 0])
x.scatter_reduce(0, w, y, "sum")
x.scatter_reduce(0, w, y, "mean")
x.scatter_reduce(0, w, y / 8 + 1, "prod", include_self=False)
x[:2].scatter_reduce(0, (w >= 0).long(), y, "mean")
torch.zeros(1, dtype=x.dtype).scatter_reduce(0, w.flatten() * 0, y.flatten(), "mean")
x.gather(0, w)
x[:, 0].gather(0, i)
x.take_along_dim(i[:, None], 0)
x.index_select(0, i)
x.mT.index_select(1, i)
x[i]
x.take(i)
x.index_put((i,), y, accumulate=True)
x.repeat_interleave(torch.tensor([60, 1, 60, 2, 60]), 0)
x.as_strided((300, 5), (0, 1))
x.as_strided((300, 3, 5), (0, 2, 1))
x.unfold(1, 30, 1)
x.expand(300, 5, 40)
y.logcumsumexp(0)
y.cumsum(0)
y.logsumexp(0)
y.softmax(0) + y.log_softmax(1)
F.embedding(i, x)
F.embedding_bag(i.view(3, 100), x)
F.conv1d(y.view(12, 10, 100), x.view(20, 10, 1), x.view(-1)[:20])
F.conv2d(y.view(12, 10, 10, 10), x.view(20, 10, 1, 1), x.view(-1)[:20])
F.conv_transpose2d(y.view(12, 10, 10, 10), x.view(10, 20, 1, 1), x.view(-1)[:20])
F.linear(y, x, x[:, 0])
F.batch_norm(y.view(12, 10, 100), None, None, x.view(-1)[:10], x.view(-1)[:10], True)
F.layer_norm(y, (40,), x[0], x[1])
F.group_norm(y.view(12, 10, 100), 2, x.view(-1)[:10], x.view(-1)[:10])
F.interpolate(x[None, None], size=(90, 90), mode="bilinear")
F.adaptive_avg_pool2d(x[None], (50, 300))
F.grid_sample(x[None, None], y.view(1, 100, 60, 2).detach().tanh(), align_corners=True)
F.cross_entropy(y, i, reduction="none")
F.huber_loss(y, y.detach().roll(1), delta=0.7)
torch.cdist(x, y)
F.glu(y)
y.new_zeros(300, 40).fill_(x[0, 0])
torch.fill(y, x[0, 0])
y.masked_fill(y > 0, x[0, 0])
y.index_fill(0, i, x[0, 0])
x[0, 0].expand(300, 40).sum()
(y - 9).clamp(max=-9).cummax(0)[0]
y.cummin(0)[0]
y.clamp(max=0).amax(0)
y.clamp(max=0).max()
y.clamp(max=0).median()
(y / 100 + 1).cumprod(0)
y.renorm(2, 0, 5.0)
torch._weight_norm(y, y[:, :1], 0)
y.to_sparse().sum()
y.to_sparse_csr().sum()
"""

#: Of ``x`` (300, 40): where a number stands beside it, in the function or in its slope.
FACTORS = """
x.exp2()
(x.abs() + 0.5).log2()
(x.abs() + 0.5).log10()
x.erf()
x.erfc()
(x.tanh() * 0.9).erfinv()
x.deg2rad()
x.rad2deg()
x**4
x**-2
(x.abs() + 0.5) ** -0.5
x.sigmoid()
x.tanh()
x * 0.3
x / 0.3
torch.add(x, x, alpha=0.3)
torch.lerp(x, x.detach().roll(1), 0.3)
torch.addcmul(x, x, x, value=0.3)
torch.addcdiv(x, x, x.detach().abs() + 1, value=0.3)
torch.addmm(x, e[:, :2], e[:2], beta=0.3)
torch.addmm(e, x[:, :1], x[:1], alpha=0.3)
torch.addmv(x[:, 0], e, e[0], beta=0.3)
torch.addr(x, e[:, 0], e[0], beta=0.3)
torch.addbmm(x, e[None, :, :2], e[None, :2], beta=0.3)
torch.baddbmm(x[None], e[None, :, :2], e[None, :2], beta=0.3)
F.leaky_relu(x, 0.07)
F.elu(x, 0.7)
F.softplus(x, 0.7)
F.hardsigmoid(x)
F.hardswish(x)
F.glu(x)
F.gelu(x)
F.silu(x)
F.mse_loss(x, e)
F.huber_loss(x, e, delta=0.7, reduction="none")
"""

#: Of ``x`` (140000,): more than float16 can count, and bfloat16 to the last digits.
LARGE = """
x.mean()
x.view(-1, 2).mean(0)
x.nanmean()
x.view(-1, 2).nanmean(1)
x.var()
x.view(-1, 2).std(0)
torch.var_mean(x)[0]
x.new_zeros(2).scatter_reduce(0, torch.arange(140000) % 2, x, "mean")
F.mse_loss(x, e)
F.l1_loss(x, e)
F.huber_loss(x, e)
F.smooth_l1_loss(x, e)
F.binary_cross_entropy_with_logits(x, x.detach().sigmoid())
F.cross_entropy(x.view(-1, 2), torch.arange(70000) % 2)
F.nll_loss(x.view(-1, 2), torch.arange(70000) % 2, weight=torch.tensor([0.3, 0.7]).to(x.dtype))
F.kl_div(x, e.sigmoid())
F.gaussian_nll_loss(x, e, e + 1)
F.poisson_nll_loss(x, e)
F.hinge_embedding_loss(x, e - 1)
F.cosine_embedding_loss(x.view(-1, 2), e.view(-1, 2) + 1, torch.ones(70000))
F.triplet_margin_loss(x.view(-1, 2), e.view(-1, 2), e.view(-1, 2) + 1)
F.adaptive_avg_pool1d(x.view(1, 1, -1), 1)
F.adaptive_avg_pool2d(x.view(1, 1, -1, 10), 1)
F.batch_norm(x.view(-1, 2), None, None, training=True)
F.layer_norm(x, (140000,))
x.new_zeros(140000).fill_(x[0])
x[0].expand(140000).sum()
(x * 0).amax()
x.to_sparse().sum()
x.view(-1, 2).to_sparse_csr().sum()
"""

#: Of ``x`` and a number ``c``: PyTorch rounds it to the dtype of ``x`` first, or does not, by the place it has.
NUMBERS = """
x + c | c + x | x - c | c - x | x * c | x / c | c / x | x.abs() ** c | c ** x | x % c | c % x | x // c | x < c | x == c
torch.tensor(c) * x | x * torch.tensor(c) | torch.tensor(c) / x | x / torch.tensor(c) | torch.tensor(c) + x
torch.tensor(c) - x | x - torch.tensor(c) | torch.maximum(x, torch.tensor(c)) | torch.atan2(x, torch.tensor(c))
torch.add(x, x, alpha=c) | torch.sub(x, x, alpha=c) | torch.sub(x, c, alpha=2) | torch.add(x, c, alpha=0.3)
torch.rsub(x, x, alpha=c) | torch.rsub(x, c, alpha=0.3) | torch.rsub(x, 0.3, alpha=c) | torch.lerp(x, x + 1, c)
x.clamp(-c, c) | x.clamp(max=c) | torch.where(x > 0, x, c) | x.masked_fill(x > 0, c) | torch.full_like(x, c)
torch.div(x, c, rounding_mode="floor") | torch.div(x, c, rounding_mode="trunc") | torch.fmod(x, c) | torch.xlogy(x, c)
torch.addcmul(x, x, x, value=c) | torch.addcdiv(x, x, x.abs() + 1, value=c) | torch.nan_to_num(x / 0, c, c, -c)
F.threshold(x, c, c) | F.hardtanh(x, -abs(c), abs(c)) | F.leaky_relu(x, c) | F.elu(x, c) | F.softplus(x, c)
F.softshrink(x, abs(c)) | F.hardshrink(x, c) | F.celu(x, c) | x.deg2rad() * c | x.copysign(c) | x.ldexp(torch.tensor(2))
x.index_add(0, i[:4], x[:4], alpha=c) | x.index_fill(0, i[:4], c) | x.scatter(0, i[:4], c) | F.pad(x, (1, 1), value=c)
torch.addmm(x[:4].view(2, 2), x[:4].view(2, 2), x[:4].view(2, 2), alpha=c, beta=c) | torch.trapezoid(x, dx=c)
torch.linspace(0, c, 7, dtype=x.dtype) | torch.gradient(x, spacing=c)[0] | x[:2000].view(20, 100).norm(abs(c), dim=1)
F.margin_ranking_loss(x, x * 0.5, x.sign(), margin=c, reduction="none") | x.clone().mul_(c)
F.hinge_embedding_loss(x, x.sign(), margin=c, reduction="none") | x.eq(torch.tensor(c))
"""


def _given(kind, dtype, wide, shape, seed):
    drawn = np.random.default_rng(seed).standard_normal(shape)
    narrow = kind.tensor(drawn).to(getattr(kind, dtype))
    return narrow.double() if wide else narrow


def _computed(engine, text, dtype, shapes, recorded, wide=False):
    """What an expression gives, and its gradients, for the same numbers of halves in each engine."""
    leaves = [_given(engine, dtype, wide, shape, seed).requires_grad_() for seed, shape in enumerate(shapes)]
    i = engine.arange(300) % 5
    scope = {"torch": engine, "F": engine.nn.functional, "i": i, "w": i[:, None].expand(300, 40)}
    scope |= dict(zip("xy", leaves, strict=False)) | {"e": engine.zeros_like(leaves[0])}
    result = eval(text, scope)  # noqa: S307  this file's own
    cotangent = _given(engine, dtype, wide, tuple(result.shape), 9)
    slopes = engine.autograd.grad(result, leaves, cotangent, create_graph=recorded, allow_unused=True)
    return [numbers(part.detach().double()) for part in (result, *slopes) if part is not None]


def _off(truth, computed):
    return np.sqrt(np.mean((truth - computed) ** 2)) / (np.sqrt(np.mean(truth**2)) + 1e-30)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize(("text", "shapes"), [
    *[(text, [(5, 40), (300, 40)]) for text in SUMS.split("\n") if text],
    *[(text, [(300, 40)]) for text in FACTORS.split("\n") if text],
    *[(text, [(140000,)]) for text in LARGE.split("\n") if text],
])  # fmt: skip
def test_halves_are_rounded_no_oftener(text, shapes, recorded, dtype):
    truth = _computed(torch, text, dtype, shapes, recorded, wide=True)
    theirs = _computed(torch, text, dtype, shapes, recorded)
    ours = _computed(glassgrad, text, dtype, shapes, recorded)
    for wanted, yours, mine in zip(truth, theirs, ours, strict=True):
        assert wanted.shape == yours.shape == mine.shape
        assert _off(wanted, mine) <= NEARLY * _off(wanted, yours) + UNIT[dtype] / 4


def _beside(engine, text, dtype, number):
    drawn = np.random.default_rng(0).standard_normal(2000)
    drawn = np.concatenate([drawn, drawn * 1000, [-60000, 60000, -65504, 0, -0.0, 6e-8]])
    x = engine.tensor(drawn).to(getattr(engine, dtype))
    scope = {"torch": engine, "F": engine.nn.functional, "x": x, "c": number, "i": engine.arange(300)}
    try:
        result = eval(text, scope)  # noqa: S307  this file's own
    except (RuntimeError, TypeError) as error:
        return type(error), None
    return str(result.dtype), numbers(result)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("number", [0.1, 300.7, -2.5, 3, 70000, 70000.0, 1e-6])
def test_numbers_beside_halves(dtype, number):
    for text in NUMBERS.replace("\n", " | ").strip(" |").split(" | "):
        (kind, wanted), (found, actual) = (_beside(engine, text, dtype, number) for engine in (torch, glassgrad))
        assert kind == found, text
        if wanted is not None:
            differ = (wanted != actual) & ~(np.isnan(wanted) & np.isnan(actual))
            assert wanted.shape == actual.shape and differ.mean() < 0.01, text  # some differ by a unit in float32
