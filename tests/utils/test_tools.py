"""torch.utils._pytree, torch.futures, torch.utils.benchmark and torch.overrides."""

import importlib
import threading
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import check
from tests.torch_reference import torch as reference

pytestmark = pytest.mark.torch
Pair = namedtuple("Pair", ["a", "b"])
TREES = st.recursive(
    st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    | st.tuples(inner, inner)
    | st.builds(Pair, inner, inner)
    | st.builds(deque, st.lists(inner, max_size=2))
    | st.builds(lambda items: OrderedDict(items), st.lists(st.tuples(st.text(max_size=1), inner), max_size=2))
    | st.builds(lambda items: defaultdict(list, items), st.dictionaries(st.integers(), inner, max_size=2)),
    max_leaves=12,
)


@given(TREES)
def test_trees(tree):
    import torch.utils._pytree as theirs

    import glassgrad.utils._pytree as ours

    leaves, shape = ours.tree_flatten(tree)
    wanted, spec = theirs.tree_flatten(tree)
    assert leaves == wanted and shape.num_leaves == spec.num_leaves and str(shape) == str(spec)
    again = ours.tree_unflatten(leaves, shape)
    assert again == tree and type(again) is type(tree)
    assert ours.tree_map(str, tree) == theirs.tree_map(str, tree)
    assert [ours.keystr(way) for way, _ in ours.tree_leaves_with_path(tree)] == [
        theirs.keystr(way) for way, _ in theirs.tree_leaves_with_path(tree)
    ]
    assert ours.tree_map_only(int, lambda n: n + 1, tree) == theirs.tree_map_only(int, lambda n: n + 1, tree)


def test_tree_errors():
    def program(torch, show):
        pytree = __import__(f"{torch.__name__}.utils._pytree", fromlist=["x"])
        shape = pytree.tree_structure([1, {"a": 2}])
        show.error(lambda: pytree.tree_unflatten([1], shape), "few")
        show.error(lambda: pytree.tree_map(lambda a, b: a, [1, [2]], [3, 4]), "type")
        show.error(lambda: pytree.tree_map(lambda a, b: a, [1, 2], [3]), "arity")
        show.error(lambda: pytree.tree_map(lambda a, b: a, {"a": 1}, {"b": 1}), "keys")
        show("both", pytree.tree_map(lambda a, b: a + b, {"a": 1, "b": (2,)}, {"b": (3,), "a": 4}))
        show("any", [pytree.tree_any(lambda n: n == 2, [1, [2]]), pytree.tree_all(lambda n: n == 2, [1, [2]])])

    check(program)


def test_a_module_s_own_dictionaries_are_trees():
    def program(torch, show):
        pytree = importlib.import_module(f"{torch.__name__}.utils._pytree")
        layer = torch.nn.Linear(2, 1)
        leaves, shape = pytree.tree_flatten([layer._parameters, layer._modules])
        show("leaves", [type(leaf).__name__ for leaf in leaves])
        show("shape", str(shape))
        sizes = pytree.tree_map(lambda leaf: list(leaf.shape), layer._parameters)
        show("sizes", [type(sizes).__name__, sizes])
        show("plain", [type(pytree.tree_unflatten(leaves, shape)[0]).__name__, len(pytree.tree_leaves({1: layer}))])

    check(program)


def test_futures():
    def program(torch, show):
        futures = __import__(f"{torch.__name__}.futures", fromlist=["x"])
        first = futures.Future()
        show("undone", first.done())
        second = first.then(lambda done: done.wait() + 1)
        heard = []
        first.add_done_callback(lambda done: heard.append(done.value()))
        first.set_result(3)
        show("values", [first.wait(), second.wait(), heard, first.done()])
        show.error(lambda: first.set_result(4), "twice")
        failed = futures.Future()
        show.error(lambda: failed.set_exception(4), "no exception")
        failed.set_exception(ValueError("x"))
        show.error(failed.wait, "raised")
        show("after", failed.then(lambda done: 1).wait())
        show("all", futures.wait_all([first, second]))
        show.error(lambda: futures.wait_all([first, failed]), "one failed")
        show("collected", [piece.done() for piece in futures.collect_all([first, second]).wait()])
        show.error(lambda: futures.collect_all([first, failed]).wait(), "collected with one that failed")

    check(program)


def test_a_future_from_another_thread():
    future = glassgrad.futures.Future()
    thread = threading.Timer(0.02, lambda: future.set_result(5))
    thread.start()
    assert future.then(lambda done: done.value() * 2).wait() == 10
    thread.join()


def test_measurements_are_shown_as_pytorch_shows_them():
    def shown(torch):
        benchmark = __import__(f"{torch.__name__}.utils.benchmark", fromlist=["x"])
        found = []
        for times in ([1e-3], [1e-3, 2e-3, 1.5e-3, 1.1e-3, 3e-3], [2.0, 2.1, 2.2, 2.05], [1e-6] * 8):
            for labels in ({}, {"label": "L", "sub_label": "S", "description": "D"}, {"sub_label": "S"}):
                spec = benchmark.TaskSpec(stmt="x\ny" if "sub_label" in labels else "x", setup="pass", **labels)
                made = benchmark.Measurement(number_per_run=10, raw_times=times, task_spec=spec)
                lines = repr(made).splitlines()[1:]
                found += [lines, made.median, made.mean, made.iqr, made.has_warnings, made.significant_figures]
        return found

    ours, theirs = shown(glassgrad), shown(reference)
    for got, wanted in zip(ours, theirs, strict=True):
        assert got == (pytest.approx(wanted) if isinstance(wanted, float) else wanted)


def test_the_timer():
    from glassgrad.utils.benchmark import Compare, Timer

    timer = Timer("x + x", globals={"x": glassgrad.ones(4)}, label="sum", description="ours")
    once = timer.timeit(50)
    assert once.number_per_run == 50 and len(once.times) == 1 and 0 < once.median < 1e-2
    many = timer.blocked_autorange(min_run_time=0.01)
    assert len(many.times) >= 1 and sum(many.raw_times) >= 0.01
    assert "sum" in str(Compare([once, many])) and "Times are in" in str(Compare([many]))


def test_function_modes():
    def program(torch, show):
        overrides = __import__(f"{torch.__name__}.overrides", fromlist=["x"])
        heard = []

        class Listening(overrides.TorchFunctionMode):
            def __init__(self, name):
                super().__init__()
                self.name = name

            def __torch_function__(self, func, types, args=(), kwargs=None):
                heard.append((self.name, func.__name__.strip("_")))
                return func(*args, **(kwargs or {}))

        x = torch.ones(2)
        with Listening("outer"):
            torch.exp(x)
            with Listening("inner"):
                torch.softmax(x, dim=0)
                torch.nn.functional.gelu(x)
                x.sum(dim=0)
        torch.exp(x)
        show("heard", heard)

        class Doubling(overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return func(*args, **(kwargs or {})) * 2

        with Doubling():
            doubled = torch.exp(torch.zeros(2))
        show("doubled", doubled)

    check(program)


def test_types_that_override():
    def program(torch, show):
        overrides = __import__(f"{torch.__name__}.overrides", fromlist=["x"])

        class Named:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return "named"

        named = Named()
        show("has", [overrides.has_torch_function((named,)), overrides.has_torch_function((torch.ones(1),))])
        show("like", [overrides.is_tensor_like(named), overrides.is_tensor_like(torch.ones(1)),
                      overrides.is_tensor_like(3)])  # fmt: skip
        show("handled", overrides.handle_torch_function(torch.add, (named,), named, 1))

        @overrides.wrap_torch_function(lambda a: (a,))
        def own(a):
            return "own"

        show("wrapped", [own(named), own(1)])
        show("method", overrides.is_tensor_method_or_property(torch.Tensor.add))

    check(program)
