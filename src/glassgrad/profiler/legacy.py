"""What ``torch.autograd.profiler`` holds: a block that is itself the list of its events, and blocks with names."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any, NoReturn

from . import recorder
from .events import EventList, FunctionEvent, FunctionEventAvg
from .recorder import Recorder

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "emit_itt", "emit_nvtx", "profile", "record_function"]


class record_function(ContextDecorator):  # noqa: N801  PyTorch's name
    """A block, or a function it decorates, that a profile shows as an event of this name.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.autograd.profiler.record_function.html
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self.run_callbacks_on_exit = True
        self._open: list[tuple[Any, Any]] = []

    def __enter__(self) -> record_function:
        active = recorder.active
        self._open.append((active, None if active is None else active.begin(self.name, recorder.USER)))
        return self

    def __exit__(self, *error: Any) -> None:
        active, event = self._open.pop()
        if event is not None:
            active.end(event)


class profile:  # noqa: N801  PyTorch's name
    """A block whose operations are recorded, unless ``enabled`` is false.

    Source: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.profiler.profile
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None,
        record_shapes: bool = False, with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False,
        with_modules: bool = False, **settings: Any,
    ) -> None:  # fmt: skip
        self.enabled, self.entered = enabled, False
        self.record_shapes, self.with_flops = record_shapes | with_flops, with_flops
        self.profile_memory, self.with_stack, self.with_modules = profile_memory, with_stack, with_modules
        self._recorder = Recorder(self.record_shapes, profile_memory, with_stack, with_flops)
        self._events: EventList | None = None

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._recorder.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.enabled:
            self._recorder.stop()

    @property
    def function_events(self) -> EventList:
        """The events, in the order in which they began."""
        if not self.entered:
            raise RuntimeError("Profiler didn't finish running")
        if self._events is None:
            self._events = self._recorder.events()
        return self._events

    def __repr__(self) -> str:
        return repr(self.function_events) if self.entered else "<unfinished torch.autograd.profile>"

    def __str__(self) -> str:
        return str(self.function_events) if self.entered else "<unfinished torch.autograd.profile>"

    def table(self, *args: Any, **kwargs: Any) -> str:
        """The events as a table; the arguments are those of ``EventList.table``."""
        return self.function_events.table(*args, **kwargs)

    def key_averages(self, *args: Any, **kwargs: Any) -> EventList:
        """The sums of the events by name."""
        return self.function_events.key_averages(*args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all events, each moment counted once."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a list that ``chrome://tracing`` and Perfetto read."""
        self.function_events.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks with their times, as programs that draw flame graphs read them."""
        self.function_events.export_stacks(path, metric)


def _needs(tool: str) -> NoReturn:
    raise RuntimeError(f"{tool} is not there; use torch.profiler.profile and its export_chrome_trace()")


class emit_nvtx:  # noqa: N801  PyTorch's name
    """Marks for NVIDIA's tools: an error, unless ``enabled`` is false."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx:
        if self.enabled:
            _needs("NVTX")
        return self

    def __exit__(self, *error: Any) -> None:
        return None


class emit_itt(emit_nvtx):  # noqa: N801  PyTorch's name
    """Marks for Intel's tools: an error, unless ``enabled`` is false."""

    def __enter__(self) -> emit_itt:
        if self.enabled:
            _needs("ITT")
        return self
