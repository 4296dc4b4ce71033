"""In-place writes inside graphs: what they do to history, and which are refused."""


def inplace_changes_history(torch, show):
    """An in-place operation gives its tensor a new node; the old one is its input."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    old = y.grad_fn
    show("same", y.add_(1) is y)
    show("y", y)
    show("next", y.grad_fn.next_functions[0][0] is old)
    y.sum().backward()
    show("x.grad", x.grad)


def plain_tensor_joins_a_graph(torch, show):
    """A plain tensor written to with a tracked value becomes tracked."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(2)
    y.add_(x)
    show("y", [y, y.is_leaf])
    y.mul_(x)
    y.sum().backward()
    show("x.grad", x.grad)


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


def copyslices_from_a_view(torch, show):
    """Writing to a view rewrites its base's history."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v = y[1:]
    v.mul_(10)
    show("y", y)
    show("v", v)
    show.graph("y graph", y)
    show.graph("v graph", v)
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    show("x.grad", x.grad)


def view_gradient_after_its_write(torch, show):
    """The view itself can be differentiated after the write."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v = y[1:]
    v.mul_(x[:2])
    v.sum().backward()
    show("x.grad", x.grad)


def other_views_see_the_write(torch, show):
    """A second view rereads its history from the rewritten base."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v, w = y[1:], y[:2]
    v.mul_(10)
    show("w", w)
    show.graph("w graph", w)
    w.sum().backward()
    show("x.grad", x.grad)


def base_write_seen_from_a_view(torch, show):
    """A view made before the base was written to."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v = y[1:]
    y.mul_(10)
    show("v", v)
    show.graph("v graph", v)
    v.sum().backward()
    show("x.grad", x.grad)


def view_of_a_view_written(torch, show):
    """The rewriting goes to the base, through both steps."""
    x = torch.arange(6.0).requires_grad_()
    y = x * 1
    v = y.view(2, 3)
    w = v[:, 1]
    w.mul_(7)
    show.graph("y graph", y)
    show.graph("v graph", v)
    show.graph("w graph", w)
    (y * y).sum().backward()
    show("x.grad", x.grad)


def strided_chain_written(torch, show):
    """Transpose, slice with a step, select: one write."""
    x = torch.arange(12.0).requires_grad_()
    y = x * 1
    v = y.view(3, 4).t()[::2][1]
    v.copy_(torch.tensor([1.0, 2.0, 3.0]))
    show("y", y)
    show.graph("v graph", v)
    y.pow(2).sum().backward()
    show("x.grad", x.grad)


def written_twice(torch, show):
    """Two writes, two CopySlices."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y[0].mul_(5)
    y[1:].add_(x[:2])
    show.graph("graph", y)
    (y * y).sum().backward()
    show("x.grad", x.grad)


def setitem_with_a_tracked_value(torch, show):
    """y[i] = v gives v a gradient and y none there."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor(5.0, requires_grad=True)
    y = x * 2
    y[1] = w * 3
    show("y", y)
    show.graph("graph", y)
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    show("x.grad", x.grad)
    show("w.grad", w.grad)


def setitem_into_a_plain_tensor(torch, show):
    """A buffer filled with tracked rows."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = torch.zeros(3, 2)
    for i in range(3):
        out[i] = x * i
    show("out", out)
    show.graph("graph", out)
    (out * torch.arange(6.0).reshape(3, 2)).sum().backward()
    show("x.grad", x.grad)


def setitem_broadcasts_the_value(torch, show):
    """The value's gradient is summed over what it was spread to."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(3, 2)
    y[1:] = w
    (y * torch.arange(6.0).reshape(3, 2)).sum().backward()
    show("w.grad", w.grad)


def setitem_with_number(torch, show):
    """A number cuts the gradient of what it covers."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y[::2] = 7
    show("y", y)
    show.graph("graph", y)
    y.sum().backward()
    show("x.grad", x.grad)


def setitem_with_mask(torch, show):
    """A mask and an index tensor end in IndexPutBackward0."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y[x > 1.5] = 0.0
    show("mask", y)
    show.graph("mask graph", y)
    z = x * 2
    z[torch.tensor([0, 2])] = x[:2] * 3
    show("index", z)
    show.graph("index graph", z)
    (y + z).sum().backward()
    show("x.grad", x.grad)


def setitem_with_mixed_key(torch, show):
    """A slice and an index tensor together."""
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    y[1:, torch.tensor([0, 2])] = x[:1, :2]
    show("y", y)
    show.graph("graph", y)
    (y * y).sum().backward()
    show("x.grad", x.grad)


def setitem_of_itself(torch, show):
    """A row assigned from another row of the same tensor."""
    x = torch.arange(4.0).reshape(2, 2).requires_grad_()
    y = x * 1
    y[0] = y[1]
    y.sum().backward()
    show("y", y)
    show("x.grad", x.grad)


def augmented_setitem(torch, show):
    """y[i] += v reads, adds and writes back."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y[1:] += x[:2]
    show("y", y)
    show.graph("graph", y)
    y.sum().backward()
    show("x.grad", x.grad)


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


def inplace_chain(torch, show):
    """Many in-place steps that save nothing."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = x.clone()
    y.add_(1).mul_(3).sub_(x).div_(2).neg_()
    show("y", y)
    show.graph("graph", y)
    y.sum().backward()
    show("x.grad", x.grad)


def inplace_that_saves_its_result(torch, show):
    """sigmoid_, exp_, tanh_ and relu_ save what they wrote."""
    for name in ("sigmoid_", "exp_", "tanh_", "relu_", "sqrt_", "reciprocal_"):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        getattr(y, name)()
        y.sum().backward()
        show(name, x.grad)


def inplace_that_saves_its_input(torch, show):
    """pow_, sin_, log_ and abs_ save what was there before."""
    for name in ("sin_", "log_", "abs_", "square_", "cos_"):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        getattr(y, name)()
        show(name, y)
        y.sum().backward()
        show(f"{name} grad", x.grad)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 1).pow_(3).sum().backward()
    show("pow_", x.grad)


def multiply_by_itself_in_place(torch, show):
    """y *= y needs the old value."""
    x = torch.tensor([3.0, 2.0], requires_grad=True)
    y = x * 1
    y.mul_(y)
    show("y", y)
    show.error(y.sum().backward)
    show("x.grad", x.grad)


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


def copy_between_dtypes(torch, show):
    """copy_ casts, and its gradient is cast back."""
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    y = torch.zeros(2, dtype=torch.float64)
    y.copy_(x)
    show("y", y)
    show.graph("graph", y)
    (y * 3).sum().backward()
    show("x.grad", x.grad)


def fill_with_tracked_value(torch, show):
    """fill_ with a 0-d tensor passes it the sum."""
    w = torch.tensor(2.0, requires_grad=True)
    y = torch.zeros(3)
    y.fill_(w)
    show("y", y)
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    show("w.grad", w.grad)
    show.error(lambda: torch.zeros(3).fill_(torch.ones(2)))


def zero_cuts_the_graph(torch, show):
    """zero_ leaves a node that passes noughts."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.zero_()
    show("y", y)
    show.graph("graph", y)
    y.sum().backward()
    show("x.grad", x.grad)


def masked_and_indexed_writes(torch, show):
    """masked_fill_, index_fill_, index_copy_, scatter_ and friends, in a graph."""
    index = torch.tensor([0, 2])
    writes = {
        "masked_fill_": lambda y, x: y.masked_fill_(x > 1.5, 9.0),
        "masked_scatter_": lambda y, x: y.masked_scatter_(x > 1.5, x * 5),
        "index_fill_": lambda y, x: y.index_fill_(0, index, 4.0),
        "index_copy_": lambda y, x: y.index_copy_(0, index, x[:2] * 3),
        "index_add_": lambda y, x: y.index_add_(0, index, x[:2] * 3, alpha=2),
        "index_put_": lambda y, x: y.index_put_((index,), x[:2] * 3),
        "index_put_ accumulate": lambda y, x: y.index_put_((index,), x[:2] * 3, accumulate=True),
        "scatter_": lambda y, x: y.scatter_(0, index, x[:2] * 3),
        "scatter_ value": lambda y, x: y.scatter_(0, index, 3.0),
        "scatter_add_": lambda y, x: y.scatter_add_(0, index, x[:2] * 3),
        "clamp_": lambda y, x: y.clamp_(1.5, 4.5),
        "lerp_": lambda y, x: y.lerp_(x * 5, 0.25),
        "addcmul_": lambda y, x: y.addcmul_(x, x, value=2),
        "tril_": lambda y, x: y.view(1, 3).tril_(),
    }
    for name, write in writes.items():
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 2
        write(y, x)
        show(name, y)
        (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
        show(f"{name} grad", x.grad)


def requires_grad_of_inplace_on_plain_view(torch, show):
    """A tracked value written into a view makes its base tracked."""
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.zeros(4)
    v = y[1:3]
    show("before", [y.requires_grad, v.requires_grad])
    v.mul_(x)
    v.add_(x)
    show("after", [y, v])
    y.sum().backward()
    show("x.grad", x.grad)


def write_to_detached_twin(torch, show):
    """A write to the detached twin is seen, unrecorded, and counted."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.detach().mul_(2)
    show("y", y)
    show.error(y.sum().backward)


def transposing_in_place(torch, show):
    """t_, transpose_, squeeze_ and unsqueeze_ change the shape of the tensor itself."""
    x = torch.arange(6.0).reshape(1, 2, 3).requires_grad_()
    y = x * 1
    y.squeeze_(0)
    y.t_()
    y.unsqueeze_(1)
    y.transpose_(0, 2)
    show("y", y)
    show.graph("graph", y)
    (y * torch.arange(6.0).reshape(2, 1, 3)).sum().backward()
    show("x.grad", x.grad)


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
