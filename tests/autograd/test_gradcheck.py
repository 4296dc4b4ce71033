"""gradcheck: passes what is right, finds what is wrong, and says so as PyTorch does."""

import pytest

import glassgrad
from tests.autograd.both import both


def made(torch, forward, backward):
    return type(
        "Made", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


def wrong_gradients(torch, show):
    check = torch.autograd.gradcheck
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    triple = made(torch, lambda ctx, t: t * 2, lambda ctx, grad: grad * 3)
    show.error(lambda: check(triple.apply, x))
    show("without raising", check(triple.apply, x, raise_exception=False))
    show("within tolerance", check(triple.apply, x, atol=10))
    nothing = made(torch, lambda ctx, t: t * 2, lambda ctx, grad: None)
    show.error(lambda: check(nothing.apply, x))
    show.error(lambda: check(lambda t, u: (t * u, triple.apply(u)), (x, x.detach().requires_grad_())))
    show.error(lambda: check(lambda t: t.detach() * t, x))
    c = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    show("complex", [check(lambda t: t * t, c), check(lambda t: t.abs(), c), check(lambda t: t.conj() * t, c)])
    show.error(lambda: check(made(torch, lambda ctx, t: t * 2, lambda ctx, grad: grad * 3).apply, c))
    show.error(lambda: torch.autograd.gradgradcheck(triple.apply, x))
    show("second order", torch.autograd.gradgradcheck(lambda t: t**3, x))


def wrong_arguments(torch, show):
    check = torch.autograd.gradcheck
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show.error(lambda: check(lambda t: t.exp(), torch.ones(2, dtype=torch.float64)))
    show.error(lambda: check(lambda t: t.exp(), (x, 3)))
    show.error(lambda: check(lambda t: t.sum(), torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()))
    show.error(lambda: check(lambda t: 3, x))
    show("numbers may stand beside", check(lambda t, n: t * n, (x, 3.0)))
    show("constant", check(lambda t: torch.tensor([1.0, 2.0], dtype=torch.float64), x))


def gradients_that_never_come(torch, show):
    check = torch.autograd.gradcheck
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)

    def forward(ctx, t):
        ctx.set_materialize_grads(False)
        return t * 2, t * 3

    def bears(ctx, g, h):
        parts = [part for part in (None if g is None else g * 2, None if h is None else h * 3) if part is not None]
        return sum(parts) if parts else None

    def refuses(ctx, g, h):
        if g is None:
            raise RuntimeError("no first gradient")
        return g * 2 + (0 if h is None else h * 3)

    def makes_up(ctx, g, h):
        return torch.ones(2, dtype=torch.float64) if g is None and h is None else bears(ctx, g, h)

    for backward in (bears, refuses, makes_up):
        show.error(lambda backward=backward: check(made(torch, forward, backward).apply, x))
    show.error(lambda: check(made(torch, forward, makes_up).apply, x, check_undefined_grad=False))


test_same_as_torch = both(wrong_gradients, wrong_arguments, gradients_that_never_come)


def test_fast_mode_finds_the_same():
    x = glassgrad.tensor([1.0, 2.0], dtype=glassgrad.float64, requires_grad=True)
    assert glassgrad.autograd.gradcheck(lambda t: t.sin() * t, x, fast_mode=True)
    wrong = made(glassgrad, lambda ctx, t: t * 2, lambda ctx, grad: grad * 3)
    with pytest.raises(RuntimeError, match="in fast mode"):
        glassgrad.autograd.gradcheck(wrong.apply, x, fast_mode=True)


def test_inputs_are_put_back():
    x = glassgrad.tensor([1.0, 2.0], dtype=glassgrad.float64, requires_grad=True)

    def fails(t):
        if t[0].item() > 1.0:
            raise ValueError("on a moved input")
        return t * 2

    with pytest.raises(ValueError):
        glassgrad.autograd.gradcheck(fails, x)
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0 or x.grad is None
