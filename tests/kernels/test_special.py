"""Special functions: digits against exact values, the two ways of evaluation against each other, and identities."""

import math

import numpy as np
import pytest

import glassgrad
from glassgrad.families.special import kernels as special
from glassgrad.families.special import scipy_special

MANY = np.concatenate([np.linspace(-6, 6, 4001), np.linspace(6, 26, 1000), 10.0 ** np.linspace(-300, 0, 500)])


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_large_arrays_agree_with_the_c_library(name):
    """Polynomials by blocks give what libm gives, to a few units in the last place, in the far tail too."""
    exact = np.array([getattr(math, name)(v) for v in MANY])
    np.testing.assert_allclose(getattr(special, name)(MANY), exact, rtol=1e-13, atol=0)


def test_large_float32_arrays():
    """float32 has a shorter polynomial for erf; erfc keeps its tail."""
    x = MANY[:5001].astype("f4")
    exact = np.array([math.erf(v) for v in x.tolist()])
    np.testing.assert_allclose(special.erf(x), exact, rtol=5e-7)
    assert special.erf(x).dtype == np.float32
    exact = np.array([math.erfc(v) for v in x.tolist()]).astype("f4")
    np.testing.assert_allclose(special.erfc(x), exact, rtol=2e-7)


@pytest.mark.parametrize("count", [1, 1000])
def test_ends_of_the_line(count):
    """Infinities and NaN, for few elements and for many."""
    x = np.tile([np.inf, -np.inf, np.nan, 0.0], count)
    np.testing.assert_array_equal(special.erf(x), np.tile([1.0, -1.0, np.nan, 0.0], count))
    np.testing.assert_array_equal(special.erfc(x), np.tile([0.0, 2.0, np.nan, 1.0], count))


def test_erfinv_undoes_erf():
    """erf(erfinv(y)) is y; beyond one there is nothing."""
    y = np.concatenate([np.linspace(-0.999, 0.999, 999), 10.0 ** np.linspace(-200, -1, 50)])
    np.testing.assert_allclose(special.erf(special.erfinv(y)), y, rtol=4e-15)
    rest = 10.0 ** np.linspace(-15, -3, 50)
    near = 1 - rest
    np.testing.assert_allclose(special.erfc(special.erfinv(near)), 1 - near, rtol=1e-13)
    np.testing.assert_array_equal(special.erfinv(np.array([1.0, -1.0, 1.5, np.nan])), [np.inf, -np.inf, np.nan, np.nan])


def test_digamma_at_known_places():
    """Euler's constant, the half, and the recurrence."""
    gamma = 0.5772156649015329
    found = special.digamma(np.array([1.0, 0.5, 2.0, 10.0]))
    np.testing.assert_allclose(found, [-gamma, -gamma - 2 * math.log(2), 1 - gamma, 2.251752589066721], rtol=1e-15)
    x = np.linspace(-7.3, 20, 100)
    np.testing.assert_allclose(special.digamma(x + 1), special.digamma(x) + 1 / x, rtol=1e-12, atol=1e-12)
    ends = special.digamma(np.array([0.0, -0.0, -1.0, np.inf]))
    np.testing.assert_array_equal(ends, [-np.inf, np.inf, np.nan, np.inf])


@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "lgamma", "digamma", "trigamma"])
def test_few_and_many(name):
    """One number alone gives what it gives among many, however it is computed."""
    ends = [0.0, -0.0, -1.0, -2.0, math.inf, -math.inf, math.nan, 1e300, -1e300, 5e-324, -5e-324]
    x = np.concatenate([ends, np.linspace(-8.3, 14.2, 120)])
    function = getattr(special, name)
    alone = np.array([function(v) for v in x])
    np.testing.assert_allclose(function(np.tile(x, 4))[: len(x)], alone, rtol=2e-13, atol=1e-14)


def polygamma(n, x):
    """Ours to the first order, SciPy's from the second on."""
    return scipy_special.polygamma(n, x) if n > 1 else special.trigamma(x)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_polygamma_is_a_sum_of_powers(n):
    """The recurrence of order n, and the value at one: n! zeta(n + 1)."""
    x = np.linspace(0.1, 12, 60)
    step = (-1) ** n * math.factorial(n) / x ** (n + 1)
    np.testing.assert_allclose(polygamma(n, x), polygamma(n, x + 1) - step, rtol=1e-13)
    last = 20000.0
    zeta = math.fsum([*(k ** -(n + 1.0) for k in range(1, int(last))), last**-n / n, 0.5 * last ** -(n + 1)])
    exact = (-1) ** (n + 1) * math.factorial(n) * zeta
    np.testing.assert_allclose(polygamma(n, np.array([1.0])), exact, rtol=1e-11)


VALUES = [np.float32(0.5), np.float64(0.5), np.array(0.5), np.zeros((0, 3)), np.full((2, 3), 0.5)[:, ::2]]


@pytest.mark.parametrize("value", VALUES)
def test_shape_and_dtype_stay(value):
    """Scalars, 0-d and empty arrays, and views keep what they are."""
    functions = (special.erf, special.erfc, special.erfinv, special.lgamma, special.digamma, special.i0)
    for function in (*functions, lambda x: polygamma(2, x)):
        found = function(value)
        assert found.shape == value.shape
        assert found.dtype == value.dtype


def test_chances_stay_between_nought_and_one():
    x = glassgrad.linspace(-6, 6, 200_001)
    for values in (glassgrad.erf(x) / 2 + 0.5, glassgrad.special.ndtr(x), glassgrad.distributions.Normal(0, 1).cdf(x)):
        assert values.min() == 0 and values.max() == 1 and (values.diff() > -1e-6).all()
    assert glassgrad.erf(glassgrad.full((1000,), float("nan"))).isnan().all()
