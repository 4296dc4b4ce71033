"""Compiled pooling against that of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled kernels need Numba")

from glassgrad.families.pooling import kernels
from glassgrad.ground import runtime
from glassgrad.kernels import compiled


def _pooled(shape, kind, stride, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape).astype(kind)
    axes = tuple([kernels.regular(size, 3, stride, 1, 1, False) for size in shape[2:]])
    return kernels.largest(x, axes)


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 3, 7), (3, 2, 9, 11), (2, 2, 4, 5, 6), (40, 8, 24, 24)], ids=str)
def test_put_agrees_with_numpy(shape, stride, kind):
    values, places = _pooled(shape, kind, stride)
    for apart in (True, False) if stride == 3 else (False,):
        with compiled.serving(compiled.NEVER):
            wanted = kernels.put(values, places, shape[2:], apart)
        with compiled.serving(0):
            found = kernels.put(values, places, shape[2:], apart)
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)


def test_of_several_at_one_place_the_last_stays():
    values, places = np.arange(1, 7, dtype="f4").reshape(1, 1, 6), np.array([[[0, 3, 0, 3, 3, 1]]])
    for least in (0, compiled.NEVER):
        with compiled.serving(least):
            assert kernels.put(values, places, (5,), True).tolist() == [[[3, 6, 0, 5, 0]]]
            assert kernels.put(values, places, (5,), False).tolist() == [[[4, 6, 0, 11, 0]]]


def test_values_may_lie_in_any_way():
    values, places = _pooled((3, 2, 9, 11), "f4", 1)
    turned = np.ascontiguousarray(values.swapaxes(2, 3)).swapaxes(2, 3)
    with compiled.serving(0):
        one, other = (kernels.put(v, places, (9, 11), False) for v in (values, turned))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("place", [-6, 5, 2**40])
def test_places_outside_are_left_to_numpy(place):
    with compiled.serving(0), pytest.raises(IndexError):
        kernels.put(np.ones((1, 1, 2), "f4"), np.array([[[0, place]]]), (5,), True)


def test_threads_do_not_change_a_bit():
    values, places = _pooled((40, 16, 40, 40), "f4", 1)
    before = runtime.get_num_threads()
    try:
        made = []
        for threads in (1, 2):
            runtime.set_num_threads(threads)
            made.append(kernels.put(values, places, (40, 40), False).tobytes())
    finally:
        runtime.set_num_threads(before)
    assert made[0] == made[1]


def test_nan_and_infinities_stay():
    values, places = np.array([[[np.nan, np.inf, -np.inf]]], "f4"), np.array([[[2, 0, 2]]])
    with compiled.serving(0):
        found = kernels.put(values, places, (4,), False)
    assert np.array_equal(found, np.array([[[np.inf, 0, np.nan, 0]]], "f4"), equal_nan=True)
