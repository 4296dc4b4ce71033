"""A graph nobody holds is gone at once, by its last reference: nothing of it is left to the collector."""

import weakref

import pytest

import glassgrad as torch
from glassgrad.autograd import Function
from glassgrad.core.record import Record
from glassgrad.core.tensor import edge_of
from tests.reliability.limits import left_to_the_collector, sleeping_collector


def leaf(*shape):
    return torch.ones(shape or (3,), requires_grad=True)


class Square(Function):
    """Saves its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0] * grad


class Exp(Function):
    """Saves its output, whose history is the node that keeps it."""

    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0] * grad


class Both(Function):
    """Gives two outputs, keeps one, and a tensor on the context itself."""

    @staticmethod
    def forward(ctx, x):
        first, second = x * 2, x.exp()
        ctx.save_for_backward(second, x)
        ctx.kept = first.detach()
        return first, second

    @staticmethod
    def backward(ctx, a, b):
        return a * 2 + b * ctx.saved_tensors[0]


class Written(Function):
    """Writes into its input."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Split(Function):
    """Keeps what it needs in a separate step."""

    @staticmethod
    def forward(x):
        return x.sin(), x.cos()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs, *output)

    @staticmethod
    def backward(ctx, a, b):
        _, sin, cos = ctx.saved_tensors
        return a * cos - b * sin


def plain():
    return (leaf() * leaf() + leaf().exp()).sum()


def scalar():
    x = torch.tensor(2.0, requires_grad=True)
    return x * x + x.sin() * 3.0


def view():
    return (leaf(4, 3) * 2)[1:3].t().reshape(-1)[0]


def several():
    parts = (leaf(4, 3) * 2).unbind()
    return parts[0] + parts[3]


def several_values():
    values, _ = (leaf(4, 3) * 2).max(1)
    return values


def written():
    y = leaf() * 2
    y.mul_(3.0)
    y.exp_()
    return y + 1


def written_through_a_view():
    y = leaf(4) * 2
    part = y[1:3]
    part.mul_(part * 2)
    row = y.view(2, 2)[0]
    row.exp_()
    return y.sum() + part.sum() + row.sum()


def assigned():
    y = torch.zeros(4, 3) * 1
    y[1] = leaf() * 2
    y[:, 0] = y[:, 1]
    return y


def tensor_hooks():
    y = leaf() * 2
    y.register_hook(lambda grad: grad * 2)
    z = y.exp()
    z.register_hook(lambda grad: None)
    return z


def hooks_that_hold():
    y = leaf() * 2
    z = y.exp()
    y.register_hook(lambda grad, x=edge_of(y).edges[0]: grad)  # the leaf below, not y itself: that would be a cycle
    return z


def leaf_hooks():
    x = leaf()
    x.register_hook(lambda grad: grad * 2)
    x.register_post_accumulate_grad_hook(lambda tensor: None)
    return x * 2


def node_hooks():
    y = leaf() * 2
    y.grad_fn.register_hook(lambda into, outof: None)
    y.grad_fn.register_prehook(lambda outof: None)
    return y.exp()


def retained():
    y = leaf() * 2
    y.retain_grad()
    z = y.exp()
    z.retain_grad()
    return z


def looked_at():
    y = (leaf(2, 2) * 2).exp()
    nodes = [y.grad_fn]
    for node in nodes:
        nodes += [onward for onward, _ in node.next_functions if onward is not None]
        node.metadata["seen"] = True
    assert y.grad_fn._saved_result is not None
    return y


def custom():
    return Square.apply(leaf() * 2)


def custom_saving_its_output():
    return Exp.apply(leaf() * 2)


def custom_with_two_outputs():
    first, second = Both.apply(leaf() * 2)
    return first * second


def custom_writing():
    return Written.apply(leaf() * 2)


def custom_in_two_steps():
    sin, cos = Split.apply(leaf() * 2)
    return sin + cos


def packed():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        return (leaf() * leaf()).exp() * Exp.apply(leaf())


def packed_as_they_are():
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        return (leaf() * leaf()).exp()


def checkpointed():
    from glassgrad.utils.checkpoint import checkpoint

    return checkpoint(lambda t: t.exp().sin(), leaf() * 2, use_reentrant=False)


def checkpointed_as_one_node():
    from glassgrad.utils.checkpoint import checkpoint

    return checkpoint(lambda t: t.exp().sin(), leaf() * 2, use_reentrant=True)


def with_traces():
    with torch.autograd.detect_anomaly(check_nan=False):
        return (leaf() * 2).exp()


def slope():
    x = leaf()
    y = (x.exp() * x).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    return second


def slope_into_grad():
    x = leaf()
    y = x * 2
    (y.exp() * y).sum().backward(create_graph=True)
    out = x.grad * 2
    x.grad = None
    return out


KINDS = [
    plain, scalar, view, several, several_values, written, written_through_a_view, assigned, tensor_hooks,
    hooks_that_hold, leaf_hooks, node_hooks, retained, looked_at, custom, custom_saving_its_output,
    custom_with_two_outputs, custom_writing, custom_in_two_steps, packed, packed_as_they_are, checkpointed,
    checkpointed_as_one_node, with_traces, slope, slope_into_grad,
]  # fmt: skip
every_kind = pytest.mark.parametrize("build", KINDS, ids=lambda build: build.__name__)
pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection", "ignore:Using backward")


def parts(tensor):
    """Every record and leaf under a tensor."""
    found, waiting = {}, [edge_of(tensor)]
    while waiting:
        edge = waiting.pop()
        if edge is None or id(edge) in found:
            continue
        found[id(edge)] = edge
        if isinstance(edge, Record):
            waiting.extend(edge.edges)
    return list(found.values())


def watched(tensor):
    return [weakref.ref(tensor), *(weakref.ref(part) for part in parts(tensor))]


def alive(references):
    return [type(part()).__name__ for part in references if part() is not None]


@every_kind
def test_dropped_without_backward(build):
    def act():
        out = build()
        references = watched(out)
        del out
        assert not alive(references)

    assert left_to_the_collector(act) == []


@every_kind
def test_dropped_after_backward(build):
    def act():
        out = build()
        references = watched(out)
        out.sum().backward()
        del out
        assert not alive(references)

    assert left_to_the_collector(act) == []


@every_kind
def test_dropped_after_a_retained_and_a_second_backward(build):
    def act():
        out = build()
        references = watched(out)
        if build is not slope_into_grad:
            out.sum().backward(retain_graph=True)
        out.sum().backward()
        del out
        assert not alive(references)

    assert left_to_the_collector(act) == []


@every_kind
def test_dropped_after_a_backward_that_failed(build):
    def fails(grad):
        raise ArithmeticError

    def act():
        out = build()
        references = watched(out)
        out.register_hook(fails)
        with pytest.raises(ArithmeticError):
            out.sum().backward()
        del out
        assert not alive(references)

    with sleeping_collector():
        act()


def test_saved_values_go_when_backward_is_done():
    """The graph may be held; what it saved is let go."""
    y = leaf() * 2
    kept = weakref.ref(y)
    z = (y * leaf()).sum()
    del y
    z.backward()
    assert kept() is None
    assert z.grad_fn is not None


def test_a_held_node_keeps_the_graph_below_and_no_more():
    with sleeping_collector():
        x = leaf()
        y = x * 2
        z = y.exp()
        node, above, middle = y.grad_fn, weakref.ref(z), weakref.ref(y)
        del y, z
        assert above() is None
        assert middle() is None
        assert node.next_functions[0][0].variable is x
        record = weakref.ref(node._record)
        del node
        assert record() is None


def test_a_held_accumulator_keeps_its_leaf():
    with sleeping_collector():
        x = leaf()
        variable = weakref.ref(x)
        node = (x * 2).grad_fn.next_functions[0][0]
        del x
        assert variable() is not None
        assert node.variable is variable()
        del node
        assert variable() is None


def test_gradients_go_with_their_leaf():
    with sleeping_collector():
        x = leaf()
        (x * 2).sum().backward()
        gradient, variable = weakref.ref(x.grad), weakref.ref(x)
        del x
        assert variable() is None
        assert gradient() is None


def test_handles_hold_no_graph():
    with sleeping_collector():
        x = leaf()
        y = x * 2
        handles = [
            y.register_hook(lambda grad: None),
            y.grad_fn.register_hook(lambda into, outof: None),
            x.register_hook(lambda grad: None),
            x.register_post_accumulate_grad_hook(lambda tensor: None),
        ]
        references = watched(y)
        del x, y
        assert not alive(references)
        for handle in handles:
            handle.remove()


def test_the_count_of_hooks_on_leaves_goes_down_with_them():
    from glassgrad.core import engine

    before = engine.on_leaves
    x = leaf()
    handle = x.register_hook(lambda grad: None)
    y = leaf()
    y.register_post_accumulate_grad_hook(lambda tensor: None)
    (y * 2).grad_fn.next_functions[0][0].register_hook(lambda into, outof: None)
    assert engine.on_leaves == before + 3
    handle.remove()
    assert engine.on_leaves == before + 2
    del x, y
    assert engine.on_leaves == before
    handle.remove()
    assert engine.on_leaves == before
