"""Checkpointing: same gradients, less kept, the inside computed again; PyTorch's words where that goes wrong."""

import contextlib
import importlib
import weakref

import pytest

import glassgrad
from glassgrad.core import engine
from tests.agreement import check
from tests.autograd.both import both


def both_ways(torch, show):
    checkpoint = torch.utils.checkpoint.checkpoint
    for reentrant in (True, False):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        w = torch.tensor(3.0, requires_grad=True)
        calls = []

        def part(t, number, *, shift=0.0, calls=calls, w=w):
            calls.append(torch.is_grad_enabled())
            return (t * w + number).sin() + shift

        y = checkpoint(part, x, 2, use_reentrant=reentrant)
        show("name", y.grad_fn.name())
        y.sum().backward()
        show("gradients", [x.grad, w.grad, calls])
        show.warnings(lambda: checkpoint(part, x.detach(), 2, use_reentrant=reentrant))  # noqa: B023
        show.error(lambda: torch.autograd.grad(checkpoint(part, x, 2, use_reentrant=reentrant).sum(), x))  # noqa: B023
        show.error(lambda: checkpoint(part, x, 2, use_reentrant=reentrant, shift=1.0))  # noqa: B023


def differing_recomputation(torch, show):
    checkpoint = torch.utils.checkpoint.checkpoint
    kinds = {
        "fewer": (lambda t: (t * t).sin().exp(), lambda t: t * t),
        "more": (lambda t: t * t, lambda t: (t * t).sin()),
        "another shape": (lambda t: (t * t).exp(), lambda t: (torch.cat([t, t]) * torch.cat([t, t])).exp()),
    }
    for name, functions in kinds.items():
        x = torch.ones(2, requires_grad=True)
        turns = iter(functions)
        y = checkpoint(lambda t: next(turns)(t), x, use_reentrant=False)  # noqa: B023
        show.error(lambda: y.sum().backward(), name, words="recomputation: 2." if name == "fewer" else "forward pass.")  # noqa: B023


test_same_as_torch = both(both_ways)


def test_a_differing_recomputation_is_found():
    """PyTorch's sentences; its advice about torch.compile, which follows them there, is left out."""
    from glassgrad.utils.checkpoint import CheckpointError, checkpoint

    kinds = [
        (lambda t: (t * t).sin().exp(), lambda t: t * t, "A different number of tensors was saved during the original"),
        (
            lambda t: (t * t).exp(),
            lambda t: (glassgrad.cat([t, t]) * glassgrad.cat([t, t])).exp(),
            "Recomputed values for the following tensors have different metadata than during the forward pass.",
        ),
    ]
    for first, second, words in kinds:
        x = glassgrad.ones(2, requires_grad=True)
        turns = iter((first, second))
        y = checkpoint(lambda t: next(turns)(t), x, use_reentrant=False)  # noqa: B023
        with pytest.raises(CheckpointError, match=words):
            y.sum().backward()
        assert x.grad is None


@pytest.mark.parametrize("reentrant", [True, False])
def test_random_numbers_are_drawn_again(reentrant):
    from glassgrad.utils.checkpoint import checkpoint

    x = glassgrad.ones(8, requires_grad=True)
    masks = []

    def part(t):
        masks.append(glassgrad.rand(8))
        return t * masks[-1]

    glassgrad.manual_seed(1)
    y = checkpoint(part, x, use_reentrant=reentrant)
    after = glassgrad.rand(1).item()
    y.sum().backward()
    assert masks[0].tolist() == masks[1].tolist() == x.grad.tolist()
    glassgrad.manual_seed(1)
    glassgrad.rand(8)
    assert glassgrad.rand(1).item() == after


def test_what_is_kept():
    """Inside a checkpoint nothing is saved: the inner results are gone after the call."""
    import weakref

    from glassgrad.utils.checkpoint import checkpoint

    inner = []

    def part(t):
        middle = t.exp()
        inner.append(weakref.ref(middle))
        return middle * middle

    x = glassgrad.ones(3, requires_grad=True)
    y = checkpoint(part, x, use_reentrant=False)
    assert inner[0]() is None
    y.sum().backward()
    assert len(inner) == 2
    assert x.grad.tolist() == pytest.approx([2 * 7.389056] * 3)


def in_order(torch, show):
    """Which parts are computed again, and when: the outer first, which gives the inner its inputs."""
    module = importlib.import_module(f"{torch.__name__}.utils.checkpoint")
    checkpoint, order = module.checkpoint, []

    def part(name, inner, reentrant=False):
        def function(t):
            order.append(name)
            t = t.sin().exp()
            if inner is not None:
                t = checkpoint(inner, t.cos(), use_reentrant=reentrant)
            order.append(f"{name} ends")
            return t.exp() * t

        return function

    one = part("one", None)
    two = part("two", one)
    three = part("three", two)
    for function in (one, two, three, part("mixed", one, True)):
        for early_stop in (True, False):
            for of_block in (None, True, False):
                x = torch.ones(2, requires_grad=True)
                with contextlib.nullcontext() if of_block is None else module.set_checkpoint_early_stop(of_block):
                    y = checkpoint(function, x, use_reentrant=False, early_stop=early_stop)
                order.append("|")
                y.sum().backward(retain_graph=True)
                y.sum().backward()
                show(f"{early_stop} {of_block}", [x.grad, *order])
                order.clear()
    x = torch.ones(2, requires_grad=True)
    (y,) = torch.autograd.grad(checkpoint(two, x, use_reentrant=False).sum(), x, create_graph=True)
    show("second derivative", [*torch.autograd.grad(y.sum(), x), *order])


def arguments(torch, show):
    module = importlib.import_module(f"{torch.__name__}.utils.checkpoint")
    checkpoint, sequential = module.checkpoint, module.checkpoint_sequential
    x = torch.ones(2, requires_grad=True)
    for case in [
        {},
        {"use_reentrant": True, "a": 1, "b": 2},
        {"use_reentrant": True, "context_fn": module.noop_context_fn},
        {"use_reentrant": True, "context_fn": lambda: (1, 2)},
        {"use_reentrant": True, "debug": True},
        {"use_reentrant": True, "determinism_check": "x"},
        {"use_reentrant": False, "determinism_check": "x"},
        {"use_reentrant": False, "preserve_rng_state": False},
        {"use_reentrant": False, "debug": True, "context_fn": lambda: (1, 2)},
        {"use_reentrant": False, "context_fn": lambda: 3},
    ]:
        show.warnings(lambda case=case: show.error(lambda: checkpoint(torch.sin, x, **case), str([*case])))
    for kind in (list, tuple, lambda t: {"a": t[0]}, lambda t: 3):
        show.error(lambda kind=kind: checkpoint(lambda t: kind((t * 2, 3, None)), x, use_reentrant=True), "outputs")
        show.error(lambda kind=kind: checkpoint(lambda t: kind((t * 2, 3, None)), x, use_reentrant=False), "outputs")
    layers = [torch.sin, torch.cos, torch.exp]
    for segments in (1, 2, 3, 4, 0):
        show.error(lambda: sequential(layers, segments, x, use_reentrant=False), f"{segments} segments")  # noqa: B023
    show.warnings(lambda: show.error(lambda: sequential(layers, 2, x), "plain"))
    show.error(lambda: sequential(layers, 2, x, use_reentrant=False, a=1, b=2), "unexpected")
    for value in ((x, 3, None), x):
        show.error(lambda value=value: module.detach_variable(value), "detached")
    show("devices", [module.get_device_states(x), module.DefaultDeviceType.get_device_type() is None])
    show("names", sorted({*module.__all__} - {"SAC_IGNORED_OPS"} - SELECTIVE))


SELECTIVE = {"CheckpointPolicy", "SelectiveCheckpointContext", "create_selective_checkpoint_contexts"}


def surroundings(torch, show):
    """Random numbers, autocast and blocks around the second computation."""
    checkpoint = torch.utils.checkpoint.checkpoint
    for reentrant in (True, False):
        for preserve in (True, False):
            masks = []

            def dropping(t, masks=masks):
                masks.append(torch.rand(2))
                return t.sin() * masks[-1]

            torch.manual_seed(0)
            x = torch.ones(2, requires_grad=True)
            y = checkpoint(dropping, x, use_reentrant=reentrant, preserve_rng_state=preserve)
            torch.rand(1)
            y.sum().backward()
            show(f"stream {reentrant} {preserve}", [*masks, torch.rand(1)])
        kinds = []
        w = torch.ones(2, 2, requires_grad=True)

        def product(t, kinds=kinds, w=w):
            kinds.append(str((t @ w).dtype))
            return (t @ w).exp()

        x = torch.ones(2, 2, requires_grad=True)
        with torch.autocast("cpu"):
            y = checkpoint(product, x, use_reentrant=reentrant)
        y.float().sum().backward()
        show("autocast", [*kinds, x.grad, w.grad])
    order = []

    @contextlib.contextmanager
    def block(name):
        order.append(name)
        yield
        order.append(f"{name} ends")

    y = checkpoint(torch.sin, x, use_reentrant=False, context_fn=lambda: (block("first"), block("second")))
    y.sum().backward()
    show("blocks", order)


def failures(torch, show):
    checkpoint = torch.utils.checkpoint.checkpoint
    module = importlib.import_module(f"{torch.__name__}.utils.checkpoint")

    def in_turn(*functions):
        turns = iter(functions)
        return lambda *args: next(turns)(*args)

    kinds = {
        "fewer": (lambda t: (t * t).sin().exp(), lambda t: t * t),
        "more": (lambda t: t * t, lambda t: (t * t).sin()),
        "another dtype": (lambda t: t.exp(), lambda t: t.double().exp()),
        "nothing first": (lambda t: t + 1, lambda t: t.exp()),
    }
    for name, functions in kinds.items():
        for settings in ({}, {"determinism_check": "none"}, {"early_stop": False}):
            x = torch.ones(2, requires_grad=True)
            y = checkpoint(in_turn(*functions), x, use_reentrant=False, **settings)
            show.error(lambda: y.sum().backward(), name, words="enable checkpoint")  # noqa: B023
    y = checkpoint(in_turn(*kinds["fewer"]), x, use_reentrant=False, debug=True)
    show.error(lambda: y.sum().backward(), "listed", words="guidance on how to navigate these logs.")
    y = checkpoint(lambda t: t.exp(), x, use_reentrant=False)
    show("read twice", [y.grad_fn._saved_result, y.grad_fn._saved_result])

    class Reads(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            ctx.save_for_backward(t)
            return t * 2

        @staticmethod
        def backward(ctx, grad):
            return ctx.saved_tensors[0] * ctx.saved_tensors[0]

    y = checkpoint(lambda t: Reads.apply(t).exp(), x, use_reentrant=False)
    show.error(lambda: y.sum().backward(), "unpacked twice")
    y = checkpoint(lambda t: (t * t).exp(), x, use_reentrant=False)
    with torch.no_grad():
        x.mul_(2)
    show.error(lambda: y.sum().backward(), "an input was written to")
    x, order = torch.ones(2, requires_grad=True), []

    def noted(t):
        order.append(1)
        return t.exp()

    z = checkpoint(noted, x, use_reentrant=False).sum()
    with module.GraphExecGroup():
        z.backward(retain_graph=True)
        show.error(lambda: z.backward(retain_graph=True), "again in a group")
        show.error(lambda: module.GraphExecGroup().__enter__(), "nested", words="nested.")
    z.backward()
    show("computed", [len(order), x.grad])


def differentiating_inside(torch, show):
    def part(t):
        (grad,) = torch.autograd.grad(t.sin().sum(), t, create_graph=True)
        return grad * 2

    for early_stop in (True, False):
        x = torch.ones(2, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False, early_stop=early_stop)
        y.sum().backward()
        show("gradient", x.grad)


@pytest.mark.torch
@pytest.mark.parametrize("program", [in_order, arguments, surroundings, failures, differentiating_inside])
def test_as_pytorch(program):
    check(program)


def test_a_nested_part_keeps_nothing():
    """What a part within a part was called with is computed again too: nobody holds it meanwhile."""
    from glassgrad.utils.checkpoint import checkpoint

    inputs, before = [], engine.on_leaves

    def inner(t):
        inputs.append(weakref.ref(t))
        return t.exp()

    x = glassgrad.ones(2, requires_grad=True)
    y = checkpoint(lambda t: checkpoint(inner, t.cos(), use_reentrant=False).sin(), x, use_reentrant=False)
    assert inputs[0]() is None and engine.on_leaves > before
    y.sum().backward()
    assert len(inputs) == 3
    assert engine.on_leaves == before  # everyday walks go the short way again
