"""Which arrays become the gradient of a leaf as they are, and which are copied because somebody else may see them."""

import numpy as np

import glassgrad as torch
from glassgrad.core import engine, leaf
from glassgrad.core.tensor import Tensor, wrap

DATA = np.zeros((3, 4), np.float32)


def accumulated(make):
    """A leaf that received what ``make`` gives, and that array."""
    variable: Tensor = wrap(DATA.copy()).requires_grad_()
    array, grad = make()
    leaf.accumulate(variable, grad)
    return variable, array


def test_a_gradient_that_was_turned_twice_is_taken_unless_somebody_holds_it():
    held = np.ones((3, 4), np.float32)
    variable, _ = accumulated(lambda: (None, held.T.T))
    assert not np.may_share_memory(variable.grad.numpy(), held)

    def alone():
        array = np.full((3, 4), 7, np.float32)
        return array.__array_interface__["data"][0], array.T.T

    variable, address = accumulated(alone)
    assert variable.grad.numpy().__array_interface__["data"][0] == address
    np.testing.assert_array_equal(variable.grad.numpy(), np.full((3, 4), 7))


def test_a_number_s_gradient_is_added_where_it_lies():
    x = torch.tensor(2.0, requires_grad=True)
    for _ in range(2):
        (x * 3).backward()
    total, seen = x.grad, x.grad.numpy()
    version = total._version
    (x * 3).backward()
    assert x.grad is total and seen == 9.0 and seen.dtype == np.float32
    assert total._version == version + 1


def test_neither_walk_copies_what_nobody_else_sees(monkeypatch):
    copies = []
    own = leaf._own
    monkeypatch.setattr(leaf, "_own", lambda grad, data: copies.append(grad) or own(grad, data))
    for quick in (engine.quick_walk, None):
        monkeypatch.setattr(engine, "quick_walk", quick)
        for _ in range(3):
            a, b = (torch.rand(1000, requires_grad=True) for _ in range(2))
            (a * b).sum().backward()
    assert not copies
