"""gradcheck, gradgradcheck and the functions of autograd.functional."""


def _good(torch):
    """A function with a right backward."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    return Square.apply


def _wrong(torch):
    """A function whose backward is off by a factor."""

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    return Wrong.apply


def gradcheck_passes(torch, show):
    """True for right gradients."""
    torch.manual_seed(0)
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    y = torch.randn(3, dtype=torch.float64, requires_grad=True)
    show("custom", torch.autograd.gradcheck(_good(torch), (x,)))
    show("two inputs", torch.autograd.gradcheck(lambda a, b: a.sin() * b, (x, y)))
    show("bare", torch.autograd.gradcheck(torch.exp, x))
    show("many outputs", torch.autograd.gradcheck(lambda a: (a * a, a.sum()), x))


def gradcheck_mismatch(torch, show):
    """The error shows both Jacobians."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show.error(lambda: torch.autograd.gradcheck(_wrong(torch), (x,)), words="with respect to input 0,")
    show("quiet", torch.autograd.gradcheck(_wrong(torch), (x,), raise_exception=False))


def gradcheck_mismatch_in_full(torch, show):
    """Word for word, with one number."""

    class Three(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show.error(lambda: torch.autograd.gradcheck(Three.apply, (x,)), words="analytical:")


def gradcheck_needs_inputs_that_want_gradients(torch, show):
    """No input requires a gradient."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    show.error(lambda: torch.autograd.gradcheck(torch.exp, (x,)))


def gradcheck_single_precision_warns(torch, show):
    """float32 is too coarse, and gets a warning."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.warnings(lambda: torch.autograd.gradcheck(lambda x: x * 2, (x,), raise_exception=False))


def gradcheck_output_without_gradient(torch, show):
    """An output that does not depend on the inputs."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show("constant", torch.autograd.gradcheck(lambda x: torch.ones(2, dtype=torch.float64), (x,)))


def gradcheck_overlapping_input(torch, show):
    """An expanded input has elements that move together."""
    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    show.error(lambda: torch.autograd.gradcheck(lambda x: x * 2, (x.expand(3),)))


def gradcheck_backward_not_reproducible(torch, show):
    """A backward that answers differently each time."""
    count = []

    class Drunk(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            count.append(1)
            return grad * len(count)

    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    show.error(lambda: torch.autograd.gradcheck(Drunk.apply, (x,)), words=False)


def gradcheck_undefined_gradients(torch, show):
    """A backward that does not bear None for a gradient."""

    class Strict(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return torch.ones(1, dtype=torch.float64) if grad is None else grad * 2

    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    show.error(lambda: torch.autograd.gradcheck(Strict.apply, (x,)))
    show("unchecked", torch.autograd.gradcheck(Strict.apply, (x,), check_undefined_grad=False))


def gradcheck_fast_mode(torch, show):
    """One random direction instead of the whole Jacobian."""
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show("good", torch.autograd.gradcheck(_good(torch), (x,), fast_mode=True))
    show("wrong", torch.autograd.gradcheck(_wrong(torch), (x,), fast_mode=True, raise_exception=False))


def gradcheck_complex(torch, show):
    """Complex inputs."""
    x = torch.tensor([1.0 + 2.0j, 0.5 - 1.0j], dtype=torch.complex128, requires_grad=True)
    show("square", torch.autograd.gradcheck(lambda x: x * x, (x,)))
    show("abs", torch.autograd.gradcheck(lambda x: x.abs(), (x,)))


def gradcheck_tolerances(torch, show):
    """A loose tolerance lets a wrong gradient pass."""
    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    show("loose", torch.autograd.gradcheck(_wrong(torch), (x,), atol=2.0))
    show("tight", torch.autograd.gradcheck(_wrong(torch), (x,), atol=0.5, rtol=0.0, raise_exception=False))


def gradgradcheck_passes(torch, show):
    """Second derivatives too."""
    torch.manual_seed(0)
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    show("custom", torch.autograd.gradgradcheck(_good(torch), (x,)))
    show("softmax", torch.autograd.gradgradcheck(lambda x: x.softmax(0), (x,)))
    show("given", torch.autograd.gradgradcheck(torch.sin, (x,), torch.ones(3, dtype=torch.float64, requires_grad=True)))


def gradgradcheck_finds_a_wrong_second(torch, show):
    """A backward that hides its input from the graph."""

    class Hides(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x.detach() ** 2

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    show("first", torch.autograd.gradcheck(Hides.apply, (x,)))
    show("second", torch.autograd.gradgradcheck(Hides.apply, (x,), raise_exception=False))


def jacobian(torch, show):
    """One input and one output, and tuples of them."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0])
    functional = torch.autograd.functional
    show("single", functional.jacobian(lambda x: x * x.sum(), x))
    show("inputs", functional.jacobian(lambda x, y: x * y, (x, y)))
    show("outputs", functional.jacobian(lambda x: (x.sum(), x * x), x))
    show("both", functional.jacobian(lambda x, y: (x * y, x.sum()), (x, y)))


def jacobian_vectorized(torch, show):
    """vectorize=True gives the same."""
    x = torch.tensor([1.0, 2.0])
    show("jacobian", torch.autograd.functional.jacobian(lambda x: x * x.sum(), x, vectorize=True))


def jacobian_create_graph(torch, show):
    """create_graph gives a Jacobian that can be differentiated."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    J = torch.autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    show("requires_grad", J.requires_grad)
    show("derivative", torch.autograd.grad(J.sum(), x))
    show("plain", torch.autograd.functional.jacobian(lambda x: x**3, x).requires_grad)


def jacobian_strict(torch, show):
    """strict=True objects to outputs that do not depend on the input."""
    x = torch.tensor([1.0, 2.0])
    functional = torch.autograd.functional
    show("zeros", functional.jacobian(lambda x: torch.ones(2), x))
    show.error(lambda: functional.jacobian(lambda x: torch.ones(2), x, strict=True))
    show.error(lambda: functional.jacobian(lambda x, y: x * 2, (x, x.clone()), strict=True))


def hessian(torch, show):
    """Of one input, and of two."""
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0])
    functional = torch.autograd.functional
    show("single", functional.hessian(lambda x: (x**3).sum(), x))
    show("pair", functional.hessian(lambda x, y: (x * y * y).sum(), (x, y)))


def hessian_of_a_vector(torch, show):
    """The function must give one number."""
    x = torch.tensor([1.0, 2.0])
    show.error(lambda: torch.autograd.functional.hessian(lambda x: x**2, x))
    show.error(lambda: torch.autograd.functional.hessian(lambda x: (x.sum(), x.sum()), x))


def vector_jacobian_product(torch, show):
    """vjp gives the outputs and the product."""
    x = torch.tensor([1.0, 2.0])
    functional = torch.autograd.functional
    show("vjp", functional.vjp(lambda x: x**2, x, torch.tensor([1.0, 10.0])))
    show("scalar", functional.vjp(lambda x: (x**2).sum(), x))
    show("pair", functional.vjp(lambda x, y: x * y, (x, x + 1), torch.ones(2)))


def vector_jacobian_product_errors(torch, show):
    """v is missing, or of another shape."""
    x = torch.tensor([1.0, 2.0])
    functional = torch.autograd.functional
    show.error(lambda: functional.vjp(lambda x: x**2, x))
    show.error(lambda: functional.vjp(lambda x: x**2, x, torch.ones(3)))
    show.error(lambda: functional.vjp(lambda x: 3.0, x, torch.ones(2)))
    show.error(lambda: functional.vjp(lambda x: x**2, 3.0, torch.ones(2)))


def jacobian_vector_product(torch, show):
    """jvp by two backward passes."""
    x = torch.tensor([1.0, 2.0])
    functional = torch.autograd.functional
    show("jvp", functional.jvp(lambda x: x**2, x, torch.tensor([1.0, 10.0])))
    show("pair", functional.jvp(lambda x, y: x * y, (x, x + 1), (torch.ones(2), torch.ones(2))))
    show.error(lambda: functional.jvp(lambda x: x**2, x))
    show.error(lambda: functional.jvp(lambda x: x**2, x, torch.ones(3)))


def vector_hessian_product(torch, show):
    """vhp and hvp give the same for smooth functions."""
    x = torch.tensor([1.0, 2.0])
    v = torch.tensor([1.0, -1.0])
    functional = torch.autograd.functional
    show("vhp", functional.vhp(lambda x: (x**3).sum() + x.prod(), x, v))
    show("hvp", functional.hvp(lambda x: (x**3).sum() + x.prod(), x, v))
    show.error(lambda: functional.vhp(lambda x: x**3, x, v))
    show.error(lambda: functional.hvp(lambda x: (x**3).sum(), x))


def functional_leaves_inputs_alone(torch, show):
    """.grad stays empty and requires_grad unchanged."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.functional.hessian(lambda x: (x**3).sum(), x)
    show("x.grad", x.grad)
    y = torch.tensor([1.0, 2.0])
    torch.autograd.functional.jacobian(lambda y: y * 2, y)
    show("y", y)
