"""Functions of which nothing is deferred mostly run as they are written."""

import pytest

import glassgrad as torch
from glassgrad.compiler import deferral, function

pytestmark = pytest.mark.replays


@pytest.fixture(autouse=True)
def _everyday(monkeypatch, _way):
    monkeypatch.setattr(function, "TRIED", 4)
    monkeypatch.setattr(deferral, "FEWEST", 1 << 14)


def heard(call, *arguments, times=64):
    """How many of so many calls were heard."""
    began, run = [], function.Run

    def beginning(state):
        began.append(state)
        return run(state)

    function.Run = beginning
    try:
        for _ in range(times):
            call(*arguments)
    finally:
        function.Run = run
    return len(began)


def test_a_small_function_is_tried_now_and_then():
    call = torch.compile(lambda x: (x * 2).exp() + x)
    assert heard(call, torch.ones(8)) <= function.TRIED + 8  # calls 5, 8, 9, 16, 17, 32, 33 and 64
    assert "runs as it is written" in repr(torch.compile.explain(call))


def test_one_with_large_arrays_is_heard():
    assert heard(torch.compile(lambda x: (x * 2).exp() + x), torch.ones(80_000)) >= 60


def test_arrays_that_grow_are_noticed():
    call = torch.compile(lambda x: (x * 2).exp() + x)
    heard(call, torch.ones(8))
    assert heard(call, torch.ones(80_000), times=128) > 60


def test_the_numbers_are_the_same_either_way():
    call, x = torch.compile(lambda x: (x * 2).sin() + x), torch.linspace(0, 1, 8)
    answers = {tuple(call(x).tolist()) for _ in range(40)}
    assert answers == {tuple(((x * 2).sin() + x).tolist())}


def test_who_asks_for_a_whole_program_is_heard():
    assert heard(torch.compile(lambda x: (x * 2).sin() + x, fullgraph=True), torch.ones(8)) >= 60
