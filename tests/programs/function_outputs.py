"""Functions with a hand-written backward: what they may return, forward and backward."""


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


def unused_output_gradient_is_zeros(torch, show):
    """An output nobody used has a gradient of zeros by default, None when asked."""

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


def a_subclass_given_back(torch, show):
    """What is given back as it came keeps its type; what is a parameter comes as a tensor."""

    class Kind(torch.Tensor):
        pass

    class Same(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x)
        backward = staticmethod(lambda ctx, grad: grad * 2)

    for x in (torch.ones(2).as_subclass(Kind), Kind([1.0, 2.0]).requires_grad_(), torch.nn.Parameter(torch.ones(2))):
        for given in (x, x * 1):
            out = Same.apply(given)
            with torch.no_grad():
                quiet = Same.apply(given)
            show("types", [type(out).__name__, type(quiet).__name__, out.requires_grad, out._is_view()])
