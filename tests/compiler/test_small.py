"""Functions that are too small to gain by a program mostly run as they are written."""

import pytest

import glassgrad as torch
from glassgrad.compiler import function

pytestmark = pytest.mark.replays


@pytest.fixture(autouse=True)
def _everyday(monkeypatch, _way):
    monkeypatch.setattr(function, "TRIED", 4)


def calls_that_are_compared(compiled, *arguments, times=64):
    compared = 0
    for _ in range(times):
        before = compiled.program_state.replays
        compiled(*arguments)
        compared += compiled.program_state.replays > before
    return compared


def test_a_small_function_is_tried_now_and_then():
    compiled = torch.compile(lambda x: (x * 2).sin() + x)
    assert calls_that_are_compared(compiled, torch.ones(8)) <= 64 // function.EACH + function.TRIED
    assert "no result has 4,096 elements" in repr(torch.compile.explain(compiled))


def test_one_with_a_large_result_is_replayed():
    compiled = torch.compile(lambda x: (x * 2).sin() + x)
    assert calls_that_are_compared(compiled, torch.ones(5000)) >= 60


def test_one_that_steps_an_optimizer_is_replayed():
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    @torch.compile
    def step(x):
        optimizer.zero_grad()
        layer(x).sum().backward()
        optimizer.step()

    assert calls_that_are_compared(step, torch.ones(3, 2)) >= 60


def test_arrays_that_grow_are_noticed():
    compiled = torch.compile(lambda x: (x * 2).sin() + x)
    calls_that_are_compared(compiled, torch.ones(8))
    assert calls_that_are_compared(compiled, torch.ones(5000)) > 30


def test_the_numbers_are_the_same_either_way():
    compiled, x = torch.compile(lambda x: (x * 2).sin() + x), torch.linspace(0, 1, 8)
    answers = {tuple(compiled(x).tolist()) for _ in range(40)}
    assert answers == {tuple(((x * 2).sin() + x).tolist())}


def test_who_asks_for_comparisons_gets_them():
    compiled = torch.compile(lambda x: (x * 2).sin() + x, fullgraph=True)
    assert calls_that_are_compared(compiled, torch.ones(8)) >= 60
