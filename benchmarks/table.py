"""Results as Markdown tables and as JSON, every goal with its verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .engines import COLUMNS, COMPILED, OURS, UNWRITTEN
from .rows import Goal
from .timing import Result

__all__ = ["data", "readable", "tables", "verdicts"]


def readable(value: float, unit: str) -> str:
    """A figure with three digits and a fitting unit."""
    if not unit.startswith("s"):
        return f"{value:,.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"
    for name, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= 0.9995 * size:
            return f"{value / size:.3g} {name}"
    return f"{value / 1e-9:.3g} ns"


def _times(ratio: float) -> str:
    return f"{ratio:.3g}x" if ratio >= 10 else f"{ratio:.2f}x"


def verdicts(result: Result) -> list[dict[str, Any]]:
    """Each goal of a row: whose it is, against what, the ratio reached (None: not measured), and the verdict."""
    judged = []
    for ours, goals in zip(OURS, _wishes(result), strict=True):
        for goal in goals:
            ratio, against = _fastest(result, ours, goal)
            verdict = _verdict(ratio, goal)
            judged.append({"column": ours, "goal": goal.times, "against": against, "ratio": ratio, "verdict": verdict})
    return judged


def _wishes(result: Result) -> tuple[tuple[Goal, ...], ...]:
    """The row's goals for each of our columns."""
    return result.row.eager, result.row.compiled, result.row.plain


def _fastest(result: Result, ours: str, goal: Goal) -> tuple[float | None, str]:
    """The smallest ratio over the goal's rivals that ran, and whose it is."""
    ratios = {theirs: result.ratio(theirs, ours) for theirs in goal.against}
    known = {theirs: ratio for theirs, ratio in ratios.items() if ratio is not None}
    if not known:
        return None, " or ".join(goal.against)
    against = min(known, key=lambda theirs: known[theirs])
    return known[against], against


def _verdict(ratio: float | None, goal: Goal) -> str:
    if ratio is None:
        return "-"
    if ratio >= goal.times:
        return "met"
    return "slower" if ratio < 1 <= goal.times else f"missed by {1 - ratio / goal.times:.0%}"


def _figure(result: Result, column: str) -> str:
    value = result.median(column)
    return "-" if value is None else readable(value, result.row.unit)


def _against_torch(result: Result, column: str) -> str:
    """The ratio to torch with the spread of the rounds."""
    ratios, middle = result.ratios("torch", column), result.ratio("torch", column)
    if ratios is None or middle is None:
        return "-"
    return f"{_times(middle)} ({min(ratios):.2f}..{max(ratios):.2f})" if len(ratios) > 1 else _times(middle)


def _goals(result: Result, column: str) -> str:
    texts = []
    for one in verdicts(result):
        if one["column"] == column and one["goal"] < 1:
            reached = "" if one["ratio"] is None else f" ({_times(1 / one['ratio'])})"
            texts.append(f"at most {1 / one['goal']:g}x slower than {one['against']}: {one['verdict']}{reached}")
        elif one["column"] == column:
            rival = "" if one["against"] == "torch" else f" {one['against']}"
            reached = "" if one["ratio"] is None or not rival else f" ({_times(one['ratio'])})"
            texts.append(f"{one['goal']:g}x{rival}: {one['verdict']}{reached}")
    return "; ".join(texts) or "-"


def _lines(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *body)]


def tables(group: str, results: Sequence[Result]) -> str:
    """One group: our figures beside torch's with the goals, and under it the other rivals, if any ran."""
    footprint = any(result.row.unit in ("MB", "B") for result in results)
    text = [f"## {group}", ""]
    ours = [
        column for column, goals in zip(OURS, zip(*map(_wishes, results), strict=True), strict=True)
        if column == "glassgrad" or any(goals) or any(column in result.figures for result in results)
    ]  # fmt: skip
    header = ["workload", "torch"]
    body = [[result.row.title, _figure(result, "torch")] for result in results]
    parts: list[tuple[str, Callable[[Result, str], str]]] = [("ratio", _against_torch)]
    if any(any(_wishes(result)) for result in results):
        parts.append(("goal", _goals))
    for column in ours:
        header += [column, *(name for name, _ in parts)]
        for cells, result in zip(body, results, strict=True):
            cells += [_figure(result, column), *(cell(result, column) for _, cell in parts)]
    text += _lines(header, body)
    others = [name for name in COLUMNS if name not in (*OURS, "torch") and any(name in r.figures for r in results)]
    if others:
        what = "smaller" if footprint else "faster"
        text += ["", f"Other engines; in brackets their figure over glassgrad's (above 1, glassgrad is {what})"]
        text[-1] += ", those that compile beside glassgrad.compile:" if OURS[1] in ours else ":"
        text.append("")
        rows = []
        for result in results:
            cells = [result.row.title]
            for column in others:
                ratio = result.ratio(column, _beside(result, column))
                cells.append("-" if ratio is None else f"{_figure(result, column)} ({_times(ratio)})")
            rows.append(cells)
        text += _lines(["workload", *others], rows)
    used = [column for column in COMPILED if any(column in result.first for result in results)]
    if used:
        text += ["", "Before the first result, beyond the time of the steps: compiling.", ""]
        waits = [
            [result.row.title, *(readable(result.first[c], "s") if c in result.first else "-" for c in used)]
            for result in results
        ]
        text += _lines(["workload", *used], waits)
    left_out = _absences(results)
    return "\n".join([*text, *(["", *left_out] if left_out else []), ""])


def _beside(result: Result, column: str) -> str:
    """Which of our columns a rival's stands beside: what compiles, beside what compiles."""
    return OURS[column in COMPILED and OURS[1] in result.figures]


def _absences(results: Sequence[Result]) -> list[str]:
    """Why cells are empty: a line for each row, after the reasons that hold for a column in the whole group.

    What is merely not written for an engine needs no word.
    """
    everywhere = {
        column: reason
        for column, reason in results[0].absent.items()
        if len(results) > 1 and all(result.absent.get(column) == reason for result in results)
    }
    lines = [(column, reason) for column, reason in everywhere.items() if reason != UNWRITTEN]
    for result in results:
        reasons: dict[str, list[str]] = {}
        for column, reason in result.absent.items():
            if reason != UNWRITTEN and column not in everywhere:
                reasons.setdefault(reason, []).append(column)
        if reasons:
            text = "; ".join(f"{', '.join(columns)}: {reason}" for reason, columns in reasons.items())
            lines.append((result.row.title, text))
    return [f"- {what}: {why}" for what, why in lines]


def data(results: Sequence[Result]) -> list[dict[str, Any]]:
    """The rows for a JSON file: every figure, not only medians."""
    rows = []
    for result in results:
        row = result.row
        columns = {
            column: {
                "median": result.median(column),
                "figures": figures,
                **({"first seconds": result.first[column]} if column in result.first else {}),
            }
            for column, figures in result.figures.items()
        }
        ratios = {
            ours: {
                theirs: {"median": result.ratio(theirs, ours), "min": min(pairs), "max": max(pairs)}
                for theirs in result.figures
                if theirs not in OURS and (pairs := result.ratios(theirs, ours))
            }
            for ours in OURS
            if ours in result.figures
        }
        rows.append(
            {
                "workload": row.title, "group": row.group, "kind": row.workload, "sizes": dict(row.sizes),
                "operations": row.operations, "unit": row.unit, "columns": columns, "ratios": ratios,
                "goals": verdicts(result), "absent": result.absent,
            }
        )  # fmt: skip
    return rows
