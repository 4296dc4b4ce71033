"""Bessel's functions, quantiles, incomplete gammas, polynomials: identities, known values, and the ends of the line."""

import math

import numpy as np
import pytest

from glassgrad.kernels import bessel, incomplete, polynomial, quantile, special

X = np.concatenate([np.linspace(0.05, 30, 2001), 10.0 ** np.linspace(-6, 3, 200)])


def _relative(found, exact):
    return np.max(np.abs(found - exact) / np.maximum(np.abs(exact), 1e-300))


def test_bessel_functions_have_their_wronskians():
    """J1 Y0 - J0 Y1 = 2 / (pi x), and I0 K1 + I1 K0 = 1 / x, scaled: the four of a kind are right together."""
    found = bessel.j1(X) * bessel.y0(X) - bessel.j0(X) * bessel.y1(X)
    assert _relative(found * X, np.full_like(X, 2 / math.pi)) < 2e-13
    found = bessel.i0e(X) * bessel.k1e(X) + bessel.i1e(X) * bessel.k0e(X)
    assert _relative(found * X, np.ones_like(X)) < 2e-15


def test_scaled_and_plain_agree():
    """The scaled functions are the plain ones times an exponential."""
    x = X[X < 300]
    assert _relative(bessel.i0e(x) * np.exp(x), bessel.i0(x)) < 1e-14
    assert _relative(bessel.i1e(-x) * np.exp(x), bessel.i1(-x)) < 1e-14
    assert _relative(bessel.k0e(x) * np.exp(-x), bessel.k0(x)) < 1e-14
    assert _relative(bessel.k1e(x) * np.exp(-x), bessel.k1(x)) < 1e-14


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
    """A value on each side of each seam."""
    assert getattr(bessel, name)(np.array([x]))[0] == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1", "i0", "i1", "k0", "k1", "airy_ai"])
def test_pieces_meet(name):
    """No step where one series takes over from another."""
    for seam in (2.0, 8.0) if name != "airy_ai" else (2.0, -5.0):
        near = np.array([seam, np.nextafter(seam, 100), np.nextafter(seam, -100)])
        found = getattr(bessel, name)(near)
        assert np.ptp(found) < 1e-14 * max(1.0, abs(float(found[0])))


def test_airy_obeys_its_equation():
    """The second difference of Ai is x Ai."""
    x, h = np.linspace(-9, 5, 57), 1e-3
    second = (bessel.airy_ai(x + h) - 2 * bessel.airy_ai(x) + bessel.airy_ai(x - h)) / h**2
    np.testing.assert_allclose(second, x * bessel.airy_ai(x), atol=2e-5)


def test_ends_of_the_line():
    """Poles, infinities and NaN."""
    ends = np.array([0.0, -1.0, np.nan, np.inf])
    np.testing.assert_array_equal(bessel.y0(ends)[:3], [-np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(bessel.k1(ends), [np.inf, np.nan, np.nan, 0.0])
    np.testing.assert_array_equal(bessel.i0e(ends[[0, 2, 3]]), [1.0, np.nan, 0.0])
    np.testing.assert_array_equal(bessel.spherical_j0(np.array([0.0, np.inf, -np.inf])), [1.0, 0.0, 0.0])


def test_float32_and_scalars_keep_their_kind():
    """A NumPy scalar gives a scalar, float32 stays."""
    found = bessel.j0(np.float32(1.0))
    assert type(found) is np.float32
    assert bessel.k0(np.ones((2, 1, 3), "f4")).shape == (2, 1, 3)


def test_quantiles_undo_the_distribution():
    """log_ndtr(ndtri(p)) is log p, from the smallest p up to a half; the upper half is its mirror."""
    p = np.concatenate([10.0 ** np.linspace(-300, -1, 400), np.linspace(0.1, 0.5, 300)])
    np.testing.assert_allclose(quantile.log_ndtr(quantile.ndtri(p)), np.log(p), rtol=1e-14, atol=1e-15)
    p = np.linspace(0.5, 0.999, 200)
    np.testing.assert_allclose(quantile.ndtri(p), -quantile.ndtri(1 - p), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(quantile.ndtri(np.array([0.0, 1.0, -0.1, 1.1])), [-np.inf, np.inf, np.nan, np.nan])


def test_scaled_error_function():
    """exp(x^2) erfc(x) where both exist, its asymptote far out, infinity far below."""
    x = np.linspace(-5, 5, 501)
    np.testing.assert_allclose(quantile.erfcx(x), np.exp(x * x) * special.erfc(x), rtol=5e-14)
    far = np.array([1e3, 1e8, 1e300])
    np.testing.assert_allclose(quantile.erfcx(far), (1 - 0.5 / far / far) / far / math.sqrt(math.pi), rtol=1e-12)
    np.testing.assert_array_equal(quantile.erfcx(np.array([np.inf, -np.inf, -30.0])), [0.0, np.inf, np.inf])


def test_incomplete_gammas_are_poissons_sums():
    """Q(n, x) of an integer n is the chance of fewer than n events, summed here term by term."""
    for n in (1, 2, 7, 30, 150, 250, 900):
        x = n * np.array([0.3, 0.8, 0.97, 1.0, 1.02, 1.3, 2.0])
        terms = [[math.exp(k * math.log(v) - v - math.lgamma(k + 1)) for k in range(n)] for v in x]
        exact = np.array([math.fsum(line) for line in terms])
        a = np.full_like(x, n)
        np.testing.assert_allclose(incomplete.gammaincc(a, x), exact, rtol=3e-12)
        np.testing.assert_allclose(incomplete.gammainc(a, x) + incomplete.gammaincc(a, x), 1, rtol=1e-14)


def test_incomplete_gammas_step():
    """P(a, x) - P(a + 1, x) is x^a exp(-x) / gamma(a + 1), through every region."""
    rng = np.random.default_rng(1)
    a, x = rng.uniform(0.05, 40, 400), rng.uniform(0.01, 60, 400)
    step = np.exp(a * np.log(x) - x - special.lgamma(a + 1))
    np.testing.assert_allclose(incomplete.gammainc(a, x) - incomplete.gammainc(a + 1, x), step, atol=2e-14)


def test_zeta_steps_and_ends():
    """Riemann's values, the step from q to q + 1, and the poles."""
    two, one = np.array([2.0, 4.0]), np.ones(2)
    np.testing.assert_allclose(incomplete.zeta(two, one), [math.pi**2 / 6, math.pi**4 / 90], rtol=1e-15)
    rng = np.random.default_rng(2)
    s, q = rng.uniform(1.05, 60, 300), 10.0 ** rng.uniform(-2, 2, 300)
    np.testing.assert_allclose(incomplete.zeta(s, q), incomplete.zeta(s, q + 1) + q**-s, rtol=1e-13)
    found = incomplete.zeta(np.array([1.0, 0.5, 2.0, 2.5]), np.array([2.0, 2.0, -3.0, -0.5]))
    np.testing.assert_array_equal(found, [np.inf, np.nan, np.inf, np.nan])


def test_polynomials_are_numpys():
    """Legendre, Laguerre and Hermite against NumPy's series; Chebyshev of the first kind as a cosine."""
    x = np.linspace(-1.4, 1.4, 29)
    for n in range(12):
        unit, degree = [0] * n + [1], np.array(float(n))
        np.testing.assert_allclose(polynomial.legendre(x, degree), np.polynomial.legendre.legval(x, unit), rtol=1e-12)
        np.testing.assert_allclose(polynomial.laguerre(x, degree), np.polynomial.laguerre.lagval(x, unit), rtol=1e-11)
        np.testing.assert_allclose(
            polynomial.hermite_h(x, degree), np.polynomial.hermite.hermval(x, unit), rtol=1e-10, atol=1e-6
        )
        np.testing.assert_allclose(
            polynomial.chebyshev("t")(x, degree), np.polynomial.chebyshev.chebval(x, unit), rtol=1e-11, atol=1e-12
        )
