"""Functions with a hand-written backward: every feature of the context."""


def forward_and_backward(torch, show):
    """The plain case, with a saved input."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Square.apply(x)
    show("y", y)
    show.graph("graph", y)
    show("type", type(y.grad_fn).__name__)
    y.sum().backward()
    show("x.grad", x.grad)


def forward_runs_without_recording(torch, show):
    """Inside forward nothing is recorded, and is_grad_enabled is False."""
    seen = []

    class Peek(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            seen.append((torch.is_grad_enabled(), y.requires_grad, x.requires_grad))
            return y

        @staticmethod
        def backward(ctx, grad):
            seen.append((torch.is_grad_enabled(), grad.requires_grad))
            return grad * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Peek.apply(x).sum().backward()
    show("seen", seen)


def twice_differentiable(torch, show):
    """A backward made of operations can be differentiated."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad

    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(Cube.apply(x), x, create_graph=True)
    show("g", g.detach())
    show("gg", torch.autograd.grad(g, x))


def result_saved(torch, show):
    """A result may be saved, and is the function's own output on the way back."""

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            show("saved", [y.requires_grad, None if y.grad_fn is None else y.grad_fn.name()])
            return grad * y

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    Exp.apply(x).sum().backward()
    show("x.grad", x.grad)
    (g,) = torch.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    show("gg", torch.autograd.grad(g.sum(), x))


def arguments_that_are_no_tensors(torch, show):
    """Numbers, strings and None are passed through; their gradient is None."""

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, mode, extra=None):
            ctx.factor = factor
            show("arguments", [factor, mode, extra])
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None, None, None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Scale.apply(x, 3, "loud", None).sum().backward()
    show("x.grad", x.grad)
    Scale.apply(x, 3, "loud", "more").sum().backward()
    show("x.grad", x.grad)
    show.error(lambda: Scale.apply(x, factor=3, mode="loud"))


def tensors_in_lists_are_not_seen(torch, show):
    """A tensor inside a list is no input of the node."""

    class Total(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tensors):
            return tensors[0] + tensors[1]

        @staticmethod
        def backward(ctx, grad):
            return None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show("y", Total.apply([x, x]))


def needs_input_grad(torch, show):
    """The context tells which inputs want a gradient."""
    seen = []

    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, c):
            seen.append(ctx.needs_input_grad)
            ctx.save_for_backward(a, b)
            return a * b * c

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.needs_input_grad)
            a, b = ctx.saved_tensors
            return grad * b * 2, None, None

    a = torch.tensor(2.0, requires_grad=True)
    Mul.apply(a, torch.tensor(3.0), 2).backward()
    show("seen", seen)
    show("a.grad", a.grad)


def setup_context(torch, show):
    """Forward without a context, and a second method that fills it."""

    class Power(torch.autograd.Function):
        @staticmethod
        def forward(x, n):
            return x**n

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, n = inputs
            show("output", output)
            ctx.save_for_backward(x)
            ctx.n = n

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.n * x ** (ctx.n - 1), None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Power.apply(x, 3).sum().backward()
    show("x.grad", x.grad)


def once_differentiable(torch, show):
    """A backward that cannot be differentiated says so when tried."""

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            show("recording", torch.is_grad_enabled())
            return grad * 2 * x

    x = torch.tensor(2.0, requires_grad=True)
    y = Once.apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    show("g", g)
    start = torch.tensor(1.0, requires_grad=True)
    (g,) = torch.autograd.grad(Once.apply(x), x, start, create_graph=True)
    show("g", g.detach())
    show.error(g.backward)


def attributes_on_the_context(torch, show):
    """Whatever is hung on the context is there on the way back, and on grad_fn."""

    class Tagged(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.tag = "blue"
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            show("tag", ctx.tag)
            return grad

    x = torch.tensor(2.0, requires_grad=True)
    y = Tagged.apply(x)
    show("on grad_fn", y.grad_fn.tag)
    y.backward()


def saved_tensors_on_grad_fn(torch, show):
    """grad_fn.saved_tensors before and after backward."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            x, nothing = ctx.saved_tensors
            show("nothing", nothing)
            return grad * 2 * x

    x = torch.tensor(2.0, requires_grad=True)
    y = Square.apply(x)
    show("before", y.grad_fn.saved_tensors)
    y.backward()
    show.error(lambda: y.grad_fn.saved_tensors)
    show.error(y.backward)


def saved_input_was_changed(torch, show):
    """A saved input that was written to is noticed."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = Square.apply(y)
    y.add_(1)
    show.error(z.sum().backward)


def function_without_gradients_wanted(torch, show):
    """No input wants gradients: no node."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad

    show("plain", Square.apply(torch.ones(2)))
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        show("no_grad", Square.apply(x))


def function_calls_autograd_inside(torch, show):
    """A backward may run a graph of its own."""

    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                x = x.detach().requires_grad_()
                return torch.autograd.grad(x.sin(), x, grad)

    x = torch.tensor([0.0, 1.0], requires_grad=True)
    Inner.apply(x).sum().backward()
    show("x.grad", x.grad)


def straight_through(torch, show):
    """Rounding forward, identity backward."""

    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.tensor([0.4, 1.6], requires_grad=True)
    (Round.apply(x) * x).sum().backward()
    show("x.grad", x.grad)


def ctx_is_the_node(torch, show):
    """The context in backward is the grad_fn."""
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            seen.append((ctx is node, ctx.name(), len(ctx.next_functions)))
            return grad

    x = torch.tensor(1.0, requires_grad=True)
    y = Look.apply(x)
    node = y.grad_fn
    y.backward()
    show("seen", seen)


def nested_functions(torch, show):
    """A custom function used inside another's forward leaves no trace."""

    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Outer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return Inner.apply(x) + 1

        @staticmethod
        def backward(ctx, grad):
            return grad * 7

    x = torch.tensor(1.0, requires_grad=True)
    y = Outer.apply(x)
    show.graph("graph", y)
    y.backward()
    show("x.grad", x.grad)
