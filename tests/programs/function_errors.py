"""What custom functions are not allowed, and in which words they are told."""


def wrong_number_of_gradients(torch, show):
    """Too few and too many."""

    def make(*gradients):
        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a, b):
                return a + b

            @staticmethod
            def backward(ctx, grad):
                return tuple(grad * g for g in gradients)

        return Two

    a = torch.tensor(1.0, requires_grad=True)
    b = torch.tensor(2.0, requires_grad=True)
    show.error(make(1).apply(a, b).backward)
    show.error(make(1, 2, 3).apply(a, b).backward)
    show("a.grad", a.grad)


def extra_gradients_of_none(torch, show):
    """Too many are allowed while they are None."""

    class Padded(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None, None

    a = torch.tensor(1.0, requires_grad=True)
    Padded.apply(a).backward()
    show("a.grad", a.grad)


def gradient_of_wrong_shape(torch, show):
    """A gradient that cannot be summed to the input's shape."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, grad):
            return torch.ones(3, 5)

    a = torch.ones(2, requires_grad=True)
    show.error(Wrong.apply(a).sum().backward)


def gradient_of_wrong_type(torch, show):
    """A gradient that is a number, a string, a list."""

    def make(value):
        class Wrong(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2

            @staticmethod
            def backward(ctx, grad):
                return value

        return Wrong

    a = torch.ones(2, requires_grad=True)
    for value in (3.0, "one", [1.0, 2.0]):
        show.error(make(value).apply(a).sum().backward)


def gradient_for_a_number(torch, show):
    """An input that is no tensor must get None."""

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad, grad

    x = torch.ones(2, requires_grad=True)
    show.error(Scale.apply(x, 3).sum().backward)


def forward_returns_no_tensor(torch, show):
    """An output that is no tensor is handed on as it is."""

    def make(value):
        class Plain(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return value

            @staticmethod
            def backward(ctx, grad):
                return grad

        return Plain

    x = torch.ones(2, requires_grad=True)
    for value in (None, 3, [x.detach()], ()):
        show.error(lambda value=value: make(value).apply(x))


def forward_missing(torch, show):
    """A function without a forward."""

    class Empty(torch.autograd.Function):
        pass

    show.error(lambda: Empty.apply(torch.ones(2, requires_grad=True)))


def backward_missing(torch, show):
    """A function without a backward fails when it is needed."""

    class Forward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = torch.ones(2, requires_grad=True)
    y = Forward.apply(x)
    show("y", y)
    show.error(y.sum().backward)


def backward_and_vjp(torch, show):
    """backward and vjp are two names for one thing: only one may be given."""

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad

        @staticmethod
        def vjp(ctx, grad):
            return grad

    x = torch.ones(2, requires_grad=True)
    show.error(Both.apply(x).sum().backward)


def vjp_instead_of_backward(torch, show):
    """vjp alone does."""

    class Only(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, grad):
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    Only.apply(x).sum().backward()
    show("x.grad", x.grad)


def instance_is_deprecated(torch, show):
    """Making an instance, and calling it."""

    class Old(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    instance = show.warnings(lambda: Old())
    show.error(lambda: instance(torch.ones(2)))


def methods_that_are_not_static(torch, show):
    """The old style, with methods on self, still works: self is the context."""

    class Old(torch.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, grad):
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    show.error(lambda: Old.apply(x).sum().backward())


def save_for_backward_takes_tensors(torch, show):
    """Only tensors and None can be saved so."""

    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad

    show.error(lambda: Saves.apply(torch.ones(2, requires_grad=True)))


def save_for_backward_twice(torch, show):
    """The last call counts."""

    class Saves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_backward(x * 2, x * 3)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            show("saved", list(ctx.saved_tensors))
            return grad

    Saves.apply(torch.ones(2, requires_grad=True)).sum().backward()


def mark_wrong_things(torch, show):
    """mark_dirty and mark_non_differentiable want tensors of the right kind."""

    def make(mark):
        class Marks(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                mark(ctx, x, y)
                return y

            @staticmethod
            def backward(ctx, grad):
                return grad

        return Marks

    x = torch.ones(2, requires_grad=True)
    show.error(lambda: make(lambda ctx, x, y: ctx.mark_dirty(3)).apply(x))
    show.error(lambda: make(lambda ctx, x, y: ctx.mark_non_differentiable(3)).apply(x))
    show.error(lambda: make(lambda ctx, x, y: ctx.mark_dirty(y)).apply(x))
    show.error(lambda: make(lambda ctx, x, y: ctx.mark_non_differentiable(x)).apply(x))


def forward_raises(torch, show):
    """What forward raises comes out of apply, and grad mode is as before."""

    class Angry(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            raise KeyError("no")

    show.error(lambda: Angry.apply(torch.ones(2, requires_grad=True)))
    show("recording", torch.is_grad_enabled())


def backward_raises(torch, show):
    """What backward raises comes out of backward()."""

    class Angry(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("no")

    x = torch.ones(2, requires_grad=True)
    show.error(Angry.apply(x).sum().backward)
    show("recording", torch.is_grad_enabled())


def saved_tensors_in_forward(torch, show):
    """Reading saved_tensors before the function is done."""

    class Early(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            show.error(lambda: len(ctx.saved_tensors))
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad

    show("y", Early.apply(torch.ones(2, requires_grad=True)))


def multi_output_view_is_written(torch, show):
    """Several views returned at once may not be written to."""

    class Halves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2], x[2:]

        @staticmethod
        def backward(ctx, first, second):
            return torch.cat([first, second])

    x = torch.arange(4.0).requires_grad_()
    a, _b = Halves.apply(x * 1)
    show.error(lambda: a.mul_(2))


def non_differentiable_second_gradient(torch, show):
    """A backward that leaves the graph (through numpy) gives a constant."""

    class Numpy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.from_numpy(x.detach().numpy() ** 2)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return torch.from_numpy(2 * x.detach().numpy() * grad.detach().numpy())

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(Numpy.apply(x).sum(), x, create_graph=True)
    show("g", g)


def an_overwritten_output_is_named(torch, show):
    """Which of several saved outputs was written."""

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            outputs = x * 2, x.exp()
            ctx.save_for_backward(*outputs)
            return outputs

        @staticmethod
        def backward(ctx, first, second):
            a, b = ctx.saved_tensors
            return first * a + second * b

    for number in (0, 1):
        outputs = Both.apply(torch.ones(2, requires_grad=True))
        outputs[number].mul_(2)
        show.error(lambda outputs=outputs: sum(outputs).sum().backward())
