"""In-place writes inside graphs: what they do to values, history and gradients."""


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
    """zero_ leaves a node that passes zeros."""
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


def second_gradients_through_a_write(torch, show):
    """What a write keeps of the values before it is no longer the tensor's: later writes do not concern it."""
    for values in (lambda x: x * 1, lambda x: x.sin(), lambda x: torch.addcmul(x, x, x, value=-1.5)):
        x = torch.tensor([-1.5, 2.0], requires_grad=True)
        y = values(x)
        y *= x
        (first,) = torch.autograd.grad(y.abs().sum(), x, create_graph=True)
        first.abs().sum().backward()
        show("gradients", [first, x.grad])
        y = values(x)
        y[y > 1] = y[1]
        y.masked_fill_(y < 0, y[1] * 1)
        (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        first.abs().sum().backward()
        show("gradients where one value was written", [first, x.grad])
