"""What fresh processes show; import time, bytes of a node, peak memory; and the size of what is installed."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import glassgrad

from .rows import Row
from .timing import Result

__all__ = ["fresh", "installed_size"]

_IMPORTS = {"glassgrad": "import glassgrad", "torch": "import torch", "jax": "import jax, jax.numpy"} | {
    name: f"import {name}" for name in ("autograd", "mygrad", "tinygrad")
}  # autograd.numpy is imported by autograd itself
_DISTRIBUTIONS = {
    name: name for name in ("glassgrad", "torch", "jax", "autograd", "mygrad", "micrograd", "tinygrad")
}

_NODE = """
import {module} as engine
from benchmarks.resident import resident
x = engine.tensor(1.0, requires_grad=True)
y = x * x
before = resident()
for _ in range({length}):
    y = y * x
print((resident() - before) / {length})
"""

_PEAK = """
import gc
from benchmarks.engines import engines
from benchmarks.resident import forget_peak, peak, resident
from benchmarks.workloads import WORKLOADS
engine = engines([{column!r}])[0][0]
def steps(sizes):
    step = WORKLOADS[{workload!r}](engine, **sizes)
    for _ in range(5):
        step()
steps({small!r})
gc.collect()
forget_peak()
before = resident()
steps({sizes!r})
print((peak() - before) / 1e6)
"""  # small steps come first, to load what engines load when they are first used
_SMALL: dict[str, dict[str, int]] = {
    "gpt": {"layers": 1, "heads": 2, "width": 64, "context": 32, "batch": 4},
    "lstm": {"width": 32, "steps": 4, "batch": 4},
    "conv": {"batch": 1},
    **dict.fromkeys(("mlp", "lenet", "sac"), {"batch": 4}),
    "graph_network": {"nodes": 100, "edges": 300},
}  # fmt: skip


def run(code: str) -> str:
    """What a fresh interpreter prints; raises where it fails."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"a fresh process failed:\n{done.stderr}")
    return done.stdout


def _import_seconds(code: str, rounds: int) -> list[float]:
    """Seconds that ``code`` takes in a fresh interpreter, beyond starting it; bytecode is compiled before."""

    def once(text: str) -> float:
        start = time.perf_counter()
        run(text)
        return time.perf_counter() - start

    once(code)
    return [once(code) - once("pass") for _ in range(rounds)]


def installed_size(distribution: str) -> float:
    """Megabytes of a distribution's files and of all that it needs, without extras and compiled caches."""
    waiting, seen, total = [distribution], set(), 0
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # a requirement of another platform
        if name == "glassgrad":  # it may be a clone that is installed in place
            files = [path for path in Path(glassgrad.__file__).parent.rglob("*") if path.is_file()]
        else:
            files = [Path(str(file.locate())) for file in package.files or ()]
        total += sum(
            path.stat().st_size for path in files if "__pycache__" not in path.parts and path.is_file()
        )
        waiting += [
            re.match(r"[\w.-]+", one)[0] for one in package.requires or () if "extra ==" not in one  # type: ignore[index]
        ]
    return total / 1e6


def _figures(row: Row, name: str) -> list[float] | None:
    """A row's figures for one engine, or None where it does not have any."""
    if row.workload == "import" and name in _IMPORTS:
        return _import_seconds(_IMPORTS[name], row.rounds)
    if row.workload == "installed" and name in _DISTRIBUTIONS:
        return [installed_size(_DISTRIBUTIONS[name])]
    if row.workload == "node" and name in ("glassgrad", "torch"):
        code = _NODE.format(module=name, **row.sizes)
        return [float(run(code)) for _ in range(row.rounds)]
    if row.workload == "peak" and name.partition(".")[0] in ("glassgrad", "torch"):
        sizes = dict(row.sizes)
        workload = sizes.pop("step")
        code = _PEAK.format(column=name, workload=workload, small=_SMALL[workload], sizes=sizes)
        return [float(run(code)) for _ in range(row.rounds)]
    return None


FRESH = ("import", "installed", "node", "peak")


def fresh(row: Row, columns: Sequence[str]) -> Result:
    """A row of the footprint."""
    result = Result(row)
    for name in columns:
        if name in row.without:
            result.absent[name] = row.without[name]
            continue
        figures = _figures(row, name)
        if figures is not None:
            result.figures[name] = figures
    return result
