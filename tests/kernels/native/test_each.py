"""Formulas over whole arrays: in every layout, with settings, and kept on disk by names of their own."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="the kernels are compiled by Numba")

from glassgrad.families.activation import native  # noqa: E402
from glassgrad.families.special import native as special  # noqa: E402
from glassgrad.kernels.native import elementary  # noqa: E402

SOURCE = np.random.default_rng(0).normal(size=(6, 5, 4, 8)).astype("f4")
LAYOUTS = {
    "turned": SOURCE.T, "moved": np.moveaxis(SOURCE, -1, 1), "gaps": SOURCE[:, ::2], "backwards": SOURCE[::-1],
    "moved gaps": np.moveaxis(SOURCE, -1, 1)[..., ::3],
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_do_not_change_a_bit(name):
    """What is given lies in memory in the order in which the first array does, without its gaps."""
    x, grad = LAYOUTS[name], np.ones_like(LAYOUTS[name]) * np.float32(0.3)
    for served, arrays in ((native.silu, (x,)), (native.gelu_backward, (grad, x, "none")), (special.erf, (x,))):
        straight = [np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for a in arrays]
        found = served(*arrays)
        assert found.tobytes() == served(*straight).tobytes()
        assert np.argsort(found.strides).tolist() == np.argsort(np.abs(arrays[0].strides)).tolist()


def test_settings_may_be_named():
    x, grad = SOURCE, np.ones_like(SOURCE)
    named = native.softplus_backward(grad, x, beta=2, threshold=1.5)
    assert named.tobytes() == native.softplus_backward(grad, x, 2, 1.5).tobytes()


@pytest.mark.parametrize("other", [SOURCE.astype("f8"), SOURCE[0]], ids=["dtype", "shape"])
def test_unlike_arrays_are_not_served(other):
    assert native.silu_backward(other, SOURCE) is None


def test_what_else_is_not_served():
    for x in (np.float32(1), np.ones(0, "f4"), np.ones(4, "f2"), np.broadcast_to(np.float32(1), (4, 3))):
        assert native.silu(x) is None


def test_loops_have_names_of_their_own():
    loops = [kernel for kernel, _ in elementary.KERNELS.values()]
    assert {loop.py_func.__qualname__ for loop in loops} == {"native.exp", "native.tanh", "native.sin", "native.cos"}
