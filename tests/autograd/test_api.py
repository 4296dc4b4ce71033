"""``backward`` and ``grad``: what they refuse, in PyTorch's words, and what they give in the odd cases."""

import pytest

import glassgrad
from tests.autograd.both import both


def refusals_of_backward(torch, show):
    x = torch.ones(2, requires_grad=True)
    z = x * 2
    show.error(lambda: z.backward())
    show.error(lambda: z.backward(torch.ones(3)))
    show.error(lambda: z.backward(2.0))
    show.error(lambda: torch.ones(2).backward())
    show.error(lambda: torch.ones(()).backward())
    show.error(lambda: torch.autograd.backward([z.sum(), torch.ones(())]))
    show.error(lambda: torch.autograd.backward([z.sum(), z.sum()], [None]))
    show.error(lambda: torch.autograd.backward(z.sum(), inputs=[]))
    show.error(lambda: torch.autograd.backward(z.sum(), inputs=[torch.ones(2)]))
    show.error(lambda: torch.autograd.backward([]))
    show("x.grad", x.grad)


def refusals_of_grad(torch, show):
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    z = x * 2
    grad = torch.autograd.grad
    show.error(lambda: grad(z.sum(), torch.ones(2)))
    show.error(lambda: grad(z.sum(), other))
    show.error(lambda: grad(z.sum(), [x, other], materialize_grads=True, allow_unused=False))
    show.error(lambda: grad(z, x))
    show.error(lambda: grad(z, x, torch.ones(3)))
    show.error(lambda: grad([z, z], x, [torch.ones(2)]))
    show.error(lambda: grad(torch.ones(2), x))
    show.error(lambda: grad(z.sum(), []))
    show.error(lambda: grad(3, x))
    show.error(lambda: grad(z.sum(), 3))
    show.error(lambda: grad(z.sum(), x, torch.ones(1)))
    show("x.grad", x.grad)


def answers_of_grad(torch, show):
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    grad = torch.autograd.grad
    show("unused", grad((x * 2).sum(), [x, other], allow_unused=True))
    show("zeros", grad((x * 2).sum(), [x, other], materialize_grads=True))
    show("graph", grad((x * x).sum(), x, create_graph=True))
    z = x * 2
    show("inner and leaf", grad(z.sum(), [z, x]))
    show("batched", grad(x * 2, x, torch.eye(2), is_grads_batched=True))
    show("weights", grad(x * 2, x, torch.tensor([3.0, 4.0], dtype=torch.float64)))
    c = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    show.error(lambda: (c * 1).sum().backward())
    show("complex", grad(c * c, c, torch.tensor([1j, 2.0])))


def chosen_inputs(torch, show):
    """backward(inputs=...) fills these, runs inner ones themselves, and calls hooks with what is wanted."""
    x, w = torch.ones(2, requires_grad=True), torch.full((2,), 3.0, requires_grad=True)
    z = x * w
    seen = []
    z.grad_fn.register_hook(lambda into, outof: seen.append(into))
    z.sum().backward(inputs=[w], retain_graph=True)
    show("w only", [x.grad, w.grad])
    z.sum().backward(inputs=[z], retain_graph=True)
    show("inner", [z.grad, x.grad, z.retains_grad])
    z.sum().backward(inputs=[z, x])
    show("freed", [z.grad, x.grad, w.grad])
    show.error(lambda: z.sum().backward(inputs=[z]))
    show("hooks", seen)


def gradients_that_never_come(torch, show):
    """None goes through the graph as PyTorch sends it: hooks see it, custom backwards get zeros."""

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    class Seen(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(("backward", grad))
            return grad

    seen = []
    x = torch.ones(2, requires_grad=True)
    y = Seen.apply(x)
    y.register_hook(lambda grad: seen.append(("y", grad)))
    y.retain_grad()
    z = y * 3
    z.register_hook(lambda grad: seen.append(("z", grad)))
    z.grad_fn.register_prehook(lambda outof: seen.append(("before", outof)))
    z.grad_fn.register_hook(lambda into, outof: seen.append(("after", into, outof)))
    x.register_hook(lambda grad: seen.append(("x", grad)))
    (Nothing.apply(z).sum() + x.sum()).backward()
    show("seen", seen)
    show("gradients", [x.grad, y.grad])


def batched_gradients(torch, show):
    x = torch.arange(3.0, requires_grad=True)
    y = x * x
    show("jacobian", torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True))
    show("sum", torch.autograd.grad(y.sum(), x, torch.tensor([1.0, 2.0]), is_grads_batched=True, retain_graph=True))
    show.error(lambda: torch.autograd.grad(y, x, torch.ones(2, 2), is_grads_batched=True))


def old_variables(torch, show):
    from warnings import catch_warnings

    x = torch.ones(2, requires_grad=True)
    variable = torch.autograd.Variable
    for make in (
        lambda: variable(x), lambda: variable(x * 2), lambda: variable(torch.ones(2), requires_grad=True),
        lambda: variable(torch.ones(2), True), lambda: variable(3), lambda: variable(torch.tensor([1]), True),
    ):  # fmt: skip
        show.error(make)
    with catch_warnings():
        show.warnings(lambda: variable(torch.ones(1), volatile=True))
    show("is one", [isinstance(x, variable), isinstance(3, variable)])
    y = torch.ones(2)
    twin = variable(y)
    y.add_(1)
    show("shared", [twin, twin._version])


def wrong_calls(torch, show):
    x = torch.ones(2, requires_grad=True)
    show.error(lambda: x.sum().backward(1, 2, 3, 4, 5))
    show.error(lambda: x.sum().backward(foo=1))
    show.error(lambda: torch.autograd.grad([x.sum(), 3], x))
    show.error(lambda: torch.autograd.backward([x.sum(), None]))
    show.error(lambda: torch.autograd.grad(x.sum(), None))
    show.error(lambda: torch.autograd.backward(None))


test_same_as_torch = both(
    refusals_of_backward,
    refusals_of_grad,
    answers_of_grad,
    chosen_inputs,
    gradients_that_never_come,
    batched_gradients,
    old_variables,
    wrong_calls,
)


def test_gradients_given_out_are_nobody_elses():
    """The same array may reach several inputs; each answer is a tensor of its own, and writable."""
    x, y = (glassgrad.ones(2, requires_grad=True) for _ in range(2))
    a, b = glassgrad.autograd.grad((x + y).sum(), [x, y])
    a.add_(1)
    assert b.tolist() == [1.0, 1.0]
    first, again = glassgrad.autograd.grad((x * 2).sum(), [x, x])
    first.zero_()
    assert again.tolist() == [2.0, 2.0]


def test_the_seed_is_not_written_to():
    x = glassgrad.ones(2, requires_grad=True)
    seed = glassgrad.ones(2)
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda grad: grad.mul(3))
    y.backward(seed)
    x.grad.mul_(5)
    assert seed.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_recording_is_as_before_afterwards(create_graph):
    x = glassgrad.ones(2, requires_grad=True)
    with glassgrad.no_grad():
        with glassgrad.enable_grad():
            y = (x * x).sum()
        glassgrad.autograd.grad(y, x, create_graph=create_graph)
        assert not glassgrad.is_grad_enabled()
    assert glassgrad.is_grad_enabled()
