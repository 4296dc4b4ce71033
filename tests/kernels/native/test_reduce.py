"""Compiled sums, products, extremes and running sums: NumPy's to rounding, the same bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

import glassgrad  # noqa: E402
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

SOURCE = np.random.default_rng(0)
SHAPES = [(1,), (4097,), (3, 5), (300, 700), (2, 9001), (70, 3, 11)]
REDUCTIONS = {
    "sum": lambda x, **how: x.sum(**how),
    "mean": lambda x, **how: x.mean(**how),
    "var": lambda x, **how: x.var(**how),
    "std": lambda x, **how: x.std(**how),
    "prod": lambda x, **how: x.prod(**how),
}
EXTREMES = {
    "amax": lambda x, **how: x.amax(**how),
    "amin": lambda x, **how: x.amin(**how),
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
}
RUNNING = {
    "cumsum": lambda x, dim: (x.cumsum(dim),),
    "cumprod": lambda x, dim: (x.cumprod(dim),),
    "cummax": lambda x, dim: tuple(x.cummax(dim)),
    "cummin": lambda x, dim: tuple(x.cummin(dim)),
}


def arrays(kind, shape):
    a = (SOURCE.normal(size=shape) * 0.02 + 1).astype(kind)
    yield a
    yield np.ascontiguousarray(a.T).T
    yield np.repeat(a, 2, -1)[..., ::2]


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_reductions(name, kind, monkeypatch):
    from glassgrad.families.reduce import rows as reduce

    monkeypatch.setattr(reduce, "_LARGE", 0)
    for shape in SHAPES:
        for a in arrays(kind, shape):
            x = glassgrad.from_numpy(a)
            for how in ({}, {"dim": 0}, {"dim": -1}, {"dim": -1, "keepdim": True}):
                with compiled.serving(0):
                    found = REDUCTIONS[name](x, **how)
                with compiled.serving(compiled.NEVER):
                    expected = REDUCTIONS[name](x, **how)
                assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=3e-5 if kind == "f4" else 1e-11)


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name, kind):
    """The element itself; NaN of either sign wins, infinities are numbers like others."""
    for shape in SHAPES:
        for a in arrays(kind, shape):
            for special in (None, np.nan, -np.nan, np.inf, -np.inf):
                a = (a - 1).copy(order="K")
                if special is not None:
                    a[..., -1] = special
                x = glassgrad.from_numpy(a)
                ways = ({}, {"dim": 0}, {"dim": -1}, {"dim": (-1,), "keepdim": True}, {"dim": tuple(range(len(shape)))})
                for how in ways if name[0] == "a" else ways[:1]:
                    with compiled.serving(0):
                        found = EXTREMES[name](x, **how)
                    with compiled.serving(compiled.NEVER):
                        expected = EXTREMES[name](x, **how)
                    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
                    np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", RUNNING)
def test_running(name, kind):
    for shape in SHAPES:
        for a in arrays(kind, shape):
            a = a.copy(order="K")
            if a.size > 8:
                a.reshape(-1)[5] = np.nan if name != "cumsum" else np.inf
            x = glassgrad.from_numpy(a)
            for dim in {0, -1, len(shape) // 2}:
                with compiled.serving(0):
                    found = RUNNING[name](x, dim)
                with compiled.serving(compiled.NEVER):
                    expected = RUNNING[name](x, dim)
                for one, other in zip(found, expected, strict=True):
                    assert one.dtype == other.dtype
                    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6 if kind == "f4" else 1e-12)


def test_running_backwards():
    a = SOURCE.normal(size=(6, 7, 5))
    for dim in range(3):
        expected = np.flip(np.flip(a, dim).cumsum(dim), dim)
        np.testing.assert_allclose(compiled.scan.running(a, dim, reverse=True), expected, rtol=1e-12)


def test_sums_are_accurate():
    a = np.full(3_000_001, 0.1, "f4")
    exact = a[0].astype("f8") * a.size
    assert compiled.reduce.total(a) == pytest.approx(exact, rel=3e-7)
    assert compiled.reduce.rows(a[None])[0] == pytest.approx(exact, rel=3e-7)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite(value):
    a = np.ones((300, 400), "f4")
    a[7, 9] = value
    found = compiled.reduce.rows(a)
    assert np.array_equal(found[7], value, equal_nan=True)
    assert np.isfinite(np.delete(found, 7)).all()
    assert np.array_equal(compiled.reduce.total(a), np.float32(value), equal_nan=True)


def test_what_is_not_served():
    for a in (np.ones(0, "f4"), np.ones((4, 4), "f4")[:, ::2], np.ones(4, "i8"), np.ones(4, "f2")):
        assert compiled.reduce.total(a) is None


def test_threads():
    a, before, found = SOURCE.normal(size=(701, 1303)).astype("f4"), runtime._set.threads, []
    try:
        for threads in (1, 2):
            runtime._set.threads = threads
            native, scan = compiled.reduce, compiled.scan
            found.append([native.total(a), native.deviations(a, 0.1), native.rows(a)])
            found[-1] += [native.most_of_rows(a, 1), native.most_of_rows(a, -1)]
            found[-1] += [scan.running(a, 1), scan.running(a, 0), *scan.extremes(a, 1, 1)]
    finally:
        runtime._set.threads = before
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))
