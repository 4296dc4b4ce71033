"""Timing in pairs, and what a fresh process costs: import time, bytes per node."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from .rows import Row


def seconds_of(step: Callable[[], Any], times: int) -> float:
    """Seconds for one of ``times`` calls in a row."""
    start = time.perf_counter()
    for _ in range(times):
        step()
    return (time.perf_counter() - start) / times


def pair(row: Row, ours: Any, theirs: Any) -> tuple[float, float]:
    """Median seconds of a step, ours and theirs, taken in turns after a warm-up."""
    steps = [row.make(ours), row.make(theirs)]
    counts = []
    for step in steps:
        if row.seconds:
            step()
            one = max(min(seconds_of(step, 3) for _ in range(3)), 1e-8)
            counts.append(max(int(row.seconds / row.rounds / one), 1))
        else:
            counts.append(1)
    taken: list[list[float]] = [[], []]
    for _ in range(row.rounds):
        for which, step in enumerate(steps):
            taken[which].append(seconds_of(step, counts[which]))
    return statistics.median(taken[0]), statistics.median(taken[1])


def same(row: Row, ours: Any, theirs: Any) -> bool:
    """Whether the first step of both computes the same thing."""
    a, b = (row.make(engine)() for engine in (ours, theirs))
    return bool(ours.allclose(ours.tensor(a.tolist()), ours.tensor(b.tolist()), rtol=1e-4, atol=1e-5))


def import_seconds(code: str, rounds: int = 7) -> float:
    """Median seconds that ``code`` takes in a fresh interpreter, beyond starting it; bytecode is compiled before."""
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, PYTHONPYCACHEPREFIX=cache)
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def once(text: str) -> float:
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", text], check=True, env=environment)
            return time.perf_counter() - start

        once(code)
        pairs = [(once(code), once("pass")) for _ in range(rounds)]
    return statistics.median(a - b for a, b in pairs)


_BYTES = """
import os, {module} as engine

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

x = engine.tensor(1.0, requires_grad=True)
y = x * x
before = resident()
for _ in range(300_000):
    y = y * x
print((resident() - before) / 300_000)
"""


def bytes_per_node(module: str) -> float:
    """Growth of the process for each product of a long chain."""
    code = _BYTES.format(module=module)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)
