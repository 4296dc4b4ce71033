"""The table of a profile, in PyTorch's layout; knows events by their attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_WIDTH = 12
_GAP = "  "
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def scaled_time(microseconds: float, unit: str | None = None) -> str:
    """A time with three digits: in ``unit``, or in the one that suits it."""
    if unit == "s" or (unit is None and microseconds >= 1e6):
        return f"{microseconds / 1e6:.3f}s"
    if unit == "ms" or (unit is None and microseconds >= 1e3):
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def share(part: float, whole: float) -> str:
    """A time as a percentage of another."""
    return "NaN" if whole == 0 else f"{part * 100.0 / whole:.2f}%"


def scaled_bytes(size: int) -> str:
    """A number of bytes, in the unit that suits it."""
    for power, name in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(size) >= 1024**power:
            return f"{size / 1024**power:.2f} {name}"
    return f"{size} B"


def build_table(
    events: Sequence[Any],
    sort_by: str | None,
    row_limit: int,
    src_limit: int | None,
    name_limit: int | None,
    shapes_limit: int | None,
    header: str | None,
    top_level_only: bool,
    unit: str | None,
    memory: bool,
    flops: bool,
) -> str:
    """The text of the table; empty where there are no events."""
    if not events:
        return ""
    if sort_by is not None:
        named = sort_by.replace("cuda", "device").replace("xpu", "device")
        events = sorted(events, key=lambda event: getattr(event, named), reverse=True)
    columns: list[tuple[str, int, str]] = [("Name", _width((event.key for event in events), name_limit), ">")]
    for title in ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"):
        columns.append((title, _WIDTH, ">"))
    if memory:
        columns += [("CPU Mem", _WIDTH, ">"), ("Self CPU Mem", _WIDTH, ">")]
    columns.append(("# of Calls", _WIDTH, ">"))
    shapes = any(event.input_shapes for event in events)
    if shapes:
        shapes_width = _width((str(event.input_shapes) for event in events), shapes_limit)
        columns.append(("Input Shapes", shapes_width, ">"))
    stacks = [event.stack for event in events if event.stack]
    source_width = 0
    if stacks:
        source_width = _width((entry for stack in stacks for entry in stack), src_limit)
        columns.append(("Source Location", source_width, "<"))
    scale, known = 1.0, [event.flops for event in events if event.flops > 0]
    if flops and known:
        step = int(max(0, min(math.log10(min(known)) / 3, len(_FLOPS) - 1)))
        scale = 10.0 ** (-3 * step)
        columns.append((f"Total {_FLOPS[step]}", _WIDTH, ">"))
    row = "".join(f"{{: {side}{width}}}{_GAP}" for _, width, side in columns)
    rule = "".join("-" * width + _GAP for _, width, _ in columns)
    double = "=" * (len(rule) - len(_GAP))
    whole = sum(event.self_cpu_time_total for event in events)
    lines = []
    if header is not None:
        lines += [double, header]
    if top_level_only:
        lines += [double, "This report only display top-level ops statistics"]
    lines += [rule, row.format(*(title for title, _, _ in columns)), rule]
    shown = [event for event in events if not (top_level_only and event.cpu_parent is not None)]
    for event in shown if row_limit < 0 else shown[:row_limit]:
        name = event.key
        if name_limit is not None and len(name) >= name_limit - 3:
            name = name[: name_limit - 3] + "..."
        values: list[Any] = [
            name,
            share(event.self_cpu_time_total, whole),
            scaled_time(event.self_cpu_time_total, unit),
            share(event.cpu_time_total, whole),
            scaled_time(event.cpu_time_total, unit),
            scaled_time(event.cpu_time, unit),
        ]
        if memory:
            values += [scaled_bytes(event.cpu_memory_usage), scaled_bytes(event.self_cpu_memory_usage)]
        values.append(event.count)
        if shapes:
            values.append(str(event.input_shapes)[:shapes_width])
        stack = event.stack or []
        if flops and known:  # before the source, though the titles stand the other way round: PyTorch's table
            values.append(f"{event.flops * scale:8.3f}" if event.flops > 0 else "--")
        if stacks:
            values.append(_trimmed(stack[0], source_width) if stack else "")
        lines.append(row.format(*values))
        if stacks:
            for entry in (*stack[1:], ""):
                lines.append(row.format(*[""] * (len(columns) - 1), _trimmed(entry, source_width)))
    lines += [rule, f"Self CPU time total: {scaled_time(whole, unit)}"]
    return "\n".join(lines) + "\n"


def _width(texts: Any, limit: int | None) -> int:
    width = max(len(text) for text in texts) + 4
    return width if limit is None else min(width, limit)


def _trimmed(path: str, width: int) -> str:
    """The end of a text that is too long for its column."""
    if len(path) <= width:
        return path
    path = path[len(path) - width :]
    return "..." + path[3:] if len(path) > 3 else path
