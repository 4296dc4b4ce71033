"""Settings of the process: warnings given once, and threads."""

import subprocess
import sys
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
        runtime.warn_once("mind the gap")
    return caught


def test_a_warning_is_given_once(fresh):
    (first,) = _given()
    assert str(first.message) == "mind the gap" and first.filename == __file__
    assert _given() == []


def test_or_always_where_that_is_asked_for(fresh):
    runtime.set_warn_always(True)
    assert len(_given()) == len(_given()) == 1


def test_no_thread_is_no_number(monkeypatch):
    """What an OpenMP library takes for nothing said."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "0")
    assert runtime._first_threads.__wrapped__() == runtime.cores()


def test_threads():
    before = runtime.get_num_threads()
    runtime.set_num_threads(1)
    assert runtime.get_num_threads() == 1
    runtime.set_num_threads(before)


NO_ROOM = """
import numpy as np

empty = np.empty
def small(shape, *others, **settings):
    if isinstance(shape, int) and shape > 1 << 20:
        raise MemoryError
    return empty(shape, *others, **settings)
np.empty = small
import glassgrad
assert glassgrad.ones(2).sum() == 2
"""


def test_a_process_with_little_memory():
    """What is asked of its allocator is asked in vain."""
    done = subprocess.run([sys.executable, "-c", NO_ROOM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
