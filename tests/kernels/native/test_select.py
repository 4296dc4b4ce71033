"""The compiled choice of the best few: a stable sort's first ones, NaN the largest."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

from glassgrad.families.sort import native as select  # noqa: E402
from glassgrad.families.sort.rows import ordered  # noqa: E402
from glassgrad.ground import runtime  # noqa: E402


def numbers(kind, shape):
    """Few different ones, so that many are equal."""
    a = np.random.default_rng(0).integers(-20, 20, shape).astype(kind)
    if kind != "i8":
        a.flat[::13], a.flat[::7], a.flat[1::9], a.flat[2::9] = np.nan, -np.inf, -0.0, np.inf
    return a


@pytest.mark.parametrize("kind", ["f4", "f8", "i8"])
@pytest.mark.parametrize("shape", [(300, 70), (7,), (3, 5, 40), (1, 1)])
@pytest.mark.parametrize("largest", [True, False])
def test_the_first_of_a_stable_sort(shape, kind, largest):
    a = numbers(kind, shape)
    for k in {1, min(3, shape[-1]), min(64, shape[-1])}:
        values, places = select.best(a, k, largest)
        expected = ordered(a, a.ndim - 1, largest)[..., :k]
        np.testing.assert_array_equal(places, expected)
        np.testing.assert_array_equal(values, np.take_along_axis(a, expected, -1))


def test_what_is_not_served():
    a = np.ones((4, 100), "f4")
    for array, k in ((a, 0), (a, 65), (a.T, 2), (a.astype("f2"), 2), (a[:, :3], 2)):
        assert select.best(array, k, True) is None


def test_threads():
    a = numbers("f4", (2000, 100))
    before = runtime.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            runtime.set_num_threads(threads)
            found.append(select.best(a, 5, True))
    finally:
        runtime.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        assert one.tobytes() == two.tobytes()
