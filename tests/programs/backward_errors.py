"""What backward() and grad() refuse, and in which words."""


def freed_graph(torch, show):
    """A second walk over freed values."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    show.error(y.backward)
    show.error(lambda: torch.autograd.grad(y, x))
    show("x.grad", x.grad)


def freed_graph_by_kind(torch, show):
    """Each of these nodes saves something, so none can be walked twice."""
    actions = {
        "exp": lambda x: x.exp(),
        "sum of squares": lambda x: x.pow(2),
        "matmul": lambda x: x.reshape(2, 2) @ x.reshape(2, 2),
        "softmax": lambda x: x.softmax(0),
        "index": lambda x: x[torch.tensor([0, 1])],
        "where": lambda x: torch.where(x > 0, x, -x),
        "max": lambda x: x.max(),
        "div": lambda x: x / x,
    }
    for name, action in actions.items():
        x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        y = action(x).sum()
        y.backward()
        show.error(y.backward, name)


def no_grad_wanted(torch, show):
    """Nothing in the graph requires a gradient."""
    x = torch.tensor(2.0)
    show.error(x.backward)
    show.error((x * 3).backward)
    show.error(lambda: torch.autograd.grad(x * 3, x))


def second_root_has_no_graph(torch, show):
    """The error names the place of the root in the list."""
    x = torch.tensor(2.0, requires_grad=True)
    show.error(lambda: torch.autograd.backward([x * 2, torch.tensor(1.0)]))
    show("x.grad", x.grad)


def implicit_only_for_scalars(torch, show):
    """A vector asks for a gradient."""
    x = torch.ones(2, requires_grad=True)
    show.error((x * 2).backward)
    show.error(lambda: torch.autograd.grad(x * 2, x))
    show.error(lambda: torch.autograd.backward([x.sum(), x * 2]))


def one_element_counts_as_scalar(torch, show):
    """A tensor with one element needs no gradient, whatever its rank."""
    x = torch.ones(1, 1, requires_grad=True)
    (x * 2).backward()
    show("x.grad", x.grad)


def implicit_only_for_real(torch, show):
    """A complex scalar asks for a gradient."""
    x = torch.tensor(1.0 + 2.0j, requires_grad=True)
    show.error((x * x).backward)


def wrong_gradient_shape(torch, show):
    """The gradient must have the root's shape."""
    x = torch.ones(2, 3, requires_grad=True)
    y = x * 2
    show.error(lambda: y.backward(torch.ones(3)))
    show.error(lambda: y.backward(torch.ones(2, 3, 1)))
    show("x.grad", x.grad)


def wrong_gradient_dtype(torch, show):
    """A complex gradient does not fit a real root."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    show.error(lambda: y.backward(torch.ones(2, dtype=torch.complex64)))
    show.error(lambda: (x + 0j).backward(torch.ones(2)))


def gradient_of_another_precision(torch, show):
    """A float64 gradient for a float32 root is taken."""
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(torch.tensor([1.0, 3.0], dtype=torch.float64))
    show("x.grad", x.grad)


def gradient_is_no_tensor(torch, show):
    """Numbers and lists are not gradients."""
    x = torch.ones(2, requires_grad=True)
    show.error(lambda: (x * 2).backward(1.0))
    show.error(lambda: (x * 2).backward([1.0, 1.0]))
    show.error(lambda: torch.autograd.grad(x * 2, x, grad_outputs=3.0))


def grad_tensors_count(torch, show):
    """As many gradients as tensors."""
    x = torch.ones(2, requires_grad=True)
    show.error(lambda: torch.autograd.backward([x.sum(), x.sum()], [torch.tensor(1.0)]))
    show.error(lambda: torch.autograd.grad([x.sum()], x, [torch.tensor(1.0), torch.tensor(2.0)]))


def grad_input_without_grad(torch, show):
    """Every input must require a gradient."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0)
    show.error(lambda: torch.autograd.grad(x * y, [x, y]))
    show.error(lambda: torch.autograd.grad(x * y, y))


def grad_unused_input(torch, show):
    """An input off the path is refused."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    show.error(lambda: torch.autograd.grad(x * x, y))
    show.error(lambda: torch.autograd.grad(x * x, [x, y]))


def grad_materialize_against_unused(torch, show):
    """materialize_grads and allow_unused=False contradict each other."""
    x = torch.tensor(2.0, requires_grad=True)
    show.error(lambda: torch.autograd.grad(x * x, x, allow_unused=False, materialize_grads=True))


def grad_without_inputs(torch, show):
    """Empty lists."""
    x = torch.tensor(2.0, requires_grad=True)
    show.error(lambda: torch.autograd.grad(x * x, []))
    show.error(lambda: (x * x).backward(inputs=[]))
    show.error(lambda: torch.autograd.backward([]))


def backward_inputs_without_grad(torch, show):
    """inputs= must want gradients."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0)
    show.error(lambda: (x * y).backward(inputs=[y]))


def grad_of_numbers(torch, show):
    """Outputs and inputs must be tensors."""
    x = torch.tensor(2.0, requires_grad=True)
    show.error(lambda: torch.autograd.grad(3.0, x))
    show.error(lambda: torch.autograd.grad(x * x, 3.0))
    show.error(lambda: torch.autograd.backward(3.0))


def only_inputs_is_deprecated(torch, show):
    """only_inputs=False earns a warning."""
    x = torch.tensor(2.0, requires_grad=True)
    show("grad", show.warnings(lambda: torch.autograd.grad(x * x, x, only_inputs=False)))


def grad_variables_is_deprecated(torch, show):
    """The old name of grad_tensors still works, with a warning."""
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    show.warnings(lambda: torch.autograd.backward(x * x, grad_variables=torch.ones(2)))
    show("x.grad", x.grad)
    show.error(lambda: torch.autograd.backward(x * x, torch.ones(2), grad_variables=torch.ones(2)))


def batched_without_batch(torch, show):
    """Batched gradients need the extra dimension."""
    x = torch.ones(3, requires_grad=True)
    show.error(lambda: torch.autograd.grad(x * x, x, torch.ones(2), is_grads_batched=True))


def saved_tensor_was_changed(torch, show):
    """A saved value that was written to is noticed on the way back."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.sigmoid()
    y.add_(1)
    show.error(y.sum().backward)
    show("x.grad", x.grad)


def failed_backward_leaves_grads(torch, show):
    """Leaves reached before the failure keep their whole gradient, the others have none."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x.exp()
    z = y.sum() + (w * w).sum()
    y.mul_(2)
    show.error(z.backward)
    show("x.grad", x.grad)
    show("w.grad", w.grad)


def error_inside_a_hook(torch, show):
    """What a hook raises comes out of backward()."""

    def hook(grad):
        raise ValueError("no thanks")

    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.register_hook(hook)
    show.error(y.backward)
    show("x.grad", x.grad)


def keyword_only_arguments(torch, show):
    """Unknown keywords are Python's own error."""
    x = torch.tensor(2.0, requires_grad=True)
    show.error(lambda: (x * x).backward(keep=True), words=False)
    show.error(lambda: torch.autograd.grad(x * x, x, keep=True), words=False)
