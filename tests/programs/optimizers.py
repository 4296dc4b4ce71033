"""SGD and Adam: steps, groups, state, refusals."""

import copy


def _run(torch, show, make, steps=4, dtype=None):
    """Parameters after each of some steps down a bowl."""
    w = torch.tensor([1.0, -2.0, 3.0], requires_grad=True, dtype=dtype or torch.float64)
    b = torch.tensor(0.5, requires_grad=True, dtype=dtype or torch.float64)
    optimizer = make([w, b])
    for _ in range(steps):
        optimizer.zero_grad()
        ((w * torch.tensor([1.0, 2.0, 3.0], dtype=w.dtype)).pow(2).sum() + (b - w.sum()) ** 2).backward()
        optimizer.step()
        show("parameters", [w, b])


_SETTINGS = {
    "sgd": lambda optim, p: optim.SGD(p, lr=0.01),
    "sgd_default_rate": lambda optim, p: optim.SGD(p),
    "sgd_momentum": lambda optim, p: optim.SGD(p, lr=0.01, momentum=0.9),
    "sgd_dampening": lambda optim, p: optim.SGD(p, lr=0.01, momentum=0.9, dampening=0.3),
    "sgd_nesterov": lambda optim, p: optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True),
    "sgd_decay": lambda optim, p: optim.SGD(p, lr=0.01, weight_decay=0.1),
    "sgd_decay_momentum": lambda optim, p: optim.SGD(p, lr=0.01, weight_decay=0.1, momentum=0.5),
    "sgd_maximize": lambda optim, p: optim.SGD(p, lr=0.01, maximize=True),
    "adam": lambda optim, p: optim.Adam(p),
    "adam_rate": lambda optim, p: optim.Adam(p, lr=0.1),
    "adam_betas": lambda optim, p: optim.Adam(p, lr=0.1, betas=(0.5, 0.7)),
    "adam_eps": lambda optim, p: optim.Adam(p, lr=0.1, eps=0.1),
    "adam_decay": lambda optim, p: optim.Adam(p, lr=0.1, weight_decay=0.1),
    "adam_amsgrad": lambda optim, p: optim.Adam(p, lr=0.1, amsgrad=True),
    "adam_maximize": lambda optim, p: optim.Adam(p, lr=0.1, maximize=True),
}


def _steps(make, single=False):
    def program(torch, show):
        dtype = torch.float32 if single else torch.float64
        _run(torch, show, lambda p: make(torch.optim, p), dtype=dtype)

    return program


PROGRAMS = {
    **{f"steps.{name}": _steps(make) for name, make in _SETTINGS.items()},
    **{f"steps.{name}.float32": _steps(make, single=True) for name, make in _SETTINGS.items()},
}


def groups(torch, show):
    """Parameter groups with settings of their own."""
    a = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 1.0}], lr=0.1)
    (a * 2 + b * 3).sum().backward()
    optimizer.step()
    show("parameters", [a, b])
    show("rates", [group["lr"] for group in optimizer.param_groups])
    show("keys", sorted(optimizer.param_groups[0]))
    optimizer.add_param_group({"params": torch.ones(1, requires_grad=True)})
    show("added", [len(optimizer.param_groups), optimizer.param_groups[2]["lr"]])


def zero_grad(torch, show):
    """To None by default, to zeros when asked."""
    w = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    (w * 2).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    show("zeros", w.grad)
    optimizer.zero_grad()
    show("none", w.grad)


def parameters_without_gradient(torch, show):
    """A step passes over parameters whose .grad is None."""
    a = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.Adam([a, b], lr=0.1)
    (a * 2).sum().backward()
    optimizer.step()
    show("parameters", [a, b])
    show("state", [len(optimizer.state[a]), b in optimizer.state])


def closure(torch, show):
    """step(closure) evaluates it with recording on, and returns the loss."""
    w = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)

    def again():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    show("loss", optimizer.step(again))
    show("w", w)
    show("none", optimizer.step())


def state_of_sgd(torch, show):
    """state_dict of SGD with momentum."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    show("before", optimizer.state_dict())
    (w * w).sum().backward()
    optimizer.step()
    show("after", optimizer.state_dict())


def state_of_adam(torch, show):
    """state_dict of Adam."""
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    (w * w).sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    show("state", state["state"])
    show("groups", {key: value for key, value in state["param_groups"][0].items() if key != "params"})


def state_round_trip(torch, show):
    """A loaded optimizer goes on where the saved one stopped."""

    def start():
        w = torch.tensor([1.0, 2.0], requires_grad=True, dtype=torch.float64)
        return w, torch.optim.Adam([w], lr=0.1)

    def step(w, optimizer):
        optimizer.zero_grad()
        (w**4).sum().backward()
        optimizer.step()

    w, optimizer = start()
    for _ in range(3):
        step(w, optimizer)
    v, other = start()
    with torch.no_grad():
        v.copy_(w)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    step(w, optimizer)
    step(v, other)
    show("equal", [w, v])


def state_refused(torch, show):
    """A state with other groups."""
    a = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0], requires_grad=True)
    one, two = torch.optim.SGD([a], lr=0.1), torch.optim.SGD([a, b], lr=0.1)
    show.error(lambda: two.load_state_dict(one.state_dict()))
    three = torch.optim.SGD([{"params": [a]}, {"params": [b]}], lr=0.1)
    show.error(lambda: one.load_state_dict(three.state_dict()))


def bad_settings(torch, show):
    """Rates below nought and the like."""
    w = torch.tensor([1.0], requires_grad=True)
    optim = torch.optim
    show.error(lambda: optim.SGD([w], lr=-1.0))
    show.error(lambda: optim.SGD([w], lr=0.1, momentum=-1.0))
    show.error(lambda: optim.SGD([w], lr=0.1, weight_decay=-1.0))
    show.error(lambda: optim.SGD([w], lr=0.1, nesterov=True))
    show.error(lambda: optim.Adam([w], lr=-1.0))
    show.error(lambda: optim.Adam([w], betas=(1.5, 0.9)))
    show.error(lambda: optim.Adam([w], betas=(0.9, 1.5)))
    show.error(lambda: optim.Adam([w], eps=-1.0))
    show.error(lambda: optim.Adam([w], weight_decay=-1.0))


def bad_parameters(torch, show):
    """Nothing, a bare tensor, a number, a computed tensor, one twice."""
    w = torch.tensor([1.0], requires_grad=True)
    SGD = torch.optim.SGD
    show.error(lambda: SGD([], lr=0.1))
    show.error(lambda: SGD(w, lr=0.1))
    show.error(lambda: SGD([3.0], lr=0.1))
    show.error(lambda: SGD([w * 2], lr=0.1))
    show.error(lambda: show.warnings(lambda: SGD([w, w], lr=0.1)), words=False)
    show.error(lambda: SGD([{"params": [w]}, {"params": [w]}], lr=0.1))
    show.error(lambda: SGD([{"params": {w}}], lr=0.1))


def representation(torch, show):
    """An optimizer prints its groups."""
    w = torch.tensor([1.0], requires_grad=True)
    show("SGD", repr(torch.optim.SGD([w], lr=0.1, momentum=0.9)))
    show("Adam", repr(torch.optim.Adam([w])))


def step_hooks(torch, show):
    """Hooks before and after a step."""
    seen = []
    w = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", w.item())))
    handle = optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(("post", w.item())))
    w.grad = torch.tensor([1.0])
    optimizer.step()
    handle.remove()
    optimizer.step()
    show("seen", seen)


def step_counts_as_a_write(torch, show):
    """A step changes parameters in place, and counts it."""
    w = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    y = w * w
    w.grad = torch.tensor([1.0])
    before = w
    optimizer.step()
    show("same", before is w)
    show.error(y.sum().backward)


def training_a_network(torch, show):
    """Losses and weights of a short training, by SGD and by Adam."""
    for name in ("SGD", "Adam"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
        x, target = torch.randn(8, 2), torch.randn(8, 1)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.05)
        losses = []
        for _ in range(10):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        show(name, torch.stack(losses))
        show(f"{name} weights", model[0].weight)
