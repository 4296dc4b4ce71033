"""Settings of the process: warnings given once, and threads."""

import warnings

import pytest

from glassgrad.ground import runtime


@pytest.fixture
def fresh():
    """Nobody was warned yet, and repetition is off."""
    before = runtime.is_warn_always_enabled()
    runtime.set_warn_always(False)
    runtime._given.discard("mind the gap")
    yield
    runtime.set_warn_always(before)


def _given():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runtime.warn_once("mind the gap", stacklevel=1)
    return caught


def test_a_warning_is_given_once(fresh):
    (first,) = _given()
    assert str(first.message) == "mind the gap" and first.filename == __file__
    assert _given() == []


def test_or_always_where_that_is_asked_for(fresh):
    runtime.set_warn_always(True)
    assert len(_given()) == len(_given()) == 1


def test_threads():
    before = runtime.get_num_threads()
    runtime.set_num_threads(1)
    assert runtime.get_num_threads() == 1
    runtime.set_num_threads(before)
