"""What a compiled function must not get wrong: what its code reads and does, and who shares memory with its results."""

import collections
import contextlib
import datetime
import functools
import io
import itertools
import types

import numpy as np
import pytest

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad import nn
from glassgrad.kernels import compiled

from .both_ways import bits, programs


@pytest.fixture(autouse=True)
def _kernels_of_numpy():
    with compiled.serving(compiled.NEVER):
        yield


class Slotted:
    __slots__ = ("scale",)


class Base:
    scale = 2.0

    def apply(self, x):
        return x * self.scale


class Derived(Base):
    pass


def put(container, key, value):
    container[key] = value


def slots():
    held = Slotted()
    held.scale = 2.0
    return lambda x: x * held.scale, lambda: setattr(held, "scale", 3.0)


def array():
    held = np.array([2.0])
    return lambda x: x * float(held[0]), lambda: put(held, 0, 5.0)


def long_list():
    held = [1.0] * 5000
    return lambda x: x * held[3], lambda: put(held, 3, 5.0)


def members():
    held = {1}
    return lambda x: x * (3 if 1 in held else 2), lambda: (held.clear(), held.add(2))


def keys_of_tuples():
    held = {(1, 2): 2.0}
    return lambda x: x * held[1, 2], lambda: put(held, (1, 2), 3.0)


def order_of_keys():
    held = {"a": 1.0, "b": 2.0}
    return lambda x: functools.reduce(lambda y, v: y * 2 + v, held.values(), x), lambda: put(held, "a", held.pop("a"))


def module():
    held = types.ModuleType("settings")
    held.scale = 2.0
    return lambda x: x * held.scale, lambda: setattr(held, "scale", 4.0)


def code_of_a_module():
    held = types.ModuleType("settings")
    exec("SCALE = 2.0\ndef scaled(x):\n    return x * SCALE", held.__dict__)
    return lambda x: held.scaled(x), lambda: setattr(held, "SCALE", 4.0)


def negative_zero():
    held = Base()
    held.scale = 0.0
    return lambda x: x * held.scale, lambda: setattr(held, "scale", -0.0)


def shadowed_by_the_object():
    held = Base()
    return lambda x: x * held.scale, lambda: setattr(held, "scale", 3.0)


def shadowed_by_the_class():
    class Own(Base):
        pass

    held = Own()
    return lambda x: x * held.scale, lambda: setattr(Own, "scale", 3.0)


def another_method():
    class Own(Base):
        def apply(self, x):
            return x

    held = Own()
    return lambda x: held.apply(x), lambda: setattr(Own, "apply", lambda self, x: x * 7)


def another_class():
    class Own(Base):
        scale = 9.0

    held = Base()
    return lambda x: held.apply(x), lambda: setattr(held, "__class__", Own)


def forward_of_one_layer():
    held = nn.Sequential(nn.ReLU(), nn.Tanh())
    return held, lambda: setattr(held[1], "forward", lambda x: x * 3)


def names_put_together():
    held = Base()
    held.w0, held.w1 = torch.ones(4), 2.0

    def function(x):
        for n in range(2):
            x = x + getattr(held, f"w{n}")
        return x

    return function, lambda: (setattr(held, "w0", torch.zeros(4)), setattr(held, "w1", 5.0))


def attribute_of_a_tensor():
    held = torch.ones(4)
    held.scale = 2.0
    return lambda x: x * held * held.scale, lambda: setattr(held, "scale", 3.0)


def defaults():
    def inner(x, scale=2.0):
        return x * scale

    return lambda x: inner(x), lambda: setattr(inner, "__defaults__", (5.0,))


def is_there_a_gradient():
    held = torch.ones(4, requires_grad=True)
    return lambda x: x * (2 if held.grad is None else 3), lambda: setattr(held, "grad", torch.ones(4))


def read_only_dict():
    held = {"scale": 2.0}
    seen = types.MappingProxyType(held)
    return lambda x: x * seen["scale"], lambda: put(held, "scale", 3.0)


def chained():
    held = collections.ChainMap({"scale": 2.0})
    return lambda x: x * held["scale"], lambda: put(held, "scale", 3.0)


READS = [
    slots, array, long_list, members, keys_of_tuples, order_of_keys, module, code_of_a_module, negative_zero,
    shadowed_by_the_object, shadowed_by_the_class, another_method, another_class, forward_of_one_layer,
    names_put_together, attribute_of_a_tensor, defaults, is_there_a_gradient, read_only_dict, chained,
]  # fmt: skip


@pytest.mark.parametrize("make", READS, ids=lambda make: make.__name__)
def test_what_changes_between_calls_is_noticed(make):
    found = []
    for how in (lambda function: function, torch.compile):
        function, change = make()
        call = how(function)
        results = [bits(call(torch.arange(4.0))) for _ in range(4)]
        change()
        found.append(results + [bits(call(torch.arange(4.0))) for _ in range(4)])
    assert found[0] == found[1]
    assert found[0][0] != found[0][-1]


def counter():
    held = itertools.count(1)
    return lambda x: x * next(held)


def generator():
    held = (n for n in range(9))
    return lambda x: x * next(held)


def numbers_of_numpy():
    np.random.seed(0)
    return lambda x: x * float(np.random.rand())


def generator_of_numpy():
    held = np.random.default_rng(0)
    return lambda x: x * float(held.random())


def slot():
    held = Slotted()
    held.scale = 1

    def function(x):
        held.scale += 1
        return x * held.scale

    return function


def tag():
    held = torch.ones(4)
    held.times = 0

    def function(x):
        held.times += 1
        return x * held.times

    return function


def count_of_a_function():
    def function(x):
        function.times += 1
        return x * function.times

    function.times = 0
    return function


def kept_list():
    held = Base()
    held.all = [1.0]

    def function(x):
        return held.all

    def call(function):
        def outer(x):
            function(x).append(2.0)
            return x * len(held.all)

        return outer

    function.around = call
    return function


def errors_that_are_caught():
    signs = itertools.cycle([1, 1, 1, -1])

    def function(x):
        try:
            return torch.linalg.cholesky(x)
        except RuntimeError:
            return x * 0

    function.around = lambda call: lambda x: call(torch.eye(2) * next(signs))
    return function


def errors_that_are_suppressed():
    signs = itertools.cycle([1, 1, 1, -1])

    def function(x):
        with contextlib.suppress(RuntimeError):
            return torch.linalg.cholesky(x)
        return x * 0

    function.around = lambda call: lambda x: call(torch.eye(2) * next(signs))
    return function


DOES = [
    counter, generator, numbers_of_numpy, generator_of_numpy, slot, tag, count_of_a_function, kept_list,
    errors_that_are_caught, errors_that_are_suppressed,
]  # fmt: skip


@pytest.mark.parametrize("make", DOES, ids=lambda make: make.__name__)
def test_what_cannot_be_done_again_runs_as_it_is_written(make):
    found = []
    for how in (lambda function: function, torch.compile):
        function = make()
        call = how(function)
        outer = getattr(function, "around", lambda call: call)(call)
        found.append([bits(outer(torch.arange(1.0, 5.0))) for _ in range(6)])
    assert found[0] == found[1]


def test_clocks_and_prints_through_other_functions():
    out = io.StringIO()
    told = functools.partial(print, "told", file=out)

    @torch.compile
    def function(x):
        told()
        return x

    for _ in range(5):
        function(torch.ones(2))
    assert out.getvalue().count("told") == 5
    clock = torch.compile(lambda x: x * 0 + datetime.datetime.now().microsecond)
    assert len({clock(torch.ones(2)).tolist()[0] for _ in range(8)}) > 1


def test_numbers_that_leave_are_the_tensors_own():
    def counts(x, y):
        return {"total": y.size(0), "correct": (x == y).sum().item()}

    def judges(x, y):
        value = x.sum().item()
        return value, str(value)

    for function in (counts, judges):
        call = torch.compile(function)
        for guess in ([1, 2], [1, 2], [1, 2], [1, 1], [5, 5]):
            x, y = torch.tensor(guess), torch.tensor([1, 2])
            assert call(x, y) == function(x, y)


def test_arguments_by_name():
    def stacked(**named):
        return torch.stack(list(named.values()))

    call = torch.compile(stacked)
    one, other = torch.ones(2), torch.zeros(2)
    for named in [{"a": one, "b": other}] * 3 + [{"b": other, "a": one}] * 3:
        assert bits(call(**named)) == bits(stacked(**named))

    def odd(x, sigmoid=1, a0=2, rest=3, others=4, modes=5):
        return torch.sigmoid(x) * sigmoid + a0 * rest + others * modes

    named = {"sigmoid": 2, "a0": 3, "rest": 4, "others": 5, "modes": 6}
    call = torch.compile(odd, pure=True)
    for _ in range(4):
        assert bits(call(one, **named)) == bits(odd(one, **named))
    assert len(programs(call)) == 1


RESULTS = {
    "view of an argument": lambda x: x[0], "two on one memory": lambda x: (lambda h: (h, h.view(-1)))(x * 2),
    "a number and its alias": lambda x: (lambda h: (h, h.detach()))(x.sum()), "saved for backward": lambda x: x.exp(),
    "the same twice": lambda x: (lambda h: (h, h))(x * 2),
}  # fmt: skip


def asked_for_its_size(x):
    size, y = x.size(0), -x
    return size, tuple(y.shape), y


def after_an_error(x):
    try:
        x @ torch.ones(7, 7)
    except RuntimeError as error:
        y = -x
        return str(error), tuple(y.shape), y


def nothing_is_given(x):
    if x.shape[0] == 2:
        x.dim()
    return (torch.zeros(3),)


@pytest.mark.parametrize("function", [asked_for_its_size, after_an_error, nothing_is_given])
def test_what_is_no_entry_of_the_tape_tells_the_next_nothing(function):
    """A tensor that was met by a call that is not noted is met anew by the next, which is compared by what it is."""
    call, kept = torch.compile(function), []
    for size in (2, 3, 2, 2, 3, 5, 2, 3):
        x = torch.arange(size) * 1.0
        *rest, last = call(x)
        kept.append((list(last.shape), last.dtype, *rest, last.tolist(), x.tolist()))
        *rest, last = function(x)
        assert kept[-1] == (list(last.shape), last.dtype, *rest, last.tolist(), list(range(size)))


@pytest.mark.parametrize("function", RESULTS.values(), ids=RESULTS)
def test_writes_to_results_reach_whom_they_reach(function):
    call = torch.compile(function)
    for _ in range(4):
        found = []
        for run in (function, call):
            leaf = torch.arange(1.0, 7.0).view(2, 3).requires_grad_()
            x = leaf * 1
            results = run(x)
            first, last = results if isinstance(results, tuple) else (results, results)
            last.mul_(3)
            try:
                (first.sum() + x.sum()).backward()
                found.append([bits(first), bits(last), bits(x), bits(leaf.grad)])
            except RuntimeError as error:
                found.append("inplace operation" in str(error))
        assert found[0] == found[1]


def steps():
    def by_hand(model, optimizer, x):
        model.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
        return loss

    def by_data(model, optimizer, x):
        loss = by_hand(model, optimizer, x)
        for p in model.parameters():
            p.data = p.data * 0.9
        return loss

    def clipped(model, optimizer, x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.01)
        optimizer.step()
        return loss

    def decayed(model, optimizer, x):
        loss = by_hand(model, optimizer, x)
        with torch.no_grad():
            for p in model.parameters():
                p.mul_(1 - optimizer.param_groups[0]["lr"])
        optimizer.param_groups[0]["lr"] *= 0.5
        return loss

    return [by_hand, by_data, clipped, decayed]


@pytest.mark.parametrize("body", steps(), ids=lambda body: body.__name__)
def test_steps_that_write_to_parameters(body):
    found = []
    for how in (lambda step: step, torch.compile):
        torch.manual_seed(0)
        model = nn.Linear(4, 3)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        step = how(lambda x, model=model, optimizer=optimizer: body(model, optimizer, x))
        losses = [bits(step(torch.randn(2, 4))) for _ in range(6)]
        found.append([losses, [bits(p) for p in model.parameters()], [bits(p.grad) for p in model.parameters()]])
    assert found[0] == found[1]


def test_leaves_and_others():
    def backward(x):
        (x * x).sum().backward()

    def which(x):
        return x * 2 if x.is_leaf else x * 3

    for function in (backward, which):
        call = torch.compile(function)
        for turn in range(6):
            leaf = torch.ones(3, requires_grad=True)
            x = leaf if turn < 4 else leaf * 2
            made = call(x)
            if function is backward:
                assert leaf.grad.tolist() == [2.0 if turn < 4 else 8.0] * 3
            else:
                assert bits(made) == bits(which(x))


def test_an_error_comes_even_where_the_result_is_not_read():
    layer = nn.Embedding(3, 4)

    @torch.compile
    def function(places):
        layer(places)
        return F.relu(torch.ones(2))

    for _ in range(4):
        function(torch.tensor([1]))
    with pytest.raises(IndexError):
        function(torch.tensor([7]))


SETTINGS = {
    "momentum": lambda o: o.param_groups[0].update(momentum=0.9),
    "weight decay": lambda o: o.param_groups[0].update(weight_decay=0.5),
    "a tensor as rate": lambda o: o.param_groups[0].update(lr=torch.tensor(0.3)),
    "a hook": lambda o: o.register_step_pre_hook(lambda held, *_: held.param_groups[0].update(lr=0.01)),
}


@pytest.mark.parametrize("change", SETTINGS.values(), ids=SETTINGS)
def test_an_optimizer_that_is_changed_after_its_step_became_native(change):
    pytest.importorskip("numba", reason="Numba is not installed: no step becomes native")
    found = []
    for how in (lambda step: step, torch.compile):
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)

        def step(x, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

        with compiled.serving(1 << 14):
            step = how(step)
            for turn in range(8):
                if turn == 4:
                    change(optimizer)
                step(torch.ones(4, 3))
        found.append(model.weight.flatten().tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-5)


@pytest.mark.parametrize("size", [compiled.NEVER, 1 << 14])
def test_a_parameter_that_was_passed_over_receives_a_gradient(size):
    found = []
    for how in (lambda step: step, torch.compile):
        used, other = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
        optimizer = torch.optim.SGD([used, other], 0.1)

        def step(x, used=used, optimizer=optimizer):
            (x * used).sum().backward()
            optimizer.step()

        with compiled.serving(size):
            step = how(step)
            for turn in range(8):
                optimizer.zero_grad()
                if turn in (5, 7):
                    other.grad = torch.ones(4)
                step(torch.arange(4.0))
                found.append(other.tolist() + used.tolist())
    for written, replayed in zip(found[:8], found[8:]):
        assert written == pytest.approx(replayed, rel=1e-5)


def test_a_graph_that_saves_nothing_is_walked_twice():
    w = torch.ones(3, requires_grad=True)
    call = torch.compile(lambda x: (w + x).view(3, 1) - 1)
    for _ in range(4):
        w.grad = None
        result = call(torch.ones(3))
        result.sum().backward()
        result.sum().backward()
        assert w.grad.tolist() == [2.0] * 3
    call = torch.compile(lambda x: (w * x).view(3, 1) - 1)
    for _ in range(4):
        result = call(torch.ones(3))
        result.sum().backward()
        with pytest.raises(RuntimeError, match="second time"):
            result.sum().backward()


@pytest.mark.parametrize("pure", [False, True], ids=["compared", "pure"])
def test_the_device_that_is_the_default_is_asked_for(pure):
    def made(x, on_meta):
        first = torch.zeros(2)
        with torch.device("meta" if on_meta else "cpu"):
            return first, torch.zeros(3), first + x

    call, outside = torch.compile(made, pure=pure), torch.compile(lambda x: torch.ones(2), pure=pure)
    for turn in range(10):
        x, on_meta = torch.ones(2), turn % 2 == 1
        assert [str(t.device) for t in call(x, on_meta)] == ["cpu", "meta" if on_meta else "cpu", "cpu"]
        with torch.device("meta" if on_meta else "cpu"):
            assert str(outside(x).device) == ("meta" if on_meta else "cpu")


def test_each_call_has_the_default_dtype_of_where_it_stands():
    def made(wide):
        first = torch.zeros(2)
        torch.set_default_dtype(torch.float64 if wide else torch.float32)
        second = torch.ones(2), first + 1
        torch.set_default_dtype(torch.float32)
        return first, *second

    call = torch.compile(made)
    for turn in range(9):
        assert [t.dtype for t in call(turn % 3 == 2)] == [t.dtype for t in made(turn % 3 == 2)]


def test_a_graph_is_freed_though_its_program_saves_nothing():
    step = torch.compile(lambda x: (x * 1.5).mean())
    for _ in range(4):
        x = torch.ones(3, requires_grad=True)
        y = step(x)
        y.backward()
        with pytest.raises(RuntimeError, match="a second time"):
            y.backward()
