"""Work: what a collective or a message with ``async_op`` gives, to be waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

__all__ = ["Work"]


class Future:
    """The result of work, and what is to be done with it."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._map: Callable[[Future], Any] | None = None
        self._before: Future | None = None
        self._value: tuple[Any] | None = None

    def done(self) -> bool:
        """Whether the result is there."""
        return self._work.is_completed()

    def wait(self) -> Any:
        """The result, once it is there."""
        self._work.wait()
        return self.value()

    def value(self) -> Any:
        """The result."""
        if self._value is None:
            if self._map is None:
                self._value = (self._work.result(),)
            else:
                self._value = (self._map(self._before),)  # type: ignore[arg-type]
        return self._value[0]

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """A future of what ``callback`` gives for this one."""
        following = Future(self._work)
        following._map, following._before = callback, self
        return following


class Work:
    """Something under way between ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.Work
    """

    def __init__(self, tensors: list[Any] | None = None) -> None:
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._tensors = [] if tensors is None else tensors

    def _finish(self, error: BaseException | None = None) -> None:
        self._error = error
        self._done.set()

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True once it is done; what went wrong is raised here."""
        seconds = timeout.total_seconds() if timeout is not None else 0.0
        if not self._done.wait(seconds if seconds > 0 else None):
            raise RuntimeError(f"Timed out waiting {seconds * 1000:.0f}ms for work to complete")
        if self._error is not None:
            raise self._error
        return True

    synchronize = wait

    def is_completed(self) -> bool:
        """Whether it is done, well or not."""
        return self._done.is_set()

    def is_success(self) -> bool:
        """Whether it is done well."""
        return self._done.is_set() and self._error is None

    def exception(self) -> BaseException | None:
        """What went wrong, or None."""
        return self._error

    def result(self) -> list[Any]:
        """The tensors that hold the result."""
        return self._tensors

    def get_future(self) -> Future:
        """The same as a future, whose value is the list of the tensors."""
        return Future(self)


Work.__module__ = "torch.distributed.distributed_c10d"
