"""What a profiler saw, as users ask for it: events, their sums by name, table and export; knows no Tensor."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from ..ground.output import replacing, utf8


class DeviceType(IntEnum):
    """Where an event took place."""

    CPU = 0
    CUDA = 1


class Interval:
    """A stretch of time, in microseconds since the profiler began."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """Its length in microseconds."""
        return self.end - self.start


class _Times:
    """Times as texts, and those of devices that are not there."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float
    device_time = device_time_total = self_device_time_total = cuda_time = cuda_time_total = 0
    self_cuda_time_total = device_memory_usage = self_device_memory_usage = cuda_memory_usage = 0
    device_type = DeviceType.CPU
    use_device = None
    is_legacy = is_remote = is_async = False
    node_id = -1
    overload_name = ""

    @property
    def cpu_time(self) -> float:
        """The mean time of a call, in microseconds."""
        return 0.0 if self.count == 0 else self.cpu_time_total / self.count

    @property
    def cpu_time_str(self) -> str:
        """The mean time of a call, as text."""
        return scaled_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """The time of all calls, as text."""
        return scaled_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """The time outside the events within, as text."""
        return scaled_time(self.self_cpu_time_total)


class FunctionEvent(_Times):
    """One event: an operation, a node of the backward pass, or a block that the user named.

    Times are in microseconds; ``cpu_parent`` is the event around it, ``cpu_children`` those within.
    """

    def __init__(
        self,
        id: int,  # noqa: A002  PyTorch's name
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        *,
        input_shapes: list[Any] | None = None,
        stack: list[str] | None = None,
        scope: int = 0,
        flops: int = 0,
        own_memory: int = 0,
        concrete_inputs: list[Any] | None = None,
        sequence_nr: int = -1,
    ) -> None:
        self.id, self.trace_name, self.thread = id, name, thread
        self.name = self.key = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.time_range = Interval(start_us, end_us)
        self.input_shapes, self.stack, self.scope = input_shapes or [], stack or [], scope
        self.flops, self.self_cpu_memory_usage, self.sequence_nr = flops, own_memory, sequence_nr
        self.concrete_inputs = concrete_inputs or []
        self.count = 1
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] = []
        self.fwd_thread: int | None = thread if scope == 1 else None
        self.is_user_annotation = scope == 7

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """The time from beginning to end."""
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """The time outside the events within."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def cpu_memory_usage(self) -> int:
        """Bytes of the tensors that were made, the events within included."""
        return self.self_cpu_memory_usage + sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type=DeviceType.CPU node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
            f"cpu_children={[child.id for child in self.cpu_children]} None_time=0.000us name={self.name} "
            f"thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"None_memory_usage=0 is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} "
            f"is_legacy={self.is_legacy}>"
        )


class FunctionEventAvg(_Times):
    """The sum of the events of one name (and of the same shapes or stack, where one groups by them)."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.input_shapes: Any = None
        self.stack: list[str] | None = None
        self.scope: int | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] | None = None
        self.is_user_annotation = False

    def add(self, other: Any) -> FunctionEventAvg:
        """Count one more event, or another sum."""
        if self.key is None:
            self.key, self.scope, self.stack = other.key, other.scope, other.stack
            self.cpu_parent, self.cpu_children = other.cpu_parent, other.cpu_children
            self.input_shapes, self.is_user_annotation = other.input_shapes, other.is_user_annotation
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        self.count += other.count
        self.flops += other.flops
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_cuda_time=0.000us cuda_time=0.000us "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>"
        )


class EventList(list[Any]):
    """Events, or sums of events; printed as a table."""

    def __init__(self, *args: Any, profile_memory: bool = False, with_flops: bool = False, **_: Any) -> None:
        super().__init__(*args)
        self._profile_memory, self._with_flops = profile_memory, with_flops

    def __str__(self) -> str:
        return self.table()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events, each moment counted once."""
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, max_src_column_width: int = 75,
        max_name_column_width: int = 55, max_shapes_column_width: int = 80, header: str | None = None,
        top_level_events_only: bool = False, time_unit: str | None = None,
    ) -> str:  # fmt: skip
        """The events as a table.

        sort_by    an attribute: ``cpu_time_total``, ``self_cpu_time_total``, ``cpu_memory_usage``, ``count`` ...
        row_limit  the number of rows; -1 for all
        time_unit  "s", "ms" or "us" for all times, else each as it suits
        """
        return build_table(
            self, sort_by, row_limit, max_src_column_width, max_name_column_width, max_shapes_column_width, header,
            top_level_events_only, time_unit, self._profile_memory, self._with_flops,
        )  # fmt: skip

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums of the events by name, and also by shapes of inputs or by the innermost lines of the stack."""
        sums: dict[Any, FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            key: tuple[Any, ...] = (event.key, event.is_user_annotation)
            if group_by_input_shapes:
                key += (str(event.input_shapes),)
            if group_by_stack_n:
                key += tuple(event.stack[:group_by_stack_n])
            sums[key].add(event)
        averages = EventList(sums.values(), profile_memory=self._profile_memory, with_flops=self._with_flops)
        for total in averages:
            total.stack = (total.stack or [])[:group_by_stack_n]
            if not group_by_input_shapes:
                total.input_shapes = ""
        return averages

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total += event
            total.key = None
        total.key = "Total"
        return total

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a list that ``chrome://tracing`` and Perfetto read."""
        entries = [{**trace_entry(event), "pid": "CPU functions", "args": {}} for event in self]
        with replacing(path) as file:
            file.write(json.dumps(entries).encode())

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write lines of "outer;inner weight", as programs that draw flame graphs read them."""
        if metric not in ("self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total"):
            raise ValueError(f"metric should be one of: {['self_cpu_time_total', 'self_cuda_time_total']}")
        spaces = str.maketrans(" ;\t\n", "____")
        lines = []
        for event in self:
            weight = int(getattr(event, metric))
            if event.stack and weight > 0:
                lines.append(f"{';'.join(entry.translate(spaces) for entry in reversed(event.stack))} {weight}\n")
        with replacing(path) as file:
            file.write(utf8("".join(lines)))


def trace_entry(event: FunctionEvent) -> dict[str, Any]:
    """An event as viewers of traces read it."""
    return {
        "ph": "X",
        "name": event.trace_name,
        "ts": event.time_range.start,
        "dur": event.time_range.elapsed_us(),
        "tid": event.thread,
    }


# -- the table of a profile, in PyTorch's layout; knows events by their attributes -------------------------------------

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
    events: Sequence[Any], sort_by: str | None, row_limit: int, src_limit: int | None, name_limit: int | None,
    shapes_limit: int | None, header: str | None, top_level_only: bool, unit: str | None, memory: bool, flops: bool,
) -> str:  # fmt: skip
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
