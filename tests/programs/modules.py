"""nn.Module and the layers the seeds use: parameters, modes, state, hooks, printing."""

from collections import OrderedDict


def _network(torch):
    """A small network with every kind of member."""
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 3)
            self.body = nn.Sequential(nn.ReLU(), nn.Linear(3, 3, bias=False), nn.ReLU())
            self.scale = nn.Parameter(torch.tensor(2.0))
            self.register_buffer("seen", torch.zeros(1))
            self.register_buffer("scratch", torch.zeros(1), persistent=False)
            self.last = nn.Linear(3, 1)

        def forward(self, x):
            return self.last(self.body(self.first(x))) * self.scale

    torch.manual_seed(0)
    return Network()


def forward_and_backward(torch, show):
    """Output, graph and every gradient."""
    model = _network(torch)
    y = model(torch.tensor([[0.5, 0.3], [1.0, -1.0]]))
    show("y", y)
    show.graph("graph", y)
    y.sum().backward()
    show("gradients", {name: p.grad for name, p in model.named_parameters()})


def names(torch, show):
    """Parameters, buffers, children and modules by name."""
    model = _network(torch)
    show("parameters", [name for name, _ in model.named_parameters()])
    show("own parameters", [name for name, _ in model.named_parameters(recurse=False)])
    show("buffers", [name for name, _ in model.named_buffers()])
    show("children", [name for name, _ in model.named_children()])
    show("modules", [name for name, _ in model.named_modules()])
    show("counts", [len(list(model.parameters())), len(list(model.children())), len(list(model.modules()))])
    show("prefix", [name for name, _ in model.named_parameters(prefix="net")])
    show("get", [model.get_parameter("first.weight").shape, type(model.get_submodule("body.1")).__name__])
    show.error(lambda: model.get_submodule("body.9"))
    show.error(lambda: model.get_parameter("first.missing"))


def representation(torch, show):
    """repr of modules nested and plain."""
    nn = torch.nn
    show("network", repr(_network(torch)))
    modules = [
        nn.Linear(2, 3),
        nn.Linear(2, 3, bias=False),
        nn.ReLU(),
        nn.ReLU(inplace=True),
        nn.Sequential(),
        nn.Sequential(nn.Linear(1, 1)),
        nn.MSELoss(),
        nn.CrossEntropyLoss(),
        nn.Module(),
    ]
    for module in modules:
        show(type(module).__name__, repr(module))


def repeated_lines_are_folded(torch, show):
    """Equal children in a row are printed once, and extra_repr is used."""

    class Mine(torch.nn.Module):
        def extra_repr(self):
            return "size=3"

    show("mine", repr(Mine()))
    show("list", repr(torch.nn.Sequential(Mine(), Mine(), torch.nn.ReLU())))


def train_and_eval(torch, show):
    """The mode goes down to every child."""
    model = _network(torch)
    show("start", [m.training for m in model.modules()])
    show("same", model.eval() is model)
    show("eval", [m.training for m in model.modules()])
    model.train()
    model.body.eval()
    show("part", [m.training for m in model.modules()])
    show.error(lambda: model.train("yes"))


def requires_grad_and_zero_grad(torch, show):
    """Freezing, and gradients set to None."""
    model = _network(torch)
    model.first.requires_grad_(False)
    model(torch.ones(1, 2)).sum().backward()
    show("frozen", [p.grad is None for p in model.parameters()])
    model.zero_grad()
    show("cleared", [p.grad is None for p in model.parameters()])
    model(torch.ones(1, 2)).sum().backward()
    model.zero_grad(set_to_none=False)
    show("zeroed", model.last.weight.grad)


def state_dict(torch, show):
    """Names and values, detached, sharing memory."""
    model = _network(torch)
    state = model.state_dict()
    show("type", type(state).__name__)
    show("state", dict(state))
    state["scale"].mul_(10)
    show("shared", model.scale)
    show("prefix", list(model.state_dict(prefix="net.")))
    show("kept", model.state_dict(keep_vars=True)["scale"].requires_grad)


def load_state_dict(torch, show):
    """A round trip, with its report."""
    model, other = _network(torch), _network(torch)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    report = other.load_state_dict(model.state_dict())
    show("report", repr(report))
    show("equal", all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True)))
    show("still parameters", type(other.scale).__name__)


def load_state_dict_refused(torch, show):
    """Missing, unexpected, of another shape, of another type."""
    model = _network(torch)
    state = model.state_dict()
    less = OrderedDict(list(state.items())[1:])
    more = OrderedDict([*state.items(), ("strange", torch.ones(1))])
    other = OrderedDict(state)
    other["first.bias"] = torch.ones(7)
    show.error(lambda: model.load_state_dict(less))
    show.error(lambda: model.load_state_dict(more))
    show.error(lambda: model.load_state_dict(other))
    show.error(lambda: model.load_state_dict([1]))
    show("loose", repr(model.load_state_dict(OrderedDict([("strange", torch.ones(1))]), strict=False)))
    show("scale", model.scale)


def attributes(torch, show):
    """How assignment registers, replaces and deletes."""
    nn = torch.nn
    model = nn.Module()
    model.weight = nn.Parameter(torch.ones(2))
    model.child = nn.ReLU()
    model.plain = torch.ones(1)
    show("parameters", [name for name, _ in model.named_parameters()])
    show("buffers", [name for name, _ in model.named_buffers()])
    show.error(lambda: setattr(model, "weight", torch.ones(2)))
    show.error(lambda: setattr(model, "child", 3))
    model.weight = None
    show("none", [name for name, _ in model.named_parameters()])
    del model.child
    show.error(lambda: model.child)
    show.error(lambda: nn.Linear(1, 1).nothing)


def registration(torch, show):
    """register_parameter and register_buffer, and their refusals."""
    nn = torch.nn
    model = nn.Module()
    model.register_parameter("a", nn.Parameter(torch.ones(1)))
    model.register_parameter("b", None)
    model.add_module("c", nn.ReLU())
    show("parameters", [name for name, _ in model.named_parameters()])
    show.error(lambda: model.register_parameter("d.e", nn.Parameter(torch.ones(1))))
    show.error(lambda: model.register_parameter("", nn.Parameter(torch.ones(1))))
    show.error(lambda: model.register_parameter("f", torch.ones(1)), words=False)
    show.error(lambda: model.register_parameter("f", nn.Parameter(torch.ones(1)) * 2))
    show.error(lambda: model.register_buffer("a", torch.ones(1)))
    show.error(lambda: model.register_buffer("g", 3), words=False)
    show.error(lambda: model.add_module("h", 3), words=False)


def assignment_before_init(torch, show):
    """super().__init__() must come first."""
    nn = torch.nn

    class Late(nn.Module):
        def __init__(self, what):
            self.member = what
            super().__init__()

    show.error(lambda: Late(nn.Parameter(torch.ones(1))))
    show.error(lambda: Late(nn.ReLU()))
    show("plain", Late(3).member)


def forward_is_missing(torch, show):
    """A module without forward."""

    class Empty(torch.nn.Module):
        pass

    show.error(lambda: Empty()(1))
    show.error(lambda: torch.nn.Linear(2, 1)(), words=False)


def shared_parameters(torch, show):
    """A parameter used in two places is listed once and gets both gradients."""
    torch.manual_seed(0)
    a, b = torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False)
    b.weight = a.weight
    model = torch.nn.Sequential(a, b)
    show("names", [name for name, _ in model.named_parameters()])
    show("state", list(model.state_dict()))
    model(torch.ones(1, 2)).sum().backward()
    show("gradient", a.weight.grad)


def sequential(torch, show):
    """Indexing, slicing, appending, named members."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    show("index", [type(model[1]).__name__, len(model), len(model[1:]), type(model[-1]).__name__])
    model.append(nn.ReLU())
    show("names", [name for name, _ in model.named_children()])
    named = nn.Sequential(OrderedDict([("inner", nn.Linear(1, 1)), ("outer", nn.ReLU())]))
    show("named", repr(named))
    show("iterated", [type(m).__name__ for m in model])
    show.error(lambda: model[9])
    show.error(lambda: nn.Sequential(3), words=False)


def forward_hooks(torch, show):
    """Before, after, replacing, removed, with keywords."""
    seen = []
    layer = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        layer.weight.fill_(2.0)
    before = layer.register_forward_pre_hook(lambda m, args: seen.append("pre") or (args[0] * 10,))
    after = layer.register_forward_hook(lambda m, args, out: seen.append((args[0].item(), out.item())) or out + 1)
    show("y", layer(torch.tensor([3.0])))
    before.remove()
    after.remove()
    show("plain", layer(torch.tensor([3.0])))
    show("seen", seen)


def forward_hooks_see_a_single_argument(torch, show):
    """A prehook may return one value instead of a tuple."""
    relu = torch.nn.ReLU()
    relu.register_forward_pre_hook(lambda m, args: args[0] * -1)
    show("y", relu(torch.tensor([-2.0, 3.0])))


def full_backward_hooks(torch, show):
    """Gradients of inputs and outputs, and their replacement."""
    seen = []
    torch.manual_seed(0)
    layer = torch.nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda m, inputs, outputs: seen.append((inputs, outputs)) or (inputs[0] * 10,))
    layer.register_full_backward_pre_hook(lambda m, outputs: (outputs[0] * 3,))
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    layer(x).sum().backward()
    show("seen", seen)
    show("x.grad", x.grad)
    show("weight.grad", layer.weight.grad)


def apply_and_to(torch, show):
    """apply visits children first; to and double change in place."""
    seen = []
    model = _network(torch)
    model.apply(lambda m: seen.append(type(m).__name__))
    show("seen", seen)
    weight = model.first.weight
    show("same", [model.double() is model, model.first.weight is weight])
    show("dtypes", [str(p.dtype) for p in model.parameters()] + [str(b.dtype) for b in model.buffers()])
    model.to(torch.float32)
    show("back", model.first.weight.dtype)


def parameters_of_one_s_own(torch, show):
    """Parameter is a leaf that wants gradients, whatever the mode."""
    Parameter = torch.nn.Parameter
    with torch.no_grad():
        p = Parameter(torch.ones(2))
    show("p", [p, p.is_leaf])
    show("of a result", [Parameter(torch.ones(2, requires_grad=True) * 2).is_leaf])
    show("shares", Parameter(x := torch.ones(2)).data_ptr() == x.data_ptr())
    show("arithmetic", type(p * 2).__name__)
    show("data", type(p.data).__name__)
    show("empty", Parameter())
    show.error(lambda: Parameter(torch.tensor([1, 2])))
    show("integers", Parameter(torch.tensor([1, 2]), requires_grad=False))


def linear_layer(torch, show):
    """Attributes, shapes, initialisation bounds."""
    torch.manual_seed(1)
    layer = torch.nn.Linear(4, 2)
    show("sizes", [layer.in_features, layer.out_features, layer.weight.shape, layer.bias.shape])
    show("weights", [layer.weight, layer.bias])
    show("dims", [layer(torch.ones(4)).shape, layer(torch.ones(3, 5, 4)).shape])
    show("no bias", torch.nn.Linear(2, 2, bias=False).bias)
    show("dtype", torch.nn.Linear(1, 1, dtype=torch.float64).weight.dtype)
    layer.reset_parameters()
    show("again", layer.weight)


def losses(torch, show):
    """MSELoss and CrossEntropyLoss, with their reductions."""
    nn = torch.nn
    x = torch.tensor([[0.1, 0.7, -0.4], [1.0, 0.0, 2.0]], requires_grad=True)
    target = torch.tensor([0, 2])
    for reduction in ("mean", "sum", "none"):
        show(f"mse {reduction}", nn.MSELoss(reduction=reduction)(x, torch.zeros(2, 3)))
        show(f"cross {reduction}", nn.CrossEntropyLoss(reduction=reduction)(x, target))
    loss = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 0.5]), label_smoothing=0.1)(x, target)
    show("weighted", loss.detach())
    show.graph("graph", nn.CrossEntropyLoss()(x, target))
    loss.backward()
    show("x.grad", x.grad)
    show("mse graph", nn.MSELoss()(x, torch.zeros(2, 3)).grad_fn.name())


def relu_in_place(torch, show):
    """ReLU(inplace=True) writes into its input."""
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = x * 1
    z = torch.nn.ReLU(inplace=True)(y)
    show("same", z is y)
    z.sum().backward()
    show("x.grad", x.grad)
    show.error(lambda: torch.nn.ReLU(inplace=True)(x))


def functional_forms(torch, show):
    """nn.functional gives what the modules give."""
    functional = torch.nn.functional
    x = torch.tensor([[-1.0, 2.0]])
    show("relu", functional.relu(x))
    show("linear", functional.linear(x, torch.ones(3, 2), torch.ones(3)))
    show("mse", functional.mse_loss(x, x * 2))
    show("softmax", functional.softmax(x, dim=1))
    show("implicit dim", show.warnings(lambda: functional.softmax(x)))
