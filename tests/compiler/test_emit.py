"""Which results of a captured backward pass become gradients as they are, and which are copied."""

import numpy as np
import pytest

from glassgrad.compiler.emit import taken

DATA = np.zeros((3, 4), np.float32)


def test_a_result_that_only_a_variable_holds_is_taken():
    grad = np.ones((3, 4), np.float32)
    assert taken(grad, DATA) is grad


@pytest.mark.parametrize(
    "grad",
    [
        np.ones((3, 4), np.float64),  # another dtype
        np.ones((4, 3), np.float32).T,  # another layout, and a view
        np.ones((6, 4), np.float32)[:3],
    ],
)
def test_others_are_copied(grad):
    gradient = taken(grad.view(), DATA)
    assert not np.may_share_memory(gradient, grad)
    np.testing.assert_array_equal(gradient, grad)


def test_an_array_with_two_names_is_copied():
    grad = np.ones((3, 4), np.float32)
    other = grad
    gradient = taken(grad, DATA)
    assert gradient is not other and not np.may_share_memory(gradient, other)


def test_an_array_of_which_somebody_has_a_view_is_copied():
    grad = np.ones((3, 4), np.float32)
    row = grad[0]
    gradient = taken(grad, DATA)
    gradient[...] = 5
    assert (row == 1).all()
