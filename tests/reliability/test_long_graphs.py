"""Graphs of any length and width: nothing recurses, and everything is freed."""

import copy
import gc
import json
import pickle
import subprocess
import sys
import weakref

import pytest

import glassgrad as torch
from glassgrad.core.tensor import edge_of
from tests.reliability.limits import shallow_stack

LENGTH = 20_000  # far beyond any stack; the millions run on their own


@pytest.mark.parametrize(
    "name,length,gradient,most",
    [
        ("multiplications", 1_000_000, 1_000_001.0, 500),
        ("additions", 1_000_000, 1.0, 500),
        ("views", 100_000, 1.0, 1500),
        ("mixed", 100_000, 1.0, 1500),
    ],
)
def test_a_million_operations(name, length, gradient, most, record_property):
    """Built, differentiated and freed by a program of its own, whose stack has room for no recursion."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.reliability.million", name, str(length)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = json.loads(ran.stdout)
    print(f"{name}: {told}")
    record_property("measured", told)
    assert told["gradient"] == gradient
    assert told["freed"]
    assert told["unreachable"] == 0
    assert told["bytes"] < most, "bytes for each operation"


def chain(length=LENGTH):
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(length):
        y = y * 1.0
    return x, y.sum()


def test_general_walk_of_a_long_chain():
    """The loop for hooks, ``inputs=``, anomaly detection and create_graph is as deep as it likes."""
    x, y = chain()
    with shallow_stack():
        (first,) = torch.autograd.grad(y, x, retain_graph=True)
        (second,) = torch.autograd.grad(y, x, create_graph=True)
        x.register_hook(lambda grad: grad * 2)
        y.backward(retain_graph=True)
        y.backward(inputs=[x])
    assert first.tolist() == second.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [4.0, 4.0]


def test_second_derivative_of_a_long_chain():
    x = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
    y = x
    for _ in range(1000):
        y = y * x
    with shallow_stack():
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first, x)
        del first, y
    assert second.item() == 1001.0 * 1000.0


def test_anomaly_detection_of_a_long_chain():
    with pytest.warns(UserWarning, match="Anomaly Detection"), torch.autograd.detect_anomaly():
        x, y = chain(2000)
        with shallow_stack():
            y.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_saved_tensor_hooks_of_a_long_chain():
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        y = x
        for _ in range(2000):
            y = y * w
    with shallow_stack():
        y.sum().backward()
    assert w.grad.tolist() == [2000.0, 2000.0]


@pytest.mark.parametrize("kind", ["number", "exp", "view", "written", "custom", "retained", "hooked", "several"])
def test_a_deep_graph_is_dropped_without_backward(kind):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    def hooked(y):
        z = y * 1.0
        z.register_hook(lambda grad: None)
        return z

    def retained(y):
        z = y * 1.0
        z.retain_grad()
        return z

    steps = {
        "number": lambda y: y * 1.0,
        "exp": lambda y: y.tanh(),
        "view": lambda y: y[:],
        "written": lambda y: y.mul_(1.0),
        "custom": Same.apply,
        "retained": retained,
        "hooked": hooked,
        "several": lambda y: torch.stack(y.unbind()),
    }
    x = torch.ones(2, requires_grad=True)
    y = x * 1.0
    bottom = weakref.ref(edge_of(y))
    for _ in range(5000):
        y = steps[kind](y)
    gc.disable()
    try:
        with shallow_stack():
            del y
        assert bottom() is None
    finally:
        gc.enable()


def test_writes_through_views_of_one_base():
    """Each write rebases the history: a chain of CopySlices."""
    x = torch.ones(4, requires_grad=True)
    y = x * 1.0
    for step in range(3000):
        y[step % 4].mul_(1.0)
    with shallow_stack():
        y.sum().backward()
        del y
    assert x.grad.tolist() == [1.0] * 4


def test_wide_sum():
    """One tensor used a hundred thousand times, and a hundred thousand leaves in one graph."""
    x = torch.ones(2, requires_grad=True)
    total = torch.zeros(2)
    for _ in range(100_000):
        total = total + x
    with shallow_stack():
        total.sum().backward()
    assert x.grad.tolist() == [100_000.0, 100_000.0]
    leaves = [torch.tensor(1.0, requires_grad=True) for _ in range(20_000)]
    with shallow_stack():
        torch.stack(leaves).sum().backward()
    assert all(leaf.grad.item() == 1.0 for leaf in leaves)


def test_binary_tree():
    """Every pair is joined, and the pairs of pairs."""
    leaves = [torch.tensor(float(i), requires_grad=True) for i in range(2**12)]
    row = leaves
    while len(row) > 1:
        row = [a + b for a, b in zip(row[::2], row[1::2], strict=True)]
    with shallow_stack():
        row[0].backward()
    assert all(leaf.grad.item() == 1.0 for leaf in leaves)


def test_forks_that_join_are_walked_once():
    """Two to the power of a thousand paths, a thousand nodes."""
    x = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
    runs = []
    y = x
    for _ in range(1000):
        y = y * 0.5 + y * 0.5
    y.grad_fn.register_hook(lambda into, outof: runs.append(1))
    with shallow_stack():
        y.backward()
    assert x.grad.item() == 1.0
    assert len(runs) == 1


def test_looking_at_a_long_chain():
    """Nodes are handed out one by one; asking for a deep one holds the chain, and lets go of it without recursion."""
    _, y = chain()
    node, count = y.grad_fn, 0
    del y
    with shallow_stack():
        while node.next_functions:
            node = next(onward for onward, _ in node.next_functions if onward is not None)
            count += 1
    assert count == LENGTH + 1
    assert type(node).__name__ == "AccumulateGrad"


def test_text_and_pictures_of_a_long_chain():
    _, y = chain(3000)
    with shallow_stack(100):
        text = torch.make_dot(y).source
        assert repr(y).startswith("tensor(2., grad_fn=<SumBackward0>)")
    assert text.count("MulBackward0") == 3000


def test_copies_of_tensors_on_deep_graphs():
    """A copy or a pickle holds the history too, whatever its depth."""
    x, y = chain()
    with shallow_stack(100):
        again = pickle.loads(pickle.dumps(y))
        twin = copy.deepcopy(x)
        whole = copy.deepcopy(y)
        shallow = copy.copy(x)
    assert again.item() == whole.item() == 2.0
    assert again.grad_fn is not None and whole.grad_fn is not None and whole.grad_fn is not y.grad_fn
    assert twin.requires_grad and twin.is_leaf and twin is not x
    assert shallow.requires_grad
