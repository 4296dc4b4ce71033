"""Hooks on saved tensors and on several tensors at once, edges as roots, the identity of nodes."""

import pytest

import glassgrad
from tests.autograd.both import both


def saved_tensor_hooks(torch, show):
    log = []

    def pack(t):
        log.append(("pack", list(t.shape), t.is_leaf, None if t.grad_fn is None else t.grad_fn.name()))
        return t.detach().clone()

    def unpack(t):
        log.append(("unpack", list(t.shape)))
        return t

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
        z = (y * 2).sum()
    show("value", y.grad_fn._saved_result)
    z.backward()
    show("x.grad", x.grad)
    show("log", log)


def packing_gives_the_same_back(torch, show):
    """Identity hooks change nothing, second order included."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp() * x.sin()
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    show("first", first)
    show("second", second)


def hooks_of_several_tensors(torch, show):
    for mode in ("all", "any"):
        a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        c = a * b
        d = b.exp()
        seen = []
        handle = torch.autograd.graph.register_multi_grad_hook((a, b, c, d), seen.append, mode=mode)
        (c.sum() + d.sum()).backward(retain_graph=True)
        c.sum().backward(retain_graph=True)
        handle.remove()
        d.sum().backward()
        show(mode, seen)
    show.error(lambda: torch.autograd.graph.register_multi_grad_hook((a,), seen.append, mode="some"))


def edges(torch, show):
    edge_of = torch.autograd.graph.get_gradient_edge
    x = torch.arange(3.0, requires_grad=True)
    a, b, c = (x * 2).unbind()
    edge = edge_of(b)
    show("edge", [edge.node.name(), edge.output_nr])
    show.error(lambda: edge_of(torch.ones(1)))
    show("leaf", edge_of(x).node.name())
    del b
    show("as output", torch.autograd.grad(edge, x, torch.tensor(1.0), retain_graph=True))
    show("as input", torch.autograd.grad((a * 3 + c).sum(), [edge_of(a)], retain_graph=True))


test_same_as_torch = both(saved_tensor_hooks, packing_gives_the_same_back, hooks_of_several_tensors, edges)


def test_hooks_end_with_their_block():
    packed = []
    x = glassgrad.ones(2, requires_grad=True)
    with pytest.raises(ValueError), glassgrad.autograd.graph.saved_tensors_hooks(packed.append, lambda t: t):
        raise ValueError
    x.exp()
    assert packed == []


def test_allow_mutation_on_saved_tensors():
    x = glassgrad.ones(2, requires_grad=True)
    with glassgrad.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = (y * y).sum()
        y.zero_()
        z.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_increment_version():
    x = glassgrad.ones(2)
    glassgrad.autograd.graph.increment_version(x)
    glassgrad.autograd.graph.increment_version([x, x])
    assert x._version == 3
