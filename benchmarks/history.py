"""What moved between two runs that were kept: ``python -m benchmarks.history [OLD.json NEW.json]``.

``benchmarks/history`` keeps a run's JSON for each release; without names the last two are compared. Figures of other
machines do not compare, the rivals' ratios do so far as they depend on the machine alike; both are shown. A row has
moved where its ratio to PyTorch has, by more than a fifth and out of the spread of the former rounds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .engines import OURS
from .table import readable

__all__ = ["main", "moved"]

KEPT = Path(__file__).parent / "history"
A_FIFTH = 1.2


def _ratios(run: dict[str, Any]) -> dict[tuple[str, str], tuple[dict[str, float], str]]:
    """For each row and column of ours its ratio to PyTorch, with the spread, and its figure for reading."""
    return {
        (row["workload"], ours): (against["torch"], readable(row["columns"][ours]["median"], row["unit"]))
        for row in run["rows"]
        for ours in OURS
        if "torch" in (against := row["ratios"].get(ours, {}))
    }


def moved(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """A line of the table for each row that moved, came or went; both runs as ``--json`` wrote them."""
    before, now = _ratios(old), _ratios(new)
    for (title, column), (ratio, figure) in now.items():
        if (title, column) not in before:
            yield f"| {title} | {column} | - | {ratio['median']:.2f}x ({figure}) | new |"
            continue
        former, former_figure = before[title, column]
        times = ratio["median"] / former["median"]
        if not 1 / A_FIFTH < times < A_FIFTH and not former["min"] <= ratio["median"] <= former["max"]:
            cells = f"{former['median']:.2f}x ({former_figure}) | {ratio['median']:.2f}x ({figure})"
            yield f"| {title} | {column} | {cells} | {times:.2f} |"
    for title, column in before.keys() - now.keys():
        yield f"| {title} | {column} | {before[title, column][0]['median']:.2f}x | - | gone |"


def main(argv: Sequence[str] | None = None) -> int:
    """Print what moved; the exit code is 2 where there are no two runs to compare."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("runs", metavar="FILE", nargs="*", help="two files that --json wrote (default: the last kept)")
    options = parser.parse_args(argv)
    files = [Path(name) for name in options.runs] or sorted(KEPT.glob("*.json"))[-2:]
    if len(files) != 2:
        print(f"benchmarks: two runs are compared, not {len(files)}; {KEPT.name}/ keeps them", file=sys.stderr)
        return 2
    old, new = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    for key in old["environment"].keys() | new["environment"].keys():
        then, today = (run["environment"].get(key, "-") for run in (old, new))
        if then != today:
            print(f"- {key}: {then} -> {today}")
    print(f"\n| workload | column | {files[0].stem} | {files[1].stem} | times |\n| --- | --- | --- | --- | --- |")
    lines = list(moved(old, new))
    print("\n".join(lines) if lines else "\nnothing moved by more than a fifth, out of its spread")
    return 0


if __name__ == "__main__":
    sys.exit(main())
