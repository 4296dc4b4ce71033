"""Work: what a collective or a message with ``async_op`` gives, to be waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import cache
from typing import Any


class Future:
    """The result of work, and what is to be done with it, by whoever asks for the value."""

    def __init__(self, work: Work, result: Callable[[], Any]) -> None:
        self._work, self.value = work, cache(result)

    def done(self) -> bool:
        """Whether the result is there."""
        return self._work.is_completed()

    def wait(self) -> Any:
        """The result, once it is there."""
        self._work.wait()
        return self.value()

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """A future of what ``callback`` gives for this one."""
        return Future(self._work, lambda: callback(self))


class Work:
    """Something under way between ranks."""

    def __init__(self, tensors: list[Any]) -> None:
        self._done = threading.Event()
        self._error: BaseException | None = None
        self._tensors = tensors

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

    def synchronize(self) -> bool:
        """The same, without a timeout."""
        return self.wait()

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
        return Future(self, self.result)


Work.__module__ = "torch.distributed.distributed_c10d"
