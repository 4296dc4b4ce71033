"""Hooks at every place: order, replacement, removal, and what the lean loop pays for them: nothing."""

from contextlib import nullcontext

import pytest

import glassgrad as torch
from glassgrad.core.tensor import edge_of
from glassgrad.tensor import hooks


def test_order_at_one_place():
    """Tensor hooks, retain_grad, prehooks of the node, the node, its hooks; at a leaf, the sum in the middle."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0
    y.retain_grad()
    order = []
    y.register_hook(lambda grad: order.append("tensor 1"))
    y.register_hook(lambda grad: order.append("tensor 2"))
    y.grad_fn.register_hook(lambda into, outof: order.append(("node", y.grad is not None)))
    y.grad_fn.register_prehook(lambda outof: order.append(("prehook", y.grad is not None)))
    x.register_hook(lambda grad: order.append(("leaf", x.grad)))
    sink = y.grad_fn.next_functions[0][0]
    sink.register_prehook(lambda outof: order.append(("before the sum", x.grad)))
    sink.register_hook(lambda into, outof: order.append(("after the sum", into, x.grad is not None)))
    x.register_post_accumulate_grad_hook(lambda tensor: order.append(("last", tensor is x)))
    y.sum().backward()
    assert order == [
        "tensor 1", "tensor 2", ("prehook", True), ("node", True),
        ("leaf", None), ("before the sum", None), ("after the sum", (), True), ("last", True),
    ]  # fmt: skip


@pytest.mark.parametrize("general", [False, True])
def test_replacing_a_gradient(general):
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0
    y.register_hook(lambda grad: grad * 10)
    y.register_hook(lambda grad: grad + 1)
    y.grad_fn.register_prehook(lambda outof: (outof[0] * 2,))
    y.grad_fn.register_hook(lambda into, outof: (into[0] + outof[0], into[1]))
    if general:
        (found,) = torch.autograd.grad(y.sum(), x)
    else:
        y.sum().backward()
        found = x.grad
    assert found.tolist() == [(1 * 10 + 1) * 2 * 2.0 + 22] * 2


@pytest.mark.parametrize("general", [False, True])
def test_removing(general):
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0
    seen = []
    with y.register_hook(lambda grad: seen.append("in the block")):
        torch.autograd.grad(y.sum(), x, retain_graph=True)
    handles = [
        y.register_hook(lambda grad: seen.append("tensor")),
        y.grad_fn.register_hook(lambda into, outof: seen.append("node")),
        x.register_hook(lambda grad: seen.append("leaf")),
    ]
    handles[1].remove()
    if general:
        torch.autograd.grad(y.sum(), x, retain_graph=True)
    else:
        y.sum().backward(retain_graph=True)
    assert seen == ["in the block", "tensor", "leaf"]
    for handle in handles:
        handle.remove()
        handle.remove()
    y.sum().backward()
    assert seen == ["in the block", "tensor", "leaf"]


def test_records_without_hooks_keep_their_own_run():
    """Only a hooked record runs through the hooks; the others do not know of them."""
    x = torch.ones(2, requires_grad=True)
    y, z = x * 2.0, x * 3.0
    before = edge_of(z).run
    y.register_hook(lambda grad: None)
    assert edge_of(y).run is hooks._hooked
    assert edge_of(z).run is before


def test_answers_are_checked():
    x = torch.ones(2, requires_grad=True)
    for answer, error, words in [
        (3, TypeError, "expected Variable, but hook returned 'int'"),
        (torch.ones(3), RuntimeError, "has changed the size of value"),
        (torch.ones(2, dtype=torch.float64), RuntimeError, "has changed the type of value"),
    ]:
        y = x * 2.0
        y.register_hook(lambda grad, answer=answer: answer)
        with pytest.raises(error, match=words):
            y.sum().backward()
    assert x.grad is None


def test_a_hook_on_a_tensor_written_later_stays_at_its_old_place():
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0
    seen = []
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.mul_(3.0)
    y.register_hook(lambda grad: seen.append("new"))
    y.sum().backward()
    assert seen == ["new", [3.0, 3.0]]


def test_retained_gradients_add_up_over_calls():
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    (y * 2).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]
    assert y.retains_grad
    assert not x.retains_grad


def test_hooks_of_outputs_that_get_no_gradient():
    """All hooks of a node's outputs are called when it runs, with None where no gradient came."""
    seen = []
    a, b, c = torch.arange(3.0, requires_grad=True).unbind()
    for name, part in (("a", a), ("b", b), ("c", c)):
        part.register_hook(lambda grad, name=name: seen.append((name, None if grad is None else grad.item())))
    (a + c * 2).backward(retain_graph=True)
    assert dict(seen) == {"a": 1.0, "b": None, "c": 2.0}
    handle = b.register_hook(lambda grad: torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        a.backward(retain_graph=True)
    handle.remove()
    a.backward()


def test_hooks_see_gradients_that_are_wanted():
    """Under ``inputs=`` a node's hook sees None for the gradients that nobody asked for."""
    x, w = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    y = x * w
    seen = []
    y.grad_fn.register_hook(lambda into, outof: seen.append([None if g is None else g.tolist() for g in into]))
    torch.autograd.grad(y.sum(), w, retain_graph=True)
    torch.autograd.grad(y.sum(), [x, w])
    assert seen == [[None, [1.0, 1.0]], [[3.0, 3.0], [1.0, 1.0]]]


ANSWERS = [
    lambda grads: (None,), lambda grads: (grads[0].new_ones(3),), lambda grads: (grads[0].double(),),
    lambda grads: grads[0], lambda grads: (), lambda grads: (grads[0], grads[0]), lambda grads: 3, lambda grads: [3],
    lambda grads: (grads[0] * 3,),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("answer", range(len(ANSWERS)))
@pytest.mark.parametrize("place", ["node", "leaf", "after"])
def test_what_a_hook_of_a_node_may_give(answer, place):
    def run(engine):
        leaf = engine.ones(2, requires_grad=True)
        result = leaf.square()
        accumulation = result.grad_fn.next_functions[0][0]
        node = accumulation if place == "leaf" else result.grad_fn
        if place == "after":
            node.register_hook(lambda grads, _: ANSWERS[answer](grads))
        else:
            node.register_prehook(ANSWERS[answer])
        try:
            result.backward(engine.ones(2))
        except (RuntimeError, TypeError) as error:
            return type(error), str(error).replace("glassgrad", "torch")
        return None if leaf.grad is None else leaf.grad.tolist()

    from tests.torch_reference import torch as reference

    assert run(torch) == run(reference)


@pytest.mark.torch
@pytest.mark.parametrize("keep", [False, True])
def test_a_node_that_no_gradient_reaches_runs_and_is_freed(keep):
    """So that a second walk is refused; its hooks see None, and so do those of its leaf."""

    def run(engine):
        class Second(engine.autograd.Function):
            forward = staticmethod(lambda ctx, x, y: x + y)
            backward = staticmethod(lambda ctx, grad: (None, grad))

        seen = []
        x, y = engine.ones(2, requires_grad=True), engine.ones(2, requires_grad=True)
        square = x.square()
        square.grad_fn.register_hook(lambda *grads: seen.append(("node", grads)))
        square.grad_fn.register_prehook(lambda grads: seen.append(("before", grads)))
        x.register_hook(lambda grad: seen.append(("tensor", grad)))
        x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("after", leaf.grad)))
        Second.apply(square, y).sum().backward(retain_graph=keep)
        with pytest.raises(RuntimeError, match="a second time") if not keep else nullcontext():
            square.sum().backward()
        return str(seen)

    from tests.torch_reference import torch as reference

    assert run(torch) == run(reference)


@pytest.mark.torch
def test_hooks_of_the_only_root_see_its_gradient_whatever_is_asked_for():
    from tests.torch_reference import torch as reference

    def run(engine):
        seen = []
        x, other = engine.ones(2, requires_grad=True), engine.ones(2, requires_grad=True)
        y = x * 2
        for tensor in (x, y):
            tensor.register_hook(lambda grad: seen.append(grad.tolist()))
        y.backward(engine.ones(2), inputs=[other])
        x.backward(engine.ones(2), inputs=[other])
        engine.autograd.backward([x, y], [engine.ones(2)] * 2, inputs=[other])
        return seen, x.grad

    assert run(torch) == run(reference)
