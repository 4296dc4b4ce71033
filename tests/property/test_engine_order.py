"""Random graphs are walked in torch's order, hook by hook, and give its gradients."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.counts import generated
from tests.programs.record import differences, record
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

NUMBER = st.integers(0, 30)
OPERATIONS = {
    "add": lambda torch, a, b, n: a + b,
    "sub": lambda torch, a, b, n: a - b,
    "mul": lambda torch, a, b, n: a * b * 0.5,
    "number": lambda torch, a, b, n: a * 0.5 + n,
    "sin": lambda torch, a, b, n: a.sin(),
    "tanh": lambda torch, a, b, n: a.tanh(),
    "neg": lambda torch, a, b, n: -a,
    "detach": lambda torch, a, b, n: a.detach() + b,
    "clone": lambda torch, a, b, n: a.clone(),
    "flip": lambda torch, a, b, n: a.flip(0),
    "where": lambda torch, a, b, n: torch.where(torch.tensor([True, False, True]), a, b),
    "third": lambda torch, a, b, n: torch.stack(a.unbind()[::-1]),
    "parts": lambda torch, a, b, n: torch.cat([a.split(1)[n % 3], b[:2]]),
    "spread": lambda torch, a, b, n: a.sum() * b,
}
GRAPH = st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), NUMBER, NUMBER, NUMBER), min_size=1, max_size=14)
WALK = st.sampled_from(["backward", "backward of several", "backward to some", "grad", "grad of inner", "create graph"])


def program(leaves, graph, walk, choice):
    """The program that builds a graph, hangs a hook on every node, and walks it."""

    def run(torch, show):
        order, hooked, kept = [], {}, []
        tensors = [torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64).add(i).requires_grad_() for i in range(leaves)]
        for i, leaf in enumerate(tensors):
            leaf.register_hook(lambda grad, i=i: order.append(("leaf", i)))
        for operation, a, b, n in graph:
            tensors.append(OPERATIONS[operation](torch, tensors[a % len(tensors)], tensors[b % len(tensors)], n))
        inner = [t for t in tensors[leaves:] if t.requires_grad]
        if not inner:
            return show("nothing", "to walk")
        for t in inner:  # every node under every tensor, named by the order of finding it
            waiting = [t.grad_fn]
            while waiting:
                node = waiting.pop()
                if node is None or node in hooked or "AccumulateGrad" in node.name():
                    continue
                hooked[node] = len(hooked)
                kept.append(node.register_hook(lambda *_, i=len(hooked) - 1: order.append(("node", i))))
                waiting.extend(source for source, _ in node.next_functions)
        _walk(torch, show, walk, tensors[:leaves], inner, choice)
        show("order", _settled(order))
        show("gradients", [leaf.grad for leaf in tensors[:leaves]])

    return run


def _walk(torch, show, walk, leaves, inner, choice):
    root = inner[-1]
    ones = torch.ones(3, dtype=torch.float64)
    if walk == "backward":
        root.backward(ones)
    elif walk == "backward of several":
        roots = [root, inner[choice % len(inner)]]
        torch.autograd.backward(roots, [ones, ones * 2])
    elif walk == "backward to some":
        root.backward(ones, inputs=leaves[: 1 + choice % len(leaves)])
    elif walk == "grad":
        wanted = leaves[choice % len(leaves) :]
        show("answer", torch.autograd.grad(root, wanted, ones, allow_unused=True))
    elif walk == "grad of inner":
        wanted = [inner[choice % len(inner)], leaves[0]]
        show("answer", torch.autograd.grad(root, wanted, ones, allow_unused=True))
    else:
        first = torch.autograd.grad(root, leaves, ones, allow_unused=True, create_graph=True)
        show("answer", [None if g is None else g.detach() for g in first])


def _settled(order):
    """An order in which leaves that follow each other are sorted: they were ready together, and any may be first."""
    settled, run = [], []
    for event in order:
        if event[0] == "leaf":
            run.append(event)
        else:
            settled += [*sorted(run), event]
            run = []
    return settled + sorted(run)


@generated(200)
@given(st.integers(1, 3), GRAPH, WALK, NUMBER)
def test_same_order_as_torch(leaves, graph, walk, choice):
    run = program(leaves, graph, walk, choice)
    found = differences(record(run, torch), record(run, glassgrad))
    assert not found, "\n".join(found)
