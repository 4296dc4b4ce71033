"""Errors while deferred operations run, and code that comes between: what was deferred is there for who asks."""

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.compiler import lazy as lazies
from glassgrad.compiler.lazy import Lazy
from glassgrad.kernels import compiled

from .both_ways import four


@pytest.fixture(autouse=True)
def _kernels_of_numpy():
    with compiled.serving(compiled.NEVER):
        yield


def rounds(function):
    """What calls give as they are written, and compiled; the divisor is nought in the fifth."""
    for how in (lambda one: one, torch.compile):
        call = how(function)
        yield [call(four(1), torch.ones(4) * (n != 4)) for n in range(6)]


def test_what_came_before_an_error_is_there_behind_it():
    lazy = []

    def function(x, divisor):
        other, twice = torch.zeros(4), x * 2
        lazy.append(type(twice) is Lazy)
        try:
            with np.errstate(divide="raise"):
                return (twice / divisor).tolist(), twice.tolist()
        except FloatingPointError as error:
            return str(error), twice.tolist(), (twice + 1).tolist(), other.tolist()

    written, compared = rounds(function)
    assert written == compared and "divide" in written[4][0] and lazy[10]


def test_the_result_that_failed_fails_again():
    def function(x, divisor):
        quotient = x / divisor
        told = []
        for _ in range(2):
            try:
                with np.errstate(divide="raise"):
                    return (quotient + 1).tolist()
            except FloatingPointError as error:
                told.append(str(error))
        with np.errstate(divide="ignore"):
            return told, quotient.tolist()

    call = torch.compile(function)
    found = [call(four(1), torch.ones(4) * (n != 4)) for n in range(6)]
    assert found[4] == (["divide by zero encountered in divide"] * 2, [float("inf")] * 4)
    assert found[5] == [2.0, 3.0, 4.0, 5.0]


def test_who_asks_while_it_is_computed_is_answered():
    told = []

    def function(x, divisor):
        twice = x * 2
        with np.errstate(divide="call", call=lambda *_: told.append(twice.tolist())):
            return (twice / divisor).tolist(), twice.tolist()

    written, compared = rounds(function)
    assert written == compared and len(told) >= 2 and all(one == [2.0, 4.0, 6.0, 8.0] for one in told)


def test_what_there_is_no_memory_for_is_never_computed_of_other_operands(monkeypatch):
    """In the function the next call computes it first; after its end, the numbers that were are gone."""
    lacking = []

    def compute(*call):
        if lacking:
            raise MemoryError(*lacking)
        return computing(*call)

    computing = lazies.compute
    monkeypatch.setattr(lazies, "compute", compute)

    def function(x):
        twice, thrice = x * 2, x * 3
        lacking.append("none is left")
        with pytest.raises(MemoryError):
            x.add_(1)
        lacking.clear()
        x.add_(1)
        told = twice.tolist(), thrice.tolist()
        lost = x * 4
        lacking.append("none is left")
        return told, lost

    for call in (torch.compile(function), torch.compile(function, verify=1)):
        x = torch.ones(2)
        told, lost = call(x)
        lacking.clear()
        x.add_(1)
        assert told == ([2.0, 2.0], [3.0, 3.0]) and x.tolist() == [3.0, 3.0]
        with pytest.raises(MemoryError, match="none is left"):
            lost.tolist()
