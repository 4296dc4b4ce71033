"""Compiled fetching and adding by index: the same as NumPy's, in the order of the indices."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

from glassgrad.families.embedding.rows import rows_added  # noqa: E402
from glassgrad.families.scatter import kernels as scatter
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

SOURCE = np.random.default_rng(0)
KINDS = ["f4", "f8", "i8"]


def drawn(shape, kind):
    return (SOURCE.normal(size=shape) * 100).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("shape", "axis", "count"), [((7, 5), 1, 9), ((7, 5), 0, 3), ((4, 6, 5), 1, 8), ((11,), 0, 40)]
)
def test_along_a_dimension(kind, shape, axis, count):
    a = drawn(shape, kind)
    sizes = (*shape[:axis], count, *shape[axis + 1 :])
    index = SOURCE.integers(0, shape[axis], sizes)
    values = drawn(sizes, kind)
    assert np.array_equal(compiled.scatter.fetched(a, index, axis), np.take_along_axis(a, index, axis))
    with compiled.serving(compiled.NEVER):
        expected, placed = scatter.added(a.copy(), index, values, axis), a.copy()
        scatter.put_where(placed, index, values, axis)
    out = a.copy()
    assert compiled.scatter.placed(out, index, values, axis, True)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-4)
    out = a.copy()
    assert compiled.scatter.placed(out, index, values, axis, False)
    assert np.array_equal(out, placed)
    with compiled.serving(0):
        narrow = index.astype(np.int32)
        assert np.array_equal(scatter.fetched(a, narrow, axis), np.take_along_axis(a, index, axis))


def test_what_is_not_served():
    a, index = drawn((6, 6), "f4"), np.zeros((3, 3), np.int64)
    assert compiled.scatter.fetched(a, index, 0) is None
    assert compiled.scatter.fetched(a.T[:, :3], np.zeros((3, 3), np.int64), 0) is None
    assert compiled.scatter.fetched(a.astype("f2"), np.zeros((6, 6), np.int64), 0) is None
    assert not compiled.scatter.placed(a, index, drawn((3, 3), "f4"), 1, True)
    assert not compiled.scatter.placed(a, np.zeros((6, 6), np.int64), drawn((6, 6), "f8"), 1, True)
    assert not compiled.scatter.add_rows(a, np.array([0, 6]), drawn((2, 6), "f4"))
    assert not compiled.scatter.add_rows(a, np.array([0, -7]), drawn((2, 6), "f4"))
    assert not compiled.scatter.add_rows(a[:, ::2], np.array([0, 1]), drawn((2, 3), "f4"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [(1,), (17,), (4, 9)])
def test_rows(kind, width):
    values, index = drawn((50, *width), kind), SOURCE.integers(-8, 8, 50)
    expected = drawn((8, *width), kind)
    out = expected.copy()
    np.add.at(expected, index, values)
    assert compiled.scatter.add_rows(out, index, values)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-4)
    with compiled.serving(0):
        served = np.zeros((8, *width), kind)
        scatter.add_rows(served, index.reshape(5, 10), np.broadcast_to(values[:1], (50, *width)))
    expected = np.zeros((8, *width), kind)
    np.add.at(expected, index, np.broadcast_to(values[:1], (50, *width)))
    np.testing.assert_allclose(served, expected, rtol=1e-5, atol=1e-3)


def test_table_of_rows():
    values, index = drawn((400, 33), "f8"), SOURCE.integers(0, 300, 400)
    with compiled.serving(compiled.NEVER):
        expected = rows_added(values, index, 300)
    with compiled.serving(0):
        np.testing.assert_allclose(rows_added(values, index, 300), expected, rtol=1e-12)


def test_threads():
    a, index = drawn((3000, 120), "f4"), SOURCE.integers(0, 120, (3000, 120))
    values, before, found = drawn((3000, 120), "f4"), runtime._set.threads, []
    try:
        for threads in (1, 2):
            runtime._set.threads = threads
            out = a.copy()
            compiled.scatter.placed(out, index, values, 1, True)
            found.append((out, compiled.scatter.fetched(a, index, 1)))
    finally:
        runtime._set.threads = before
    assert np.array_equal(found[0][0], found[1][0]) and np.array_equal(found[0][1], found[1][1])
