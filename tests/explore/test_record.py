"""The recording: exact lines and expressions, turns of loops, module calls, and nothing left behind."""

import gc
import inspect
import weakref

import pytest

from glassgrad.explore import observe, read, record
from glassgrad.explore.place import loops_around


def first_line(function):
    return inspect.getsourcelines(function)[1]


def named(recording):
    return [call for call in recording.calls if call.name]


def test_the_exact_expression_of_each_call(engine):
    def script(a, b):
        # fmt: off
        return (a + b * 2).exp().sum() - engine.sin(
            a
        ).sum()
        # fmt: on

    with record() as r:
        y = script(engine.ones(3, requires_grad=True), engine.ones(3))
    heard = [call for call in named(r) if call.name != "ones"]
    assert [(call.name, call.loc.expression) for call in heard] == [
        ("mul", "b * 2"), ("add", "a + b * 2"), ("exp", "(a + b * 2).exp()"), ("sum", "(a + b * 2).exp().sum()"),
        ("sin", "engine.sin( a )"), ("sum", "engine.sin( a ).sum()"),
        ("sub", "(a + b * 2).exp().sum() - engine.sin( a ).sum()"),
    ]  # fmt: skip
    assert {call.loc.line for call in heard[:5]} == {first_line(script) + 2}
    assert heard[0].loc.file.endswith("test_record.py") and heard[0].loc.function.endswith("script")
    assert heard[0].loc.code.startswith("return (a + b * 2)")
    graph = read(y, record=r)
    assert {n.loc.expression for n in graph.nodes if n.op == "ExpBackward0"} == {"(a + b * 2).exp()"}


def turns(recording, name):
    recording.arrange()
    found = []
    for call in recording.calls:
        if call.name == name:
            place, numbers = call.place, []
            while place is not None:
                numbers.append(place.call)
                place = place.parent
            found.append(tuple(reversed(numbers)))
    return found


def test_turns_of_loops(engine):
    w = engine.ones(3, requires_grad=True)

    def once(h):
        h = h.exp()
        return h.tanh()

    with record() as r:
        h = w
        for _ in range(2):
            h = once(h)
            for _ in range(2):
                h = h.sin()
            h = once(h)
    assert turns(r, "sin") == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert turns(r, "exp") == turns(r, "tanh") == [(0, 0), (0, 1), (1, 2), (1, 3)]  # turns, and calls of ``once``


def test_a_while_loop_and_a_comprehension(engine):
    w = engine.ones(3, requires_grad=True)
    with record() as r:
        n = 0
        while n < 3:
            w.exp()
            n += 1
        _ = [w.sin() for _ in range(3)]
        w.cos()
    assert turns(r, "exp") == turns(r, "sin") == [(0,), (1,), (2,)]
    assert turns(r, "cos") == [()]


def test_a_loop_in_a_function_that_is_called_again(engine):
    w = engine.ones(3, requires_grad=True)

    def rounds():
        for _ in range(2):
            w.exp()

    with record() as r:
        rounds()
        rounds()
    assert [turn[-1] for turn in turns(r, "exp")][:2] == [0, 1]
    assert len({id(call.place) for call in named(r)}) >= 2


def test_a_loop_around_one_module_call_each_is_no_scope(engine):
    blocks = engine.nn.ModuleList([engine.nn.Linear(3, 3) for _ in range(3)])
    x = engine.ones(2, 3)
    with record(blocks) as r:
        for block in blocks:
            x = block(x)
    assert [(place.kind, place.path) for place in r.arrange()] == [("module", "0"), ("module", "1"), ("module", "2")]


def test_module_calls_are_named_without_a_model(engine):
    net = engine.nn.Sequential(engine.nn.Linear(3, 3), engine.nn.Sequential(engine.nn.ReLU()))
    with record() as r:
        net(engine.ones(2, 3))
        net(engine.ones(2, 3))
    assert [(p.path, p.cls, p.call) for p in r.arrange()][:4] == [
        ("net", "Sequential", 0), ("net.0", "Linear", 0), ("net.1", "Sequential", 0), ("net.1.0", "ReLU", 0),
    ]  # fmt: skip
    assert [p.call for p in r.arrange() if p.path == "net"] == [0, 1]


def test_a_custom_function_is_one_call(engine):
    class Double(engine.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    w = engine.ones(3, requires_grad=True)
    with record() as r:
        y = Double.apply(w).sum()
    assert [call.name for call in named(r)] == ["Double", "sum"]
    node = next(n for n in read(y, record=r).nodes if n.op == "DoubleBackward")
    assert node.loc.expression == "Double.apply(w)"


def test_an_error_inside_leaves_nothing_behind(engine):
    model = engine.nn.Linear(3, 3)
    before = engine.Tensor.__add__, engine.autograd.Function.__dict__["apply"]
    codes = [getattr(function, "__code__", None) for function in before]
    with pytest.raises(RuntimeError), record(model) as r:
        model(engine.ones(2, 4))
    assert (engine.Tensor.__add__, engine.autograd.Function.__dict__["apply"]) == before
    assert [getattr(function, "__code__", None) for function in before] == codes
    count = len(r.calls)
    model(engine.ones(2, 3)) + 1
    assert len(r.calls) == count and "0 cuts" in repr(r)


def test_a_recording_keeps_no_tensor_and_no_module_alive(engine):
    model = engine.nn.Linear(3, 3)
    with record(model) as r:
        y = model(engine.ones(2, 3)).exp()
        z = y.sum()
    alive = weakref.ref(y), weakref.ref(z), weakref.ref(model)
    del y, z, model
    gc.collect()
    assert [ref() for ref in alive] == [None, None, None]
    assert r.arrange() and r.calls


def test_values_are_counted_when_asked(engine):
    with record(values=True) as r:
        y = engine.tensor([0.0, 1.0, -1.0], requires_grad=True).log()
    stats = r.producer(y).info.stats
    assert (stats.count, stats.nan, stats.inf, stats.zero) == (3, 1, 1, 1)
    with record() as r:
        y = engine.tensor([0.0], requires_grad=True).log()
    assert r.producer(y).info.stats is None


def test_an_observed_backward_pass(engine):
    x = engine.tensor(2.0, requires_grad=True)
    z = engine.tensor(3.0, requires_grad=True)
    graph = observe(x * z + x + z, params={"x": x, "z": z})
    assert (x.grad.item(), z.grad.item()) == (4.0, 3.0)
    ops = sorted((n for n in graph.nodes if n.backward is not None), key=lambda n: n.backward)
    assert [n.op for n in ops[:3]] == ["AddBackward0", "AddBackward0", "MulBackward0"]
    assert graph.level == 4 and [e.phase for e in graph.events] == ["forward"] * 3 + ["backward"] * 5
    into_x = [e.grad.value for e in graph.edges if graph.nodes[e.src].op == "AccumulateGrad" and e.grad]
    assert sorted(into_x) == ["1", "1", "2", "3"]
    assert {n.name: n.grad.value for n in graph.nodes if n.kind == "leaf"} == {"x": "4", "z": "3"}
    local = {(e.dst, e.dst_input): e.local for e in graph.edges if graph.nodes[e.dst].op == "MulBackward0"}
    assert set(local.values()) == {"3", "2"}


def functions(graph):
    return [(scope.path, scope.call) for scope in graph.scopes if scope.kind == "function"]


def test_calls_of_functions(engine):
    w = engine.ones(3, requires_grad=True)

    def layer(h):
        h = h * w
        return h.tanh()

    def single(h):
        return h.exp()  # one operation is no scope

    def outer(h):  # all there is: no scope either
        for _ in range(3):
            h = layer(h)
        return single(layer(h)).sum()

    with record() as r:
        y = outer(engine.ones(3))
    graph = read(y, record=r)
    assert functions(graph) == [("layer", i) for i in range(4)]
    assert not [scope for scope in graph.scopes if scope.kind == "loop"]  # each turn is one call
    inside = [n.op for n in graph.nodes if n.scope == graph.scopes[-1].index]
    assert sorted(inside) == ["MulBackward0", "TanhBackward0"]


def test_forward_is_no_function_and_a_method_is_one(engine):
    class Net(engine.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = engine.nn.Linear(3, 3)

        def forward(self, x):
            return self.twice(self.linear(x)).relu().sum()

        def twice(self, x):
            return x.sin() * 2

    model = Net()
    with record(model) as r:
        y = model(engine.ones(2, 3))
    graph = read(y, model=model, record=r)
    assert functions(graph) == [("Net.twice", 0)]
    scope = next(s for s in graph.scopes if s.kind == "function")
    assert graph.scopes[scope.parent].kind == "module" and graph.scopes[scope.parent].cls == "Net"


def test_a_function_that_calls_itself(engine):
    w = engine.ones(3, requires_grad=True)

    def down(h, depth):
        h = h * w
        return down(h, depth - 1) if depth else h

    with record() as r:
        y = (down(w, 200) + 1).sum()
    assert len(functions(read(y, record=r))) == 200  # the innermost holds one operation


def test_generators_go_on_from_where_they_are_asked(engine):
    w = engine.ones(3, requires_grad=True)

    def values():
        h = w
        while True:
            h = h.sin()
            yield h

    with record() as r:
        asked = values()
        next(asked)
        y = next(asked).exp()
    assert [call.loc.expression for call in named(r)] == ["h.sin()", "h.sin()", "next(asked).exp()"]
    assert r.producer(y).name == "exp"


def test_recordings_within_one_another_and_other_threads(engine):
    import threading

    w = engine.ones(3, requires_grad=True)
    model = engine.nn.Linear(3, 3)
    with record() as outer:
        w.sin()
        with record() as inner:
            model(w).exp()
            other = threading.Thread(target=lambda: w.cos())
            other.start()
            other.join()
        w.tanh()
    assert [call.name for call in named(inner)] == ["linear", "exp"]
    assert [call.name for call in named(outer)] == ["sin", "linear", "exp", "tanh"]
    assert [(p.kind, p.path) for p in outer.arrange()] == [(p.kind, p.path) for p in inner.arrange()]


def test_the_module_class_is_as_it_was(engine):
    before = engine.nn.Module.__call__, dict(vars(engine.nn.Module)).get("__call__")
    with record() as r:
        assert engine.nn.Module.__call__ is not before[0]
        engine.nn.Identity()(engine.ones(2))
    assert (engine.nn.Module.__call__, dict(vars(engine.nn.Module)).get("__call__")) == before
    assert [entered.cls for entered in r.entered] == ["Identity"]


def test_loops_are_found_in_code():
    def two():
        for _ in range(2):
            for _ in range(3):
                print()

    spans = {tuple(loops_around(two.__code__, at)) for at in range(0, len(two.__code__.co_code), 2)}
    assert max(map(len, spans)) == 2


def test_questions_are_functions_whatever_was_imported():
    import importlib

    explore = importlib.import_module("glassgrad.explore")
    for name in ("check", "paths", "read", "why"):
        importlib.import_module(f"glassgrad.explore.{name}")

    assert callable(explore) and "why" in dir(explore)
    questions = ("check", "explain", "flow", "keeps", "observe", "paths", "read", "trace_nan", "unused", "why")
    for name in (*questions, "record"):
        assert inspect.isfunction(getattr(explore, name)), name
    with pytest.raises(AttributeError, match="no attribute 'wherefore'"):
        explore.wherefore  # noqa: B018
