"""Jacobians, Hessians and their products: values, nesting, and PyTorch's refusals, strict mode included."""

import pytest

import glassgrad
from tests.autograd.both import both


def exp(x):
    return x.exp().sum()


def product(x, y):
    return (x * y).sum()


def square(x):
    return x**2


def matrices(torch, show):
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0])
    for name in ("jacobian", "hessian"):
        function = getattr(torch.autograd.functional, name)
        show(name, function(exp, x))
        show(name, function(product, (x, y)))
        show(name, function(exp, x, create_graph=True))
        show(name, function(lambda x: torch.ones(()), x))
        show(name, function(exp, x, vectorize=True))
        for wrong in (
            lambda: function(lambda x: 3, x),  # noqa: B023
            lambda: function(exp, 3),  # noqa: B023
            lambda: function(exp, (x, 3)),  # noqa: B023
            lambda: function(lambda x: torch.ones(()), x, strict=True),  # noqa: B023
            lambda: function(lambda x: y.sum() * 1, x, strict=True),  # noqa: B023
            lambda: function(lambda x: (square(x).sum(), 1), x),  # noqa: B023
            lambda: function(exp, x, vectorize=True, strict=True),  # noqa: B023
            lambda: function(lambda x: x.sum(), x, strict=True),  # noqa: B023
        ):
            show.error(wrong, name)
    jacobian = torch.autograd.functional.jacobian
    show("several outputs", jacobian(lambda x: (x * 2, x.sum()), x))
    show("several of both", jacobian(lambda x, y: (x * y, y * 2), (x, y)))
    show.error(lambda: jacobian(square, x, strategy="forward-mode"))
    show.error(lambda: jacobian(square, x, strategy="sideways"))
    show.error(lambda: torch.autograd.functional.hessian(square, x))


def products(torch, show):
    x, y, one = torch.tensor([1.0, 2.0]), torch.tensor([3.0]), torch.ones(2)
    for name in ("vjp", "jvp", "vhp", "hvp"):
        function = getattr(torch.autograd.functional, name)
        of = square if name in ("vjp", "jvp") else exp
        for call in (
            lambda: function(of, x),  # noqa: B023
            lambda: function(of, x, one),  # noqa: B023
            lambda: function(of, x, torch.ones(3)),  # noqa: B023
            lambda: function(of, x, (one, one)),  # noqa: B023
            lambda: function(product, (x, y), (one, torch.ones(1))),  # noqa: B023
            lambda: function(of, x, one, create_graph=True),  # noqa: B023
            lambda: function(of, x, one, strict=True),  # noqa: B023
            lambda: function(lambda x: torch.ones(2), x, one, strict=True),  # noqa: B023
            lambda: function(lambda x: 3, x),  # noqa: B023
            lambda: function(of, (x, y), one),  # noqa: B023
        ):
            show.error(call, name)


test_same_as_torch = both(matrices, products)


def test_results_can_be_differentiated_again():
    x = glassgrad.tensor([1.0, 2.0], dtype=glassgrad.float64, requires_grad=True)
    matrix = glassgrad.autograd.functional.jacobian(lambda t: t**3, x, create_graph=True)
    matrix.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_inputs_are_left_alone():
    x = glassgrad.tensor([1.0, 2.0], requires_grad=True)
    glassgrad.autograd.functional.hessian(exp, x)
    assert x.grad is None
    assert x.requires_grad and x.is_leaf


def test_products_agree_with_the_matrices():
    functional = glassgrad.autograd.functional
    x = glassgrad.tensor([0.3, -0.7, 1.1], dtype=glassgrad.float64)
    v = glassgrad.tensor([1.0, 2.0, -1.0], dtype=glassgrad.float64)

    def function(t):
        return (t.sin() * t.flip(0).exp()).cumsum(0)

    jacobian = functional.jacobian(function, x)
    assert functional.vjp(function, x, v)[1].tolist() == pytest.approx((v @ jacobian).tolist())
    assert functional.jvp(function, x, v)[1].tolist() == pytest.approx((jacobian @ v).tolist())
    hessian = functional.hessian(lambda t: function(t).sum(), x)
    for product_ in (functional.vhp, functional.hvp):
        assert product_(lambda t: function(t).sum(), x, v)[1].tolist() == pytest.approx((hessian @ v).tolist())
