"""What fails in the middle leaves nothing half done: gradients, slots, versions, histories."""

import inspect
import sys

import pytest

import glassgrad as torch
from glassgrad.autograd import Function
from glassgrad.autograd.graph import current_task
from glassgrad.core import engine
from glassgrad.core import leaf as leaf_sums
from glassgrad.core.record import Record
from glassgrad.core.tensor import edge_of
from glassgrad.fast import walk as quick
from glassgrad.ground import modes


class Trap(Function):
    """The identity, whose backward raises what is set."""

    raises = None

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        if Trap.raises is not None:
            raise Trap.raises
        return grad


@pytest.fixture(autouse=True)
def disarmed():
    yield
    Trap.raises = None


def slots(*roots):
    """What records and leaves under these tensors still hold of an earlier walk."""
    seen, held, waiting = set(), [], [edge_of(root) for root in roots]
    while waiting:
        edge = waiting.pop()
        if edge is None or id(edge) in seen:
            continue
        seen.add(id(edge))
        if edge._gathered is not None:
            held.append(edge)
        if isinstance(edge, Record):
            waiting.extend(edge.edges)
    return held


def graph():
    """Two leaves; forks below and above the trap, so that gradients wait in several places when it snaps."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    a = x * w
    b = a * x
    c = Trap.apply(b) + a * 2 + torch.stack(x.unbind())
    return x, w, (c * w).sum()


def expected():
    """The gradients of ``graph``, by a walk that nothing disturbs."""
    x, w, loss = graph()
    loss.backward()
    return x.grad.tolist(), w.grad.tolist()


ERRORS = [ValueError("no"), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), MemoryError()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("walk", ["lean", "leaf hooks", "several roots", "create_graph", "inputs"])
def test_a_backward_that_raises_in_the_middle(error, walk):
    first, second = expected()
    x, w, loss = graph()
    handle = x.register_hook(lambda grad: None) if walk == "leaf hooks" else None

    def run():
        if walk == "several roots":
            torch.autograd.backward([loss, loss * 0], retain_graph=True)
        elif walk == "create_graph":
            loss.backward(create_graph=True)
        elif walk == "inputs":
            loss.backward(inputs=[x, w], retain_graph=True)
        else:
            loss.backward(retain_graph=True)

    Trap.raises = error
    with pytest.raises(type(error)):
        run()
    assert x.grad is None, "it is complete only after the trap"
    assert w.grad is None or w.grad.tolist() == second
    assert slots(loss) == []
    assert torch.is_grad_enabled()
    assert current_task() == -1
    Trap.raises = None
    x.grad = w.grad = None
    for turn in range(1, 3):
        run()
        assert x.grad.tolist() == [turn * g for g in first]
        assert w.grad.tolist() == [turn * g for g in second]
    if handle is not None:
        handle.remove()


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("place", ["tensor", "node", "prehook", "leaf", "after the leaf", "accumulator", "retained"])
def test_a_hook_that_raises(place):
    first, second = expected()
    x, w, loss = graph()
    armed = [True]

    def hook(*args):
        if armed[0]:
            raise ZeroDivisionError("in a hook")

    product = loss.grad_fn.next_functions[0][0]
    node = x if place in ("leaf", "after the leaf") else None
    handle = {
        "tensor": lambda: loss.register_hook(hook),
        "node": lambda: product.register_hook(hook),
        "prehook": lambda: product.register_prehook(hook),
        "leaf": lambda: x.register_hook(hook),
        "after the leaf": lambda: x.register_post_accumulate_grad_hook(hook),
        "accumulator": lambda: torch.autograd.graph.get_gradient_edge(x).node.register_hook(hook),
        "retained": lambda: (loss.retain_grad(), loss.register_hook(hook))[1],
    }[place]()
    with pytest.raises(ZeroDivisionError):
        loss.backward(retain_graph=True)
    for leaf, whole in ((x, first), (w, second)):
        assert leaf.grad is None or leaf.grad.tolist() == whole
    assert slots(loss) == []
    armed[0] = False
    x.grad = w.grad = None
    loss.backward()
    assert (x.grad.tolist(), w.grad.tolist()) == (first, second)
    handle.remove()
    del node


def test_a_backward_that_raises_keeps_earlier_gradients():
    x, w, loss = graph()
    loss.backward(retain_graph=True)
    before, kept = (x.grad.tolist(), w.grad.tolist()), x.grad
    Trap.raises = ValueError()
    with pytest.raises(ValueError):
        loss.backward(retain_graph=True)
    assert (x.grad.tolist(), w.grad.tolist()) == before
    assert x.grad is kept


def test_errors_of_the_engine_itself_leave_gradients():
    """A freed part, a stale saved tensor and a wrong seed are found before anything is added."""
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    z = y.exp()
    other = (x * 3).sum()
    y.sum().backward()
    for fails in (lambda: (z.sum() + other).backward(), lambda: torch.autograd.grad(z.sum(), x)):
        with pytest.raises(RuntimeError, match="second time"):
            fails()
    assert x.grad.tolist() == pytest.approx([2.7182817] * 2)
    x.grad = None
    y = x * 2
    z = y.exp() * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    assert x.grad is None
    assert slots(z) == []
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(torch.ones(3))
    assert x.grad is None


def last_line(loop):
    """The last line of a loop that is not itself part of cleaning up."""
    lines, start = inspect.getsourcelines(loop)
    return start + max(i for i, line in enumerate(lines) if line.strip() in ("finally:", "except BaseException:"))


def interrupted_at(place, act):
    """Run ``act`` with KeyboardInterrupt raised at that line of the engine; whether the line was reached."""
    loops = {loop.__code__: last_line(loop) for loop in (quick._walk, engine.general)}
    left = [place]

    def lines(frame, event, arg):
        if event == "line" and frame.f_lineno <= loops[frame.f_code]:
            if left[0] == 0:
                left[0] = -1
                sys.settrace(None)
                raise KeyboardInterrupt
            left[0] -= 1
        return lines

    def calls(frame, event, arg):
        return lines if frame.f_code in loops else None

    before = sys.gettrace()
    sys.settrace(calls)
    try:
        act()
    except KeyboardInterrupt:
        # A trace function may raise between the body of a with statement and its __exit__, where the interpreter never
        # delivers a signal: give back what such an interruption left locked.
        while leaf_sums.adding._is_owned():
            leaf_sums.adding.release()
        return True
    finally:
        sys.settrace(before)
    return left[0] == -1


@pytest.mark.parametrize("lean", [True, False], ids=["lean", "general"])
def test_interrupted_at_any_line(lean):
    """Control-C at whatever line of the engine's loops: nothing half added, nothing left in the slots."""
    first, second = expected()
    x, w, loss = graph()
    place = 0
    while interrupted_at(
        place, lambda: loss.backward(retain_graph=True) if lean else loss.backward(retain_graph=True, inputs=[x, w])
    ):
        for leaf, whole in ((x, first), (w, second)):
            assert leaf.grad is None or leaf.grad.tolist() == whole, f"line {place}"
        assert slots(loss) == [], f"line {place}"
        assert current_task() == -1
        x.grad = w.grad = None
        place += 1
    assert place > 50
    assert (x.grad.tolist(), w.grad.tolist()) == (first, second)
    x.grad = None
    loss.backward()
    assert x.grad.tolist() == first


def state(tensor):
    """What a failed write must leave as it was."""
    place = tensor._edge
    edge = edge_of(tensor)
    return tensor.tolist(), tensor._version, edge, tensor.shape, tensor.dtype, place, tensor.requires_grad


def leaf():
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


FAILING = {
    "shape": (lambda: leaf() * 1, lambda t: t.add_(torch.ones(3))),
    "broader shape": (lambda: leaf() * 1, lambda t: t.mul_(torch.ones(2, 2, 2))),
    "dtype": (lambda: torch.tensor([1, 2]), lambda t: t.add_(0.5)),
    "dtype of a tensor": (lambda: torch.tensor([1, 2]), lambda t: t.mul_(torch.ones(2))),
    "dtype of a result": (lambda: torch.tensor([1, 2]), lambda t: t.div_(2)),
    "bool": (lambda: torch.tensor([True, False]), lambda t: t.add_(1)),
    "type": (lambda: leaf() * 1, lambda t: t.add_("one")),
    "setting": (lambda: leaf() * 1, lambda t: t.clamp_()),
    "leaf": (leaf, lambda t: t.add_(1)),
    "leaf by item": (leaf, lambda t: t.__setitem__(0, 1.0)),
    "view of a leaf": (lambda: leaf()[0], lambda t: t.mul_(2)),
    "leaf by copy": (leaf, lambda t: t.copy_(torch.zeros(2, 2))),
    "leaf by zero": (leaf, lambda t: t.zero_()),
    "overlap": (lambda: (torch.ones(1, 2) * 1).expand(3, 2), lambda t: t.add_(1)),
    "one of several views": (lambda: (leaf() * 1).unbind()[0], lambda t: t.mul_(2)),
    "item of a wrong shape": (lambda: leaf() * 1, lambda t: t.__setitem__(0, torch.ones(3))),
    "item out of range": (lambda: leaf() * 1, lambda t: t.__setitem__(2, 0.0)),
    "items out of range": (lambda: leaf() * 1, lambda t: t.__setitem__(torch.tensor([0, 2]), 0.0)),
    "mask of a wrong shape": (lambda: leaf() * 1, lambda t: t.__setitem__(torch.tensor([True, False, True]), 0.0)),
    "copy of a wrong shape": (lambda: leaf() * 1, lambda t: t.copy_(torch.ones(3))),
    "fill of a wrong shape": (lambda: leaf() * 1, lambda t: t.fill_(torch.ones(2))),
    "index out of range": (
        lambda: leaf() * 1,
        lambda t: t.index_add_(0, torch.tensor([0, 5]), torch.ones(2, 2)),
    ),
    "scatter out of range": (
        lambda: leaf() * 1,
        lambda t: t.scatter_(0, torch.tensor([[0, 0], [7, 1]]), torch.ones(2, 2)),
    ),
    "mask of a wrong dtype": (lambda: leaf() * 1, lambda t: t.masked_fill_(torch.tensor([1.0, 0.0]), 2.0)),
    "out of a wrong dtype": (lambda: torch.tensor([1, 2]), lambda t: torch.add(torch.ones(2), 1, out=t)),
    "out of a recorded result": (lambda: torch.zeros(2), lambda t: torch.add(leaf()[0], 1, out=t)),
    "inplace matrix product": (lambda: leaf() * 1, lambda t: t.addmm_(torch.ones(2, 3), torch.ones(2, 2))),
    "sizes": (lambda: leaf() * 1, lambda t: t.transpose_(0, 5)),
    "number too large": (lambda: torch.tensor([1, 2], dtype=torch.int8), lambda t: t.add_(10**30)),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_failed_write_changes_nothing(name):
    make, write = FAILING[name]
    t = make()
    before = state(t)
    base = None if t._base is None else (t._base, state(t._base))
    with pytest.raises((RuntimeError, TypeError, ValueError, IndexError, OverflowError)):
        write(t)
    assert state(t) == before
    if base is not None:
        assert state(base[0]) == base[1]
    assert torch.is_grad_enabled() and not modes.off


@pytest.mark.parametrize("name", [name for name, (make, _) in FAILING.items() if make().requires_grad])
def test_backward_after_a_failed_write(name):
    make, write = FAILING[name]
    t = make()
    out = (t * t).sum()
    with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)):
        write(t)
    out.backward()


def test_no_grad_ends_with_what_was_raised():
    for switch in (torch.no_grad, torch.inference_mode, lambda: torch.set_grad_enabled(False)):
        with pytest.raises(KeyboardInterrupt), switch():
            raise KeyboardInterrupt
        assert torch.is_grad_enabled()
        assert not modes.off and not modes.watch


def test_a_pack_hook_that_raises():
    """The operation fails; what was there before stays."""

    def fails(tensor):
        raise ValueError("not now")

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    with torch.autograd.graph.saved_tensors_hooks(fails, lambda t: t):
        with pytest.raises(ValueError):
            y.exp()
        with pytest.raises(ValueError):
            y.mul_(y)
    assert not modes.watch
    assert torch.is_grad_enabled()
    assert y.tolist() == [1.0, 1.0]
    assert y._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_a_forward_that_raises():
    class Fails(Function):
        @staticmethod
        def forward(ctx, x):
            raise ValueError("in forward")

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError):
        Fails.apply(x)
    assert torch.is_grad_enabled()
    assert not modes.off
