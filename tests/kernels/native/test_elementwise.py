"""NumPy's loops, called by their address: the same bits as NumPy's, in place too."""

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
    """Integers are not served, nor is a ufunc of two results, nor one without such a loop."""
    whole = np.arange(9)
    assert elementwise.apply(np.add, whole, whole, whole) is None
    assert elementwise.loop_of(np.divmod, np.dtype("f4")) is None
    assert elementwise.loop_of(np.modf, np.dtype("f4")) is None
    assert elementwise.loop_of(np.bitwise_and, np.dtype("f4")) is None
