"""In-place writes that are refused at once, or found out on the way back."""


def leaf_refusal(torch, show):
    """A leaf that wants gradients may not be written to."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.error(lambda: x.add_(1))
    show.error(lambda: x.__setitem__(0, 5.0))
    show.error(lambda: x.zero_())
    show.error(lambda: x.copy_(torch.ones(2)))
    show("x", [x, x._version])


def leaf_refusal_by_operator(torch, show):
    """x += 1 says the same, and x is still x."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def act():
        y = x
        y += 1

    show.error(act)
    show("x", x)


def view_of_a_leaf_refusal(torch, show):
    """Neither may a view of one."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.error(lambda: x[0].add_(1))
    show.error(lambda: x.view(2, 1).mul_(2))
    show.error(lambda: x.detach_().requires_grad)
    show("x", x)


def view_made_under_no_grad_refusal(torch, show):
    """A view made under no_grad and written to outside."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y[0]
    show.error(lambda: v.mul_(2))
    show("y", y)


def view_of_leaf_made_under_no_grad(torch, show):
    """The same for a leaf's view."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        v = x[0]
        v.mul_(2)
    show("x", x)
    show.error(lambda: v.mul_(2))


def multi_output_view_refusals(torch, show):
    """Views that come several at once may not be written to."""
    x = torch.arange(4.0).requires_grad_()
    for name, views in {
        "unbind": lambda y: y.unbind(),
        "split": lambda y: y.split(2),
        "chunk": lambda y: y.chunk(2),
        "split sizes": lambda y: y.split([1, 3]),
        "iteration": lambda y: list(y),
    }.items():
        show.error(lambda views=views: views(x * 1)[0].mul_(2), name)
    show("tensor_split", (x * 1).tensor_split(2)[0].mul_(2))


def multi_output_views_without_graph(torch, show):
    """Without gradients wanted they may."""
    x = torch.arange(4.0)
    a, b = x.split(2)
    a.mul_(10)
    b.add_(1)
    show("x", x)


def base_written_under_multi_output_view(torch, show):
    """Writing to the base afterwards makes the views unusable."""
    x = torch.arange(4.0).requires_grad_()
    y = x * 1
    a, _b = y.split(2)
    y.mul_(2)
    show.error(lambda: a.grad_fn)
    show.error(lambda: a + 1)


def expanded_refusal(torch, show):
    """Elements that share memory cannot be written one by one."""
    x = torch.ones(1, 3).expand(2, 3)
    show.error(lambda: x.add_(1))
    show.error(lambda: x.copy_(torch.zeros(2, 3)))
    show.error(lambda: x.__setitem__(0, 0.0))
    show("fill", torch.ones(3).expand(2, 3)[0].fill_(5.0))


def overlapping_copy(torch, show):
    """Source and target that partly share memory."""
    x = torch.arange(5.0)
    show.error(lambda: x[1:].add_(x[:-1]))
    show.error(lambda: torch.add(x[1:], 1, out=x[:-1]))
    show("same", x.add_(x))


def saved_leaf_is_changed(torch, show):
    """A saved leaf changed under no_grad."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    y = w * w
    with torch.no_grad():
        w.add_(1)
    show.error(y.sum().backward)


def saved_constant_is_changed(torch, show):
    """A saved constant changed anywhere."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0])
    y = x * c
    c.add_(1)
    show.error(y.sum().backward)


def saved_view_is_changed_through_its_base(torch, show):
    """The counter is shared, so a write elsewhere in the memory counts too."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.arange(6.0)
    y = x * c[:2]
    c[5] = 100
    show.error(y.sum().backward)


def saved_result_is_changed(torch, show):
    """Operations that save their result notice a write to it."""
    for name in ("exp", "tanh", "sigmoid", "sqrt", "reciprocal", "relu", "softmax", "rsqrt", "tan"):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.softmax(0) if name == "softmax" else getattr(x, name)()
        y.mul_(2)
        show.error(y.sum().backward, name)


def saved_input_is_changed(torch, show):
    """Operations that save their input notice a write to it."""
    for name in ("sin", "cos", "log", "square", "abs", "atan", "prod", "std", "norm", "erf"):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        z = getattr(y, name)()
        y.mul_(2)
        show.error(z.sum().backward, name)


def unsaved_is_changed(torch, show):
    """Operations that save nothing do not mind."""
    for name in ("sum", "mean", "neg", "cumsum"):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        z = y.cumsum(0) if name == "cumsum" else getattr(y, name)()
        y.mul_(2)
        z.sum().backward()
        show(name, x.grad)


def matmul_input_is_changed(torch, show):
    """The error names the shape."""
    torch.manual_seed(0)
    x = torch.randn(2, 3, requires_grad=True)
    w = torch.randn(3, 4, requires_grad=True)
    h = x * 1
    y = h @ w
    h.zero_()
    show.error(y.sum().backward)
    show("grads", [x.grad, w.grad])


def double_precision_in_the_message(torch, show):
    """The error names the dtype."""
    x = torch.tensor([[1.0, 2.0]], dtype=torch.float64, requires_grad=True)
    y = x.exp()
    y.add_(1)
    show.error(y.sum().backward)


def half_precision_in_the_message(torch, show):
    """Also half precision's."""
    for dtype in (torch.float16, torch.bfloat16, torch.complex64):
        x = torch.ones(2, dtype=dtype, requires_grad=True)
        y = x.exp()
        y.mul_(2)
        show.error(y.sum().abs().backward, str(dtype))


def two_writes_in_the_message(torch, show):
    """The error counts the writes."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    z = y * 2
    y.add_(1)
    y.add_(1)
    y.add_(1)
    show.error(y.sum().backward)
    z.sum()


def shape_may_not_grow(torch, show):
    """An in-place result must fit."""
    x = torch.ones(3)
    show.error(lambda: x.add_(torch.ones(2, 3)))
    show.error(lambda: x.mul_(torch.ones(2)))
    show.error(lambda: x.copy_(torch.ones(2)))
    show.error(lambda: x.__setitem__(slice(0, 2), torch.ones(3)))
    show("x", [x, x._version])


def dtype_may_not_grow(torch, show):
    """Nor its dtype change."""
    x = torch.ones(3, dtype=torch.int64)
    show.error(lambda: x.add_(1.5))
    show.error(lambda: x.div_(2))
    show.error(lambda: x.add_(torch.ones(3)))
    show.error(lambda: x.mul_(1j))
    show("x", [x, x._version])
    show("narrowing", torch.ones(3, dtype=torch.float32).add_(torch.ones(3, dtype=torch.float64)))


def failed_write_changes_nothing(torch, show):
    """After a refusal the tensor has its old node, values and version."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    node = y.grad_fn
    show.error(lambda: y.add_(torch.ones(3)))
    show("node", [y.grad_fn is node, y._version])
    y.sum().backward()
    show("x.grad", x.grad)


def write_to_detached_twin(torch, show):
    """A write to the detached twin is seen, unrecorded, and counted."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.detach().mul_(2)
    show("y", y)
    show.error(y.sum().backward)


def unsupported_writes(torch, show):
    """Operations whose result has no room in the input."""
    x = torch.arange(4.0)
    show.error(lambda: x.logical_not_())
    show.error(lambda: torch.arange(4).sqrt_())
    show.error(lambda: torch.arange(4).exp_())
    show.error(lambda: torch.ones(2, dtype=torch.bool).add_(1))
    show.error(lambda: torch.ones(2, dtype=torch.bool).neg_())
    show("x", x)


def resize_in_graph(torch, show):
    """A tensor that wants gradients cannot be resized."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    show.error(lambda: x.resize_(3))
    y = torch.ones(2)
    show("y", y.resize_(1))
    show("numpy", torch.ones(4).resize_(2, 2))
