"""Compiled pooling against that of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled kernels need Numba")

from hypothesis import given
from hypothesis import strategies as st

from glassgrad.families.pooling import kernels, native
from glassgrad.ground import runtime
from glassgrad.kernels import compiled
from tests.counts import generated


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
    one, other = (native.put_back(v, places, (9, 11), False) for v in (values, turned))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("place", [-1, 5, 2**40])
def test_places_outside_are_left_to_numpy(place):
    assert native.put_back(np.ones((1, 1, 2), "f4"), np.array([[[0, place]]]), (5,), True) is None


def test_threads_do_not_change_a_bit():
    values, places = _pooled((40, 16, 40, 40), "f4", 1)
    before = runtime.get_num_threads()
    try:
        made = []
        for threads in (1, 2):
            runtime.set_num_threads(threads)
            made.append(native.put_back(values, places, (40, 40), False).tobytes())
    finally:
        runtime.set_num_threads(before)
    assert made[0] == made[1]


def test_nan_and_infinities_stay():
    values, places = np.array([[[np.nan, np.inf, -np.inf]]], "f4"), np.array([[[2, 0, 2]]])
    found = native.put_back(values, places, (4,), False)
    assert np.array_equal(found, np.array([[[np.inf, 0, np.nan, 0]]], "f4"), equal_nan=True)


@generated(150)
@given(st.data())
def test_largest_agrees_with_numpy(data):
    axes = []
    for _ in range(data.draw(st.integers(1, 3), "dimensions")):
        size = data.draw(st.integers(1, 12))
        if data.draw(st.integers(0, 4)) == 0:
            axes.append(kernels.adaptive(size, data.draw(st.integers(1, size))))
            continue
        dilation = data.draw(st.integers(1, 3))
        width = data.draw(st.integers(1, (size - 1) // dilation + 1))
        padding, ceil_mode = data.draw(st.integers(0, width // 2)), data.draw(st.booleans())
        axes.append(kernels.regular(size, width, data.draw(st.integers(1, 4)), padding, dilation, ceil_mode))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = rng.integers(-3, 4, (3, *[plan.size for plan in axes])).astype(data.draw(st.sampled_from(["f4", "f8"])))
    special = data.draw(st.sampled_from([None, np.nan, -np.inf]))
    if special is not None:
        x[rng.random(x.shape) < 0.3] = special
    found = native.largest(x, tuple(axes))
    if found is None:
        return
    with compiled.serving(compiled.NEVER):
        wanted = kernels.largest(x, tuple(axes))
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other, equal_nan=True)


def test_largest_serves_even_windows_only():
    x = np.zeros((2, 3, 12, 12), "f4")
    even, uneven = kernels.regular(12, 3, 2, 1, 1, False), kernels.adaptive(12, 5)
    assert native.largest(x, (even, even)) is not None
    assert native.largest(x, (kernels.adaptive(12, 4), even)) is not None
    assert native.largest(x, (even, uneven)) is None
    assert native.largest(x.astype("i8"), (even, even)) is None


def test_largest_does_not_depend_on_threads_or_layout():
    x = np.random.default_rng(0).standard_normal((8, 16, 40, 40)).astype("f4")
    axes = (kernels.regular(40, 3, 2, 1, 1, False),) * 2
    before = runtime.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            runtime.set_num_threads(threads)
            found.append(native.largest(x, axes))
    finally:
        runtime.set_num_threads(before)
    found.append(native.largest(np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3), axes))
    for values, places in found[1:]:
        assert values.tobytes() == found[0][0].tobytes()
        assert places.tobytes() == found[0][1].tobytes()
