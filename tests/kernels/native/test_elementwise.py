"""Large elementwise operations in parts: the same bits as NumPy's, in place too."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the kernels are compiled by Numba")

from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402
from glassgrad.kernels.native import elementary, elementwise  # noqa: E402

UFUNCS = [
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.exp, np.expm1, np.log, np.log2, np.log10, np.log1p,
    np.sqrt, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh,
    np.arccosh, np.arctanh, np.absolute, np.exp2, np.maximum, np.minimum, np.reciprocal,
]  # fmt: skip


def _numbers(size, kind):
    draw = np.random.default_rng(size)
    a = np.exp(draw.normal(size=size) * 4).astype(kind)
    a[::7] *= -1
    a[:: max(size // 5, 1)] = [np.nan, np.inf, -np.inf, 0.0, 1e-40][: len(a[:: max(size // 5, 1)])] + [2.0] * (
        len(a[:: max(size // 5, 1)]) - 5
    )
    return a


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
@pytest.mark.parametrize("size", [1, 37, 200_001])
def test_bits_are_numpys(ufunc, kind, size, monkeypatch):
    """For odd sizes, special values, one and two threads, and into the operand itself."""
    if size >= compiled.CURVED and (ufunc, np.dtype(kind)) in elementary.KERNELS:
        pytest.skip("polynomials compute it (test_elementary.py)")
    a, b = _numbers(size, kind), _numbers(size, kind)[::-1].copy()
    with np.errstate(all="ignore"):
        for others in ([],) if ufunc.nin == 1 else ([b], [np.array(3, kind)]):
            expected = ufunc(a, *others)
            for count in (1, 2):
                monkeypatch.setattr(runtime, "get_num_threads", lambda count=count: count)
                out = np.empty_like(a)
                assert elementwise.apply(ufunc, out, a, *others) is out
                assert out.tobytes() == expected.tobytes()
                own = a.copy()
                elementwise.apply(ufunc, own, own, *others)
                assert own.tobytes() == expected.tobytes()


def test_other_dtypes_and_ufuncs_are_left_to_numpy():
    """Integers are not served, nor is a ufunc of two results, nor one that has no loop for such numbers."""
    whole, a = np.arange(9), np.ones(9, np.float32)
    assert elementwise.apply(np.add, whole, whole, whole) is None
    for ufunc, others in ((np.divmod, (a,)), (np.modf, ()), (np.bitwise_and, (a,))):
        assert elementwise.apply(ufunc, np.empty_like(a), a, *others) is None


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("ufunc", [np.add, np.subtract, np.divide, np.maximum], ids=lambda ufunc: ufunc.__name__)
def test_single_numbers_on_either_side(ufunc, kind):
    """Numbers, expanded ones and arrays that may not be written to, before and after; the result over the array."""
    a = _numbers(40_001, kind)
    number, expanded, locked = np.array(3, kind), np.broadcast_to(np.array(3, kind), a.shape), a[::-1].copy()
    locked.flags.writeable = False
    with np.errstate(all="ignore"):
        for other in (number, number[()], expanded, locked):
            for operands in ((a, other), (other, a)):
                expected = ufunc(*operands).tobytes()
                assert elementwise.apply(ufunc, np.empty_like(a), *operands).tobytes() == expected
                own = a.copy()
                elementwise.apply(ufunc, own, *[own if x is a else x for x in operands])
                assert own.tobytes() == expected
        both = elementwise.apply(ufunc, np.empty_like(a), expanded, number)
        assert both.tobytes() == np.broadcast_to(ufunc(number, number), a.shape).tobytes()
        twice = a.copy()
        elementwise.apply(ufunc, twice, twice, twice)
        assert twice.tobytes() == ufunc(a, a).tobytes()


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
