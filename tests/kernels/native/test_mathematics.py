"""Functions that vectorise: digits against the C library's in higher precision, extreme values, and that they do."""

import math

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="compiled kernels need Numba")

from glassgrad.kernels.native import mathematics  # noqa: E402

RNG = np.random.default_rng(1)
SPREAD = {
    "exp": (-104.0, 88.7),
    "tanh": (-10.0, 10.0),
    "sigmoid": (-80.0, 80.0),
    "softplus": (-80.0, 80.0),
    "expm1_below": (-30.0, 0.0),
    "log": (0.0, 100.0),
    "sin": (-1e5, 1e5),
    "cos": (-1e5, 1e5),
}
EXACT = {
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),
    "erf": np.vectorize(math.erf, otypes=[float]),
    "expm1_below": np.expm1,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
}
ULPS = {"exp": 1.5, "tanh": 3.0, "sigmoid": 3.0, "softplus": 2.5, "expm1_below": 1.5, "log": 1.5, "sin": 1, "cos": 1}
_LOOPS = {}


def applied(name, x):
    """What the function gives for each element of ``x``, in a compiled loop."""
    if name not in _LOOPS:
        function = getattr(mathematics, name)

        @numba.njit
        def loop(x, out):
            for i in range(x.size):
                out[i] = function(x[i])

        _LOOPS[name] = loop
    out = np.empty_like(x)
    _LOOPS[name](x, out)
    return out


def arguments(name, kind):
    """Numbers spread over where the function does something, and small ones."""
    low, high = SPREAD[name]
    small = RNG.uniform(0, 1, 5000) ** 8 * (-1 if high == 0 else 1)
    return np.concatenate([RNG.uniform(low, high, 30000), small, -small if low < 0 < high else small]).astype(kind)


@pytest.mark.parametrize("name", SPREAD)
def test_float32_within_units_in_the_last_place(name):
    """The results differ from those in float64 by at most this many units of float32."""
    x = arguments(name, "f4")
    exact = EXACT[name](x.astype("f8"))
    apart = np.abs(applied(name, x).astype("f8") - exact) / np.spacing(np.abs(exact).astype("f4"))
    assert apart.max() <= ULPS[name]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="needs a float longer than float64")
@pytest.mark.parametrize("name", SPREAD)
def test_float64_within_units_in_the_last_place(name):
    """The same in float64, against the longer floats that some processors have."""
    x = arguments(name, "f8")
    exact = EXACT[name](x.astype(np.longdouble))
    apart = np.abs(applied(name, x) - exact) / np.spacing(np.abs(exact).astype("f8"))
    assert apart.max() <= ULPS[name]


def test_normal_distribution():
    """The chance of a smaller number, to the last bits of one; nothing and all of it far out."""
    for kind, bound in (("f4", 2e-7), ("f8", 4.5e-16)):
        x = np.concatenate([RNG.normal(0, 2.5, 30000), np.linspace(-6, 6, 5001)]).astype(kind)
        exact = (1 + EXACT["erf"](x.astype("f8") / math.sqrt(2))) / 2
        assert np.abs(applied("normal", x) - exact).max() <= bound
        ends = applied("normal", np.array([-np.inf, -50, -0.0, 0, 50, np.inf, np.nan], kind))
        assert np.array_equal(ends, np.array([0, 0, 0.5, 0.5, 1, 1, np.nan], kind), equal_nan=True)


def test_erf_in_float64():
    """The error function agrees with the C library's, which is itself good to one unit."""
    x = np.concatenate([RNG.uniform(-5, 5, 30000), RNG.uniform(-1, 1, 5000) ** 9, np.linspace(0.99, 1.01, 999)])
    exact = EXACT["erf"](x)
    assert (np.abs(applied("erf64", x) - exact) / np.spacing(np.abs(exact))).max() <= 2
    ends = applied("erf64", np.array([np.inf, -np.inf, np.nan, 0.0, -0.0]))
    np.testing.assert_array_equal(ends, [1, -1, np.nan, 0, 0])
    assert np.signbit(ends)[3:].tolist() == [False, True]


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_ends_of_the_line(kind):
    """Infinities, NaN, signs of zero, overflow and underflow."""
    inf, nan = np.inf, np.nan
    x = np.array([inf, -inf, nan, 0.0, -0.0], kind)
    cases = {
        "exp": [inf, 0, nan, 1, 1],
        "tanh": [1, -1, nan, 0.0, -0.0],
        "sigmoid": [1, 0, nan, 0.5, 0.5],
        "log": [inf, nan, nan, -inf, -inf],
        "sin": [nan, nan, nan, 0.0, -0.0],
        "cos": [nan, nan, nan, 1, 1],
    }
    for name, wanted in cases.items():
        found = applied(name, x)
        np.testing.assert_array_equal(found, np.array(wanted, kind), err_msg=name)
        np.testing.assert_array_equal(np.signbit(found)[3:], np.signbit(np.array(wanted, kind))[3:], err_msg=name)
    np.testing.assert_array_equal(applied("expm1_below", x[1:4]), np.array([-1, nan, 0], kind))
    assert applied("softplus", x[:2]).tolist() == [inf, 0.0]
    assert applied("exp", np.array([800.0, -800.0], kind)).tolist() == [inf, 0.0]
    assert applied("log", np.array([-1.0], kind))[0] != applied("log", np.array([-1.0], kind))[0]


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_numbers_below_the_normal_ones(kind):
    """Results and arguments that are denormal keep their digits, as far as they have any."""
    tiny = np.finfo(kind).tiny
    x = np.log(np.array([tiny / 4, tiny / 1024], "f8")).astype(kind)
    exact = np.exp(x.astype("f8"))
    np.testing.assert_allclose(applied("exp", x), exact, rtol=0, atol=float(np.finfo(kind).smallest_subnormal) * 1.01)
    small = np.array([tiny / 8, np.finfo(kind).smallest_subnormal], kind)
    np.testing.assert_allclose(applied("log", small), np.log(small.astype("f8")), rtol=1e-7)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="needs a float longer than float64")
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_near_multiples_of_a_quarter_turn(name, kind):
    """Where nearly all digits of the argument cancel, and at the far end of what the polynomials serve."""
    whole = np.concatenate([np.arange(1, 4000), RNG.integers(1, 660_000, 20_000)])
    end = RNG.uniform(0.9, 1.0, 10_000) * mathematics.NEAR
    x = np.concatenate([whole * (np.pi / 2), -whole * (np.pi / 2), end]).astype(kind)
    longer = np.longdouble if kind == "f8" else np.float64
    exact = EXACT[name](x.astype(longer))
    apart = np.abs(applied(name, x) - exact) / np.spacing(np.abs(exact).astype(kind))
    assert apart.max() <= 1.0


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_sortable_numbers_keep_the_order(kind):
    """A larger float has a larger whole number, and comes back."""

    @numba.njit
    def loop(x, keys, back):
        for i in range(x.size):
            keys[i] = mathematics.sortable(x[i])
            back[i] = mathematics.unsorted(mathematics.sortable(x[i]))

    x = np.sort(np.concatenate([RNG.normal(0, 1e3, 99), [np.inf, -np.inf, 0, 1e-30, -1e-30]])).astype(kind)
    keys, back = np.empty(x.size, "i4" if kind == "f4" else "i8"), np.empty_like(x)
    loop(x, keys, back)
    assert (np.diff(keys.astype(object)) > 0).all()
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("name", SPREAD)
def test_loops_are_vectorised(name, kind):
    """The loop works on several numbers at once: its code multiplies packed numbers, and calls nothing for it."""
    applied(name, np.ones(3, kind))
    versions = _LOOPS[name].inspect_asm().items()
    code = next(text for types, text in versions if types[0].dtype.bitwidth == int(kind[1]) * 8)
    packed = "mulps" if kind == "f4" else "mulpd"
    machine = numba.core.codegen.ll.get_process_triple()
    if machine.startswith("x86_64"):
        assert packed in code or packed.replace("mul", "fmadd213") in code or "fmadd231p" in code
