"""Functions that are too small to gain by a program mostly run as they are written."""

import pytest

import glassgrad as torch
from glassgrad.compiler import function

pytestmark = pytest.mark.replays


@pytest.fixture(autouse=True)
def _everyday(monkeypatch, _way):
    monkeypatch.setattr(function, "TRIED", 4)


def calls_that_are_compared(call, *arguments, times=64):
    compared = 0
    for _ in range(times):
        before = call.program_state.replays
        call(*arguments)
        compared += call.program_state.replays > before
    return compared


def test_a_small_function_is_tried_now_and_then():
    call = torch.compile(lambda x: (x * 2).sin() + x)
    assert calls_that_are_compared(call, torch.ones(8)) <= function.TRIED + 8  # calls 5, 8, 9, 16, 17, 32, 33 and 64
    assert "mostly runs as it is written" in repr(torch.compile.explain(call))


def test_one_with_a_large_result_is_replayed():
    call = torch.compile(lambda x: (x * 2).sin() + x)
    assert calls_that_are_compared(call, torch.ones(80_000)) >= 60


def test_arrays_that_grow_are_noticed():
    call = torch.compile(lambda x: (x * 2).sin() + x)
    calls_that_are_compared(call, torch.ones(8))
    assert calls_that_are_compared(call, torch.ones(80_000), times=128) > 60


def test_the_numbers_are_the_same_either_way():
    call, x = torch.compile(lambda x: (x * 2).sin() + x), torch.linspace(0, 1, 8)
    answers = {tuple(call(x).tolist()) for _ in range(40)}
    assert answers == {tuple(((x * 2).sin() + x).tolist())}


def test_who_asks_for_comparisons_gets_them():
    call = torch.compile(lambda x: (x * 2).sin() + x, fullgraph=True)
    assert calls_that_are_compared(call, torch.ones(8)) >= 60
