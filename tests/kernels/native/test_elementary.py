"""Exponentials, tangents and sines of large arrays: digits, extreme values, any layout, the same bits everywhere."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the kernels are compiled by Numba")

import glassgrad as torch  # noqa: E402
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402
from glassgrad.kernels.native import elementary  # noqa: E402

SIZE = 200_001
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e6, 1.1e6, -3e7, 1e15, 1e30, -1e38, 800.0, -800.0, -90.0]
CASES = pytest.mark.parametrize(
    ("ufunc", "dtype"), elementary.KERNELS, ids=lambda one: getattr(one, "__name__", None) or one.str[1:]
)
SERVED = pytest.mark.skipif(compiled.least > SIZE, reason="large arrays are NumPy's")


def _numbers(dtype, seed=0):
    """Numbers of usual size; special ones, alone among usual ones and side by side; a stretch of very large ones."""
    x = np.random.default_rng(seed).normal(size=SIZE) * 20
    x[:: SIZE // 15] = SPECIAL
    x[5000:5016] = SPECIAL
    x[9000:9999] *= 1e5
    return x.astype(dtype)


def _near(found, exact, most):
    with np.errstate(all="ignore"):
        rounded = exact.astype(found.dtype)
        apart = np.abs(found.astype(exact.dtype) - exact) / np.spacing(np.abs(rounded))
    close = (apart <= most) | (found == rounded) | (np.isnan(found) & np.isnan(exact))
    assert close.all(), apart[~close]


@CASES
def test_units_in_the_last_place(ufunc, dtype):
    """Within three units of a longer float for tangents, one and a half for the others."""
    longer = np.float64 if dtype == np.float32 else np.longdouble
    if np.finfo(longer).nmant <= np.finfo(dtype).nmant:
        pytest.skip("needs a float longer than float64")
    x = _numbers(dtype)
    with np.errstate(all="ignore"):
        exact = ufunc(x.astype(longer))
    out = elementary.apply(ufunc, np.empty_like(x), x)
    _near(out, exact, 3.0 if ufunc is np.tanh else 1.5)
    zero = x == 0
    assert np.array_equal(np.signbit(out[zero]), np.signbit(exact[zero]))


@CASES
def test_the_same_bits_wherever_a_number_lies(ufunc, dtype, monkeypatch):
    """In place or not, for one and two threads, for pieces that begin anywhere."""
    x = _numbers(dtype)
    found = elementary.apply(ufunc, np.empty_like(x), x).tobytes()
    for count in (1, 2):
        monkeypatch.setattr(runtime, "get_num_threads", lambda count=count: count)
        own = x.copy()
        assert elementary.apply(ufunc, own, own) is own
        assert own.tobytes() == found
        parts = [x[:1], x[1:78], x[78:]]
        made = [elementary.apply(ufunc, np.empty_like(part), part) for part in parts]
        assert np.concatenate(made).tobytes() == found


@CASES
def test_layouts(ufunc, dtype):
    """Transposed arrays are served as they lie; strided, empty and small ones, and other dtypes, are NumPy's."""
    x = np.random.default_rng(1).normal(size=(300, 400)).astype(dtype)
    assert np.array_equal(elementary.values(ufunc, x.T), elementary.values(ufunc, x).T)
    assert elementary.values(ufunc, x.T).strides == x.T.strides
    assert elementary.values(ufunc, x[:, ::2]) is None
    assert elementary.values(ufunc, dtype.type(1)) is None
    assert elementary.apply(ufunc, x[:0], x[:0]) is None
    assert elementary.values(ufunc, np.ones((300, 400), "f2")) is None


@SERVED
@pytest.mark.parametrize("name", ["exp", "tanh", "sin", "cos"])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_operations_give_one_result(name, kind):
    """As a function, in place, over a spent operand, and transposed."""
    x = torch.from_numpy(_numbers(np.dtype(kind)))
    found = getattr(x, name)().numpy().tobytes()
    assert getattr(x * 1, name)().numpy().tobytes() == found
    assert getattr(x.clone(), name + "_")().numpy().tobytes() == found
    assert getattr(x.reshape(-1, 3).T, name)().T.numpy().tobytes() == found
