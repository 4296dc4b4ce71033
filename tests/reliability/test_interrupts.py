"""Ctrl-C within training leaves modes, step counts, schedules, scales and files as if a call had been made or not."""

import sys
import threading
from zlib import crc32

import pytest

from tests.compiler.both_ways import small_ones_too
from tests.reliability import interrupts

EVERY = 211  # instructions; all of them are a run by hand


@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform == "win32", reason="signals arrive otherwise there")
@pytest.mark.parametrize("name", interrupts.CASES)
def test_interrupted(name, monkeypatch):
    small_ones_too(monkeypatch.setattr)
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals are for the main thread")
    few = name in ("backward", "decorated") or name.endswith(("LR", "Scheduler"))
    every = 17 if few else EVERY
    first = 1 + crc32(name.encode()) % (every - 1)  # another one for each, and the same in every run
    faults, count, excused = interrupts.sweep(name, every, first=first)
    assert faults == []
    assert count >= 2  # a step of SGD is short
    assert excused <= 2 + count // 10
