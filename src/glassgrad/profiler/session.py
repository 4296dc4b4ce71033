"""``torch.profiler.profile``: recording by steps, on a schedule, and where the results go."""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ..ground.output import replacing
from .events import EventList, trace_entry
from .legacy import record_function
from .recorder import USER, Recorder


class ProfilerActivity(Enum):
    """What is recorded: only the CPU has anything to record."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(Enum):
    """What a schedule says of a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def supported_activities() -> set[ProfilerActivity]:
    """What can be recorded: the CPU."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A schedule: after ``skip_first`` steps, cycles of ``wait`` idle, ``warmup`` and ``active`` recorded steps.

    There are ``repeat`` cycles, or as many as there are steps where it is 0; with ``skip_first_wait`` the first cycle
    does not wait.
    Source: https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.schedule
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        position = step % length
        if (repeat and step >= repeat * length) or position < wait:
            return ProfilerAction.NONE
        if position < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if position < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """What to give as ``on_trace_ready``: writes each trace into ``dir_name``, one file a cycle."""

    def write(prof: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return write


def _record_always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class ExecutionTraceObserver:
    """Not to be had: it would write the arguments of every operation in PyTorch's own format."""

    def __init__(self) -> None:
        raise RuntimeError("execution traces are not written here; use torch.profiler.profile(record_shapes=True)")


class profile:  # noqa: N801  PyTorch's name
    """A block whose operations are recorded; also ``start()``, ``step()``, ``stop()``.

    schedule        a function of the number of the step that gives a :class:`ProfilerAction`
    on_trace_ready  is called with the profiler whenever a recording is complete
    record_shapes, profile_memory, with_stack, with_flops   record these of each operation too

    Backward passes show one event a node: the products within a node belong to it.  Memory is that of the tensors made;
    what is freed is not counted.
    Source: https://docs.pytorch.org/docs/stable/profiler.html
    """

    def __init__(
        self, *, activities: Iterable[Any] | None = None, schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None, record_shapes: bool = False, profile_memory: bool = False,
        with_stack: bool = False, with_flops: bool = False, with_modules: bool = False,
        experimental_config: Any = None, execution_trace_observer: Any = None, acc_events: bool = False,
        use_cuda: bool | None = None, custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:  # fmt: skip
        wanted = supported_activities() if activities is None else set(_flat(activities))
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
            wanted = wanted | {ProfilerActivity.CUDA} if use_cuda else wanted - {ProfilerActivity.CUDA}
        if not wanted:
            raise AssertionError("No valid profiler activities found")
        self.activities = wanted
        self.schedule = schedule or _record_always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self.with_flops, self.with_stack, self.with_modules = with_flops, with_stack, with_modules
        self.acc_events, self.custom_trace_id_callback = acc_events, custom_trace_id_callback
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.step_rec_fn: record_function | None = None
        self.profiler: Recorder | None = None
        self._before: list[Any] = []
        self._events: EventList | None = None
        self._metadata: dict[str, str] = {}
        self._trace_id = ""

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def start(self) -> None:
        """Begin with the first step."""
        self._transit(ProfilerAction.NONE, self.current_action)
        self._mark_step()

    def stop(self) -> None:
        """End; what was being recorded is handed to ``on_trace_ready``."""
        self._end_step()
        self._transit(self.current_action, None)

    def step(self) -> None:
        """Tell that the next step of the program begins."""
        self._end_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._transit(before, self.current_action)
        self._mark_step()

    def _mark_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"ProfilerStep#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _transit(self, before: ProfilerAction, now: ProfilerAction | None) -> None:
        recording = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        ends = before is ProfilerAction.RECORD_AND_SAVE or (before is ProfilerAction.RECORD and now is None)
        if before in recording and (ends or now not in recording):
            if not ends:
                warnings.warn(f"Incorrect schedule: {before.name} followed by {now.name}", stacklevel=4)  # type: ignore[union-attr]
            self.stop_trace()
            if ends and self.on_trace_ready is not None:
                self.on_trace_ready(self)
            before = ProfilerAction.NONE
        if before is ProfilerAction.WARMUP and now is ProfilerAction.NONE:
            warnings.warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=4)
        if now in recording and before not in recording:
            self.start_trace()

    def prepare_trace(self) -> None:
        """Nothing is to be prepared."""

    def start_trace(self) -> None:
        """Begin to record."""
        if self.acc_events and self.profiler is not None:
            self._before += self.profiler.events()
        self._trace_id = self.custom_trace_id_callback() if self.custom_trace_id_callback else uuid.uuid4().hex.upper()
        self._events = None
        self.profiler = Recorder(self.record_shapes, self.profile_memory, self.with_stack, self.with_flops)
        self.profiler.start()

    def stop_trace(self) -> None:
        """Record no more."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before stopping trace")
        self.profiler.stop()

    def get_trace_id(self) -> str | None:
        """The name of the recording."""
        return self._trace_id or None

    def events(self) -> EventList:
        """The events, in the order in which they began."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before accessing events")
        if self._events is None:
            events = self.profiler.events()
            events[:0] = self._before
            self._events = events
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums of the events by name, and also by shapes of inputs or by the innermost lines of the stack."""
        if self.profiler is None:
            raise AssertionError("Profiler must be initialized before getting key averages")
        return self.events().key_averages(group_by_input_shape, group_by_stack_n)

    def add_metadata(self, key: str, value: str) -> None:
        """Put a text into the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Put a JSON text into the trace."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Stop or resume recording, where ``activities`` has the CPU in it."""
        if self.profiler is not None and ProfilerActivity.CPU in set(activities):
            from . import recorder

            recorder.active = self.profiler if enable else None

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks with their times, as programs that draw flame graphs read them."""
        self.events().export_stacks(path, metric)

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the recording as JSON that ``chrome://tracing`` and Perfetto read; ``.gz`` where the name ends so."""
        events = self.events()
        process = os.getpid()
        entries: list[dict[str, Any]] = [
            {"ph": "M", "name": "process_name", "ts": 0, "pid": process, "tid": 0, "args": {"name": "python"}},
            {"ph": "M", "name": "process_labels", "ts": 0, "pid": process, "tid": 0, "args": {"labels": "CPU"}},
        ]
        for thread in sorted({event.thread for event in events}):
            named = {"name": f"thread {thread} ({threading.main_thread().name})" if thread == 1 else f"thread {thread}"}
            entries.append({"ph": "M", "name": "thread_name", "ts": 0, "pid": process, "tid": thread, "args": named})
        for event in events:
            details: dict[str, Any] = {"External id": event.id}
            if event.input_shapes:
                details["Input Dims"] = event.input_shapes
                details["Concrete Inputs"] = [str(value) for value in event.concrete_inputs]
            if event.stack:
                details["Call stack"] = ";".join(event.stack)
            if event.flops:
                details["flops"] = event.flops
            if event.self_cpu_memory_usage:
                details["Bytes"] = event.self_cpu_memory_usage
            kind = "user_annotation" if event.scope == USER else "cpu_op"
            entries.append({**trace_entry(event), "cat": kind, "pid": process, "args": details})
        whole = {
            "schemaVersion": 1,
            "deviceProperties": [],
            "trace_id": self._trace_id,
            **self._metadata,
            "profile_memory": int(self.profile_memory),
            "record_shapes": int(self.record_shapes),
            "displayTimeUnit": "ms",
            "traceEvents": entries,
            "traceName": path,
        }
        content = json.dumps(whole).encode()
        with replacing(path) as file:
            file.write(gzip.compress(content) if path.endswith(".gz") else content)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Not to be had: when tensors are freed is not recorded."""
        raise RuntimeError("a memory timeline is not recorded here; use profile_memory=True and key_averages().table()")


def _flat(activities: Iterable[Any]) -> Iterable[ProfilerActivity]:
    for item in activities:
        yield from item if isinstance(item, dict) else (item,)


def _default_schedule_fn(_: int) -> ProfilerAction:
    """The schedule of who gives none: every step is recorded."""
    return ProfilerAction.RECORD
