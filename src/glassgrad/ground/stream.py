"""Streams and their marks, of which the processor has one: work has ended when an operation returns."""

from __future__ import annotations

from typing import Any

from .device import device as _device


class Stream:
    """A queue of work, which on the CPU is the program itself.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.Stream.html
    """

    __module__ = "torch"

    def __init__(self, device: Any = None, *, priority: int = 0, **ids: Any) -> None:
        self.device = _device(device or "cpu")
        self.device_index, self.device_type, self.stream_id = -1, 0, 0

    def query(self) -> bool:
        """True: all work has ended."""
        return True

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing is left to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing is left to wait for."""

    def record_event(self, event: Any = None) -> Any:
        """A mark, which has come."""
        return Event() if event is None else event

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "torch.Stream device_type=cpu, device_index=-1, stream_id=0"


class Event:
    """A mark in a stream, which has come when it is made.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.Event.html
    """

    __module__ = "torch"

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.device, self.event_id = _device(device or "cpu"), 0

    def record(self, stream: Any = None) -> None:
        """Nothing is left to be marked."""

    def wait(self, stream: Any = None) -> None:
        """Nothing is left to wait for."""

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def query(self) -> bool:
        """True: the work before it has ended."""
        return True

    def elapsed_time(self, end_event: Any) -> float:
        """RuntimeError, as PyTorch has it for the CPU: time.perf_counter() measures."""
        raise RuntimeError("Backend doesn't support elapsedTime: measure with time.perf_counter()")

    def __repr__(self) -> str:
        return "torch.Event device_type=cpu, device_index=-1, event_flag=0, event_id=0"
