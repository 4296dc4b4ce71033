"""Square roots and outer products in parts: the same bits as NumPy's, in place too."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the kernels are compiled by Numba")

from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels.native import elementwise  # noqa: E402


def _numbers(size, kind):
    draw = np.random.default_rng(size)
    a = np.exp(draw.normal(size=size) * 4).astype(kind)
    a[::7] *= -1
    a[:: max(size // 5, 1)] = [np.nan, np.inf, -np.inf, 0.0, 1e-40][: len(a[:: max(size // 5, 1)])] + [2.0] * (
        len(a[:: max(size // 5, 1)]) - 5
    )
    return a


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("size", [1, 37, 200_001])
def test_bits_are_numpys(kind, size, monkeypatch):
    """For odd sizes, special values, one and two threads, and into the operand itself."""
    a = _numbers(size, kind)
    with np.errstate(all="ignore"):
        expected = np.sqrt(a)
    for count in (1, 2):
        monkeypatch.setattr(runtime, "get_num_threads", lambda count=count: count)
        out = np.empty_like(a)
        assert elementwise.apply(np.sqrt, out, a) is out
        assert out.tobytes() == expected.tobytes()
        own = a.copy()
        elementwise.apply(np.sqrt, own, own)
        assert own.tobytes() == expected.tobytes()


def test_others_are_left_to_numpy():
    """Integers, operands with gaps, two operands, and what NumPy computes as fast."""
    whole, a = np.arange(9), np.ones(9, np.float32)
    assert elementwise.apply(np.sqrt, whole, whole) is None
    assert elementwise.apply(np.sqrt, np.empty(5, "f4"), a[::2]) is None
    for ufunc, others in ((np.add, (a,)), (np.divmod, (a,)), (np.modf, ()), (np.negative, ()), (np.log, ())):
        assert elementwise.apply(ufunc, np.empty_like(a), a, *others) is None


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize(("samples", "height", "width"), [(3, 5, 7), (2, 300, 129), (5, 200, 1), (1, 1, 3), (0, 2, 3)])
def test_columns_by_rows_are_sums_of_products(kind, samples, height, width, monkeypatch):
    """Zeros are positive, as those of matrix products are; operands may lie in any order, threads change nothing."""
    a = _numbers(samples * height + 5, kind)[5:].reshape(samples, height, 1)
    b = _numbers(samples * width + 5, kind)[5:].reshape(samples, 1, width)[:, :, ::-1]
    with np.errstate(all="ignore"):
        expected = a * b + 0
    for count in (1, 2):
        monkeypatch.setattr(runtime, "get_num_threads", lambda count=count: count)
        out = np.empty_like(expected, order="C")
        assert elementwise.columns_by_rows(out, a, b) is out
        assert out.tobytes() == expected.tobytes()
