"""Bessel's functions, quantiles, incomplete gammas: identities, known values, the ends of the line, and no SciPy."""

import math
import subprocess
import sys

import numpy as np
import pytest

import glassgrad
from glassgrad.families.special import kernels as special
from glassgrad.families.special import scipy_special

X = np.concatenate([np.linspace(0.05, 30, 2001), 10.0 ** np.linspace(-6, 3, 200)])


def _relative(found, exact):
    return np.max(np.abs(found - exact) / np.maximum(np.abs(exact), 1e-300))


def test_bessel_functions_have_their_wronskians():
    """J1 Y0 - J0 Y1 = 2 / (pi x), and I0 K1 + I1 K0 = 1 / x, scaled: the four of a kind are right together."""
    found = scipy_special.j1(X) * scipy_special.y0(X) - scipy_special.j0(X) * scipy_special.y1(X)
    assert _relative(found * X, np.full_like(X, 2 / math.pi)) < 2e-13
    found = scipy_special.i0e(X) * scipy_special.k1e(X) + scipy_special.i1e(X) * scipy_special.k0e(X)
    assert _relative(found * X, np.ones_like(X)) < 2e-15


def test_scaled_and_plain_agree():
    """The scaled functions are the plain ones times an exponential."""
    x = X[X < 300]
    assert _relative(scipy_special.i0e(x) * np.exp(x), special.i0(x)) < 1e-14
    assert _relative(scipy_special.i1e(-x) * np.exp(x), scipy_special.i1(-x)) < 1e-14
    assert _relative(scipy_special.k0e(x) * np.exp(-x), scipy_special.k0(x)) < 1e-14
    assert _relative(scipy_special.k1e(x) * np.exp(-x), scipy_special.k1(x)) < 1e-14


@pytest.mark.parametrize(
    "name,x,value",
    [  # DLMF tables and the series summed with 40 digits
        ("j0", 1.0, 0.7651976865579666), ("j1", 10.0, 0.04347274616886144), ("y0", 1.0, 0.08825696421567697),
        ("y1", 10.0, 0.24901542420695386), ("i0", 1.0, 1.2660658777520084), ("i1", 10.0, 2670.988303701255),
        ("k0", 1.0, 0.42102443824070834), ("k1", 10.0, 1.8648773453825584e-05), ("airy_ai", 1.0, 0.13529241631288141),
        ("airy_ai", -10.0, 0.04024123848644319), ("airy_ai", 10.0, 1.1047532552898687e-10),
    ],
)  # fmt: skip
def test_known_values(name, x, value):
    """Near and far."""
    function = special.i0 if name == "i0" else getattr(scipy_special, name)
    assert function(np.array([x]))[0] == pytest.approx(value, rel=1e-14)


def test_airy_obeys_its_equation():
    """The second difference of Ai is x Ai."""
    x, h = np.linspace(-9, 5, 57), 1e-3
    second = (scipy_special.airy_ai(x + h) - 2 * scipy_special.airy_ai(x) + scipy_special.airy_ai(x - h)) / h**2
    np.testing.assert_allclose(second, x * scipy_special.airy_ai(x), atol=2e-5)


def test_ends_of_the_line():
    """Poles, infinities and NaN."""
    ends = np.array([0.0, -1.0, np.nan, np.inf])
    np.testing.assert_array_equal(scipy_special.y0(ends)[:3], [-np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(scipy_special.k1(ends), [np.inf, np.nan, np.nan, 0.0])
    np.testing.assert_array_equal(scipy_special.i0e(ends[[0, 2, 3]]), [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(special.spherical_j0(np.array([0.0, np.inf, -np.inf])), [1.0, 0.0, 0.0])


def test_float32_and_scalars_keep_their_kind():
    """A NumPy scalar gives a scalar, float32 stays."""
    found = scipy_special.j0(np.float32(1.0))
    assert type(found) is np.float32
    assert scipy_special.k0(np.ones((2, 1, 3), "f4")).shape == (2, 1, 3)


def test_quantiles_undo_the_distribution():
    """log_ndtr(ndtri(p)) is log p, from the smallest p up to a half; the upper half is its mirror."""
    p = np.concatenate([10.0 ** np.linspace(-300, -1, 400), np.linspace(0.1, 0.5, 300)])
    np.testing.assert_allclose(scipy_special.log_ndtr(scipy_special.ndtri(p)), np.log(p), rtol=1e-14, atol=1e-15)
    p = np.linspace(0.5, 0.999, 200)
    np.testing.assert_allclose(scipy_special.ndtri(p), -scipy_special.ndtri(1 - p), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(
        scipy_special.ndtri(np.array([0.0, 1.0, -0.1, 1.1])), [-np.inf, np.inf, np.nan, np.nan]
    )


def test_scaled_error_function():
    """exp(x^2) erfc(x) where both exist, its asymptote far out, infinity far below."""
    x = np.linspace(-5, 5, 501)
    np.testing.assert_allclose(scipy_special.erfcx(x), np.exp(x * x) * special.erfc(x), rtol=5e-14)
    far = np.array([1e3, 1e8, 1e300])
    np.testing.assert_allclose(scipy_special.erfcx(far), (1 - 0.5 / far / far) / far / math.sqrt(math.pi), rtol=1e-12)
    np.testing.assert_array_equal(scipy_special.erfcx(np.array([np.inf, -np.inf, -30.0])), [0.0, np.inf, np.inf])


def test_incomplete_gammas_are_poissons_sums():
    """Q(n, x) of an integer n is the chance of fewer than n events, summed here term by term."""
    for n in (1, 2, 7, 30, 150, 250, 900):
        x = n * np.array([0.3, 0.8, 0.97, 1.0, 1.02, 1.3, 2.0])
        terms = [[math.exp(k * math.log(v) - v - math.lgamma(k + 1)) for k in range(n)] for v in x]
        exact = np.array([math.fsum(line) for line in terms])
        a = np.full_like(x, n)
        np.testing.assert_allclose(scipy_special.gammaincc(a, x), exact, rtol=3e-12)
        np.testing.assert_allclose(scipy_special.gammainc(a, x) + scipy_special.gammaincc(a, x), 1, rtol=1e-14)


def test_incomplete_gammas_step():
    """P(a, x) - P(a + 1, x) is x^a exp(-x) / gamma(a + 1), through every region."""
    rng = np.random.default_rng(1)
    a, x = rng.uniform(0.05, 40, 400), rng.uniform(0.01, 60, 400)
    step = np.exp(a * np.log(x) - x - special.lgamma(a + 1))
    np.testing.assert_allclose(scipy_special.gammainc(a, x) - scipy_special.gammainc(a + 1, x), step, atol=2e-14)


def test_zeta_steps_and_ends():
    """Riemann's values, the step from q to q + 1, and the poles."""
    two, one = np.array([2.0, 4.0]), np.ones(2)
    np.testing.assert_allclose(scipy_special.zeta(two, one), [math.pi**2 / 6, math.pi**4 / 90], rtol=1e-15)
    rng = np.random.default_rng(2)
    s, q = rng.uniform(1.05, 60, 300), 10.0 ** rng.uniform(-2, 2, 300)
    np.testing.assert_allclose(scipy_special.zeta(s, q), scipy_special.zeta(s, q + 1) + q**-s, rtol=1e-13)
    found = scipy_special.zeta(np.array([1.0, 0.5, 2.0, 2.5]), np.array([2.0, 2.0, -3.0, -0.5]))
    np.testing.assert_array_equal(found, [np.inf, np.nan, np.inf, np.nan])


FAR = """
e.special.airy_ai(e.tensor([1.5e6, -1.5e6, -3e6, 1e30, inf, -inf, nan], dtype=e.float64))
e.special.zeta(e.tensor([2.0, 1.0, inf, inf, 3.0]), e.tensor([inf, inf, 2.0, inf, -inf]))
e.special.i0(e.tensor([inf, -inf, nan, 800.0]))
e.special.i1(e.tensor([inf, -inf, nan, -0.0]))
e.special.spherical_bessel_j0(e.tensor([0.0, -0.0, inf, nan]))
e.special.modified_bessel_k0(e.tensor([0.0, -1.0, inf, nan]))
e.special.bessel_y1(e.tensor([0.0, -1.0, nan]))
e.special.gammainc(e.tensor([0.0, 0.0, -1.0, inf, 2.0, inf]), e.tensor([0.0, 1.0, 1.0, 1.0, inf, inf]))
e.special.gammaincc(e.tensor([0.0, 0.0, -1.0, inf, 2.0, inf]), e.tensor([0.0, 1.0, 1.0, 1.0, inf, inf]))
e.special.polygamma(2, e.tensor([0.0, -1.0, inf, nan, -1.5]))
e.special.ndtri(e.tensor([0.0, 1.0, -0.1, 1.1, nan]))
e.special.log_ndtr(e.tensor([inf, -inf, nan, -1e30], dtype=e.float64))
e.special.erfcx(e.tensor([inf, -inf, nan, -30.0]))
""".strip().splitlines()


@pytest.mark.torch
@pytest.mark.parametrize("call", FAR)
def test_far_out_as_in_torch(call):
    """Poles, infinities and where SciPy alone would give something else."""
    from tests.torch_reference import torch

    ours, theirs = (eval(call, {"e": e, "inf": math.inf, "nan": math.nan}) for e in (glassgrad, torch))  # noqa: S307
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6, atol=1e-8)


WITHOUT = """
import sys
sys.modules["scipy"] = None  # as if it were not installed
import glassgrad as g
from glassgrad import distributions as d, nn, special
from glassgrad.nn import functional as f

x = (g.rand(5, dtype=g.float64) + 0.5).requires_grad_()
some = g.rand(5, dtype=g.float64) * 0.8 + 0.1
chances = [
    d.Normal(0, x), d.HalfNormal(x), d.LogNormal(0, x), d.Gamma(x, 2.0), d.InverseGamma(x, x), d.Beta(x, x), d.Chi2(x),
    d.Dirichlet(x), d.StudentT(x), d.FisherSnedecor(x, x), d.Kumaraswamy(x, x), d.Weibull(x, x), d.VonMises(0.0, x),
    d.Poisson(x), d.NegativeBinomial(3.0, logits=x), d.ContinuousBernoulli(logits=x), d.Gumbel(0.0, x),
    d.Wishart(x.sum() + 3, g.eye(2, dtype=g.float64)), d.LKJCholesky(3, x),
]
for chance in chances:
    at = chance.sample()
    total = chance.log_prob(at / at.sum() if isinstance(chance, d.Dirichlet) else at).sum()
    if chance.has_rsample:
        total = total + chance.rsample().sum()
    try:
        total = total + chance.entropy().sum()
    except NotImplementedError:
        pass
    total.backward()
for chance in chances[:3]:
    (chance.cdf(some).sum() + chance.icdf(some).sum()).backward()
d.kl_divergence(d.Gamma(x, x), d.Gamma(1.0, x)).sum().backward()
d.kl_divergence(d.Dirichlet(x), d.Dirichlet(x * 2)).backward()
for loss in f.gelu(x).sum(), f.poisson_nll_loss(x, some, full=True), nn.GELU()(x).sum():
    loss.backward()
nn.init.trunc_normal_(g.empty(9))
g.kaiser_window(5), g.signal.windows.kaiser(5), x.sinc(), x.mvlgamma(1), g.erfinv(some), special.ndtr(x)
special.entr(x), special.spherical_bessel_j0(x), special.legendre_polynomial_p(x, 3), special.xlog1py(x, x)
g.autograd.grad(x.lgamma().sum(), x, create_graph=True)[0].sum().backward()  # which asks for trigamma

assert not any(name.startswith("scipy") for name in sys.modules if sys.modules[name])
x.grad = None
for call in (
    lambda: special.bessel_j0(x), lambda: special.i0e(x), lambda: special.airy_ai(x), lambda: special.ndtri(some),
    lambda: special.erfcx(x), lambda: special.log_ndtr(x), lambda: special.zeta(x + 1, x), lambda: x.polygamma(2),
    lambda: g.igamma(some, x), lambda: d.Gamma(1.0, 2.0).cdf(some), lambda: (x * special.i0(x)).sum().backward(),
):
    try:
        call()
    except ImportError as error:
        assert "is computed by SciPy: pip install 'glassgrad[special]'" in str(error)
    else:
        raise AssertionError("SciPy was not asked for")
assert x.grad is None
"""


def test_without_scipy():
    """Distributions, losses, layers, windows and their gradients need no SciPy; what needs it says how to get it."""
    subprocess.run([sys.executable, "-c", WITHOUT], check=True)


def test_scipy_is_imported_when_wanted():
    """Neither the package nor its namespace imports SciPy; the first call does."""
    text = """
import sys, glassgrad
glassgrad.special.bessel_j0, glassgrad.special.gammainc, glassgrad.igamma
assert "scipy" not in sys.modules
glassgrad.special.bessel_j0(glassgrad.ones(2))
assert "scipy.special" in sys.modules
"""
    subprocess.run([sys.executable, "-c", text], check=True)
