"""The compiled random stream: every number and every state are those of the NumPy text, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

from glassgrad.families.random import counts, uniform
from glassgrad.families.random import counts as dirichlet
from glassgrad.families.random import kernels as normal
from glassgrad.families.random import kernels as random
from glassgrad.families.random import uniform as whole
from glassgrad.ground.generator import Generator  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

SOURCE = np.random.default_rng(0)
SHAPES = SOURCE.exponential(size=700)
DRAWS = {
    "float32": lambda gen, n: uniform.unit32(gen, n),
    "float64": lambda gen, n: uniform.unit64(gen, n),
    "uniform": lambda gen, n: random.uniform(gen, (n,), np.float32, -3.0, 7.5),
    "coins": lambda gen, n: random.bernoulli(gen, 0.3, (n,)),
    "normal": lambda gen, n: normal.normal(gen, (n,)),
    "normal with settings": lambda gen, n: normal.normal(gen, (n,), np.float32, -1.5, 0.02),
    "half": lambda gen, n: normal.normal(gen, (n,), np.float16),
    "whole": lambda gen, n: whole.randint(gen, (n,), np.int64, -5, 94),
    "whole, wide": lambda gen, n: whole.randint(gen, (n,), np.int64, 0, 2**28 - 1),
    "permutation": lambda gen, n: whole.randperm(gen, n),
    "poisson": lambda gen, n: counts.poisson(gen, (SHAPES[:n] * 12).astype("f4")),
    "binomial": lambda gen, n: counts.binomial(gen, np.floor(SHAPES[:n] * 60), np.clip(SHAPES[:n] / 3, 0, 1)),
    "gamma": lambda gen, n: dirichlet.standard_gamma(gen, SHAPES[:n]),
    "gamma, float32": lambda gen, n: dirichlet.standard_gamma(gen, (SHAPES[:n] * 3).astype("f4")),
}


def drawn(elements, draw, n, seed, before):
    gen = Generator().manual_seed(seed)
    gen.random32(before)
    with compiled.serving(elements):
        values = [draw(gen, n), draw(gen, n)]
    return np.concatenate(values), gen.get_state_bytes(), gen.random32(5)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize(("n", "before"), [(1, 0), (5, 3), (16, 623), (33, 624), (700, 1)])
def test_bit_for_bit(name, n, before):
    for seed in (0, 12345):
        values, state, after = drawn(0, DRAWS[name], n, seed, before)
        expected = drawn(compiled.NEVER, DRAWS[name], n, seed, before)
        assert values.dtype == expected[0].dtype
        assert np.array_equal(values.view(f"u{values.itemsize}"), expected[0].view(f"u{values.itemsize}"))
        assert np.array_equal(state, expected[1])
        assert np.array_equal(after, expected[2])


@pytest.mark.parametrize("name", ["float32", "float64", "coins", "normal", "whole", "whole, wide", "permutation"])
def test_long(name):
    values, state, _ = drawn(0, DRAWS[name], 50_001, 7, 100)
    expected = drawn(compiled.NEVER, DRAWS[name], 50_001, 7, 100)
    assert np.array_equal(values, expected[0])
    assert np.array_equal(state, expected[1])


def test_pairs():
    """Long runs by pairs follow the C library, where NumPy has functions of its own; short ones are the same."""
    for n, bound in ((7, 0), (15, 0), (501, 1e-14)):
        for elements in (0, compiled.NEVER):
            gen = Generator().manual_seed(1)
            with compiled.serving(elements):
                values = [normal.normal(gen, (n,), np.float64, contiguous=False) for _ in range(3)]
            if elements == 0:
                found, waiting = values, gen.next_normal
        np.testing.assert_allclose(found, values, rtol=bound, atol=bound)
        assert waiting == pytest.approx(gen.next_normal, rel=bound)


def test_every_uniform_number_becomes_the_same_normal():
    """Over the numbers from [0, 1), the smallest and largest among them."""
    at = np.concatenate((np.arange(2048), 2**24 - 1 - np.arange(2048), SOURCE.integers(0, 2**24, 60_000 - 64)))
    values = (at.astype("f4") * np.float32(2.0**-24))[: at.size // 16 * 16]
    expected = values.copy()
    normal._sixteens32(expected, 0.0, 1.0)
    native, out = compiled.random, np.empty(16, "f4")
    gen = Generator().manual_seed(0)
    gen.move(native.Twister)
    native.normal32(gen.words, out, np.float32(0), np.float32(1))
    near, far = np.empty(values.size, "f4"), np.empty(values.size, "f4")
    native._sixteens(values, 0, values.size, np.float32(0), np.float32(1), near, far)
    assert np.array_equal(values.view("u4"), expected.view("u4"))


def test_invalid_rate():
    rates = np.array([1.0, 2.0, -1.0, 3.0])
    states = []
    for elements in (0, compiled.NEVER):
        gen = Generator().manual_seed(0)
        with compiled.serving(elements), pytest.raises(RuntimeError, match="invalid Poisson rate"):
            counts.poisson(gen, rates)
        states.append(gen.get_state_bytes())
    assert np.array_equal(*states)


def test_a_state_that_is_set_is_drawn_from():
    gen = Generator().manual_seed(3)
    with compiled.serving(0):
        uniform.unit32(gen, 100)
        state = gen.get_state_bytes()
        first = uniform.unit32(gen, 1000)
        gen.set_state_bytes(state)
        assert np.array_equal(uniform.unit32(gen, 1000), first)
        other = gen.clone_state()
        assert np.array_equal(uniform.unit32(gen, 10), uniform.unit32(other, 10))
        gen.manual_seed(3)
        uniform.unit32(gen, 100)
        assert np.array_equal(uniform.unit32(gen, 1000), first)


def test_small_draws_use_what_is_loaded():
    """Once the compiled form is loaded, it draws few numbers too."""
    assert compiled.random is not None
    gen = Generator().manual_seed(0)
    with compiled.serving(4096):
        assert uniform.serving(gen, 3) is not None
    with compiled.serving(compiled.NEVER):
        assert uniform.serving(gen, 3) is None


def test_the_compiled_twister_is_numpys():
    """Seeds, draws of any length, states and marks; a generator goes on where it was when it moves."""
    for seed in (0, 5489, 2**32 - 1, 67280421310721):
        theirs, ours = Generator().manual_seed(seed), Generator().manual_seed(seed)
        ours.move(compiled.random.Twister)
        for n in (0, 1, 623, 2, 5000):
            assert np.array_equal(theirs.random32(n), ours.random32(n))
            assert np.array_equal(theirs.random64(n), ours.random64(n))
        assert np.array_equal(theirs.get_state_bytes(), ours.get_state_bytes())
        theirs.move(compiled.random.Twister)
        assert np.array_equal(theirs.random32(700), ours.random32(700))
        theirs.manual_seed(seed + 1)
        again = Generator().manual_seed(seed + 1)
        assert np.array_equal(theirs.get_state_bytes(), again.get_state_bytes())
        assert np.array_equal(theirs.random32(3), again.random32(3))


def test_a_mark_of_the_compiled_twister():
    gen = Generator().manual_seed(3)
    gen.move(compiled.random.Twister)
    marks = [gen.mark()]
    for change in (lambda: gen.random32(1), lambda: gen.random64(2000), lambda: gen.manual_seed(4)):
        change()
        marks.append(gen.mark())
        assert gen.mark() == marks[-1]
    assert len(set(marks)) == len(marks)
