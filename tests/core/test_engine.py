"""The engine: two loops, one order, one result; what waits where, and who is asked for what."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad as torch
from glassgrad.autograd import graph
from glassgrad.core import engine
from glassgrad.core.record import Bundle, Record
from glassgrad.core.tensor import edge_of
from glassgrad.fast.walk import everyday
from tests.counts import generated

NUMBER = st.integers(0, 30)
STEPS = {
    "add": lambda a, b, n: a + b,
    "sub": lambda a, b, n: a - b * 0.5,
    "mul": lambda a, b, n: a * b,
    "sin": lambda a, b, n: a.sin(),
    "tanh": lambda a, b, n: a.tanh(),
    "view": lambda a, b, n: a[:],
    "flip": lambda a, b, n: a.flip(0),
    "detached": lambda a, b, n: a.detach() * b,
    "parts": lambda a, b, n: torch.cat([a.split(1)[n % 3], b[1:]]),
    "stack": lambda a, b, n: torch.stack(a.unbind()[::-1]),
    "sum": lambda a, b, n: a.sum() * b,
    "max": lambda a, b, n: a.max() + b,
    "written": lambda a, b, n: (a * 1.0).mul_(b),
    "written view": lambda a, b, n: _written(a, b, n),
    "where": lambda a, b, n: torch.where(torch.tensor([True, False, True]), a, b),
    "same": lambda a, b, n: a + a * a,
}
GRAPH = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), NUMBER, NUMBER, NUMBER), min_size=1, max_size=16)


def _written(a, b, n):
    out = a * 1.0
    out[n % 3].mul_(b[(n + 1) % 3])
    return out


def build(leaves, graph):
    """Leaves, and the sum of everything that was computed of them."""
    tensors = [(torch.arange(3.0, dtype=torch.float64) * 0.3 + 0.1 * i).requires_grad_() for i in range(leaves)]
    start = list(tensors)
    for name, a, b, n in graph:
        tensors.append(STEPS[name](tensors[a % len(tensors)], tensors[b % len(tensors)], n))
    return start, sum((t for t in tensors[leaves:] if t.requires_grad), start[0] * 0).sum()


def visited(act):
    """The records whose rules run during ``act``, as places in the order of their making."""
    order = []
    kinds = {}
    found, waiting = [], list(act.roots)
    while waiting:
        edge = waiting.pop()
        if isinstance(edge, Record) and edge not in found:
            found.append(edge)
            waiting.extend(edge.edges)
    for record in found:
        kinds[record] = run = record.run

        def watched(record, grad, retain_graph, run=run):
            order.append(record.sequence)
            return run(record, grad, retain_graph)

        record.run = watched
    try:
        act()
    finally:
        for record, run in kinds.items():
            record.run = run
    return order


class Walk:
    """One loop of the engine on one graph."""

    def __init__(self, loop, root):
        self.loop, self.root, self.roots = loop, root, [edge_of(root)]

    def __call__(self):
        one = np.ones_like(self.root._array)[()]
        if self.loop is everyday:
            assert everyday(edge_of(self.root), one, True)
        else:
            engine.general([(edge_of(self.root), one)], retain_graph=True)


@generated(150)
@given(st.integers(1, 3), GRAPH)
def test_both_loops_agree(leaves, graph):
    """The same records in the same order, the same gradients to the last bit."""
    start, root = build(leaves, graph)
    orders, grads = [], []
    for loop in (everyday, engine.general):
        for leaf in start:
            leaf.grad = None
        orders.append(visited(Walk(loop, root)))
        grads.append([None if leaf.grad is None else leaf.grad.numpy().copy() for leaf in start])
    assert orders[0] == orders[1]
    for a, b in zip(*grads, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b)


@generated(60)
@given(st.integers(1, 3), GRAPH)
def test_lifted_walk_agrees(leaves, graph):
    """The general loop on Tensors gives what it gives on arrays."""
    start, root = build(leaves, graph)
    plain = torch.autograd.grad(root, start, retain_graph=True, allow_unused=True)
    lifted = torch.autograd.grad(root, start, create_graph=True, allow_unused=True)
    for a, b in zip(plain, lifted, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a.numpy(), b.detach().numpy())


def test_youngest_first():
    """A record runs after all its consumers, and among those ready the youngest runs first."""
    x = torch.ones(2, requires_grad=True)
    a = x * 2.0
    b = x * 3.0
    c = a * b
    d = b.exp()
    root = (c + d).sum()
    order = visited(Walk(everyday, root))
    assert order == sorted(order, reverse=True)
    assert len(order) == 6


def test_leaves_are_filled_as_early_as_possible():
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = x * 2.0
    z = y * w  # w is complete here, before y's record runs
    seen = []
    y.register_hook(lambda grad: seen.append(w.grad is not None))
    w.register_hook(lambda grad: None)
    z.sum().backward()
    assert seen == [True]


def test_each_record_runs_once():
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(30):
        y = y + y * 0.0
    root = y.sum()
    order = visited(Walk(engine.general, root))
    assert len(order) == len(set(order)) == 61


def test_only_what_leads_to_the_inputs_runs():
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    a, b = x.exp(), w.exp()
    root = (a * b).sum()
    ran = []
    a.grad_fn.register_hook(lambda into, outof: ran.append("a"))
    b.grad_fn.register_hook(lambda into, outof: ran.append("b"))
    torch.autograd.grad(root, w)
    assert ran == ["b"]


def test_backward_to_a_record_runs_it():
    """backward(inputs=[inner]) runs the inner record itself, as PyTorch does: it is freed, its hooks are called."""
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    root = y.sum()
    seen = []
    y.grad_fn.register_hook(lambda into, outof: seen.append(into))
    root.backward(inputs=[y])
    assert seen == [(None,)]
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad is None
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_walk_frees_what_it_leaves_behind():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    z = y.sin()
    z.sum().backward()
    for node in (y.grad_fn, z.grad_fn):
        with pytest.raises(RuntimeError, match="second time"):
            dir(node) and [getattr(node, name) for name in dir(node) if name.startswith("_saved_")]


def test_general_takes_several_roots_and_the_same_root_twice():
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0
    root = y.sum()
    engine.general([(edge_of(root), np.float32(1)), (edge_of(root), np.float32(10)), (edge_of(y), np.ones(2, "f4"))],
                   retain_graph=True)  # fmt: skip
    assert x.grad.tolist() == [24.0, 24.0]


def test_a_leaf_may_be_a_root():
    x = torch.ones(2, requires_grad=True)
    engine.backward([(x, np.full(2, 3.0, "f4"))], retain_graph=False)
    assert x.grad.tolist() == [3.0, 3.0]
    x.backward(torch.tensor([1.0, 2.0]))
    assert x.grad.tolist() == [4.0, 5.0]


def test_no_gradient_goes_on_as_none():
    """A custom Function that gives None: what is below is reached, but receives nothing."""

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    class Shown(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(grad.tolist())
            return grad

    seen = []
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = Shown.apply(x) * w
    (Nothing.apply(y) + w).sum().backward()
    assert seen == [[0.0, 0.0]], "as PyTorch, which hands zeros to backward"
    assert x.grad.tolist() == [0.0, 0.0]
    assert w.grad.tolist() == [1.0, 1.0]


def test_current_task_and_will_execute():
    x = torch.ones(2, requires_grad=True)
    y, other = x * 2.0, x * 3.0
    seen = []
    x.register_hook(lambda grad: seen.append(graph.current_task()))
    y.register_hook(lambda grad: seen.append((graph.will_execute(edge_of(y)), graph.will_execute(edge_of(other)))))
    assert graph.current_task() == -1
    with pytest.raises(RuntimeError):
        graph.will_execute(edge_of(y))
    y.sum().backward(retain_graph=True)
    first = seen[-1]
    assert seen[0] == (True, False)
    y.sum().backward()
    assert seen[-1] > first, "each call has a number of its own"


def test_bundles_add_place_by_place():
    one, two = np.ones(1), np.full(1, 2.0)
    total = Bundle([one, None, None]) + Bundle([two, two, None])
    assert [None if g is None else g.tolist() for g in total.grads] == [[3.0], [2.0], None]


def test_outputs_of_one_record():
    """Each output is an edge of its own; the record runs once, with all gradients, None where none came."""
    x = torch.arange(3.0).requires_grad_()
    a, b, c = (x * 2.0).unbind()
    assert (a.output_nr, b.output_nr, c.output_nr) == (0, 1, 2)
    assert a.grad_fn is b.grad_fn
    seen = []
    a.grad_fn.register_hook(lambda into, outof: seen.append([None if g is None else g.item() for g in outof]))
    (a * 5.0 + c * 7.0 + c).backward()
    assert seen == [[5.0, None, 8.0]]
    assert x.grad.tolist() == [10.0, 0.0, 16.0]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool"])
@pytest.mark.parametrize(
    "write",
    [
        lambda whole, number: whole.fill_(number),
        lambda whole, number: whole[:2].fill_(number),
        lambda whole, number: whole.masked_fill_(whole == whole, number),
        lambda whole, number: whole.index_fill_(0, torch.tensor([0]), number),
    ],
)
def test_whole_numbers_pass_no_gradient_on(write, dtype):
    """What is written into them is rounded: its slope was added up as if it were not, in their dtype."""
    x = torch.tensor(2.5, requires_grad=True)
    whole = torch.ones(3).to(getattr(torch, dtype))
    write(whole, x * 1)
    assert not whole.requires_grad
    ((whole * 3.7).sum() + x * 2).backward()
    assert x.grad == 2


@pytest.mark.parametrize("create_graph", [False, True])
def test_all_that_was_saved_is_checked(create_graph):
    base, exponent = torch.rand(3, requires_grad=True), torch.rand(3)
    power = base**exponent
    power.exp_()  # which is saved for the exponent's gradient alone, and nobody asks for that
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(power.sum(), base, create_graph=create_graph)
