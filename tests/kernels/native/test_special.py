"""Compiled special functions: digits, ends of the line, layouts, and the same bits for any number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

from glassgrad.families.special import kernels as special
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

SOURCE = np.random.default_rng(0)
SPREAD = 10.0 ** SOURCE.uniform(-300, 2, 500)
GAMMA = np.concatenate([SOURCE.uniform(-20, 25, 5000), SPREAD, -SPREAD, [1.0, 2.0, 3.5, 8.0, 10.0]])
WHERE = {
    "erf": np.concatenate([SOURCE.uniform(-7, 7, 5000), SPREAD]),
    "erfc": np.concatenate([SOURCE.uniform(-7, 26, 5000), SPREAD]),
    "erfinv": np.concatenate([SOURCE.uniform(-1, 1, 5000), 1 - 10.0 ** SOURCE.uniform(-16, 0, 500)]),
    "lgamma": GAMMA,
    "digamma": GAMMA,
    "trigamma": GAMMA[np.abs(GAMMA) > 1e-150],
}
ENDS = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, -3.0, 30.0, -1e30, 1e30, np.inf, -np.inf, np.nan])
EVERY = pytest.mark.parametrize("name", WHERE)


def both(name, x):
    with compiled.serving(0):
        found = getattr(special, name)(x)
    with compiled.serving(compiled.NEVER):
        return found, getattr(special, name)(x)


@EVERY
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_numpy_gives_the_same(name, kind):
    """To rounding, relative to the value but near the zeros of lgamma and digamma below zero."""
    with np.errstate(over="ignore"):
        x = WHERE[name].astype(kind)
    found, expected = both(name, x)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    loose = 1e-13 if name in ("lgamma", "digamma") else 0
    np.testing.assert_allclose(found, expected, rtol=1e-6 if kind == "f4" else 5e-13, atol=loose)


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma"])
def test_the_c_library_gives_the_same(name):
    x = WHERE[name][(WHERE[name] != np.floor(WHERE[name])) | (WHERE[name] > 0)]
    exact = np.array([getattr(math, name)(v) for v in x])
    np.testing.assert_allclose(both(name, x)[0], exact, rtol=2e-14, atol=4e-15 if name == "lgamma" else 0)


@EVERY
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_ends_of_the_line(name, kind):
    found, expected = both(name, np.tile(ENDS.astype(kind), 40))
    np.testing.assert_allclose(found, expected, rtol=1e-6 if kind == "f4" else 1e-14)
    np.testing.assert_array_equal(np.signbit(found[:2]), np.signbit(expected[:2]))


def test_known_values():
    """Euler's constant, poles, and what lies around the zeros of lgamma."""
    with compiled.serving(0):
        digamma = special.digamma(np.array([1.0, 0.5, 0.0, -0.0, -1.0, -np.inf]))
        trigamma = special.trigamma(np.array([1.0, 0.5, 0.0, -1.0, np.inf, -np.inf]))
        near = special.lgamma(np.array([1 + 2.0**-40, 2 - 2.0**-40]))
    gamma = 0.5772156649015329
    np.testing.assert_allclose(digamma[:2], [-gamma, -gamma - 2 * math.log(2)], rtol=4e-16)
    np.testing.assert_array_equal(digamma[2:], [-np.inf, np.inf, np.nan, np.nan])
    np.testing.assert_allclose(trigamma[:2], [math.pi**2 / 6, math.pi**2 / 2], rtol=4e-16)
    np.testing.assert_array_equal(trigamma[2:], [np.inf, np.inf, 0.0, np.nan])
    np.testing.assert_allclose(near, [-gamma * 2.0**-40, -(1 - gamma) * 2.0**-40], rtol=1e-11)


@EVERY
def test_layouts_and_threads(name):
    """Any layout gives the numbers of the row-major one; any number of threads the same bits."""
    x = np.resize(WHERE[name], (300, 700))
    before = runtime.get_num_threads()
    try:
        runtime.set_num_threads(2)
        two, _ = both(name, x)
        runtime.set_num_threads(1)
        one, _ = both(name, x)
    finally:
        runtime.set_num_threads(before)
    assert one.tobytes() == two.tobytes()
    turned, _ = both(name, np.asfortranarray(x))
    np.testing.assert_array_equal(turned, one)
    gaps, _ = both(name, np.repeat(x, 2, 1)[:, ::2])
    np.testing.assert_array_equal(gaps, one)
