"""Compiled elimination and substitution against the identities that they solve, and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

import glassgrad  # noqa: E402
from glassgrad.families.linalg import kernels as triangle
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

SIZES = [1, 3, 33, 70, 150]
BATCHES = [(), (1,), (3,), (2, 3)]
SLACK = {"f4": 2e-5, "f8": 1e-12}
kinds = pytest.mark.parametrize("kind", ["f4", "f8"])


def matrices(kind, *shape):
    """Matrices with a strong diagonal, so that triangles of them are far from singular."""
    draw = np.random.default_rng(sum(shape))
    return (draw.normal(size=shape) / np.sqrt(shape[-1]) + 3 * np.eye(*shape[-2:])).astype(kind)


@pytest.fixture(autouse=True)
def _compiled():
    with compiled.serving(0):
        yield


@kinds
@pytest.mark.parametrize("side", SIZES)
@pytest.mark.parametrize("columns", [1, 2, 40])
def test_substitution(side, columns, kind):
    """What is found gives the right side; the other triangle, and a unit diagonal, are not read."""
    draw = np.random.default_rng(0)
    for batch in BATCHES:
        a, right = matrices(kind, *batch, side, side), draw.normal(size=(*batch, side, columns)).astype(kind)
        for upper in (True, False):
            for unit in (True, False):
                clean = (np.triu if upper else np.tril)(a.astype("f8") / 4 if unit else a.astype("f8"))
                if unit:
                    clean[..., range(side), range(side)] = 1
                given = a / 4 if unit else a.copy()
                given += (np.tril if upper else np.triu)(np.full((side, side), np.nan, kind), -1 if upper else 1)
                found = triangle.substituted(given, right, upper, unit)
                assert found.dtype == kind
                np.testing.assert_allclose(clean @ found, right, atol=SLACK[kind] * 10)


@kinds
@pytest.mark.parametrize("shape", [(3, 3), (70, 70), (150, 150), (90, 40), (40, 90), (3, 33, 33), (2, 2, 70, 70)])
def test_elimination(shape, kind):
    """The triangles give the rows as the pivots ordered them; NumPy's text finds the same pivots."""
    a = np.random.default_rng(1).normal(size=shape).astype(kind)
    packed, pivots, info = triangle.lu(a)
    least = min(shape[-2:])
    lower = np.tril(packed[..., :least].astype("f8"), -1)
    lower[..., range(least), range(least)] = 1
    order = triangle.permutations(pivots, shape[-2])
    wanted = np.take_along_axis(a, order[..., None], -2)
    np.testing.assert_allclose(lower @ np.triu(packed[..., :least, :]), wanted, atol=SLACK[kind] * 10)
    assert not info.any()
    with compiled.serving(compiled.NEVER):
        np.testing.assert_array_equal(triangle.lu(a)[1], pivots)


def test_singular_and_strange():
    """A zero pivot is told and divided by; NaN is the largest of its column."""
    a = np.ones((4, 4), "f4")
    assert triangle.lu(a)[2] == 2
    with np.errstate(all="ignore"):
        assert np.isinf(triangle.substituted(np.zeros((2, 2), "f4"), np.ones((2, 2), "f4"), True, False)).any()
    a[2, 0] = a[3, 0] = np.nan
    assert triangle.lu(a)[1][0] == 3


@kinds
@pytest.mark.parametrize("side", SIZES)
def test_roots(side, kind):
    a = matrices(kind, 2, side, side)
    a = a @ a.swapaxes(1, 2)
    found = triangle.roots(a + np.triu(np.full((side, side), 7, kind), 1))
    np.testing.assert_allclose(found @ found.swapaxes(1, 2), a, atol=SLACK[kind] * 50)
    np.testing.assert_array_equal(found, np.tril(found))
    a[1, -1, -1] = -1
    with pytest.raises(np.linalg.LinAlgError):
        triangle.roots(a)


@kinds
@pytest.mark.parametrize("shape", [(70, 70), (150, 150), (3, 40, 40)])
def test_what_is_built_on_them(shape, kind):
    """Inverses, solutions and determinants, and their gradients, as NumPy's LAPACK gives them."""
    a = matrices(kind, *shape) / 3
    right = np.random.default_rng(2).normal(size=(*shape[:-1], 3)).astype(kind)
    results = []
    for elements in (0, compiled.NEVER):
        with compiled.serving(elements):
            x, y = (glassgrad.tensor(v, requires_grad=True) for v in (a, right))
            parts = [glassgrad.linalg.inv(x), glassgrad.linalg.solve(x, y), glassgrad.linalg.det(x)]
            sum(part.sum() for part in parts).backward()
            results.append([*(part.detach().numpy() for part in parts), x.grad.numpy(), y.grad.numpy()])
    for found, expected in zip(*results, strict=True):
        assert found.dtype == kind
        np.testing.assert_allclose(found, expected, atol=SLACK[kind] * 20 * np.abs(expected).max())


def test_threads():
    """A batch is shared out; each matrix's bits do not depend on among how many."""
    a = matrices("f4", 40, 64, 64)
    before = runtime.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            runtime.set_num_threads(threads)
            found.append([triangle.substituted(a, a, True, False), *triangle.lu(a), triangle.roots(a @ a.mT)])
    finally:
        runtime.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        assert one.tobytes() == two.tobytes()
