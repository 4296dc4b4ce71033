"""Blocks that the user names, so that a profile shows them."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from . import recorder


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
