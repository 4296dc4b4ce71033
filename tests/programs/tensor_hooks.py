"""Hooks on tensors: when they run, what they may change, and what retain_grad sees."""


def hook_sees_the_gradient(torch, show):
    """A hook gets the gradient and may leave it alone."""
    seen = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(seen.append)
    (y * y).sum().backward()
    show("seen", seen)
    show("x.grad", x.grad)


def hook_replaces_the_gradient(torch, show):
    """What a hook returns goes on in its place."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda grad: grad * 10)
    y.sum().backward()
    show("x.grad", x.grad)


def hook_on_a_leaf(torch, show):
    """A leaf's hook runs before the gradient is added."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda grad: -grad)
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    show("x.grad", x.grad)


def hooks_run_in_order(torch, show):
    """Each hook sees what the one before returned."""
    seen = []

    def hook(name, factor):
        def inner(grad):
            seen.append((name, grad.item()))
            return grad * factor

        return inner

    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2
    y.register_hook(hook("first", 10))
    y.register_hook(hook("second", 3))
    y.backward()
    show("seen", seen)
    show("x.grad", x.grad)


def hook_is_removed(torch, show):
    """A removed hook is silent; removing twice is nothing."""
    x = torch.tensor(1.0, requires_grad=True)
    handle = x.register_hook(lambda grad: grad * 100)
    (x * 2).backward()
    handle.remove()
    handle.remove()
    (x * 2).backward()
    show("x.grad", x.grad)


def handle_as_context(torch, show):
    """The handle removes its hook at the end of a with block."""
    x = torch.tensor(1.0, requires_grad=True)
    with x.register_hook(lambda grad: grad * 100):
        (x * 2).backward()
    (x * 2).backward()
    show("x.grad", x.grad)


def hook_removes_itself(torch, show):
    """A hook may take itself off while it runs."""
    x = torch.tensor(1.0, requires_grad=True)
    handles = []

    def once(grad):
        handles[0].remove()
        return grad * 100

    handles.append(x.register_hook(once))
    (x * 2).backward()
    (x * 2).backward()
    show("x.grad", x.grad)


def same_hook_twice(torch, show):
    """A hook registered twice runs twice."""
    seen = []
    x = torch.tensor(1.0, requires_grad=True)
    x.register_hook(seen.append)
    x.register_hook(seen.append)
    (x * 2).backward()
    show("seen", seen)


def hook_sees_the_sum(torch, show):
    """A hook runs once, on the sum of all that arrives."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 1
    y.register_hook(seen.append)
    (y * 3 + y * y).backward()
    show("seen", seen)


def hook_on_no_grad_tensor(torch, show):
    """A tensor that wants no gradient takes no hook."""
    x = torch.tensor(2.0)
    show.error(lambda: x.register_hook(print))
    show.error(lambda: x.register_post_accumulate_grad_hook(print))
    show.error(x.retain_grad)


def hook_returns_wrong_type(torch, show):
    """A hook must return a tensor or None."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: 3.0)
    show.error(y.backward)


def hook_returns_wrong_shape(torch, show):
    """A hook must keep the gradient's shape."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: torch.ones(3))
    show.error(y.sum().backward)
    show("x.grad", x.grad)


def hook_returns_wrong_dtype(torch, show):
    """A hook must keep the gradient's dtype."""
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: grad.double())
    show.error(y.sum().backward)


def hook_and_retain_grad(torch, show):
    """retain_grad sees the gradient after all hooks, also those registered later."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: grad * 2)
    y.retain_grad()
    y.register_hook(lambda grad: grad * 5)
    y.backward()
    show("y.grad", y.grad)
    show("x.grad", x.grad)


def retain_grad_twice(torch, show):
    """retain_grad again changes nothing."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2
    show("before", y.retains_grad)
    y.retain_grad()
    y.retain_grad()
    show("after", y.retains_grad)
    y.backward()
    show("y.grad", y.grad)


def retain_grad_on_a_leaf(torch, show):
    """A leaf keeps its gradient anyway; retains_grad stays False."""
    x = torch.tensor(1.0, requires_grad=True)
    x.retain_grad()
    show("retains", x.retains_grad)
    (x * 2).backward()
    show("x.grad", x.grad)


def retained_grad_accumulates(torch, show):
    """A second backward adds to a retained gradient."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.backward(retain_graph=True)
    y.backward()
    show("y.grad", y.grad)
    show("x.grad", x.grad)


def inner_grad_warns(torch, show):
    """Asking an inner tensor for .grad earns a warning, unless it is retained."""
    x = torch.tensor(1.0, requires_grad=True)
    y, z = x * 2, x * 3
    z.retain_grad()
    show("y.grad", show.warnings(lambda: y.grad))
    show("z.grad", show.warnings(lambda: z.grad))
    show("x.grad", show.warnings(lambda: x.grad))


def retain_grad_before_inplace(torch, show):
    """The gradient retained is that of the value after the write."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    show("y.grad", y.grad)
    show("x.grad", x.grad)


def retain_grad_before_and_after_inplace(torch, show):
    """Retained on both sides of the write."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.retain_grad()
    (y * y).sum().backward()
    show("y.grad", y.grad)


def hook_before_inplace(torch, show):
    """A hook stays with the value it was registered on."""
    seen = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: seen.append(("old", grad.tolist())))
    y.mul_(3)
    y.register_hook(lambda grad: seen.append(("new", grad.tolist())))
    (y * 5).sum().backward()
    show("seen", seen)


def hook_on_one_output(torch, show):
    """A hook on one output of a node leaves the others alone."""
    seen = []
    x = torch.arange(4.0).requires_grad_()
    first, second = x.split(2)
    second.register_hook(lambda grad: seen.append(grad.tolist()) or grad * 10)
    (first * 2 + second * 3).sum().backward()
    show("seen", seen)
    show("x.grad", x.grad)


def hook_on_unused_output(torch, show):
    """A hook on an output that gets no gradient is called with None."""
    seen = []
    x = torch.arange(4.0).requires_grad_()
    first, second = x.split(2)
    second.register_hook(seen.append)
    first.sum().backward()
    show("seen", seen)
    show("x.grad", x.grad)


def hook_on_grad_request(torch, show):
    """autograd.grad runs the hooks of the inputs it was asked for."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    x.register_hook(lambda grad: grad * 10)
    y.register_hook(lambda grad: grad * 3)
    show("x", torch.autograd.grad(y * 1, x, retain_graph=True))
    show("y", torch.autograd.grad(y * 1, y))


def hooks_off_the_path(torch, show):
    """With inputs given, hooks run only on the way to them."""
    seen = []
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    left, right = a * 2, b * 2
    left.register_hook(lambda grad: seen.append("left"))
    right.register_hook(lambda grad: seen.append("right"))
    torch.autograd.grad(left * right, a)
    show("seen", seen)


def post_accumulate_hook(torch, show):
    """A post-accumulate hook gets the leaf, its .grad filled."""
    seen = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def hook(leaf):
        seen.append((leaf is x, leaf.grad.tolist()))
        leaf.grad = None

    handle = x.register_post_accumulate_grad_hook(hook)
    (x * 2).sum().backward()
    show("x.grad", x.grad)
    handle.remove()
    (x * 2).sum().backward()
    show("x.grad after removal", x.grad)
    show("seen", seen)


def post_accumulate_hook_order(torch, show):
    """Tensor hooks come before, post-accumulate hooks after the addition."""
    seen = []
    x = torch.tensor(1.0, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("post 1", leaf.grad.item())))
    x.register_hook(lambda grad: seen.append(("hook", grad.item(), x.grad)))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("post 2", leaf.grad.item())))
    (x * 2).backward()
    show("seen", seen)


def post_accumulate_hook_on_inner(torch, show):
    """Only leaves take such hooks."""
    x = torch.tensor(1.0, requires_grad=True)
    show.error(lambda: (x * 2).register_post_accumulate_grad_hook(print))


def post_accumulate_hook_and_grad(torch, show):
    """autograd.grad accumulates nothing and calls no such hook."""
    seen = []
    x = torch.tensor(1.0, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad))
    torch.autograd.grad(x * 2, x)
    show("seen", seen)


def post_accumulate_hook_returns(torch, show):
    """Such a hook has nothing to return."""
    x = torch.tensor(1.0, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda leaf: leaf.grad)
    show.error((x * 2).backward)
    show("x.grad", x.grad)


def optimizer_in_backward(torch, show):
    """A step taken inside the hook, and the gradient dropped at once."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)

    def step(leaf):
        optimizer.step()
        optimizer.zero_grad()

    w.register_post_accumulate_grad_hook(step)
    for _ in range(2):
        (w * w).sum().backward()
    show("w", w)
    show("w.grad", w.grad)


def multi_grad_hook_all(torch, show):
    """mode all: one call, when every gradient has come."""
    seen = []
    a = torch.tensor(1.0, requires_grad=True)
    b = torch.tensor(2.0, requires_grad=True)
    c = torch.tensor(3.0, requires_grad=True)
    torch.autograd.graph.register_multi_grad_hook((a, b, c), lambda grads: seen.append(list(grads)))
    (a * b).backward()
    show("two of three", seen)
    (a * b * c).backward()
    show("all", seen)


def multi_grad_hook_any(torch, show):
    """mode any: one call, with the first gradient."""
    seen = []
    a = torch.tensor(1.0, requires_grad=True)
    b = a * 2
    c = b * 3
    torch.autograd.graph.register_multi_grad_hook((a, b, c), lambda grad: seen.append(grad), mode="any")
    c.backward(retain_graph=True)
    c.backward()
    show("seen", seen)


def multi_grad_hook_removed(torch, show):
    """Its handle removes it everywhere."""
    seen = []
    a = torch.tensor(1.0, requires_grad=True)
    b = torch.tensor(2.0, requires_grad=True)
    handle = torch.autograd.graph.register_multi_grad_hook((a, b), seen.append)
    handle.remove()
    (a * b).backward()
    show("seen", seen)


def multi_grad_hook_bad_mode(torch, show):
    """An unknown mode."""
    a = torch.tensor(1.0, requires_grad=True)
    show.error(lambda: torch.autograd.graph.register_multi_grad_hook((a,), print, mode="some"))


def hooks_under_create_graph(torch, show):
    """A hook's arithmetic is recorded under create_graph."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.register_hook(lambda grad: grad * x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    show("g", g.detach())
    show("gg", torch.autograd.grad(g, x))


def hook_on_a_view_of_a_leaf(torch, show):
    """A hook on a view and a hook on its base."""
    seen = []
    x = torch.arange(4.0).requires_grad_()
    v = x[1:3]
    v.register_hook(lambda grad: seen.append(("view", grad.tolist())))
    x.register_hook(lambda grad: seen.append(("base", grad.tolist())))
    (v * 2).sum().backward()
    show("seen", seen)


def backward_hooks_attribute(torch, show):
    """_backward_hooks lists what was registered."""
    x = torch.tensor(1.0, requires_grad=True)
    show("before", x._backward_hooks)
    handle = x.register_hook(lambda grad: grad)
    show("count", len(x._backward_hooks))
    handle.remove()
    show("after", len(x._backward_hooks))
