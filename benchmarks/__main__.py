"""Prints the table: environment, every row with both times, their ratio, and the goal, met or missed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from typing import Any

import numpy as np
import torch

import glassgrad

from .measure import bytes_per_node, import_seconds, pair, same
from .rows import ROWS


def environment() -> dict[str, Any]:
    """What the figures depend on."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[index,call-overload]
    return {
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "glassgrad": glassgrad.__version__,
        "numpy": np.__version__,
        "blas": f"{blas['name']} {blas['version']}",
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE", "(unset)"),
        "torch": torch.__version__,
        "torch threads": torch.get_num_threads(),
    }


def readable(seconds: float) -> str:
    """Seconds with a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def main() -> None:
    """Run the rows chosen on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a few rounds of each row, to see that it runs")
    parser.add_argument("--only", default="", help="rows whose name contains this text")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    parser.add_argument("--threads", type=int, help="threads for both sides")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    for key, value in environment().items():
        print(f"{key}: {value}")
    print(f"\n| workload | glassgrad | torch | ratio | goal | |\n|{'---|' * 6}")
    found = []

    def show(name: str, ours: str, theirs: str, ratio: float, goal: float) -> None:
        verdict = "met" if ratio >= goal else "slower" if ratio < 1 else "missed"
        print(f"| {name} | {ours} | {theirs} | {ratio:.2f}x | {goal:g}x | {verdict} |", flush=True)
        found.append({"workload": name, "ours": ours, "theirs": theirs, "ratio": ratio, "goal": goal})

    for row in ROWS:
        if options.only in row.name and not (options.short and not row.seconds):
            if row.seconds and not same(row, glassgrad, torch):
                sys.exit(f"{row.name}: the two sides computed different things")
            ours, theirs = pair(row, glassgrad, torch)
            show(row.name, readable(ours), readable(theirs), theirs / ours, row.goal)
    if not options.only and not options.short:
        ours, theirs = import_seconds("import glassgrad"), import_seconds("import torch")
        show("import", readable(ours), readable(theirs), theirs / ours, 10.0)
        base = import_seconds("import numpy")
        print(f"\nimport numpy alone takes {readable(base)}: glassgrad adds {readable(max(ours - base, 0))}\n")
        nodes = bytes_per_node("glassgrad"), bytes_per_node("torch")
        show("bytes per node of a chain", f"{nodes[0]:.0f}", f"{nodes[1]:.0f}", nodes[1] / nodes[0], 1.0)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"environment": environment(), "rows": found}, file, indent=1)


if __name__ == "__main__":
    main()
