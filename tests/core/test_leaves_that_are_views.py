"""Writes to leaves that are views, to views of those, and through other dtypes: refusals, versions, gradients."""

import itertools

import pytest

import glassgrad

LEAVES = {
    "of a plain tensor": lambda t: t.arange(6.0).view(2, 3).requires_grad_(),
    "a row": lambda t: t.ones(3, 3)[1:].requires_grad_(),
    "of what was detached": lambda t: t.ones(6, requires_grad=True).detach().view(2, 3).requires_grad_(),
    "made without recording": lambda t: without_recording(t, lambda: t.arange(6.0).view(2, 3)).requires_grad_(),
    "no longer wanted": lambda t: t.arange(6.0).view(2, 3).requires_grad_().requires_grad_(False),
    "no view": lambda t: t.arange(6.0).reshape(2, 3).clone().requires_grad_(),
    "of a result": lambda t: (t.ones(6, requires_grad=True) * 2).view(2, 3),
    "read as another dtype": lambda t: t.arange(6.0).view(2, 3).view(t.int32).view(t.float32).requires_grad_(),
}
VIEWS = {
    "itself": lambda w: w,
    "a row": lambda w: w[0],
    "flat": lambda w: w.view(-1),
    "a piece": lambda w: w.chunk(2)[0],
    "turned": lambda w: w.t(),
    "its diagonal": lambda w: w.diagonal(),
    "detached": lambda w: w.detach(),
    "data": lambda w: w.data,
    "without recording": lambda w: without_recording(None, lambda: w[0]),
}
WRITES = {
    "add_": lambda t, v: v.add_(1),
    "mul_": lambda t, v: v.mul_(v.detach().clone()),
    "zero_": lambda t, v: v.zero_(),
    "fill_": lambda t, v: v.fill_(t.tensor(2.0, requires_grad=True)),
    "copy_": lambda t, v: v.copy_(t.ones_like(v)),
    "setitem": lambda t, v: v.__setitem__(..., 5.0),
    "relu_": lambda t, v: t.relu_(v),
    "out": lambda t, v: t.add(v.detach(), 1, out=v),
    "without recording": lambda t, v: without_recording(t, lambda: v.add_(1)),
    "as integers": lambda t, v: v.detach().view(t.int32).zero_(),
}


def without_recording(t, call):
    """What ``call`` gives under ``no_grad``."""
    with (t or glassgrad).no_grad():
        return call()


def outcome(t, leaf, view, write):
    """What a program says: values, versions, who requires gradients, and which gradients come of it."""
    said = []
    try:
        w = LEAVES[leaf](t)
        square = (w * w).sum() if w.requires_grad else None
        with t.no_grad() if view == "without recording" else t.enable_grad():
            v = w[0] if view == "without recording" else VIEWS[view](w)
        said += [v.requires_grad, v.is_leaf, v._is_view(), v._version]
    except RuntimeError as error:
        return [str(error)]
    try:
        WRITES[write](t, v)
    except RuntimeError as error:
        said.append(str(error))
    said += [w.tolist(), v.tolist(), w._version, v._version]
    # What is computed from a view made without recording hands gradients to nobody in PyTorch; here that is refused.
    for end in (w, square) if view == "without recording" else (v, w, square):
        try:
            end.sum().backward(retain_graph=True)
            said.append(None if not w.is_leaf or w.grad is None else w.grad.tolist())
        except (RuntimeError, AttributeError) as error:
            said.append(type(error).__name__ + str(error))
    return said


@pytest.mark.torch
@pytest.mark.parametrize("leaf,view", itertools.product(LEAVES, VIEWS))
def test_as_pytorch(leaf, view):
    torch = pytest.importorskip("torch")
    wrong = {}
    for write in WRITES:
        ours, theirs = outcome(glassgrad, leaf, view, write), outcome(torch, leaf, view, write)
        if ours != theirs:
            wrong[write] = ours, theirs
    assert not wrong


def test_a_view_whose_base_has_other_data_is_refused():
    """Its window would lie outside of the memory that it is looked for in."""
    w = glassgrad.ones(1000, 100, requires_grad=True)
    base = w * 1
    view = base[900:]
    base.data = glassgrad.zeros(2, 2)
    with glassgrad.no_grad():
        view.add_(1)
    with pytest.raises(RuntimeError, match="not in the memory"):
        view.sum().backward()
    assert w.grad is None
