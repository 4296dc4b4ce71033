"""Gradients of gradients: values to third order, and the tools that need them."""


def _chain(torch, function, x, order):
    """The derivatives of a function of one number, up to an order."""
    values, y = [], function(x)
    for _ in range(order):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        values.append(y.detach())
    return values


def power(torch, show):
    """x**4 three times."""
    x = torch.tensor(2.0, requires_grad=True)
    show("derivatives", _chain(torch, lambda x: x**4, x, 3))


def exponential(torch, show):
    """exp is its own derivative."""
    x = torch.tensor(0.5, requires_grad=True, dtype=torch.float64)
    show("derivatives", _chain(torch, lambda x: (x * x).exp(), x, 4))


def sine(torch, show):
    """sin goes round in four steps."""
    x = torch.tensor(0.5, requires_grad=True, dtype=torch.float64)
    show("derivatives", _chain(torch, torch.sin, x, 4))


def smooth_functions(torch, show):
    """Second and third derivatives of the common smooth functions."""
    for name in ("tanh", "sigmoid", "log", "sqrt", "reciprocal", "exp", "atan", "log1p", "softplus", "silu", "gelu"):
        function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
        x = torch.tensor([0.3, 1.2], requires_grad=True, dtype=torch.float64)
        show(name, _chain(torch, function, x, 3))


def division(torch, show):
    """A quotient's mixed second derivatives."""
    a = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor(2.0, requires_grad=True)
    da, db = torch.autograd.grad(a / b, [a, b], create_graph=True)
    show("daa dab", torch.autograd.grad(da, [a, b], allow_unused=True, retain_graph=True))
    show("dba dbb", torch.autograd.grad(db, [a, b]))


def matrix_product(torch, show):
    """The second derivative of a quadratic form is its matrix, doubled."""
    torch.manual_seed(0)
    A = torch.randn(3, 3, dtype=torch.float64)
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(x @ A @ x, x, create_graph=True)
    rows = [torch.autograd.grad(first[i], x, retain_graph=True)[0] for i in range(3)]
    show("hessian", torch.stack(rows))


def gradient_penalty(torch, show):
    """The norm of an input gradient, differentiated for the weights."""
    torch.manual_seed(1)
    w = torch.randn(4, 3, requires_grad=True, dtype=torch.float64)
    x = torch.randn(2, 3, requires_grad=True, dtype=torch.float64)
    y = torch.tanh(x @ w.t()).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    ((g.norm(dim=1) - 1) ** 2).mean().backward()
    show("w.grad", w.grad)
    show("x.grad", x.grad)


def hessian_vector_product(torch, show):
    """A gradient of a gradient times a vector."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True, dtype=torch.float64)
    v = torch.tensor([1.0, 0.0, -1.0], dtype=torch.float64)
    (g,) = torch.autograd.grad((x**3).sum() + x.prod(), x, create_graph=True)
    show("Hv", torch.autograd.grad(g, x, v))


def double_backward_into_grad(torch, show):
    """backward through a gradient adds to .grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    g.sum().backward()
    show("x.grad", x.grad)


def gradient_with_respect_to_grad_output(torch, show):
    """What is handed in as gradient can itself be differentiated (twice backward gives forward)."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad(x.exp(), x, u, create_graph=True)
    show("forward product", torch.autograd.grad(g, u, torch.tensor([1.0, 0.0])))


def first_gradient_is_constant(torch, show):
    """The gradient of a linear function has no second."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((3 * x).sum(), x, create_graph=True)
    show("g", g)
    show.error(lambda: torch.autograd.grad(g.sum(), x))


def relu_second_order(torch, show):
    """The kink has second derivative nought."""
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((torch.relu(x) ** 2).sum(), x, create_graph=True)
    show("g", g.detach())
    show("gg", torch.autograd.grad(g.sum(), x))


def softmax_second_order(torch, show):
    """softmax and log_softmax, twice."""
    for name in ("softmax", "log_softmax"):
        x = torch.tensor([0.1, 0.7, -0.4], requires_grad=True, dtype=torch.float64)
        y = getattr(torch, name)(x, 0)
        (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        show(name, torch.autograd.grad((g * g).sum(), x))


def cross_entropy_second_order(torch, show):
    """The loss of a classifier, twice."""
    x = torch.tensor([[0.1, 0.7, -0.4], [1.0, 0.0, 2.0]], requires_grad=True, dtype=torch.float64)
    loss = torch.nn.functional.cross_entropy(x, torch.tensor([0, 2]))
    (g,) = torch.autograd.grad(loss, x, create_graph=True)
    show("g", g.detach())
    show("gg", torch.autograd.grad((g * g).sum(), x))


def indexing_second_order(torch, show):
    """Index, gather and scatter pass gradients of gradients."""
    x = torch.tensor([0.5, 1.5, 2.5], requires_grad=True, dtype=torch.float64)
    index = torch.tensor([0, 2, 2])
    for name, y in {"index": x[index], "gather": x.gather(0, index), "select": x[1:].flip(0)}.items():
        (g,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
        show(name, torch.autograd.grad((g**2).sum(), x))


def reductions_second_order(torch, show):
    """Product, variance, norm and logsumexp, twice."""
    for name in ("prod", "var", "std", "norm", "mean"):
        x = torch.tensor([0.5, 1.5, 2.5], requires_grad=True, dtype=torch.float64)
        y = getattr(x, name)()
        (g,) = torch.autograd.grad(y * y, x, create_graph=True)
        show(name, torch.autograd.grad((g**2).sum(), x))


def second_order_with_inplace(torch, show):
    """An in-place step inside a graph that is differentiated twice."""
    x = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)
    y = x * x
    y.mul_(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    show("g", g.detach())
    show("gg", torch.autograd.grad(g.sum(), x))


def second_order_through_copyslices(torch, show):
    """A write into a view, differentiated twice."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True, dtype=torch.float64)
    y = x * 1
    y[1:] = x[:2] ** 2
    y[0].mul_(x[2])
    (g,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
    show("g", g.detach())
    show("gg", torch.autograd.grad(g.sum(), x))


def saved_gradient_was_changed(torch, show):
    """A gradient kept by the second graph must not be written to."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x.exp() * x).sum(), x, create_graph=True)
    z = (g * g).sum()
    g.detach().zero_()
    show.error(z.backward, words="modified by an inplace operation")


def newton_step(torch, show):
    """Newton's method by two gradients a step."""
    x = torch.tensor(2.0, requires_grad=True, dtype=torch.float64)
    for _ in range(5):
        (g,) = torch.autograd.grad(x**3 - 2 * x, x, create_graph=True)
        (h,) = torch.autograd.grad(g, x)
        with torch.no_grad():
            x -= g / h
    show("x", x)


def learning_to_learn(torch, show):
    """A gradient step inside the graph, differentiated for its rate."""
    rate = torch.tensor(0.1, requires_grad=True)
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    for _ in range(3):
        (g,) = torch.autograd.grad((w**2).sum(), w, create_graph=True)
        w = w - rate * g
    (w**2).sum().backward()
    show("rate.grad", rate.grad)
