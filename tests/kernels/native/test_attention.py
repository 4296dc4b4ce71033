"""Compiled attention against its NumPy form: masks, shared heads, memory in any order, any number of threads."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="Numba compiles these kernels")

from glassgrad.families.attention.rows import flash_attention, flash_attention_backward
from glassgrad.ground import runtime
from glassgrad.kernels import compiled

forward, backward = flash_attention.row.kernel, flash_attention_backward.row.kernel
BOUNDS = {"f4": 3e-5, "f8": 1e-12}


def _tensors(dtype, n, heads, few, rows, columns, width, seed=0):
    draw = np.random.default_rng(seed)
    sizes = (n, heads, rows, width), (n, few, columns, width), (n, few, columns, width), (n, heads, rows, width)
    return [draw.standard_normal(size).astype(dtype) for size in sizes]


def _both_ways(query, key, value, grad, mask=None, causal=False, scale=None):
    out, logs = forward(query, key, value, mask, 0.0, causal, scale)
    return [out, logs, *backward(grad, query, key, value, out, logs, mask, 0.0, causal, scale)]


def _compared(*given, bound, **settings):
    with compiled.serving(compiled.NEVER):
        wanted = _both_ways(*given, **settings)
    with compiled.serving(0):
        found = _both_ways(*given, **settings)
    for a, b in zip(found, wanted, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=bound * 10, atol=bound)


SIZES = [
    (2, 2, 2, 64, 64, 32), (1, 4, 2, 50, 37, 20), (1, 1, 1, 150, 150, 16), (2, 3, 3, 17, 40, 8), (1, 1, 1, 1, 5, 3),
    (1, 4, 1, 40, 17, 16), (1, 1, 1, 3, 1, 1),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_as_numpy(dtype, causal, sizes):
    _compared(*_tensors(dtype, *sizes), causal=causal, bound=BOUNDS[dtype])
    _compared(*_tensors(dtype, *sizes, seed=1), causal=causal, scale=-0.3, bound=BOUNDS[dtype])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["whole", "rows", "columns", "bool", "lines"])
def test_masks(causal, kind):
    n, heads, rows, columns = 2, 2, 24, 19
    draw = np.random.default_rng(2)
    mask = {
        "whole": draw.standard_normal((n, heads, rows, columns)).astype("f4"),
        "rows": draw.standard_normal((n, 1, 1, columns)).astype("f4"),
        "columns": draw.standard_normal((rows, 1)).astype("f4"),
        "bool": draw.random((rows, columns)) < 0.7,
        "lines": np.where(np.arange(rows)[:, None] % 5 == 2, -np.inf, np.zeros((rows, columns))).astype("f4"),
    }[kind]
    if kind == "bool":
        mask[:, 0] = True
    _compared(*_tensors("f4", n, heads, heads, rows, columns, 16), mask=mask, causal=causal, bound=3e-5)


def test_a_query_that_sees_nothing_gives_zeros():
    given = _tensors("f4", 1, 1, 1, 8, 8, 16)
    mask = np.zeros((8, 8), "f4")
    mask[3] = -np.inf
    with compiled.serving(0):
        out, *_, by_query, _, _ = _both_ways(*given, mask=mask)
    assert not out[0, 0, 3].any() and not by_query[0, 0, 3].any() and out[0, 0, 4].all()


@pytest.mark.parametrize("extreme", [np.inf, -np.inf, np.nan, 1e20, -1e20])
def test_extreme_numbers(extreme):
    query, key, value, _ = _tensors("f4", 1, 2, 2, 20, 20, 16)
    key[0, 1, 7, 3] = extreme
    made = []
    with np.errstate(all="ignore"):
        for least in (compiled.NEVER, 0):
            with compiled.serving(least):
                made.append(forward(query, key, value, None, 0.0, False, None)[0])
    np.testing.assert_array_equal(np.isnan(made[0]), np.isnan(made[1]))
    np.testing.assert_allclose(made[1], made[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("extreme", [np.inf, -np.inf, np.nan, 1e20])
@pytest.mark.parametrize("least", [0, compiled.NEVER])
@pytest.mark.parametrize("rows", [20, 150])
def test_what_comes_later_is_not_seen(rows, least, extreme):
    """Whatever a key is, queries before it are as they were; from it on NaN and infinities spread as in PyTorch."""
    query, key, value, _ = _tensors("f4", 1, 2, 2, rows, rows, 16)
    with compiled.serving(least), np.errstate(all="ignore"):
        usual = forward(query, key, value, None, 0.0, True, None)[0]
        key[0, 1, 7, 3] = extreme
        found = forward(query, key, value, None, 0.0, True, None)[0]
    np.testing.assert_allclose(found[0, 0], usual[0, 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[0, 1, :7], usual[0, 1, :7], rtol=1e-4, atol=1e-5)
    assert np.isnan(found[0, 1, 7:]).any() == (not np.isfinite(extreme))
    assert np.isnan(found[0, 1, 7:]).all() == np.isnan(extreme)


def test_large_scores_do_not_overflow():
    query, key, value, grad = _tensors("f4", 1, 1, 1, 40, 40, 16)
    _compared(query * np.float32(60), key, value, grad, bound=2e-3)


def test_heads_that_lie_side_by_side():
    n, rows, heads, width = 2, 33, 3, 16
    draw = np.random.default_rng(3)
    together = draw.standard_normal((n, rows, 3 * heads * width)).astype("f4")
    parts = [part.reshape(n, rows, heads, width).transpose(0, 2, 1, 3) for part in np.split(together, 3, axis=2)]
    grad = draw.standard_normal((n, rows, heads, width)).astype("f4").transpose(0, 2, 1, 3)
    _compared(*parts, grad, causal=True, bound=3e-5)
    _compared(*parts, np.broadcast_to(np.float32(1), (n, heads, rows, width)), bound=3e-5)


@pytest.mark.parametrize("few", [1, 4])
def test_the_number_of_threads_changes_no_bit(few, monkeypatch):
    given = _tensors("f4", 3, 4, few, 130, 130, 16)
    made = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(runtime, "get_num_threads", lambda threads=threads: threads)
        with compiled.serving(0):
            made.append(_both_ways(*given, causal=True))
    for others in made[1:]:
        assert [a.tobytes() for a in made[0]] == [a.tobytes() for a in others]
