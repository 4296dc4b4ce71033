"""Words of memory that stand for a program's tests: whatever is changed between two calls is noticed."""

import gc
import threading

import numpy as np
import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.compiler import whole, words
from glassgrad.kernels import compiled

from .both_ways import Cases, numbers, programs

pytest.importorskip("numba", reason="Numba is not installed: there is no tape")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.act, self.last = nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)
        self.scale = 1.0
        self.order = ["first", "act", "last"]

    def forward(self, x):
        for name in self.order:
            x = getattr(self, name)(x)
        return x * self.scale


FORWARD, CODE = Net.forward, Net.forward.__code__


class World:
    """A small network, how it is trained, and one step of it."""

    def __init__(self, how):
        torch.manual_seed(3)
        self.net, self.loss_of = Net(), nn.MSELoss()
        self.x, self.y = torch.randn(6, 2), torch.randn(6, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)
        self.kept = []
        net, loss_of, optimizer, factor = self.net, self.loss_of, self.optimizer, 1.0

        def step(x, y, shift=0.0):
            loss = loss_of(net(x) * factor + shift, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        def set_factor(number):
            nonlocal factor
            factor = number

        self.written, self.set_factor = step, set_factor
        self.step = how(step)

    @property
    def weight(self):
        return self.net.first.weight

    def seen(self):
        """The loss of a step, and what it leaves behind."""
        loss = self.step(self.x, self.y)
        found = [np.array(loss.item()), np.array(loss.requires_grad)]
        for p in self.net.parameters():
            found += [numbers(p), np.array(0.0) if p.grad is None else numbers(p.grad), np.array(p._version)]
        return found


attacks = attack = Cases()  # what is changed, and after the ``yield`` how that is undone


@attack
def data_in_place(w):
    w.weight.data.mul_(0.5)


@attack
def other_data(w):
    w.weight.data = w.weight.data * 0.5


@attack
def other_dtype(w):
    w.net.double()
    w.x, w.y = w.x.double(), w.y.double()
    yield
    w.net.float()
    w.x, w.y = w.x.float(), w.y.float()


@attack
def no_gradient_wanted(w):
    w.weight.requires_grad_(False)
    w.weight.grad = None
    yield
    w.weight.requires_grad_(True)


@attack
def gradient_away(w):
    w.weight.grad = None


@attack
def gradient_of_others(w):
    w.weight.grad = torch.ones(3, 2)


@attack
def gradient_held(w):
    w.kept.append((w.weight.grad, numbers(w.weight.grad)))


@attack
def gradient_array_held(w):
    array = w.weight.grad.numpy()
    w.kept.append((torch.from_numpy(array), array.copy()))


@attack
def gradient_with_name(w):
    w.weight.grad.note = "mine"
    yield
    assert not hasattr(w.weight.grad, "note")


@attack
def gradient_with_other_attributes(w):
    w.weight.grad.__dict__ = {"note": "mine"}
    yield
    assert not hasattr(w.weight.grad, "note")


@attack
def gradient_written(w):
    w.weight.grad.mul_(3.0)
    yield
    assert w.weight.grad._version == 0


@attack
def gradient_moved(w):
    w.weight.grad, w.net.last.weight.grad = None, None
    w.net.first.bias.grad = w.net.first.bias.grad.clone()


@attack
def more_accumulated(w):
    w.loss_of(w.net(w.x), w.y).backward()


@attack
def hook_of_leaf(w):
    handle = w.weight.register_hook(lambda grad: grad * 2)
    yield
    handle.remove()


@attack
def hook_after_accumulating(w):
    def doubled(p):
        p.grad.mul_(2.0)

    handle = w.weight.register_post_accumulate_grad_hook(doubled)
    yield
    handle.remove()


@attack
def hook_of_module(w):
    handle = w.net.act.register_forward_hook(lambda module, given, made: made * 2)
    yield
    handle.remove()


@attack
def learning_rate(w):
    w.optimizer.param_groups[0]["lr"] = 0.01


@attack
def whole_learning_rate(w):
    w.optimizer.param_groups[0]["lr"] = 1
    yield
    w.optimizer.param_groups[0]["lr"] = 0.05


@attack
def momentum(w):
    w.optimizer.param_groups[0]["momentum"] = 0.9
    yield
    w.optimizer.param_groups[0]["momentum"] = 0


@attack
def weight_decay(w):
    w.optimizer.param_groups[0]["weight_decay"] = 0.1
    yield
    w.optimizer.param_groups[0]["weight_decay"] = 0


@attack
def fewer_parameters(w):
    params = w.optimizer.param_groups[0]["params"]
    last = params.pop()
    yield
    params.append(last)


@attack
def parameters_turned(w):
    w.optimizer.param_groups[0]["params"].reverse()


@attack
def other_parameters(w):
    params = w.optimizer.param_groups[0]["params"]
    params[0], kept = nn.Parameter(torch.zeros(1)), params[0]
    yield
    params[0] = kept


@attack
def another_list(w):
    group = w.optimizer.param_groups[0]
    group["params"] = group["params"][:2]


@attack
def other_groups(w):
    w.optimizer.param_groups = [dict(w.optimizer.param_groups[0], lr=0.2)]


@attack
def one_group_more(w):
    w.optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(1))]})


@attack
def hook_of_step(w):
    def halved(*given):
        w.weight.grad.mul_(0.5)

    handle = w.optimizer.register_step_pre_hook(halved)
    yield
    handle.remove()


@attack
def step_replaced(w):
    w.optimizer.step = lambda: None
    yield
    del w.optimizer.step


@attack
def evaluation(w):
    w.net.eval()
    yield
    w.net.train()


@attack
def other_layer(w):
    torch.manual_seed(9)
    w.net.first, kept = nn.Linear(2, 3), w.net.first
    yield
    w.net.first = kept


@attack
def other_parameter(w):
    torch.manual_seed(9)
    w.net.first.weight, kept = nn.Parameter(torch.randn(3, 2)), w.net.first.weight
    yield
    w.net.first.weight = kept


@attack
def other_number(w):
    w.net.scale = 2.0
    yield
    w.net.scale = 1.0


@attack
def number_away(w):
    del w.net.scale
    Net.scale = 3.0
    yield
    w.net.scale = 1.0
    Net.__dict__.get("scale") and delattr(Net, "scale")


@attack
def entry_of_list(w):
    w.net.order[1] = "first_of_all"
    w.net.first_of_all = nn.Tanh()
    yield
    w.net.order[1] = "act"
    del w.net.first_of_all


@attack
def longer_list(w):
    w.net.order.append("act")
    yield
    w.net.order.pop()


@attack
def list_made_anew(w):
    w.net.order[:] = ["first", "last"]
    yield
    w.net.order.clear()
    w.net.order.extend(["first", "act", "last"])


@attack
def other_class(w):
    class Doubled(Net):
        def forward(self, x):
            return super().forward(x) * 2

    w.net.__class__ = Doubled
    yield
    w.net.__class__ = Net


@attack
def forward_of_class(w):
    Net.forward = lambda self, x: self.last(self.first(x))
    yield
    Net.forward = FORWARD


@attack
def forward_of_object(w):
    w.net.forward = lambda x: w.net.last(w.net.first(x))
    yield
    del w.net.forward


@attack
def code_of_forward(w):
    def forward(self, x):
        return self.last(self.first(x))

    Net.forward.__code__ = forward.__code__
    yield
    Net.forward.__code__ = CODE


@attack
def setting_of_loss(w):
    w.loss_of.reduction = "sum"
    yield
    w.loss_of.reduction = "mean"


@attack
def variable_of_closure(w):
    w.set_factor(2.0)
    yield
    w.set_factor(1.0)


@attack
def default_of_argument(w):
    w.written.__defaults__ = (0.5,)
    yield
    w.written.__defaults__ = (0.0,)


@attack
def in_place_module(w):
    w.net.act.inplace = True
    yield
    w.net.act.inplace = False


@attack
def state_loaded(w):
    w.net.load_state_dict({name: value * 0.5 for name, value in w.net.state_dict().items()})


@attack
def optimizer_loaded(w):
    w.optimizer.load_state_dict(w.optimizer.state_dict())


@attack
def default_dtype(w):
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(params=["words", "text"])
def form(request, monkeypatch):
    """Programs that look at words, and programs that have only their text."""
    if request.param == "text":
        monkeypatch.setattr(whole, "layout", lambda: None)
    elif words.layout() is None:
        pytest.skip("the objects of this Python are not known")
    with compiled.serving(compiled.LEAST):
        yield request.param


@pytest.mark.parametrize("name", attacks)
def test_a_change_between_calls_is_noticed(name, form):
    worlds = World(lambda step: step), World(torch.compile)
    changes = []
    calls = 0

    def compared(times=3):
        nonlocal calls
        for _ in range(times):
            calls += 1
            written, replayed = (world.seen() for world in worlds)
            for one, other in zip(written, replayed, strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6, err_msg=f"call {calls} of {name}")

    compared(6)
    (program,) = programs(worlds[1].step)
    assert program.native and ("altered" in program.source) == (form == "words")
    for undone in (False, True):
        for world, change in zip(worlds, changes or [None, None], strict=True):
            if undone:
                next(change, None)
            else:
                change = attacks[name](world)  # noqa: PLW2901
                changes.append(iter(()) if change is None else change)
                next(changes[-1], None)
            gc.collect()
        compared()
        if not any(getattr(change, "gi_frame", None) for change in changes):
            break
    for world in worlds:
        for held, expected in world.kept:
            assert numbers(held).tobytes() == expected.tobytes()


def test_no_gradient_and_other_modes_are_noticed(form):
    worlds = World(lambda step: step), World(torch.compile)
    for n in range(12):
        for world in worlds:
            if n in (6, 9):
                for mode in (torch.no_grad(), torch.inference_mode()):
                    with mode, pytest.raises(RuntimeError, match="does not require grad"):
                        world.step(world.x, world.y)
            world.seen()
    for one, other in zip(*(world.seen() for world in worlds), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)


def test_words_hold_from_the_third_run_on():
    if words.layout() is None:
        pytest.skip("the objects of this Python are not known")
    world = World(torch.compile)
    with compiled.serving(compiled.LEAST):
        for _ in range(5):
            world.step(world.x, world.y)
        names = world.step.program_state.runs[0].__globals__
        found = []
        names["altered"] = lambda where, altered=names["altered"]: found.append(altered(where)) or found[-1]
        for _ in range(4):
            world.step(world.x, world.y)
        assert found == [0] * 4
        world.net.eval()
        world.net.train()
        for _ in range(4):
            world.step(world.x, world.y)
        assert found[4] and found[5:] == [0] * 3


def test_a_flag_that_changes_while_others_run_is_noticed(form):
    torch.manual_seed(4)
    net, x = Net().requires_grad_(False), torch.randn(6, 2)
    step = torch.compile(lambda x: net(x).sum(0))
    expected = {}
    for net.scale in (1.0, 2.0):
        for _ in range(4):
            expected[net.scale] = step(x).item()
    assert len(programs(step)) == 2 and expected[1.0] != expected[2.0]
    going, wrong = True, []

    def others():
        while going:
            step(x)

    threads = [threading.Thread(target=others) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n in range(300):
        net.scale = float(1 + n % 2)
        wrong += [n for _ in range(3) if step(x).item() != expected[net.scale]]
    going = False
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_python_of_another_make_has_no_words(monkeypatch):
    monkeypatch.setattr(words, "_versions_as_known", lambda: False)
    assert words.layout.__wrapped__() is None
    monkeypatch.undo()
    monkeypatch.setattr(words.sys, "version_info", (3, 14, 0))
    assert words.layout.__wrapped__() is None
