"""A backward call inside a backward call: in hooks, custom Functions and checkpoints, as deep as the stack allows."""

import pytest

import glassgrad as torch
from glassgrad.autograd import Function, graph


class Inner(Function):
    """x squared, whose backward builds a graph of its own and differentiates that."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            own = x.detach().requires_grad_()
            (own * own * grad).sum().backward()
        return own.grad


def test_backward_inside_a_custom_function():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([2.0, 2.0, 2.0], requires_grad=True)
    y = Inner.apply(x * w)
    (y * w + x).sum().backward()
    # y = x^2 w^2, so d/dx (y w + x) = 2 x w^3 + 1 and d/dw = 3 x^2 w^2
    assert x.grad.tolist() == [17.0, 33.0, 49.0]
    assert w.grad.tolist() == [12.0, 48.0, 108.0]


@pytest.mark.parametrize("depth", [1, 5, 20])
def test_functions_within_functions(depth):
    """Each level's backward differentiates a graph that holds the next level."""

    def level(n):
        class Level(Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2.0**n

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                with torch.enable_grad():
                    own = x.detach().requires_grad_()
                    inside = level(n - 1)(own) if n else own
                    (inside * grad).sum().backward()
                return own.grad * (2.0 if n else 1.0)

        return Level.apply

    x = torch.ones(2, requires_grad=True)
    (level(depth)(x) * 1.0).sum().backward()
    assert x.grad.tolist() == [2.0**depth] * 2
    assert graph.current_task() == -1


def test_backward_of_another_graph_in_a_hook():
    other = torch.ones(2, requires_grad=True)
    x = torch.ones(2, requires_grad=True)
    y = x * 3.0

    def hook(grad):
        with torch.enable_grad():
            (other * grad).sum().backward()
        return grad + other.grad

    y.register_hook(hook)
    (y * 2.0 + y).sum().backward()
    assert other.grad.tolist() == [3.0, 3.0]
    assert x.grad.tolist() == [18.0, 18.0]


def test_backward_of_the_same_graph_in_a_hook():
    """The part below is walked twice, the inner walk first; each adds what it should."""
    x = torch.ones(2, requires_grad=True)
    below = x * 2.0
    above = below * 5.0
    seen = []

    def hook(grad):
        if not seen:
            seen.append(graph.current_task())
            with torch.enable_grad():
                below.sum().backward(retain_graph=True)
            seen.append(x.grad.tolist())

    above.register_hook(hook)
    above.sum().backward()
    assert seen[1] == [2.0, 2.0]
    assert x.grad.tolist() == [12.0, 12.0]


def test_grad_in_a_hook_of_the_lean_walk_of_the_same_records():
    """The inner walk gathers elsewhere: the slots that the outer one fills stay as they are."""
    x = torch.ones(2, requires_grad=True)
    a = x * 2.0
    b = a * 3.0
    c = a * 5.0

    def inner(grad):
        with torch.enable_grad():
            return torch.autograd.grad((a * 7.0).sum(), x, retain_graph=True)[0]

    c.register_hook(inner)
    (b + c).sum().backward()  # c is younger: its hook runs before b hands anything to a
    assert x.grad.tolist() == [(14.0 * 5 + 3) * 2] * 2


def test_a_hook_that_raises_inside_an_inner_walk():
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0

    def fails(grad):
        raise ValueError

    def inner(grad):
        z = torch.ones(2, requires_grad=True)
        with torch.enable_grad():
            out = z * 1.0
            out.register_hook(fails)
            with pytest.raises(ValueError):
                out.sum().backward()

    y.register_hook(inner)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert graph.current_task() == -1


def test_hooks_run_without_recording():
    """As PyTorch's: unless create_graph asks for it."""
    seen = []
    x = torch.ones(2, requires_grad=True)
    y = x * x
    y.register_hook(lambda grad: seen.append(torch.is_grad_enabled()))
    y.grad_fn.register_hook(lambda into, outof: seen.append(torch.is_grad_enabled()))
    x.register_hook(lambda grad: seen.append(torch.is_grad_enabled()))
    y.sum().backward(retain_graph=True)
    assert seen == [False] * 3
    torch.autograd.grad(y.sum(), x, create_graph=True)
    assert seen[3:] == [True] * 3
    with torch.no_grad():
        y.sum()
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints_within_checkpoints(reentrant):
    from glassgrad.utils.checkpoint import checkpoint

    def inside(t):
        return checkpoint(lambda u: (u * u).sin(), t, use_reentrant=reentrant)

    x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
    y = checkpoint(lambda t: inside(t) * inside(t.exp()), x * 1.0, use_reentrant=reentrant)
    y.sum().backward()
    z = x.detach().requires_grad_()
    ((z * z).sin() * (z.exp() * z.exp()).sin()).sum().backward()
    assert x.grad.tolist() == pytest.approx(z.grad.tolist(), rel=1e-12)


def test_registering_and_removing_hooks_while_they_run():
    x = torch.ones(2, requires_grad=True)
    y = x * 2.0
    calls = []

    def once(grad):
        calls.append("once")
        handle.remove()
        y.register_hook(lambda g: calls.append("later"))

    handle = y.register_hook(once)
    y.sum().backward(retain_graph=True)
    first = list(calls)
    y.sum().backward()
    assert first == ["once"]
    assert calls == ["once", "later"]
