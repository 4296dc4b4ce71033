"""What may change between calls of a compiled training step: modules, parameters, optimizers, hooks, modes."""

import copy

import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled
from glassgrad.nn.modules import calls
from glassgrad.optim.optimizer import _after_all, _before_all

from .both_ways import bits, both

CHANGES = {}


class Net(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(4, 4)
        s.b = nn.Linear(4, 4)
        s.register_buffer("scale", torch.ones(4))
        s.k = 2.0

    def forward(s, x):
        return s.b(torch.tanh(s.a(x))) * s.scale * s.k


class World:
    def __init__(w, opt=None):
        torch.manual_seed(0)
        w.m = Net()
        w.o = (opt or (lambda p: torch.optim.SGD(p, 0.1, momentum=0.0)))(w.m.parameters())
        w.log = []

    def step(w, x, y):
        w.o.zero_grad()
        loss = F.mse_loss(w.m(x), y)
        loss.backward()
        w.o.step()
        return loss


# each attack: change(w) executed at turn 4
def simple(change, opt=None):
    def run(how):
        w = World(opt)
        st = how(w.step)
        out = []
        for i in range(9):
            if i == 5:
                change(w)
            x, y = torch.randn(3, 4), torch.randn(3, 4)
            try:
                r = st(x.to(w.m.a.weight.dtype), y.to(w.m.a.weight.dtype))
                out.append(bits(r))
            except Exception as e:
                out.append((type(e).__name__, str(e)[:60]))
        out.append([bits(p) for p in w.m.parameters()])
        out.append([p.grad is not None and bits(p.grad) for p in w.m.parameters()])
        out.append(w.log)
        out.append(
            [
                {k: (bits(v) if isinstance(v, torch.Tensor) else v) for k, v in w.o.state.get(p, {}).items()}
                for p in w.m.parameters()
            ]
        )
        return out

    return run


def change(f):
    CHANGES[f.__name__] = f
    return f


@change
def tie(w):
    w.m.b.weight = w.m.a.weight


@change
def assign(w):
    w.m.load_state_dict({k: torch.full_like(v, 0.1) for k, v in w.m.state_dict().items()}, assign=True)


@change
def load(w):
    w.m.load_state_dict({k: torch.full_like(v, 0.1) for k, v in w.m.state_dict().items()})


@change
def lr_tensor(w):
    w.o.param_groups[0]["lr"] = torch.tensor(0.3)


@change
def lr_float(w):
    w.o.param_groups[0]["lr"] = 0.7


@change
def maximize(w):
    w.o.param_groups[0]["maximize"] = True


@change
def groups_replaced(w):
    w.o.load_state_dict({**w.o.state_dict(), "param_groups": [{**w.o.state_dict()["param_groups"][0], "lr": 0.9}]})


@change
def group_dict_new(w):
    w.o.param_groups[0] = {**w.o.param_groups[0], "lr": 0.9}


@change
def swap_groups(w):
    w.o.param_groups[0]["params"] = w.o.param_groups[0]["params"][:1]


@change
def params_reordered(w):
    w.o.param_groups[0]["params"].reverse()


@change
def add_group(w):
    w.o.param_groups[0]["params"].pop()
    w.o.add_param_group({"params": [w.m.b.bias], "lr": 0.9})


@change
def global_pre_hook(w):
    w.h = torch.optim.optimizer.register_optimizer_step_pre_hook(lambda o, a, k: w.log.append(1))


@change
def global_post_hook(w):
    w.h = torch.optim.optimizer.register_optimizer_step_post_hook(lambda o, a, k: w.log.append(2))


@change
def own_hook(w):
    w.o.register_step_post_hook(lambda o, a, k: w.log.append(3))


@change
def fwd_hook(w):
    w.m.a.register_forward_hook(lambda m, i, o: o * 2)


@change
def fwd_pre_hook(w):
    w.m.a.register_forward_pre_hook(lambda m, i: (i[0] * 2,))


@change
def bwd_hook(w):
    w.m.a.register_full_backward_hook(lambda m, gi, go: w.log.append("b"))


@change
def module_global_hook(w):
    w.h = torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: w.log.append(type(m).__name__))


@change
def param_hook(w):
    w.m.a.weight.register_hook(lambda g: g * 2)


@change
def post_acc_hook(w):
    w.m.a.weight.register_post_accumulate_grad_hook(lambda p: w.log.append(1))


@change
def freeze(w):
    w.m.a.weight.requires_grad_(False)


@change
def freeze_attr(w):
    w.m.a.bias.requires_grad = False


@change
def double(w):
    w.m.double()


@change
def half_dtype(w):
    torch.set_default_dtype(torch.float64)


@change
def forward_patched(w):
    w.m.a.forward = lambda x: x * 3


@change
def class_changed(w):
    class Other(nn.Linear):
        def forward(s, x):
            return F.linear(x, s.weight, s.bias) * 2

    w.m.a.__class__ = Other


@change
def class_forward(w):
    class Other(Net):
        def forward(s, x):
            return x * s.a.weight.sum()

    w.m.__class__ = Other


@change
def attr(w):
    w.m.k = 3.0


@change
def buffer_inplace(w):
    w.m.scale.mul_(2)


@change
def buffer_new(w):
    w.m.scale = torch.full((4,), 3.0)


@change
def buffer_to_param(w):
    del w.m.scale
    w.m.scale = nn.Parameter(torch.full((4,), 3.0))


@change
def child_replaced(w):
    w.m.a = nn.Linear(4, 4)


@change
def child_replaced_same_type(w):
    w.m.b = copy.deepcopy(w.m.a)


@change
def grad_preset(w):
    for p in w.m.parameters():
        p.grad = torch.ones_like(p)


@change
def data_replaced(w):
    w.m.a.weight.data = torch.zeros(4, 4)


@change
def data_layout(w):
    w.m.a.weight.data = torch.randn(4, 4).t()


@change
def state_cleared(w):
    w.o.state.clear()


@change
def opt_step_patched(w):
    old = w.o.step
    w.o.step = lambda: (w.log.append("p"), old())[1]


@change
def zero_patched(w):
    w.o.zero_grad = lambda: w.log.append("z")


@change
def anomaly(w):
    torch.autograd.set_detect_anomaly(True)


@change
def no_grad_around(w):
    torch.set_grad_enabled(False)


@change
def deterministic(w):
    torch.use_deterministic_algorithms(True)


@change
def param_shape(w):
    w.m.a = nn.Linear(4, 4, bias=False)


@change
def inplace_param(w):
    with torch.no_grad():
        w.m.a.weight.zero_()


@change
def parametrize(w):
    torch.nn.utils.parametrizations.weight_norm(w.m.a)


@change
def weight_is_tensor(w):
    p = w.m.a.weight
    del w.m.a.weight
    w.m.a.weight = p.detach() * 2


@change
def scheduler_added(w):
    w.s = torch.optim.lr_scheduler.ExponentialLR(w.o, 0.5)


@change
def eval_mode(w):
    w.m.eval()


@change
def requires_grad_buffer(w):
    w.m.scale.requires_grad_(True)


@change
def swapmem(w):
    w.m.a.weight, w.m.b.weight = w.m.b.weight, w.m.a.weight


@change
def copy_between(w):
    w.m.a.weight.data, w.m.b.weight.data = w.m.b.weight.data, w.m.a.weight.data


@change
def alias_data(w):
    w.m.a.weight.data = w.m.b.weight.data


@change
def share_bias(w):
    w.m.a.bias.data = w.m.scale


@change
def bias_none(w):
    w.m.a.bias = None


@change
def class_attr(w):
    Net.forward = lambda s, x: s.a(x)


def reset():
    torch.set_default_dtype(torch.float32)
    torch.autograd.set_detect_anomaly(False)
    torch.set_grad_enabled(True)
    torch.use_deterministic_algorithms(False)
    _before_all.clear()
    _after_all.clear()
    calls.everywhere.forward.clear()
    calls._listening.clear()
    Net.forward = FWD


FWD = Net.forward


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_noticed(change):
    found = []
    for how in (lambda step: step, torch.compile):
        try:
            with compiled.serving(compiled.NEVER):
                found.append(simple(change)(how))
        finally:
            reset()
    assert found[0] == found[1]


@pytest.mark.parametrize("which", ["parameter", "argument"])
def test_the_way_back_reads_what_leaves_are_by_then(which):
    """Data that a leaf is given between a compiled model and ``backward`` count, as PyTorch saves leaves themselves."""

    def case(how, out):
        model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
        call = how(model)
        for n in range(5):
            x = torch.randn(3, 4).requires_grad_(n % 2 == 0)
            result = call(x)
            leaf = model[2].weight if which == "parameter" else x
            leaf.data = leaf.data * 2
            result.square().sum().backward()
            out.append([x.grad if n % 2 == 0 else None, *(parameter.grad for parameter in model.parameters())])
            model.zero_grad()

    with compiled.serving(compiled.NEVER):
        mine, theirs = both(case)
    assert mine == theirs and len(mine) == 5
