"""Floor 7: the ``torch.profiler`` namespace: what a program's operations cost, in tables and traces."""

from . import itt
from .events import EventList, FunctionEvent, FunctionEventAvg
from .legacy import record_function
from .session import (
    ExecutionTraceObserver,
    ProfilerAction,
    ProfilerActivity,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "EventList", "ExecutionTraceObserver", "FunctionEvent", "FunctionEventAvg", "ProfilerAction", "ProfilerActivity",
    "itt", "profile", "record_function", "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


def kineto_available() -> bool:
    """True: programs are profiled."""
    return True
