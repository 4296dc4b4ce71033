"""What a graph saves: hooks that pack it, checkpoints that do without it, and the search for a culprit."""

import warnings


def pack_and_unpack(torch, show):
    """Each saved tensor is packed when saved and unpacked when used."""
    seen = []

    def pack(tensor):
        seen.append(("pack", tensor.tolist(), tensor.requires_grad))
        return tensor * 1

    def unpack(tensor):
        seen.append(("unpack", tensor.tolist()))
        return tensor

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).exp()
    y.sum().backward()
    show("seen", seen)
    show("x.grad", x.grad)


def pack_to_anything(torch, show):
    """What is packed need not be a tensor."""
    box = []

    def pack(tensor):
        box.append(tensor.detach().clone())
        return len(box) - 1

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda place: box[place] * 10):
        y = x * torch.tensor([3.0, 4.0])
    y.sum().backward()
    show("x.grad", x.grad)
    show("count", len(box))


def hooks_cover_saving_only(torch, show):
    """Hooks in force at backward time are not used."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 100):
        y.sum().backward()
    show("x.grad", x.grad)


def hooks_nest(torch, show):
    """The innermost pair alone is used."""
    seen = []

    def pair(name):
        return lambda t: seen.append(f"pack {name}") or t, lambda t: seen.append(f"unpack {name}") or t

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(*pair("outer")):
        y = x.exp()
        with torch.autograd.graph.saved_tensors_hooks(*pair("inner")):
            z = y.sin()
        w = z.exp()
    w.sum().backward()
    show("seen", seen)


def unpack_wrong_type(torch, show):
    """Unpacking must give a tensor."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 1, lambda number: number):
        y = x.exp()
    show.error(y.sum().backward)


def pack_raises(torch, show):
    """An error while packing comes out of the operation."""

    def pack(tensor):
        raise ValueError("full")

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        show.error(x.exp)
    show("after", x.exp())


def pack_changes_its_argument(torch, show):
    """A pack hook must not write to what it is given."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().mul_(2), lambda t: t):
        show.error(lambda: x * torch.ones(2))


def save_on_cpu(torch, show):
    """Saved tensors go to the host and come back."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = (x * x).exp()
    y.sum().backward()
    show("x.grad", x.grad)


def disable_saved_tensors_hooks(torch, show):
    """Packing can be forbidden, with the words to say so."""
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        show.error(lambda: torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__())


def saved_value_of_packed(torch, show):
    """_saved_ attributes show what unpacking gives."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() + 1, lambda t: t * 10):
        y = x * torch.tensor([3.0, 4.0])
    show("other", y.grad_fn._saved_other)


def raw_saved_tensor(torch, show):
    """Hooks can be put on a single saved tensor."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0])
    y.grad_fn._raw_saved_other.register_hooks(lambda t: t * 2, lambda t: t * 10)
    y.sum().backward()
    show("x.grad", x.grad)


def packing_ignores_versions(torch, show):
    """With hooks, a later write is no error: the packed copy counts."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = x * 1
        z = y * y
    y.add_(100)
    z.sum().backward()
    show("x.grad", x.grad)


def checkpoint_without_reentry(torch, show):
    """The function runs again on the way back."""
    calls = []

    def body(x, w):
        calls.append(torch.is_grad_enabled())
        return (x * w).sin().exp()

    x = torch.tensor([0.1, 0.2], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(body, x, w, use_reentrant=False)
    show("y", y)
    y.sum().backward()
    show("calls", calls)
    show("grads", [x.grad, w.grad])


def checkpoint_with_reentry(torch, show):
    """The older way: a custom function with a backward inside backward."""
    calls = []

    def body(x, w):
        calls.append(torch.is_grad_enabled())
        return (x * w).sin()

    x = torch.tensor([0.1, 0.2], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(body, x, w, use_reentrant=True)
    show("node", y.grad_fn.name())
    (y * 2).sum().backward()
    show("calls", calls)
    show("grads", [x.grad, w.grad])


def checkpoint_default_warns(torch, show):
    """use_reentrant wants to be given."""
    x = torch.tensor([0.1, 0.2], requires_grad=True)
    show.error(lambda: show.warnings(lambda: torch.utils.checkpoint.checkpoint(torch.sin, x)))


def checkpoint_reentrant_grad(torch, show):
    """autograd.grad does not go with the older way."""
    x = torch.tensor([0.1, 0.2], requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True)
    show.error(lambda: torch.autograd.grad(y.sum(), x))


def checkpoint_no_input_wants_grad(torch, show):
    """The older way warns when no input wants gradients."""
    x = torch.tensor([0.1, 0.2])
    y = show.warnings(lambda: torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=True))
    show("y", y)


def checkpoint_higher_order(torch, show):
    """The newer way can be differentiated twice."""
    x = torch.tensor([0.5, 0.7], requires_grad=True, dtype=torch.float64)
    y = torch.utils.checkpoint.checkpoint(lambda x: (x**3).exp(), x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    show("gg", torch.autograd.grad(g.sum(), x))


def checkpoint_keeps_random_state(torch, show):
    """Dropout draws the same mask the second time, and the outer stream goes on undisturbed."""
    torch.manual_seed(5)
    x = torch.ones(6, requires_grad=True)

    def body(x):
        return torch.rand(6) * x

    y = torch.utils.checkpoint.checkpoint(body, x, use_reentrant=False)
    following = torch.rand(2)
    y.sum().backward()
    show("mask kept", torch.equal(y.detach(), x.grad))
    show("following", following)
    show("after", torch.rand(2))


def checkpoint_many_outputs(torch, show):
    """Tuples, numbers and tensors without gradient pass through."""

    def body(x, factor, flag=False):
        return x * factor, flag, x.detach()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, flag, z = torch.utils.checkpoint.checkpoint(body, x, 3, flag=True, use_reentrant=False)
    show("outputs", [y, flag, z])
    y.sum().backward()
    show("x.grad", x.grad)


def checkpoint_changed_recomputation(torch, show):
    """A function that does something else the second time is found out."""
    calls = []

    def body(x):
        calls.append(1)
        return x.sin().exp() if len(calls) == 1 else x.sin()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(body, x, use_reentrant=False)
    show.error(y.sum().backward, words=False)


def checkpoint_sequential(torch, show):
    """A chain of modules in segments."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    x = torch.ones(1, 2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False)
    y.sum().backward()
    show("y", y.detach())
    show("x.grad", x.grad)


def anomaly_finds_nan(torch, show):
    """A gradient that is no number is reported with the node's name."""
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        y = (x.sqrt() * 0).sum()
        show.error(y.backward)


def anomaly_warning_shows_the_line(torch, show):
    """The warning names the forward line that made the node."""
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    messages = []

    with torch.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = (x.sqrt() * 0).sum()
        try:
            y.backward()
        except RuntimeError:
            messages = [str(w.message) for w in caught]
    show("count", len(messages))
    show("first line", messages[0].split("\n")[0].split(" Traceback")[0])
    show("names the line", "y = (x.sqrt() * 0).sum()" in messages[0])


def anomaly_start_warning(torch, show):
    """Switching it on earns a warning."""
    show.warnings(torch.autograd.detect_anomaly)


def anomaly_without_nan_check(torch, show):
    """check_nan=False lets NaN pass."""
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with torch.autograd.detect_anomaly(check_nan=False):
        (x.sqrt() * 0).sum().backward()
    show("x.grad", x.grad)


def anomaly_modes(torch, show):
    """Inside and outside, as a call and as a block."""
    show("outside", torch.is_anomaly_enabled())
    with torch.autograd.detect_anomaly():
        show("inside", [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()])
        with torch.autograd.set_detect_anomaly(False):
            show("nested", torch.is_anomaly_enabled())
    torch.autograd.set_detect_anomaly(True)
    try:
        show("set", torch.is_anomaly_enabled())
    finally:
        torch.autograd.set_detect_anomaly(False)
    show("unset", torch.is_anomaly_enabled())


def anomaly_and_inplace(torch, show):
    """A changed saved tensor is reported with another hint while the mode is on."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        y = x.exp()
        y.add_(1)
        show.error(y.sum().backward)


def anomaly_in_custom_function(torch, show):
    """A custom function that returns NaN is named."""

    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * float("nan")

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        show.error(Bad.apply(x).sum().backward)
