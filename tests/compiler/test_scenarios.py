"""A sample of the scenarios and of the random programs, and what is known to have gone wrong once."""

import random
import threading
import warnings
from functools import partial

import numpy as np
import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.compiler import function
from glassgrad.compiler.lazy import Lazy
from glassgrad.kernels import compiled

from . import programs, scenarios
from .both_ways import bits, reasons
from .both_ways import programs as programs_of


@pytest.fixture(autouse=True)
def _kernels_of_numpy():
    with compiled.serving(compiled.NEVER):
        yield


@pytest.mark.parametrize("scenario", random.Random(7).sample(scenarios.every(), 60), ids="-".join)
def test_a_scenario(scenario):
    assert scenarios.difference(scenario, torch.compile) is None


@pytest.mark.parametrize("seed", [*range(40), 21289])  # the last writes a number into two tensors
def test_a_random_program(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message="compile: ")
        assert programs.difference(seed, partial(torch.compile, verify=1 + seed % 2)) is None


def both(make, calls=6):
    """What the calls of a function that ``make`` gives, and of the compiled one, give."""
    found = []
    for how in (lambda function: function, torch.compile):
        function, arguments = make()
        call = how(function)
        found.append([bits(call(*arguments(n))) for n in range(calls)])
    return found


def test_two_truth_values_that_are_one_object():
    def make():
        return lambda x, y: torch.where(x.sum() > 0, x, -x) * torch.where(y.sum() > 0, y, -y), lambda n: (
            torch.full((2,), 1.0 if n < 3 else -1.0), torch.full((2,), 1.0 if n % 2 else -1.0),
        )  # fmt: skip

    assert both(make)[0] == both(make)[1]


def test_an_argument_that_was_made_with_another():
    found = []
    for how in (lambda function: function, torch.compile):
        call = how(lambda x, b: torch.where(x > 0, x, b).sum())
        for n in range(5):
            x = torch.tensor([-0.5, 0.3, n - 2.0], requires_grad=True)
            call(x, x * 2 + 1).backward()
            found.append(bits(x.grad))
    assert found[:5] == found[5:]


def test_an_output_without_a_gradient_is_none():
    w = torch.ones(3, requires_grad=True)
    v = torch.full((3,), float("inf"), requires_grad=True)
    call = torch.compile(lambda x: ((x * w).sum(), (x * v).sum()))
    for _ in range(5):
        w.grad = v.grad = None
        call(torch.ones(3))[0].backward()
        assert v.grad is None and w.grad.tolist() == [1.0] * 3


def test_gradients_between_what_is_given_back():
    w = torch.ones(3, requires_grad=True)

    def function(x):
        hidden = x * w
        return hidden, hidden.exp().sum()

    for pure in (False, True):
        call = torch.compile(function, pure=pure)
        for _ in range(4):
            hidden, total = call(torch.ones(3))
            (grad,) = torch.autograd.grad(total, hidden)
            assert bits(grad) == bits(hidden.exp())
    assert any("a tensor that has a way back" in reason for reason in reasons(call))


def test_an_error_is_raised_at_its_own_line():
    def function(table, index):
        try:
            row = table[index] if index.numel() > 3 else torch.nn.functional.embedding(index, table)
        except IndexError:
            return table * 0
        return row * 2

    def make():
        return function, lambda n: (torch.arange(8.0).view(4, 2), torch.tensor([0, 1, 9 if n == 4 else n % 4]))

    assert both(make)[0] == both(make)[1]


def test_memory_that_numpy_writes():
    array = np.ones(3, "f4")
    shared = torch.from_numpy(array)
    seen = torch.zeros(3)
    view = seen.numpy()

    def function(x):
        a, b = x * shared, x * seen
        array[:] += 1
        view[:] += 2
        return a + b + x * shared + x * seen

    call = torch.compile(function)
    for n in range(5):
        assert call(torch.ones(3)).tolist() == [1.0 + n + 2 * n + 2 + n + 2 * n + 2] * 3


def test_a_lazy_tensor_in_another_thread():
    def function(x):
        y = (x * 2).tanh()
        found = []
        thread = threading.Thread(target=lambda: found.append(y.sum().item()))
        thread.start()
        thread.join()
        return y * found[0]

    call = torch.compile(function)
    for n in range(4):
        x = torch.ones(3) * n
        assert bits(call(x)) == bits(function(x))


def test_threads_that_run_one_compiled_function():
    layer = nn.Linear(3, 3)
    call = torch.compile(lambda x: layer(x).tanh() * 2)
    wrong = []

    def work(k):
        for n in range(30):
            x = torch.full((2, 3), float(k * n % 7))
            if bits(call(x)) != bits(layer(x).tanh() * 2):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_python_sees_of_a_lazy_tensor():
    seen = []

    def function(x):
        y = x.view(2, 2) * 2
        seen.append((isinstance(y, torch.Tensor), type(y) == torch.Tensor, y.__class__ is torch.Tensor))  # noqa: E721
        seen.append((y.shape, y.dtype, y.ndim, y.requires_grad, y.device.type, y.size(0), len(y), y.dim()))
        seen.append((type(y).__name__, {type(y): 1}[torch.Tensor]))
        y.note = 3
        return y

    call = torch.compile(function)
    for _ in range(4):
        y = call(torch.arange(4.0))
        assert type(y) is torch.Tensor and y.note == 3
    assert len({str(one) for one in seen}) == 3


OPERATORS = {
    "1 - x": lambda x: 1 - x, "1 / x": lambda x: 1 / x, "x ** 2": lambda x: x**2, "abs(x)": abs, "+x": lambda x: +x,
    "~x": lambda x: ~(x > 1), "len(x)": lambda x: x + len(x), "x.numel()": lambda x: x + x.numel(),
    "x.where()": lambda x: x.where(x > 1, 0.5), "x.T": lambda x: x.view(3, 1).T, "x.mT": lambda x: x.view(1, 3, 1).mT,
}  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_operators_are_deferred(operator):
    call = torch.compile(lambda x: operator(x * 2) * 3)
    for n in range(5):
        x = torch.arange(1.0, 4) + n
        assert bits(call(x)) == bits(operator(x * 2) * 3)
    assert not reasons(call)


@pytest.mark.replays
def test_an_index_that_is_made_where_it_stands_is_no_hindrance():
    places, runs = torch.tensor([0, 2, 1]), []

    def function(x):
        runs.append(1)
        return x.gather(1, places[:, None]).sum()

    call = torch.compile(function, pure=True)
    for n in range(6):
        assert call(torch.arange(9.0).view(3, 3) + n).item() == 12 + 3 * n
    assert len(runs) == 3


@pytest.mark.replays
def test_pure_functions_run_no_python():
    runs = []
    w = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], 0.5)

    def step(x, scale=1.0):
        runs.append(1)
        optimizer.zero_grad()
        loss = (w * x * scale).sum()
        loss.backward()
        optimizer.step()
        return loss

    call = torch.compile(step, pure=True)
    losses = [call(torch.ones(2)).item() for _ in range(8)]
    assert losses == [2.0 - n for n in range(8)] and len(runs) == 3
    optimizer.param_groups[0]["lr"] = 0.0
    assert call(torch.ones(2)).item() == call(torch.ones(2)).item() == -6.0
    assert call(torch.ones(2), 2.0).item() == -12.0 and len(runs) == 4  # another number, another program
    assert call(torch.ones(1)).item() == -6.0 and len(runs) == 5
    assert programs_of(call)


@pytest.mark.replays
def test_a_program_that_is_wrong_is_told_and_not_run_again():
    call = torch.compile(lambda x: (x * 2).tanh(), pure=True, verify=1)
    for _ in range(4):
        call(torch.ones(2))
    (program,) = programs_of(call)
    right = program.run
    program.run = lambda *tensors: right(*tensors) + 1
    with pytest.warns(RuntimeWarning, match="another result than its calls do as they are written: its result, from "
                      "operation 2 on: tanh;"):
        assert bits(call(torch.ones(2))) == bits(torch.full((2,), 2.0).tanh())
    assert bits(call(torch.ones(2))) == bits(torch.full((2,), 2.0).tanh()) and not programs_of(call)
    assert "another result" in reasons(call)[0]


@pytest.mark.replays
def test_a_loop_that_is_wrong_is_told_and_nothing_deferred_any_more(monkeypatch):
    class Wrong:
        source = ""

        def run(self, cells):
            return [np.zeros(2, np.float32)]

    deferred = []

    def given(x):
        y = x * 2 + 1
        deferred.append(type(y) is Lazy)
        return y

    monkeypatch.setattr(function.Compiled, "loop_for", lambda *_: Wrong())
    call = torch.compile(given, verify=1)
    with pytest.warns(RuntimeWarning, match=r"from add\(\)"):
        assert call(torch.ones(2)).tolist() == [3.0, 3.0]
    assert call(torch.ones(2)).tolist() == [3.0, 3.0] and deferred == [True, False]


@pytest.mark.parametrize("optimizer_of", [torch.optim.SGD, torch.optim.Adam])
def test_a_promise_that_is_broken_is_told(optimizer_of):
    found = []
    for how in (lambda step: step, partial(torch.compile, pure=True, verify=2)):
        w, scale = nn.Parameter(torch.ones(2)), [1.0]
        optimizer = optimizer_of([w], 0.5)

        def step(x, w=w, scale=scale, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (w * x * scale[0]).sum() + torch.rand(())
            loss.backward()
            optimizer.step()
            return {"loss": loss.detach()}

        torch.manual_seed(0)
        call = how(step)
        losses = [call(torch.ones(2))["loss"].item() for _ in range(10)]
        scale[0] = 3.0
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            losses += [call(torch.ones(2))["loss"].item() for _ in range(3)]
        found.append(losses)
    assert found[0] == found[1] and len(heard) == 1
    where = ": its result, from operation 3 on: mul, given something else than when it was traced;"
    assert f"another result than its calls do as they are written{where}" in str(heard[0].message)


@pytest.mark.replays
@pytest.mark.parametrize(
    ("spoiled", "where"),
    [
        (lambda w, adam: w._grad, "a gradient, from operation 7 on: mul"),
        (lambda w, adam: w, "the tensor it writes to, from operation 9 on: Adam.step"),
        (lambda w, adam: adam.state[w]["exp_avg"], "what the optimizer keeps, from operation 9 on: Adam.step"),
    ],
)
def test_the_operation_is_named_at_which_a_wrong_program_is_wrong(spoiled, where):
    w = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([w], 0.5)

    def step(x):
        optimizer.zero_grad()
        (w * x).tanh().sum().backward()
        optimizer.step()

    call = torch.compile(step, pure=True, verify=1)
    for _ in range(4):
        call(torch.ones(2))
    (program,) = programs_of(call)
    right = program.run

    def wrong(*tensors):
        right(*tensors)
        spoiled(w, optimizer)._array[0] += 1

    program.run = wrong
    with pytest.warns(RuntimeWarning, match=f"as they are written: {where};"):
        call(torch.ones(2))


@pytest.mark.replays
def test_the_operation_is_named_that_stands_in_the_place_of_another():
    way = ["tanh"]
    call = torch.compile(lambda x: getattr(x * 2, way[0])(), pure=True, verify=1)
    for _ in range(4):
        call(torch.ones(2))
    way[0] = "sigmoid"
    with pytest.warns(RuntimeWarning, match="from operation 2 on: sigmoid, which was tanh when it was traced;"):
        assert bits(call(torch.ones(2))) == bits(torch.full((2,), 2.0).sigmoid())


def test_second_derivatives_are_those_of_the_calls():
    w = torch.ones(3, requires_grad=True)
    found = []
    for call in (torch.compile(lambda x: (x * w).tanh().sum()), lambda x: (x * w).tanh().sum()):
        for _ in range(4):
            total = call(torch.arange(3.0))
        (once,) = torch.autograd.grad(total, w, create_graph=True)
        (twice,) = torch.autograd.grad(once.square().sum(), w)
        found.append((bits(once), bits(twice)))
    assert found[0] == found[1]


def test_what_is_warned_of_is_warned_of_in_each_call():
    call = torch.compile(lambda x: torch.nn.functional.mse_loss(x, x.view(4, 1) * 1))
    for _ in range(4):
        with pytest.warns(UserWarning, match="Using a target size"):
            call(torch.ones(4))


def test_results_written_into_a_tensor_of_the_function():
    def function(x):
        y = x * 2
        torch.mul(y, 3, out=y)
        return y

    call = torch.compile(function)
    for n in range(4):
        assert bits(call(torch.ones(3) * n)) == bits(torch.ones(3) * n * 6)
