"""What backward() and grad() accept, and what they leave in .grad."""


def scalar_backward(torch, show):
    """A scalar needs no gradient to start from."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    result = (x * x).sum().backward()
    show("returns", result)
    show("x.grad", x.grad)


def gradients_accumulate_in_place(torch, show):
    """A second backward adds into the same .grad object."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    show("same object", x.grad is first)
    show("sum", first)
    show("version", first._version)


def create_graph_replaces_grad(torch, show):
    """With create_graph the sum is a new tensor, and the old .grad keeps its values."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    first = x.grad
    show.warnings(lambda: (x * x * x).sum().backward(create_graph=True))
    show("same object", x.grad is first)
    show("old", first)
    show("new", x.grad)


def create_graph_first_grad(torch, show):
    """The first gradient under create_graph is a recorded copy."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x**3).sum().backward(create_graph=True)
    show("x.grad", x.grad)


def create_graph_constant_gradient(torch, show):
    """A gradient that depends on nothing is not recorded."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward(create_graph=True)
    show("x.grad", x.grad)


def gradient_argument(torch, show):
    """A vector's backward multiplies the handed gradient from the left."""
    x = torch.tensor([1.0, 2.0, 8.0], requires_grad=True)
    y = x * x
    y.backward(torch.tensor([1.0, 0.1, 0.01]))
    show("x.grad", x.grad)


def gradient_does_not_alias(torch, show):
    """The leaf's gradient may be the tensor that was handed in, or a copy of it."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    start = torch.tensor([1.0, 10.0])
    y = x.view(2)
    y.backward(start)
    start.mul_(100)
    show("x.grad", x.grad)


def leaves_do_not_share_a_gradient(torch, show):
    """Two leaves under one sum own separate gradients."""
    p = torch.ones(3, requires_grad=True)
    q = torch.ones(3, requires_grad=True)
    (p + q).sum().backward()
    p.grad.mul_(5)
    show("p.grad", p.grad)
    show("q.grad", q.grad)
    show("writable", p.grad.is_contiguous())


def backward_of_a_leaf(torch, show):
    """A leaf's own backward fills its .grad with ones."""
    x = torch.tensor(3.0, requires_grad=True)
    x.backward()
    show("once", x.grad)
    x.backward(torch.tensor(5.0))
    show("twice", x.grad)


def backward_list(torch, show):
    """autograd.backward starts from many tensors, some with a gradient and some without."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.backward([x.sum(), x * x], [None, torch.tensor([1.0, 10.0])])
    show("x.grad", x.grad)


def backward_single_tensors(torch, show):
    """autograd.backward takes bare tensors as well as sequences."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.backward(x * x, torch.tensor([1.0, 10.0]))
    show("x.grad", x.grad)


def same_root_twice(torch, show):
    """A root named twice counts twice."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    torch.autograd.backward([y, y])
    show("x.grad", x.grad)


def root_inside_another_graph(torch, show):
    """A root below another root gets its own gradient and the one from above."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    z = y * 3
    torch.autograd.backward([z, y])
    show("x.grad", x.grad)


def inputs_limit_accumulation(torch, show):
    """inputs= names the only leaves to be filled."""
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    (a * b).backward(inputs=[a])
    show("a.grad", a.grad)
    show("b.grad", b.grad)


def inputs_single_tensor(torch, show):
    """inputs= takes a bare tensor."""
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    (a * b).backward(inputs=b)
    show("grads", [a.grad, b.grad])


def inputs_may_be_inner(torch, show):
    """inputs= accepts a tensor that is no leaf: its .grad is filled."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    (y * 3).backward(inputs=[y])
    show("y.grad", y.grad)
    show("x.grad", x.grad)
    show("retains", y.retains_grad)


def inputs_inner_and_leaf(torch, show):
    """An inner tensor and a leaf beneath it are both filled."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    (y * 3).backward(inputs=[x, y])
    show("y.grad", y.grad)
    show("x.grad", x.grad)


def retain_graph_twice(torch, show):
    """A kept graph gives the same gradient again."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x.exp() * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    show("x.grad", x.grad)


def graph_without_saved_values(torch, show):
    """Nodes that saved nothing may be walked any number of times."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    show("x.grad", x.grad)


def shared_part_is_freed(torch, show):
    """Two losses share a part of the graph; the second walk meets freed values."""
    x = torch.tensor(2.0, requires_grad=True)
    shared = x * x
    first, second = shared * 2, shared * 3
    first.backward()
    show.error(second.backward)
    show("x.grad", x.grad)


def grad_returns_tuple(torch, show):
    """grad gives a tuple and touches no .grad."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    show("both", torch.autograd.grad(x * y, [x, y]))
    show("bare", torch.autograd.grad(x * y, x))
    show(".grad", [x.grad, y.grad])


def grad_of_inner_tensor(torch, show):
    """grad reaches a tensor in the middle of the graph."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    z = (y * 3).sum()
    show("dz/dy", torch.autograd.grad(z, y, retain_graph=True))
    show("dz/dx", torch.autograd.grad(z, x))


def grad_of_itself(torch, show):
    """The gradient of a tensor for itself is what was handed in."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    show("leaf", torch.autograd.grad(x, x))
    show("inner", torch.autograd.grad(y, y, grad_outputs=torch.tensor(7.0)))


def grad_same_input_twice(torch, show):
    """An input named twice is answered twice."""
    x = torch.tensor(2.0, requires_grad=True)
    show("grads", torch.autograd.grad(x * x, [x, x]))


def grad_many_outputs(torch, show):
    """Several outputs are summed, each weighted by its grad_output."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    weights = [torch.tensor([1.0, 2.0]), None]
    show("grad", torch.autograd.grad([x * x, (3 * x).sum()], x, grad_outputs=weights))


def grad_allow_unused(torch, show):
    """An input off the path is None, or zeros when asked."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    other = torch.tensor([3.0, 4.0], requires_grad=True)
    y = (x * x).sum()
    show("None", torch.autograd.grad(y, [x, other], allow_unused=True, retain_graph=True))
    show("zeros", torch.autograd.grad(y, [x, other], materialize_grads=True))


def grad_of_unused_middle(torch, show):
    """materialize_grads gives zeros of the input's shape and dtype."""
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    y = torch.ones(2, requires_grad=True)
    show("grads", torch.autograd.grad(y.sum(), [x, y], materialize_grads=True))


def grad_batched(torch, show):
    """is_grads_batched walks once per row of grad_outputs."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    show("rows", torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True))


def grad_batched_through_matmul(torch, show):
    """Batched gradients pass a matrix product and a nonlinearity."""
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    w = torch.tensor([[1.0, -1.0], [0.5, 2.0]])
    y = torch.sigmoid(x @ w).sum(0)
    show("rows", torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True))


def grad_keeps_graph_under_create_graph(torch, show):
    """create_graph keeps the graph unless told otherwise."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (again,) = torch.autograd.grad(y, x)
    show("first", first)
    show("again", again)


def create_graph_without_retain(torch, show):
    """create_graph with retain_graph=False frees what was saved."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x.exp()
    (first,) = torch.autograd.grad(y, x, create_graph=True, retain_graph=False)
    show("first", first)
    show.error(lambda: torch.autograd.grad(first, x))


def gradient_through_reused_tensor(torch, show):
    """Every use of a tensor adds to its gradient."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x + x * 3 + x
    z = y * y * y
    z.backward()
    show("x.grad", x.grad)


def gradient_dtype_follows_leaf(torch, show):
    """A float32 leaf under a float64 computation gets a float32 gradient."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([1.0, 2.0], dtype=torch.float64)
    (x * y).sum().backward()
    show("x.grad", x.grad)


def broadcast_gradients_are_summed(torch, show):
    """A broadcast input gets a gradient of its own shape."""
    a = torch.ones(3, 1, requires_grad=True)
    b = torch.ones(4, requires_grad=True)
    c = torch.tensor(2.0, requires_grad=True)
    (a * b * c).sum().backward()
    show("grads", [a.grad, b.grad, c.grad])


def gradient_layout_follows_leaf(torch, show):
    """The gradient of a transposed leaf has the leaf's strides."""
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    (x * torch.ones(3, 2)).sum().backward()
    show("x.grad", x.grad)
    show("stride", x.grad.stride())


def grad_mode_inside_backward(torch, show):
    """Hooks run without recording, unless create_graph."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.register_hook(lambda grad: seen.append((torch.is_grad_enabled(), grad.requires_grad)))
    y.backward(retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    show("seen", seen)


def backward_inside_a_hook(torch, show):
    """A hook may run a backward pass of its own, once it asks for recording."""

    def hook(grad):
        show.error(lambda: (other * other).backward())
        with torch.enable_grad():
            (other * other).backward()

    x = torch.tensor(2.0, requires_grad=True)
    other = torch.tensor(5.0, requires_grad=True)
    y = x * x
    y.register_hook(hook)
    (y * 3).backward()
    show("x.grad", x.grad)
    show("other.grad", other.grad)


def deep_chain(torch, show):
    """Thousands of nodes in a row need no recursion."""
    x = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
    y = x
    for _ in range(5000):
        y = y * 1.0001
    y.backward()
    show("y", y.detach())
    show("x.grad", x.grad)


def wide_sum(torch, show):
    """Many consumers of one tensor add up."""
    x = torch.tensor(1.0, requires_grad=True)
    sum((x * i for i in range(500)), torch.tensor(0.0)).backward()
    show("x.grad", x.grad)


def diamond_of_diamonds(torch, show):
    """Paths double at every level; nodes are still visited once."""
    x = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
    y = x
    for _ in range(40):
        y = y + y
    y.backward()
    show("x.grad", x.grad)


def gradient_through_unbind(torch, show):
    """Unused outputs of a node count as zeros."""
    x = torch.arange(6.0).reshape(3, 2).requires_grad_()
    first, _, last = x.unbind()
    (first * 2 + last * 5).sum().backward()
    show("x.grad", x.grad)


def requires_grad_half_way(torch, show):
    """A leaf that wants gradients later is not in earlier graphs."""
    x = torch.tensor(2.0)
    y = x * 3
    x.requires_grad_()
    z = x * 3
    show("y", y)
    show("z", z)
    z.backward()
    show("x.grad", x.grad)
