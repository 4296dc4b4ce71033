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


def several_inputs_and_outputs(torch, show):
    """As many gradients in as outputs, as many out as inputs."""

    class SumAndProduct(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a + b, a * b

        @staticmethod
        def backward(ctx, first, second):
            a, b = ctx.saved_tensors
            return first + second * b, first + second * a

    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0, 4.0], requires_grad=True)
    s, p = SumAndProduct.apply(a, b)
    show("output_nr", [s.output_nr, p.output_nr, s.grad_fn is p.grad_fn])
    (s * 10 + p).sum().backward()
    show("grads", [a.grad, b.grad])


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


def unused_output_gradient_is_zeros(torch, show):
    """An output nobody used has a gradient of noughts by default, None when asked."""

    def make(materialize):
        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materialize)
                return x * 2, x * 3

            @staticmethod
            def backward(ctx, first, second):
                show("second", second)
                return first * 2

        return Two

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for materialize in (True, False):
        make(materialize).apply(x)[0].sum().backward()
    show("x.grad", x.grad)


def mark_non_differentiable(torch, show):
    """An output declared without gradient."""

    class SortWithIndex(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            values, index = x.sort()
            other = x * 0
            ctx.mark_non_differentiable(index, other)
            ctx.save_for_backward(index)
            return values, index, other

        @staticmethod
        def backward(ctx, grad, grad_index, grad_other):
            (index,) = ctx.saved_tensors
            show("others", [grad_index, grad_other])
            return torch.zeros_like(grad).scatter(0, index, grad)

    x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, index, other = SortWithIndex.apply(x)
    show("outputs", [values, index, other])
    (values * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    show("x.grad", x.grad)


def integer_output_has_no_gradient(torch, show):
    """An integer output never requires a gradient."""

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x.long()

        @staticmethod
        def backward(ctx, grad, other):
            show("other", other)
            return grad * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, n = Both.apply(x)
    show("outputs", [y, n])
    y.sum().backward()


def mark_dirty(torch, show):
    """An input changed in place and returned."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = Double.apply(y)
    show("same", z is y)
    show("version", y._version)
    show("y", y)
    z.sum().backward()
    show("x.grad", x.grad)


def mark_dirty_on_a_leaf(torch, show):
    """A leaf that wants gradients may not be changed."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.error(lambda: Double.apply(x))


def mark_dirty_on_a_view(torch, show):
    """A view changed in place rebases its base's history."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1
    Double.apply(y[1:])
    show("y", y)
    y.sum().backward()
    show("x.grad", x.grad)


def mark_dirty_not_returned(torch, show):
    """What is marked dirty must be returned."""

    class Forgetful(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.error(lambda: Forgetful.apply(x * 1))


def input_returned_as_it_is(torch, show):
    """An input returned untouched becomes a new tensor that shares memory."""

    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 5

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Identity.apply(x)
    show("same", y is x)
    show("memory", y.data_ptr() == x.data_ptr())
    show("y", y)
    show("is view", y._is_view())
    y.sum().backward()
    show("x.grad", x.grad)


def view_returned(torch, show):
    """A view of an input: reading is fine, writing is not."""

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def backward(ctx, grad):
            return torch.cat([grad, torch.zeros(1)])

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = First.apply(x * 1)
    show("y", y)
    show.error(lambda: y.mul_(2))
    y.sum().backward()
    show("x.grad", x.grad)


def outputs_that_are_no_tensors(torch, show):
    """Other things among the outputs are handed on."""

    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, "text", 7, None

        @staticmethod
        def backward(ctx, grad, *others):
            show("others", list(others))
            return grad * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    outputs = Mixed.apply(x)
    show("outputs", outputs)
    outputs[0].sum().backward()


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


def gradient_none_for_a_tensor(torch, show):
    """None for an input that wants a gradient means none arrived."""

    class Stop(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return None

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Stop.apply(x).sum().backward()
    show("x.grad", x.grad)


def gradient_is_broadcast_back(torch, show):
    """A gradient of a broadcast shape is summed to the input's; a scalar is spread."""

    class Loose(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    x = torch.ones(3, 1, requires_grad=True)
    y = torch.ones(2, requires_grad=True)
    Loose.apply(x, y).sum().backward()
    show("grads", [x.grad, y.grad])


def gradient_changes_dtype(torch, show):
    """A gradient of another precision is cast to the input's."""

    class Precise(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.double()

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = torch.ones(2, requires_grad=True)
    Precise.apply(x).sum().backward()
    show("x.grad", x.grad)


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
