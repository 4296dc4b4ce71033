"""Listeners hear calls through one hook; who is not listened to is as fast, and the same, as before."""

import inspect
import itertools
import pickle
import sys
import threading
import warnings
from contextlib import nullcontext

import pytest

import glassgrad
from glassgrad import Tensor, nn
from glassgrad.core.row import TABLE
from glassgrad.fx.names import traced_functions
from glassgrad.ground import listening, modes
from glassgrad.ground.later import later, whole
from glassgrad.ground.listening import audible
from glassgrad.nn import functional as F
from glassgrad.ops.bind import table_functions
from glassgrad.ops.declare import UNITS
from glassgrad.optim.lr_scheduler import LRScheduler, StepLR


@audible
def doubled(number, /, *, times=2):
    """A number, doubled."""
    return number * times


@pytest.fixture
def told():
    """A listener that notes what it hears, and what it noted."""
    heard = []

    def listen(function, proceed, args, kwargs):
        heard.append((function.__name__, args, kwargs))
        return proceed(*args, **kwargs)

    return listen, heard


def test_a_listener_hears_the_call_as_it_was_written(told):
    listen, heard = told
    with listening.listening(listen, [doubled]):
        assert doubled(3, times=5) == 15
    assert doubled(3) == 6
    assert heard == [("doubled", (3,), {"times": 5})]


def test_the_last_to_come_is_asked_first_and_may_answer_for_the_others():
    def first(function, proceed, args, kwargs):
        return [*proceed(*args, **kwargs), "first"]

    def second(function, proceed, args, kwargs):
        return [proceed(args[0] + 1, **kwargs), "second"]

    with listening.listening(second, [doubled]):
        assert doubled(1) == [4, "second"]
        with listening.listening(first, [doubled]):
            assert doubled(1) == [4, "second", "first"]
    with listening.listening(first, [doubled]), listening.listening(lambda *asked: "mine", [doubled]):
        assert doubled(1) == "mine"
    assert doubled(1) == 2 and not listening.listeners and not modes.watch


def test_an_error_ends_the_block():
    def listen(function, proceed, args, kwargs):
        raise ValueError("no")

    with pytest.raises(ValueError), listening.listening(listen, [doubled]):
        doubled(1)
    assert doubled(1) == 2 and not listening.listeners and not modes.watch and not modes.unusual


def test_every_thread_is_heard(told):
    listen, heard = told
    with listening.listening(listen, [doubled]):
        threads = [threading.Thread(target=doubled, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(args[0] for _, args, _ in heard) == [0, 1, 2, 3]


def test_an_audible_function_shows_itself():
    assert doubled.__doc__ == "A number, doubled." and doubled.__qualname__ == "doubled"
    assert str(inspect.signature(doubled)) == "(number, /, *, times=2)"
    for function in (doubled, glassgrad.flatten, glassgrad.linalg.norm, F.softmax, F.linear):
        assert pickle.loads(pickle.dumps(function)) is function
        assert inspect.getsource(function).startswith("@")


def test_whatever_a_listener_may_choose_is_audible():
    public = [function for name, function in whole(F).items() if name in F.__all__ and callable(function)]
    rows = {id(function) for row in TABLE.values() for function in (row.caller, getattr(row, "operate", None))}
    others = [UNITS, [Tensor.backward, Tensor.data.fget, Tensor.data.fset, Tensor.grad.fset, nn.Module.zero_grad]]
    others.append([glassgrad.optim.SGD([glassgrad.ones(1)], 1).step.__func__, LRScheduler.step, StepLR.step])
    traced = [function for function in traced_functions() if function is not later]
    for function in itertools.chain(table_functions(), traced, public, *others):
        assert id(function) in rows or function.__code__ is doubled.__code__, function


def test_rows_operators_and_writers_are_heard(told):
    listen, heard = told
    x, y = glassgrad.ones(2, requires_grad=True), glassgrad.ones(2)
    with listening.listening(listen, table_functions()):
        product = x * y
        glassgrad.exp(product)
        y.add_(1)
        y *= 2
    assert [name for name, *_ in heard] == ["__mul__", "exp", "add_", "mul_"]
    assert type(product.grad_fn).__name__ == "MulBackward0"


def test_the_first_call_of_a_row_is_heard_once(told):
    listen, heard = told
    row = TABLE["mul"]
    x = glassgrad.ones(2)
    for _ in range(2):  # its second call prints it
        glassgrad.mul(x, 2)
    code, operator = row.caller.__code__, row.operate.__code__
    with listening.listening(listen, [row.caller, row.operate]):
        frames = []
        listening.start(lambda f, p, a, k: (frames.append(listening.calling_frame()), p(*a, **k))[1], [row.caller])
        listening.stop(listening.listeners[-1].listener)
        glassgrad.mul(x, 2)
    assert [name for name, *_ in heard] == ["mul"]
    assert (row.caller.__code__, row.operate.__code__) == (code, operator)


@pytest.mark.fast
def test_who_is_listened_to_takes_the_short_path_and_writes_the_same_records(told, monkeypatch):
    listen, _ = told
    weight, given = glassgrad.ones(3, 2, requires_grad=True), glassgrad.ones(4, 2)

    def nodes():
        node, names = F.linear(given, weight, glassgrad.ones(3)).relu().sum().grad_fn, []
        while node is not None:
            names.append(type(node).__name__)
            node = next((upper for upper, _ in node.next_functions if upper is not None), None)
        return names

    free = nodes()
    taken = []
    call = glassgrad.core.call.call
    monkeypatch.setitem(
        glassgrad.fast.generate.NAMES, "call", lambda row, *rest: taken.append(row.name) or call(row, *rest)
    )
    with listening.listening(listen, table_functions()):
        assert nodes() == free
    assert taken == []


def test_nothing_is_put_in_the_place_of_a_function(told):
    listen, heard = told
    x = glassgrad.ones(2, 2, requires_grad=True)

    def program():
        return F.softmax((x * 2).flatten(), 0).sum() + F.mse_loss(x, x)

    for _ in range(2):  # rows are printed at their second call
        program()
    functions = [*table_functions(), F.softmax, F.mse_loss]
    before = [function.__code__ for function in functions]
    tables = dict(vars(glassgrad.Tensor)), dict(vars(F))
    with listening.listening(listen, functions):
        program()
        assert heard
        assert [function.__code__ for function in functions] == before
        assert (dict(vars(glassgrad.Tensor)), dict(vars(F))) == tables
    assert [function.__code__ for function in functions] == before


def test_a_call_that_nobody_hears_passes_one_frame():
    frames = []

    @audible
    def deep():
        frames.append(sys._getframe().f_back.f_back)

    deep()
    assert frames == [sys._getframe()]


@pytest.mark.parametrize("heard", [False, True])
def test_warnings_name_the_line_of_the_program(heard):
    x, ones = glassgrad.ones(2, 3), glassgrad.ones
    calls = [
        lambda: F.softmax(x),
        lambda: nn.Softmax()(x),
        lambda: F.mse_loss(x, ones(3)),
        lambda: nn.MSELoss()(x, ones(3)),
        lambda: F.mse_loss(x, x, reduce=True),
        lambda: F.kl_div(x, x),
        lambda: F.dropout2d(ones(2, 2)),
        lambda: F.upsample(ones(1, 1, 2), 2),
        lambda: x.resize(3, 2),
        lambda: glassgrad.tensor(x),
        lambda: glassgrad.ones(1, requires_grad=True).var(),
        lambda: glassgrad.chain_matmul(x, ones(3, 2)),
        lambda: glassgrad.range(0, 2),
        lambda: glassgrad.add(x, x, out=ones(1)),
        lambda: glassgrad.where(glassgrad.ones(2, 3).to(glassgrad.uint8), x, x),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as caught, glassgrad.profiler.profile() if heard else nullcontext():
            warnings.simplefilter("always")
            call()
        places = {(one.filename, one.lineno) for one in caught if one.category is not RuntimeWarning}  # NumPy's
        assert places == {(__file__, call.__code__.co_firstlineno)}, inspect.getsource(call)
