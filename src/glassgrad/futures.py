"""The ``torch.futures`` namespace: values that come later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A value that is set once, by :meth:`set_result` or :meth:`set_exception`, and waited for.

    Source: https://docs.pytorch.org/docs/stable/futures.html
    """

    def __init__(self, *, devices: list[Any] | None = None) -> None:
        self._ready = threading.Condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[], None]] = []

    def done(self) -> bool:
        """Whether the value, or an exception in its place, is there."""
        return self._done

    def wait(self) -> T:
        """The value, once it is there; raises the exception that was set instead."""
        with self._ready:
            self._ready.wait_for(lambda: self._done)
        return self.value()

    def value(self) -> T:
        """The value, which must be there; raises the exception that was set instead."""
        if not self._done:
            raise RuntimeError("the Future has no value yet; call wait()")
        if self._error is not None:
            raise self._error
        return cast(T, self._value)

    def _finish(self, value: Any, error: BaseException | None) -> None:
        with self._ready:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked "
                    "completed once."
                )
            self._value, self._error, self._done = value, error, True
            self._ready.notify_all()
            waiting, self._callbacks = self._callbacks, []
        for callback in waiting:
            callback()

    def set_result(self, result: T) -> None:
        """Set the value and call those who wait for it."""
        self._finish(result, None)

    def set_exception(self, result: Any) -> None:
        """Have :meth:`wait` raise this."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _when_done(self, callback: Callable[[], None]) -> None:
        with self._ready:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback()

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """Call ``callback(future)`` when the value is there; what it raises is printed, and no more."""
        _check(callback, "add_done_callback")

        def call() -> None:
            try:
                callback(self)
            except Exception as error:  # noqa: BLE001  nobody is there to take it
                print(f"[ERROR] Got the following error when running the callback: {type(error).__name__}: {error}")

        self._when_done(call)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """The Future of what ``callback(future)`` gives when the value is there."""
        _check(callback, "then")
        following: Future[S] = Future()

        def call() -> None:
            try:
                result = callback(self)
            except Exception as error:  # noqa: BLE001  it is handed on
                words = f"Got the following error when running the callback: {type(error).__name__}: {error}"
                wrapped = RuntimeError(words)
                wrapped.__cause__ = error
                following.set_exception(wrapped)
            else:
                following.set_result(result)

        self._when_done(call)
        return following


def _check(callback: Any, name: str) -> None:
    if not callable(callback):
        raise TypeError(f"{name}(): incompatible function arguments: a callable is expected, not {type(callback)}")


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """The Future of all: its value is their list, or the first one's exception, once each is done."""
    joined: Future[list[Future[Any]]] = Future()
    left, lock = [len(futures)], threading.Lock()

    def one_more() -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            failed = next((future._error for future in futures if future._error is not None), None)
            joined._finish(list(futures), failed)

    if not futures:
        joined.set_result([])
    for future in futures:
        future._when_done(one_more)
    return joined


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """The values of all of these; raises the exception of the first that has one."""
    return [future.wait() for future in collect_all(futures).wait()]
