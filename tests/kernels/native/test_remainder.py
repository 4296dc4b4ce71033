"""Compiled remainders and quotients rounded down: NumPy's numbers to the last bit, signs of zero too."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

from glassgrad.families.arithmetic import native as remainder  # noqa: E402
from glassgrad.ground import runtime  # noqa: E402

STRANGE = [0.0, -0.0, 1, 2.5, -1, -2.5, 3, np.inf, -np.inf, np.nan, -1e30, 1e30, 1e-40, -1e-40, 0.1, 2.0**24, 1.9999999]


def pairs(kind):
    """Special values with each other, quotients of all sizes, and quotients at and beside whole numbers."""
    draw = np.random.default_rng(0)
    a, b = np.array(list(itertools.product(STRANGE, STRANGE))).T
    far = draw.normal(size=20_000) * 10.0 ** draw.integers(-3, 12, 20_000)
    divisor = (draw.integers(1, 99, 20_000) * 0.1).astype(kind)
    whole = draw.integers(-1000, 1000, 20_000).astype(kind) * divisor
    a = np.concatenate([a, far, whole, np.nextafter(whole, 0), np.nextafter(whole, np.inf)]).astype(kind)
    return a, np.concatenate([b, draw.normal(size=20_000), divisor, divisor, divisor]).astype(kind)


def expected(a, b, what):
    with np.errstate(all="ignore"):
        left = np.fmod(a, b)
        if what == remainder.FMOD:
            return left
        if what == remainder.REMAINDER:
            return np.where((left != 0) & ((left < 0) != (b < 0)), left + b, left)
        return np.where(b == 0, a / b, np.floor_divide(a, b))


def assert_same(found, wanted):
    np.testing.assert_array_equal(found, wanted)
    known = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(wanted)[known])


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("what", [remainder.FMOD, remainder.REMAINDER, remainder.FLOOR])
def test_every_bit(what, kind):
    a, b = pairs(kind)
    assert_same(remainder.divided(a, b, what), expected(a, b, what))
    number = np.dtype(kind).type(0.3)
    assert_same(remainder.divided(a, number, what), expected(a, number, what))
    assert_same(remainder.divided(number, b, what), expected(number, b, what))


def test_threads_and_layouts():
    a, b = (np.resize(x, (700, 300)) for x in pairs("f4"))
    before = runtime.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            runtime.set_num_threads(threads)
            found.append(remainder.divided(a, b, remainder.REMAINDER))
    finally:
        runtime.set_num_threads(before)
    assert found[0].tobytes() == found[1].tobytes()
    turned = remainder.divided(np.asfortranarray(a), np.repeat(b, 2, 1)[:, ::2], remainder.REMAINDER)
    np.testing.assert_array_equal(turned, found[0])


def test_what_is_not_served():
    a = np.ones((3, 4), "f4")
    for other in (np.ones((3, 4)), np.ones(4, "f4"), np.ones((3, 4), "i4")):
        assert remainder.divided(a, other, remainder.FMOD) is None
    assert remainder.divided(np.ones(4, "i8"), np.ones(4, "i8"), remainder.FMOD) is None
    assert remainder.divided(np.ones(0, "f4"), np.ones(0, "f4"), remainder.FMOD) is None
