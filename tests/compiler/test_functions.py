"""Compiled functions of tensors: results and gradients, what they are guarded by, what runs as it is written."""

import copy
import pickle
import random

import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, programs, reasons


@pytest.fixture(autouse=True)
def _kernels_of_numpy():
    with compiled.serving(compiled.NEVER):
        yield


def test_gradients_flow_through_a_compiled_function():
    torch.manual_seed(0)
    layer = nn.Linear(4, 4)

    def function(x, y, scale=1.0):
        h = torch.tanh(layer(x)) * scale
        return h.sum(), {"mean": (h * y).mean(dim=0), "scale": scale}

    replayed = torch.compile(function)
    for turn in range(5):
        x, y = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4)
        found = []
        for call in (function, replayed):
            x.grad = None
            layer.zero_grad()
            a, rest = call(x * 2, y, scale=2.0)
            (a * 2 + rest["mean"].sum()).backward()
            found.append([bits(t) for t in (a, rest["mean"], x.grad, layer.weight.grad, layer.bias.grad)])
        assert found[0] == found[1]


def test_graphs_are_those_of_the_calls():
    torch.manual_seed(0)
    layer = nn.Linear(4, 4)
    for pure in (False, True):
        replayed = torch.compile(lambda x: torch.tanh(layer(x) * 2).sum(), pure=pure)
        for _ in range(5):
            a = replayed(torch.randn(3, 4))
            nodes = [a.grad_fn]
            while nodes[-1].next_functions:
                nodes.append(nodes[-1].next_functions[0][0])
            names = [type(node).__name__ for node in nodes]
            assert names[:4] == ["SumBackward0", "TanhBackward0", "MulBackward0", "AddmmBackward0"]
        assert not pure or "a tensor that has a way back" in reasons(replayed)[0]


def test_one_output_of_two_may_go_without_a_gradient():
    @torch.compile
    def halves(x):
        return x.exp(), x.sin()

    for _ in range(4):
        x = torch.ones(3, requires_grad=True)
        e, _ = halves(x)
        e.sum().backward()
        assert torch.allclose(x.grad, torch.ones(3).exp())


def test_a_changed_parameter_is_noticed_before_the_way_back():
    w = torch.ones(3, requires_grad=True)

    @torch.compile
    def square(x):
        return (x * w * w).sum()

    for _ in range(3):
        y = square(torch.ones(3))
    with torch.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_the_graph_is_freed_once():
    w = torch.ones(3, requires_grad=True)
    square = torch.compile(lambda x: (x * w * w).sum())
    for _ in range(3):
        y = square(torch.ones(3))
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    (once,) = torch.autograd.grad(square(torch.ones(3)), w, create_graph=True)
    (twice,) = torch.autograd.grad(once.sum(), w)
    assert once.tolist() == [2.0] * 3 and twice.tolist() == [2.0] * 3


def test_a_module_keeps_its_state_and_modes():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    call = torch.compile(model)
    written = copy.deepcopy(model)
    for turn in range(8):
        for piece in (model, written):
            piece.train(turn % 4 < 2)
        x = torch.randn(6, 4)
        torch.manual_seed(turn)
        expected = written(x)
        torch.manual_seed(turn)
        assert bits(call(x)) == bits(expected)
    assert all(bits(a) == bits(b) for a, b in zip(model.state_dict().values(), written.state_dict().values()))
    assert bits(pickle.loads(pickle.dumps(call)).eval()(x)) == bits(call.eval()(x))


class Settings:
    power = 2

    def __init__(self):
        self.scale = 3.0
        self.names = ["a"]


SETTINGS = Settings()
FACTOR = 2.0


def test_python_values_are_guarded():
    global FACTOR
    SETTINGS.__init__()
    FACTOR = 2.0
    inner = {"shift": 1}
    held = 5.0

    def function(x):
        shift = inner["shift"] if "a" in SETTINGS.names else 0
        return x**SETTINGS.power * SETTINGS.scale * FACTOR + shift + held

    replayed = torch.compile(function)
    x = torch.arange(4.0)

    def agree():
        for _ in range(3):
            assert bits(replayed(x)) == bits(function(x))

    agree()
    SETTINGS.scale = 4.0
    agree()
    FACTOR = 3.0
    agree()
    inner["shift"] = 2
    agree()
    held = 6.0
    agree()
    SETTINGS.names.clear()
    agree()
    Settings.power = 3
    try:
        agree()
    finally:
        Settings.power = 2


def test_shapes_dtypes_layouts_and_modes_are_guarded():
    layer = nn.Linear(3, 3)
    replayed = torch.compile(lambda x: layer(x) * 2)
    tensors = [torch.ones(2, 3), torch.ones(4, 3), torch.ones(3, 2).t(), torch.ones(3)]
    for _ in range(3):
        for x in tensors:
            assert bits(replayed(x)) == bits(layer(x) * 2)
            with torch.no_grad():
                assert not replayed(x).requires_grad
            assert replayed(x).requires_grad
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        replayed(torch.ones(2, 2))
    with pytest.raises(RuntimeError, match="same dtype"):
        replayed(torch.ones(2, 3).double())


def test_two_names_for_one_tensor():
    replayed = torch.compile(lambda x, y: x.mul(1).add_(y))
    a, b = torch.ones(3), torch.full((3,), 5.0)
    for x, y in ((a, a), (a, a), (a, b), (b, b), (a, b), (b, a)):
        assert bits(replayed(x, y)) == bits(x + y)


def test_in_place_writes_and_random_numbers():
    def function(x):
        x.add_(torch.rand(3, 4))
        y = x * 2
        y.add_(1)
        y[0] = 5
        y[:, 1] *= 3
        return y, torch.randn(2), x

    replayed = torch.compile(function)
    for seed in range(4):
        found = []
        for call in (function, replayed):
            torch.manual_seed(seed)
            x = torch.zeros(3, 4)
            y, noise, same = call(x)
            assert same is x
            found.append([bits(y), bits(noise), bits(x), x._version, torch.get_rng_state().tolist()])
        assert found[0] == found[1]


def test_hooks_run():
    heard = []
    x = torch.ones(3, requires_grad=True)
    replayed = torch.compile(lambda: (x * 2).sum())
    for _ in range(3):
        replayed().backward()
    x.register_hook(lambda grad: heard.append(grad.tolist()))
    replayed().backward()
    assert heard == [[2.0] * 3]


def test_item_at_the_end():
    replayed = torch.compile(lambda x: {"loss": (x * 2).sum().item()})
    for n in range(4):
        assert replayed(torch.full((2,), float(n))) == {"loss": 4.0 * n}


COUNTED = []
STATE = Settings()


def branches(x):
    return x * 2 if x.sum() > 0 else x * 3


def prints(x):
    print("told")
    return x * 2


def appends(x):
    COUNTED.append(len(COUNTED))
    return x * len(COUNTED)


def counts(x):
    STATE.scale += 1
    return x * STATE.scale


def keeps(x):
    STATE.kept = x * 2
    return x


def decides(x):
    value = (x * 2).sum().item()
    return value if value > 0 else 0.0


def draws(x):
    return x * random.random()


def through_numpy(x):
    return torch.from_numpy(x.numpy() * 2)


def with_a_custom_function(x):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.scale = 2
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.scale

    return Double.apply(x.requires_grad_())


def seeds(x):
    torch.manual_seed(3)
    return x + torch.rand(3)


SEEN = [branches, prints, appends, counts, keeps, decides, draws, through_numpy, seeds]


@pytest.mark.parametrize("function", SEEN, ids=lambda function: function.__name__)
def test_what_python_does_is_done_in_each_call(function, capsys):
    replayed = torch.compile(function)
    for turn in range(12):
        found = []
        before = copy.deepcopy((STATE.__dict__, COUNTED))
        for call in (function, replayed):
            STATE.__dict__, COUNTED[:] = copy.deepcopy(before[0]), list(before[1])
            random.seed(turn)
            torch.manual_seed(turn)
            result = call(torch.randn(3))
            found.append((bits(result) if isinstance(result, torch.Tensor) else result, list(COUNTED), STATE.scale))
        assert found[0] == found[1]
    assert function.__name__ in repr(torch.compile.explain(replayed))
    if function is prints:
        assert capsys.readouterr().out.count("told") == 24


def test_custom_functions_stay_right():
    replayed = torch.compile(with_a_custom_function)
    for _ in range(4):
        x = torch.ones(3)
        replayed(x).sum().backward()
        assert x.grad.tolist() == [2.0] * 3


def test_a_compiled_function_in_another():
    inner = torch.compile(lambda x: x.sin())
    outer = torch.compile(lambda x: inner(x) * 2)
    x = torch.arange(3.0)
    for _ in range(5):
        assert bits(outer(x)) == bits(x.sin() * 2)


def test_more_ways_than_programs():
    replayed = torch.compile(lambda x, n: x * n, pure=True)
    for n in range(20):
        assert replayed(torch.ones(2), n).tolist() == [float(n)] * 2
    assert "more than 8 ways" in reasons(replayed)[-1]


def test_stances_and_reset():
    calls = []
    function = torch.compile(lambda x: F.relu(x), pure=True)
    for _ in range(4):
        function(torch.ones(2))
    assert len(programs(function)) == 1 and "relu" in function.source
    with torch.compiler.set_stance("force_eager"):
        assert function(torch.ones(2)).tolist() == [1.0, 1.0]
    torch.compiler.reset()
    assert not programs(function)
    assert function(torch.ones(2)).tolist() == [1.0, 1.0]
    assert not calls


def test_an_error_is_the_functions_own():
    def fails(x):
        raise KeyError("mine")

    replayed = torch.compile(fails)
    for _ in range(3):
        with pytest.raises(KeyError, match="mine"):
            replayed(torch.ones(2))


WRITING = {
    "relu": F.relu, "hardtanh": F.hardtanh, "relu6": F.relu6, "leaky_relu": F.leaky_relu, "elu": F.elu, "celu": F.celu,
    "selu": F.selu, "silu": F.silu, "mish": F.mish, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid,
    "rrelu": F.rrelu, "dropout": F.dropout, "threshold": lambda x, inplace: F.threshold(x, 0.1, 0.2, inplace),
    "relu_": lambda x, inplace: F.relu_(x), "module": lambda x, inplace: nn.ReLU(inplace=inplace)(x),
}  # fmt: skip


@pytest.mark.parametrize("graded", [True, False])
@pytest.mark.parametrize("name", WRITING)
def test_functions_that_write_over_what_was_made(name, graded):
    x = torch.randn(4, 3)
    found = []
    for how in (lambda f: f, torch.compile):
        w = torch.ones(3, requires_grad=graded)
        call = how(lambda x, w=w: WRITING[name](x * w, inplace=True) * 3)
        for _ in range(4):
            torch.manual_seed(1)
            w.grad = None
            made = call(x)
            if graded:
                made.sum().backward()
        found.append([bits(made), graded and bits(w.grad)])
    assert found[0] == found[1]


def test_what_is_computed_twice_goes_with_its_own_half():
    """Steps that are left out of the forward half make no room in it for steps of the backward half."""
    x = torch.randn(4, 3)
    found = []
    for how in (lambda f: f, torch.compile):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        call = how(lambda x, model=model: (model(x), model(x).sum() + model(x * 1).mean()))
        for _ in range(4):
            one, other = call(x)
            (one.sum() * 2 + other).backward()
        found.append([bits(one), bits(other), *[bits(p.grad) for p in model.parameters()]])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["Others", "Rest", "Record", "Context", "Contexts", "Table", "Run", "Back", "Native"])
def test_programs_have_names_for_themselves(name):
    """Neither a class nor an operation takes one of the words that programs are written with."""
    given = type(name, (), {"scale": 2.0})()
    found = []
    for how in (lambda f: f, lambda f: torch.compile(f, pure=True)):
        w = torch.full((4, 3), 0.5, requires_grad=True)

        def step(x):
            w.grad = None
            loss = (w * x * given.scale).prod(1).sum()
            loss.backward()
            return loss

        step = how(step)
        losses = [bits(step(torch.ones(4, 3) + n)) for n in range(5)]
        found.append([losses, bits(w.grad)])
    assert found[0] == found[1]
    assert torch.compile.explain(step).programs
