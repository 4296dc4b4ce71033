"""Custom Functions: views and written inputs as outputs, marks, needs, what their nodes keep."""

import gc
import weakref

import pytest

import glassgrad
import glassgrad as torch
from glassgrad.autograd.function import Call
from glassgrad.core.record import Record
from tests.autograd.both import both


def make(torch, forward, backward=lambda ctx, *grads: grads[0]):
    return type(
        "Made", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


def outputs_that_are_views(torch, show):
    """Each is a view of its input, with the Function's history; a write through it is refused."""
    kinds = {
        "view": lambda ctx, t: t.view(2, 2),
        "itself": lambda ctx, t: t,
        "part": lambda ctx, t: t[1:],
        "part of a result": lambda ctx, t: (t * 2)[1:],
        "detached": lambda ctx, t: t.detach(),
    }
    for wants in (True, False):
        x = torch.ones(4, requires_grad=wants)
        z = x * 1
        for name, forward in kinds.items():
            y = make(torch, forward).apply(z)
            show(name, [y, y._is_view(), y._base])
            show.error(lambda y=y: y.add_(1), name)
            show.error(lambda y=y: y[:1].mul_(2), name)
            show.error(lambda z=z: z.mul_(2), name)
            show.error(lambda y=y: y.grad_fn, name)
            with torch.no_grad():
                y = make(torch, forward).apply(z)
            show.error(lambda y=y: y.add_(1), name)


def several_views(torch, show):
    x = torch.ones(4, requires_grad=True)
    halves = make(torch, lambda ctx, t: (t[:2], t[2:]), lambda ctx, g, h: torch.cat([g, h]))
    a, b = halves.apply(x * 1)
    show("halves", [a, b, a._is_view()])
    show.error(lambda: a.add_(1))
    with_itself = make(torch, lambda ctx, t: (t, t * 2), lambda ctx, g, h: g + 2 * h)
    c, d = with_itself.apply(x * 1)
    show.error(lambda: c.add_(1))
    (a.sum() * 2 + b.sum() + c.sum() + d.sum()).backward()
    show("x.grad", x.grad)


def written_inputs(torch, show):
    def forward(ctx, t):
        ctx.mark_dirty(t)
        return t.mul_(2)

    written = make(torch, forward, lambda ctx, grad: grad * 2)
    x = torch.ones(4, requires_grad=True)
    base = x * 1
    part = base[1:]
    y = written.apply(part)
    show("the same", [y is part, y, base, base._version])
    base.sum().backward()
    show("x.grad", x.grad)
    show.error(lambda: written.apply(x))
    show.error(lambda: written.apply(x[1:]))
    show.error(lambda: written.apply((x * 1).unbind()[0]))
    with torch.no_grad():
        show("unrecorded", written.apply(x))
    show("version", x._version)

    def with_another(ctx, t):
        ctx.mark_dirty(t)
        return t.mul_(2), t * 3

    show.error(lambda: make(torch, with_another, lambda ctx, g, h: g).apply((x * 1)[1:]))


def marks(torch, show):
    x = torch.ones(2, requires_grad=True)
    show.error(lambda: make(torch, lambda ctx, t: ctx.mark_dirty(3) or t).apply(x))
    show.error(lambda: make(torch, lambda ctx, t: ctx.mark_non_differentiable(3) or t * 1).apply(x))
    show.error(lambda: make(torch, lambda ctx, t: ctx.mark_dirty(t.detach()) or t * 1).apply(x))
    show.error(lambda: make(torch, lambda ctx, t: ctx.save_for_backward([t]) or t * 1).apply(x))

    def own(ctx, t):
        made = t * 1
        ctx.mark_dirty(made)
        return made

    show.warnings(lambda: make(torch, own).apply(x))
    seen = []

    def look(ctx, grad):
        seen.append([ctx.to_save, ctx.dirty_tensors, ctx.non_differentiable, ctx.needs_input_grad])
        return grad

    make(torch, lambda ctx, t: ctx.save_for_backward(t) or t * 1, look).apply(x).sum().backward()
    show("after forward", seen)


def outputs_that_are_no_tensors(torch, show):
    x = torch.ones(2, requires_grad=True)
    for outputs in (lambda t: 3, lambda t: (t * 2, 3), lambda t: None, lambda t: [t * 2], lambda t: (), lambda t: "a"):
        show.error(lambda outputs=outputs: make(torch, lambda ctx, t: outputs(t)).apply(x))


test_same_as_torch = both(outputs_that_are_views, several_views, written_inputs, marks, outputs_that_are_no_tensors)


def test_saved_outputs_hold_no_cycle():
    class Exp(glassgrad.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x.exp()
            ctx.save_for_backward(out, x)
            return out

        @staticmethod
        def backward(ctx, grad):
            out, x = ctx.saved_tensors
            return grad * out

    x = glassgrad.ones(2, requires_grad=True)
    y = Exp.apply(x)
    node = weakref.ref(y.grad_fn)
    saved, given = y.grad_fn.saved_tensors
    assert saved.grad_fn is y.grad_fn
    assert given is x
    del y, saved
    assert node() is None


def test_the_node_is_the_context():
    class Scale(glassgrad.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    y = Scale.apply(glassgrad.ones(2, requires_grad=True), 3.0)
    assert y.grad_fn.factor == 3.0
    assert y.grad_fn.name() == "ScaleBackward"
    assert y.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert isinstance(y.grad_fn, glassgrad.autograd.graph.Node)


@pytest.mark.parametrize("name", sorted({*Record.__slots__, *Call.__slots__} - {"__weakref__"}))
def test_names_of_the_engines_are_free_for_what_a_user_keeps(name):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            setattr(ctx, name, (factor, "kept"))
            ctx.save_for_backward(x)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            factor, kept = getattr(ctx, name)
            assert kept == "kept"
            return grad * factor * x, None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Scaled.apply(x, 3.0)
    node = y.grad_fn
    assert getattr(node, name) == (3.0, "kept")
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 6.0]
    del y
    assert node.next_functions[0][0].variable is x


def test_a_context_is_let_go_of_with_its_graph():
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            contexts.append(weakref.ref(ctx))
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad

    contexts = []
    gc.disable()
    try:
        y = Same.apply(torch.ones(2, requires_grad=True))
        record = weakref.ref(y._edge)
        del y
        assert contexts[0]() is None and record() is None
    finally:
        gc.enable()
