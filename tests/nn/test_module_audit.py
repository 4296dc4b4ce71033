"""nn.Module as scripts use it, all of it at once: members, hooks, states, conversions, import paths, as in torch."""

import copy
import importlib
import pickle
from operator import attrgetter

import pytest

import glassgrad
from tests.agreement import cases, check
from tests.torch_reference import torch as real

pytestmark = pytest.mark.torch


def _net(torch):
    torch.manual_seed(0)
    nn = torch.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ModuleDict({"a": nn.ReLU()})["a"], nn.Linear(4, 2))
    return net


def buffers(torch, show):
    module = torch.nn.Module()
    module.register_buffer("kept", torch.ones(2))
    module.register_buffer("passing", torch.ones(3), persistent=False)
    module.register_buffer("absent", None)
    module.made = torch.nn.Buffer(torch.zeros(1))
    module.hidden = torch.nn.Buffer(torch.zeros(1), persistent=False)
    module.kept = torch.zeros(2)
    show("state", list(module.state_dict()))
    show("names", [name for name, _ in module.named_buffers()])
    show.error(lambda: setattr(module, "kept", 3))
    show.error(lambda: module.register_buffer("kept.a", None))
    show.error(lambda: module.register_buffer("", None))
    show.error(lambda: module.register_buffer("forward", None))
    show.error(lambda: module.register_buffer("a", 3))
    del module.kept
    show("after", list(module.state_dict()))
    show.error(lambda: module.kept)
    show.error(lambda: torch.nn.Module.__new__(torch.nn.Module).register_buffer("a", None))


def registering(torch, show):
    nn = torch.nn
    module = nn.Module()
    module.register_module("child", nn.ReLU())
    module.add_module("none", None)
    module.register_parameter("weight", nn.Parameter(torch.ones(2)))
    module.register_parameter("nothing", None)
    show("repr", repr(module))
    show("children", [name for name, _ in module.named_children()])
    show.error(lambda: module.register_module("a.b", nn.ReLU()))
    show.error(lambda: module.register_module("weight", nn.ReLU()))
    show.error(lambda: module.register_module("x", 3))
    show.error(lambda: module.register_parameter("y", torch.ones(2)))
    show.error(lambda: module.register_parameter("y", (nn.Parameter(torch.ones(2)) * 2)))
    show.error(lambda: setattr(module, "weight", torch.ones(2)))
    show.error(lambda: setattr(module, "child", 3))
    show.error(lambda: module.missing)
    module.weight = None
    show("names", list(dict(module.named_parameters())))


def conversions(torch, show):
    net = _net(torch)
    for name in ("half", "bfloat16", "double", "float"):
        getattr(net, name)()
        show(name, [str(t.dtype) for t in net.state_dict().values()])
    net.to(torch.float64)
    net.to("cpu", dtype=torch.float32)
    net.to(torch.ones(1).double())
    show("to", [str(t.dtype) for t in net.state_dict().values()])
    net.type(torch.float32)
    show("type", [str(t.dtype) for t in net.state_dict().values()])
    net.to(device="meta")
    show("meta", [str(t.device) for t in net.state_dict().values()])
    show.error(lambda: net.to("cpu"))
    net.to_empty(device="cpu")
    show("empty", [str(t.device) for t in net.state_dict().values()])
    show.error(lambda: net.to(torch.int64))
    for device in ("cuda", "xpu", "mtia", "ipu"):
        show.error(lambda device=device: getattr(net, device)())
    show.error(lambda: net.to("cuda"))
    show("shared", all(t.is_shared() for t in net.share_memory().parameters()))
    show("compiled", net.compile(dynamic=False))
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    show("apply", seen)


def gradients(torch, show):
    net = _net(torch)
    x = torch.ones(5, 3)
    net(x).sum().backward()
    net.zero_grad(set_to_none=False)
    show("zeros", [p.grad.abs().sum().item() for p in net.parameters()])
    net.zero_grad()
    show("none", [p.grad is None for p in net.parameters()])
    net.requires_grad_(False)
    show("frozen", [p.requires_grad for p in net.parameters()])
    show("mode", [net.eval().training, net.train()[1].training])
    show.error(lambda: net.train(1))


def hooks_on_forward(torch, show):
    net, seen = torch.nn.Linear(2, 2), []
    torch.nn.init.ones_(net.weight)
    net.register_forward_pre_hook(lambda m, args: seen.append("second"))
    net.register_forward_pre_hook(lambda m, args: seen.append("first"), prepend=True)
    net.register_forward_pre_hook(lambda m, args, kwargs: (args, {**kwargs}), with_kwargs=True)
    one = net.register_forward_hook(lambda m, args, out: out * 0)
    net.register_forward_hook(lambda m, args, kwargs, out: seen.append(sorted(kwargs)), with_kwargs=True)
    net.register_forward_hook(lambda m, args, out: seen.append("always"), always_call=True)
    show("y", net(torch.ones(1, 2)))
    one.remove()
    show("y", net(input=torch.ones(1, 2)) - net.bias)
    show.error(lambda: net(torch.ones(1, 3)))
    show("seen", seen)
    net.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    show.error(lambda: net(torch.ones(1, 2)))


def hooks_on_backward(torch, show):
    net, seen = torch.nn.Linear(2, 2), []
    torch.nn.init.ones_(net.weight)
    net.register_full_backward_pre_hook(lambda m, out: seen.append(out[0].tolist()))
    net.register_full_backward_pre_hook(lambda m, out: (out[0] * 2,), prepend=True)
    net.register_full_backward_hook(lambda m, into, out: seen.append((into[0].tolist(), out[0].tolist())))
    net.register_full_backward_hook(lambda m, into, out: (into[0] * 3,))
    x = torch.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    show("seen", seen)
    show("x.grad", x.grad)
    show.error(lambda: net.register_backward_hook(lambda *args: None))
    show("lists", [[len(part) for part in net._get_backward_hooks()], len(net._get_backward_pre_hooks())])


def hooks_everywhere(torch, show):
    from_module, seen = torch.nn.modules.module, []
    handles = [
        from_module.register_module_forward_pre_hook(lambda m, args: seen.append(("pre", type(m).__name__))),
        from_module.register_module_forward_hook(lambda m, args, out: seen.append(("post", type(m).__name__))),
        from_module.register_module_full_backward_hook(lambda m, i, o: seen.append(("back", type(m).__name__))),
        from_module.register_module_full_backward_pre_hook(lambda m, o: seen.append(("before", type(m).__name__))),
        from_module.register_module_parameter_registration_hook(lambda m, name, p: seen.append(name)),
    ]
    try:
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        show("known", [len(from_module._global_forward_hooks), len(from_module._global_backward_hooks)])
        net(torch.ones(1, 2, requires_grad=True)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    net(torch.ones(1, 2))
    show("seen", seen)
    show("gone", len(from_module._global_forward_hooks))


def state_hooks(torch, show):
    net, seen = torch.nn.Sequential(torch.nn.Linear(2, 2)), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix, keep)))
    net[0].register_state_dict_post_hook(lambda m, state, prefix, facts: seen.append(("post", prefix, dict(facts))))
    net[0].register_load_state_dict_pre_hook(lambda m, state, prefix, *rest: seen.append(("load", prefix)))
    net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    state = net.state_dict()
    del state["0.bias"]
    show("keys", net.load_state_dict(state))
    show("seen", seen)
    net[0]._register_state_dict_hook(lambda m, state, prefix, facts: {"replaced": 1})
    show("result", net[0].state_dict())
    net.register_load_state_dict_post_hook(lambda m, keys: 1)
    show.error(lambda: net.load_state_dict(state))


def loading(torch, show):
    net, other = _net(torch), _net(torch)
    state = other.state_dict()
    show("version", {key: dict(value) for key, value in state._metadata.items()})
    show("all", str(net.load_state_dict(state)))
    state["more"] = torch.ones(1)
    del state["3.bias"]
    show.error(lambda: net.load_state_dict(state))
    show("loose", net.load_state_dict(state, strict=False))
    state["0.weight"] = torch.ones(2, 2)
    show.error(lambda: net.load_state_dict(state, strict=False))
    show.error(lambda: net.load_state_dict([1]))
    show.error(lambda: net.load_state_dict({"0.weight": 3}, strict=False))
    good = {key: value.double() for key, value in _net(torch).state_dict().items()}
    net.load_state_dict(good)
    show("copied", [str(p.dtype) for p in net.parameters()])
    net.load_state_dict(good, assign=True)
    show("assigned", [str(p.dtype) for p in net.parameters()] + [p.requires_grad for p in net.parameters()])
    meta = torch.nn.Linear(4, 2, device="meta")
    show.warnings(lambda: meta.load_state_dict(torch.nn.Linear(4, 2).state_dict()))
    meta.load_state_dict(torch.nn.Linear(4, 2).state_dict(), assign=True)
    show("no longer meta", str(meta.weight.device))
    show("prefix", list(net.state_dict(prefix="p.")))
    show("vars", net.state_dict(keep_vars=True)["0.weight"] is net[0].weight)


def extra_state(torch, show):
    class Counting(torch.nn.Module):
        count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    one, two = Counting(), torch.nn.Sequential(Counting())
    one.count = 5
    show("state", dict(one.state_dict()))
    show.error(lambda: one.load_state_dict({}))
    two[0].load_state_dict(one.state_dict())
    show("count", two[0].count)
    show.error(lambda: torch.nn.Linear(2, 2).load_state_dict(one.state_dict()))
    show.error(lambda: torch.nn.Module().get_extra_state())
    show("suffix", torch.nn.modules.module._EXTRA_STATE_KEY_SUFFIX)


def names_and_paths(torch, show):
    nn = torch.nn
    shared = nn.Linear(2, 2)
    net = nn.ModuleDict({"a": shared, "b": nn.Sequential(shared, nn.BatchNorm1d(2))})
    for duplicates in (True, False):
        show("modules", [name for name, _ in net.named_modules(remove_duplicate=duplicates)])
        show("parameters", [name for name, _ in net.named_parameters(remove_duplicate=duplicates)])
        show("buffers", [name for name, _ in net.named_buffers(remove_duplicate=duplicates)])
    show("prefix", [name for name, _ in net.named_parameters("top", recurse=True)])
    show("shallow", [name for name, _ in net.named_parameters(recurse=False)])
    show("found", net.get_submodule("b.0") is shared)
    show("parameter", net.get_parameter("b.0.weight") is shared.weight)
    show("buffer", net.get_buffer("b.1.running_mean"))
    show.error(lambda: net.get_submodule("b.7"))
    show.error(lambda: net.get_submodule("b.0.weight"))
    show.error(lambda: net.get_parameter("b.1.running_mean"))
    show.error(lambda: net.get_buffer("b.0.weight"))
    net.set_submodule("b.0", nn.Identity())
    show("replaced", repr(net))
    show.error(lambda: net.set_submodule("b.5", nn.Identity(), strict=True))
    show.error(lambda: net.set_submodule("", nn.Identity()))


def printing(torch, show):
    class Told(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential())

        def extra_repr(self):
            return "one\ntwo"

    show("repr", repr(Told()))
    show("indented", torch.nn.modules.module._addindent("a\nb", 3))
    show("names", torch.nn.Module()._get_name())
    show("dir", [name in dir(Told()) for name in ("inner", "forward", "nothing")])


def copies(torch, show):
    net = _net(torch)
    net(torch.ones(3, 3)).sum().backward()
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        show("state", dict(made.state_dict()))
        show("grads", [p.grad is None for p in made.parameters()])
        show("apart", made[0].weight is net[0].weight)
        show("y", made.eval()(torch.ones(1, 3)))
    show("shallow", copy.copy(net)[0] is net[0])
    shared = torch.nn.Linear(2, 2)
    pair = copy.deepcopy(torch.nn.ModuleList([shared, shared]))
    show("tied", pair[0] is pair[1])


def calling_directly(torch, show):
    class Own(torch.nn.Module):
        def __call__(self, *args, **kwargs):
            return self._call_impl(*args, **kwargs) + 1

        def forward(self, x):
            return x * 2

    show("y", Own()(torch.ones(2)))
    show.error(lambda: torch.nn.Module()(1))
    show.error(lambda: torch.nn.Module(3))
    show.error(lambda: torch.nn.Module(a=3))
    show("slow", Own()._slow_forward(torch.ones(1)))


def functional_calls(torch, show):
    nn = torch.nn
    net = _net(torch)
    before = net[0].weight
    changed = {"0.weight": torch.zeros(4, 3), "1.running_mean": torch.zeros(4)}
    show("y", torch.func.functional_call(net, changed, (torch.ones(5, 3),)))
    show("mean", changed["1.running_mean"])
    show("kept", [net[0].weight is before, net[1].running_mean])
    pair = ({"0.bias": torch.ones(4)}, {"3.bias": torch.ones(2)})
    show("pairs", torch.func.functional_call(net, pair, torch.ones(5, 3)))
    show.error(lambda: torch.func.functional_call(net, [{"a": 1}, {"a": 2}], torch.ones(5, 3)))
    show.error(lambda: torch.func.functional_call(net, 3, torch.ones(5, 3)))
    show.error(lambda: torch.func.functional_call(net, {"0.weight": 3}, torch.ones(5, 3)))
    show.error(lambda: torch.func.functional_call(net, {"9.weight": torch.ones(1)}, torch.ones(5, 3)))
    show.error(lambda: torch.func.functional_call(nn.ReLU(), {"w": torch.ones(1)}, torch.ones(5, 3), strict=True))
    tied = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    tied["b"].weight = tied["a"].weight
    tied.forward = lambda x: tied["b"](tied["a"](x))
    eye = {"a.weight": torch.eye(2), "a.bias": torch.zeros(2), "b.bias": torch.zeros(2)}
    show("tied", torch.func.functional_call(tied, eye, torch.ones(1, 2)))
    show.error(lambda: torch.func.functional_call(tied, {**eye, "b.weight": torch.ones(2, 2)}, torch.ones(1, 2)))
    both = {**eye, "b.weight": torch.ones(2, 2)}
    show("untied", torch.func.functional_call(tied, both, torch.ones(1, 2), tie_weights=False))
    weight = torch.ones(4, 3, requires_grad=True)
    torch.func.functional_call(net, {"0.weight": weight}, torch.randn(5, 3)).pow(2).sum().backward()
    show("gradient", weight.grad)
    show.warnings(lambda: nn.utils.stateless.functional_call(nn.ReLU(), {}, torch.ones(1)))
    stacked, _ = torch.func.stack_module_state([nn.Linear(2, 3), nn.Linear(2, 3)])
    show("stacked", [[tuple(t.shape), t.requires_grad, t.is_leaf] for t in stacked.values()])
    show.error(lambda: torch.func.stack_module_state([]))
    show.error(lambda: torch.func.stack_module_state([nn.ReLU(), nn.Tanh()]))
    show.error(lambda: torch.func.stack_module_state([nn.ReLU(), nn.ReLU().eval()]))


def small_parts(torch, show):
    nn = torch.nn
    show("factory", nn.factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": torch.float32}}))
    show("nothing", nn.factory_kwargs(None))
    show.error(lambda: nn.factory_kwargs({"shape": 1}))
    show.error(lambda: nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 2}}))
    made = nn.utils.skip_init(nn.Linear, 2, 3)
    show("skipped", [tuple(made.weight.shape), str(made.weight.device)])
    show.error(lambda: nn.utils.skip_init(nn.ReLU))
    show.warnings(lambda: nn.NLLLoss2d())
    show.warnings(lambda: show("container", repr(nn.Container(a=nn.ReLU()))))
    parts = nn.modules.utils
    show("tuples", [parts._single(1), parts._pair(2), parts._triple((1, 2, 3)), parts._ntuple(4)(0)])
    state = torch.nn.Linear(2, 2).state_dict(prefix="module.")
    parts.consume_prefix_in_state_dict_if_present(state, "module.")
    show("prefix", [list(state), list(state._metadata)])


def adaptive_softmax(torch, show):
    torch.manual_seed(0)
    layer = torch.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0, head_bias=True)
    show("repr", repr(layer))
    x, target = torch.randn(7, 8, requires_grad=True), torch.tensor([0, 3, 5, 9, 12, 19, 1])
    answer = layer(x, target)
    show("answer", [answer.output, answer.loss])
    answer.loss.backward()
    show("gradient", x.grad)
    show("all", layer.log_prob(x))
    show("predicted", layer.predict(x))
    show("one", layer(x[0], target[0]).output)
    show.error(lambda: layer(x, target + 1))
    show.error(lambda: layer(x[:2], target))
    show.error(lambda: layer(x, target[0]))
    show.error(lambda: layer(x, target.view(1, 7)))
    show.error(lambda: torch.nn.AdaptiveLogSoftmaxWithLoss(8, 20, []))
    show.error(lambda: torch.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 30]))


def linear_cross_entropy(torch, show):
    nn, F = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    x = torch.randn(5, 3, requires_grad=True)
    for kwargs in ({}, {"bias": True, "reduction": "sum"}, {"label_smoothing": 0.1}, {"ignore_index": 1}):
        layer = nn.LinearCrossEntropyLoss(3, 4, **kwargs)
        show("repr", repr(layer))
        loss = layer(x, torch.tensor([0, 1, 2, 3, 3]))
        show("loss", loss)
        show("gradient", torch.autograd.grad(loss, (x, layer.linear.weight)))
    show("several", nn.LinearCrossEntropyLoss(3, 4, out_features=(2,), bias=True)(x, torch.zeros(5, 2).long()))
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    show("options", repr(options))
    show("chunks", F.linear_cross_entropy(x, torch.ones(4, 3), torch.zeros(5).long(), options=options).item())
    show.error(lambda: nn.LinearCrossEntropyOptions(acc_policy="none"))
    show.error(lambda: nn.LinearCrossEntropyOptions(batch_chunk_size=0))
    show.error(lambda: nn.LinearCrossEntropyOptions(chunking_method="all"))
    show.error(lambda: F.linear_cross_entropy(x, torch.ones(4, 2), torch.zeros(5).long()))
    show.error(lambda: F.linear_cross_entropy(x, torch.ones(3), torch.zeros(5).long()))
    show.error(lambda: F.linear_cross_entropy(x[None], torch.ones(4, 3), torch.zeros(5).long()))
    show.error(lambda: F.linear_cross_entropy(x[0], torch.ones(4, 2, 3), torch.zeros(2).long()))
    show.error(lambda: F.linear_cross_entropy(x, torch.ones(4, 3), torch.zeros(5, 4), ignore_index=1))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])


@pytest.mark.parametrize(
    "path",
    [
        "activation.ReLU", "batchnorm._BatchNorm", "batchnorm.BatchNorm2d", "container.Sequential",
        "container.ParameterList", "conv._ConvNd", "conv.Conv2d", "dropout._DropoutNd", "instancenorm._InstanceNorm",
        "lazy.LazyModuleMixin", "linear.NonDynamicallyQuantizableLinear", "loss._Loss", "loss._WeightedLoss",
        "loss.TripletMarginLoss", "module.Module", "module._IncompatibleKeys", "normalization.GroupNorm",
        "pooling.MaxPool2d", "sparse.EmbeddingBag", "transformer.TransformerEncoderLayer", "utils._pair",
        "adaptive.AdaptiveLogSoftmaxWithLoss", "flatten.Flatten", "distance.PairwiseDistance",
    ],
)  # fmt: skip
def test_paths_that_scripts_import_from(path):
    module, _, name = path.rpartition(".")
    with glassgrad.alias():
        found = getattr(importlib.import_module(f"torch.nn.modules.{module}"), name)
        assert importlib.import_module("torch.nn.common_types")._size_2_t
    assert found.__module__.startswith("glassgrad")


def refuses(of):
    try:
        of(no_such_setting=1)
    except TypeError:
        return True
    return False


@pytest.mark.parametrize("namespace", "nn optim optim.lr_scheduler distributions nn.utils.parametrizations".split())
def test_settings_that_a_class_does_not_have_are_refused_as_in_pytorch(namespace):
    theirs, ours = (attrgetter(namespace)(engine) for engine in (real, glassgrad))
    names = [name for name in dir(theirs) if isinstance(getattr(theirs, name), type) and hasattr(ours, name)]
    assert names
    assert [name for name in names if refuses(getattr(theirs, name)) and not refuses(getattr(ours, name))] == []
