"""Broadcasting: whatever the shapes, a gradient is summed back to exactly its input's shape, dtype and values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import glassgrad
from glassgrad.core.fit import fit, fit_dtype, fit_lifted
from glassgrad.core.tensor import wrap
from tests.counts import generated

SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=5, max_side=4, min_side=0)
ONE_INTO_ANOTHER = hnp.mutually_broadcastable_shapes(num_shapes=1, max_dims=4, max_side=4, min_side=0)
fitting = generated(150)


def values(shape, seed):
    """Whole numbers, so that sums are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(float)


def summed(grad, sizes):
    """The sum of ``grad`` over the places where each element of an array of ``sizes`` is seen."""
    count = int(np.prod(sizes))
    seen = np.broadcast_to(np.arange(count).reshape(sizes), grad.shape)
    return np.bincount(seen.ravel(), grad.ravel(), minlength=count)[:count].reshape(sizes)


@fitting
@given(SHAPES, st.integers(0, 2**32 - 1))
def test_fit_sums_what_was_spread(shapes, seed):
    grad = values(shapes.result_shape, seed)
    for sizes in shapes.input_shapes:
        found = fit(grad, sizes)
        assert np.shape(found) == sizes
        np.testing.assert_array_equal(found, summed(grad, sizes))


@fitting
@given(SHAPES, st.integers(0, 2**32 - 1))
def test_fit_of_tensors_agrees_and_is_recorded(shapes, seed):
    grad = values(shapes.result_shape, seed)
    for sizes in shapes.input_shapes:
        source = wrap(grad.copy()).requires_grad_()
        found = fit_lifted(source, sizes, None)
        assert found.shape == sizes
        np.testing.assert_array_equal(found.detach().numpy(), summed(grad, sizes))
        assert found.requires_grad
        (back,) = glassgrad.autograd.grad(found, source, wrap(np.ones(sizes)))
        np.testing.assert_array_equal(back.numpy(), np.ones(grad.shape))  # each was counted once


@fitting
@given(SHAPES, st.sampled_from(["add", "sub", "mul"]), st.integers(0, 2**32 - 1))
def test_gradients_of_a_broadcast_operation(shapes, name, seed):
    (left, right), shape = shapes.input_shapes, shapes.result_shape
    a, b, weight = values(left, seed), values(right, seed + 1), values(shape, seed + 2)
    x, y = (wrap(v.copy()).requires_grad_() for v in (a, b))
    out = getattr(glassgrad, name)(x, y)
    assert out.shape == shape
    out.backward(wrap(weight))
    towards = {"add": (1, 1), "sub": (1, -1), "mul": (b, a)}[name]
    for leaf, slope in zip((x, y), towards, strict=True):
        assert leaf.grad.shape == leaf.shape
        np.testing.assert_array_equal(leaf.grad.numpy(), summed(np.broadcast_to(weight * slope, shape), leaf.shape))


@pytest.mark.parametrize("had", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("wanted", ["float16", "float32", "float64", "complex64", "complex128"])
def test_fit_dtype(had, wanted):
    """A gradient takes its input's dtype; of a complex one for a real input the real part is left."""
    kind = np.dtype(wanted)
    grad = np.array([1.5, -2.0], had) + (np.array(0.5j, had) if had.startswith("complex") else 0)
    found = fit_dtype(grad, kind)
    assert found.dtype == kind
    expected = grad if wanted.startswith("complex") else grad.real
    np.testing.assert_array_equal(found, expected)
    lifted = fit_lifted(wrap(grad), (2,), kind)
    np.testing.assert_array_equal(lifted.numpy(), expected)
    assert lifted.numpy().dtype == kind
