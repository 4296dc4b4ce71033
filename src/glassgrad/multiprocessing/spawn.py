"""Processes started together: one function run by each, and what went wrong in one of them told in the caller.

What a parent knows by the name ``torch``, its children know by it too.
"""

from __future__ import annotations

import logging
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .failures import signal_name

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn",
    "start_processes",
]  # fmt: skip

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
_OURS = __name__.partition(".")[0]
_GRACE = 30.0  # seconds that a process has to follow SIGTERM

log = logging.getLogger(__name__)


class ProcessException(Exception):
    """One of several processes failed: which one (``error_index``), and its number (``error_pid``)."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process failed by an exception, whose traceback the message holds."""


class ProcessExitedException(ProcessException):
    """A process was ended by a signal, or ended itself with an exit code."""

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name)


def _die_with_parent() -> None:
    """Under Linux, have this process interrupted when its parent dies; or ended, where interrupts are ignored.

    They are in what a shell started in the background, and in all that such a process starts.
    """
    if sys.platform == "linux":
        import ctypes

        is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        try:
            ctypes.CDLL(None).prctl(1, int(signal.SIGTERM if is_ignored else signal.SIGINT))
        except (OSError, AttributeError):
            pass


def _wrap(meaning: Any, fn: Callable[..., Any], i: int, args: tuple[Any, ...], error_file: str) -> None:
    _die_with_parent()
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # sent by the parent, or to both
    except Exception:
        import traceback

        with open(error_file, "wb") as file:
            pickle.dump(traceback.format_exc(), file)
        sys.exit(1)


class ProcessContext:
    """Processes that run together: :meth:`join` waits for them, :meth:`pids` names them."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [int(process.pid) for process in self.processes]

    def _wait_for_all(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for the next process to end, or ``timeout`` seconds; True once all have ended well.

        If one failed, the others are stopped, after ``grace_period`` seconds to end by themselves.
        ProcessRaisedException with the traceback, or ProcessExitedException with the exit code.
        """
        if not self.sentinels:
            return True
        ended = [
            self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            for sentinel in multiprocessing.connection.wait(list(self.sentinels), timeout=timeout)
        ]
        for index in ended:
            self.processes[index].join()
        failed = [index for index in ended if self.processes[index].exitcode != 0]
        if not failed:
            return not self.sentinels
        first = self._first(failed)
        self._stop(grace_period)
        try:
            raise self._failure(first)
        finally:
            for file in self.error_files:
                Path(file).unlink(missing_ok=True)

    def _first(self, failed: list[int]) -> int:
        """Of processes that failed the one whose failure may have caused the others': killed, or the first to raise."""
        written = {index: file for index, file in enumerate(self.error_files) if os.path.exists(file)}
        times = {index: os.stat(file).st_mtime_ns for index, file in written.items()}
        silent = [index for index in failed if index not in times]
        first = silent[0] if silent else min(times, key=lambda index: times[index])
        self.processes[first].join(1.0)  # it tells before it ends
        return first

    def _stop(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._wait_for_all(grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning("Terminating process %s via signal SIGTERM", process.pid)
                process.terminate()
        self._wait_for_all(_GRACE if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning("Unable to shutdown process %s via SIGTERM , forcefully exiting via SIGKILL", process.pid)
                process.kill()
            process.join()

    def _failure(self, index: int) -> ProcessException:
        code, pid, file = self.processes[index].exitcode, self.processes[index].pid, self.error_files[index]
        if os.access(file, os.R_OK):
            with open(file, "rb") as stored:
                trace = pickle.load(stored)
            return ProcessRaisedException(
                f"\n\n-- Process {index:d} terminated with the following error:\n{trace}", index, pid
            )
        if code >= 0:
            return ProcessExitedException(f"process {index:d} terminated with exit code {code:d}", index, pid, code)
        name = signal_name(code)
        return ProcessExitedException(f"process {index:d} terminated with signal {name}", index, pid, code, name)


class SpawnContext(ProcessContext):
    """The old name of :class:`ProcessContext`."""

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        warnings.warn("SpawnContext is renamed to ProcessContext since 1.4 release.", stacklevel=2)
        super().__init__(processes, error_files)


def _error_file() -> str:
    """A name for the file of a process's traceback; it exists only once the process has failed."""
    handle, name = tempfile.mkstemp(prefix="glassgrad-errorfile-", suffix=".pickle")
    os.close(handle)
    os.unlink(name)
    return name


def start_processes(
    fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """``nprocs`` processes that run ``fn(i, *args)``: None once all have ended, or with ``join=False`` their context.

    Source: https://docs.pytorch.org/docs/stable/multiprocessing.html
    """
    context: Any = multiprocessing.get_context(start_method)
    files = [_error_file() for _ in range(nprocs)]
    meaning = inherited()

    def started(index: int) -> Any:
        arguments = (meaning, fn, index, args, files[index])
        process = context.Process(target=_wrap, args=arguments, daemon=daemon)
        process.start()
        return process

    if start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1":
        from concurrent.futures import ThreadPoolExecutor

        log.info("Starting processes in parallel.")
        with ThreadPoolExecutor(max_workers=nprocs) as pool:
            processes = list(pool.map(started, range(nprocs)))
    else:
        processes = [started(index) for index in range(nprocs)]
    together = ProcessContext(processes, files)
    if not join:
        return together
    try:
        while not together.join():
            pass
    except KeyboardInterrupt:  # which a terminal sends to all of them, and others to this process alone
        together._stop(1.0)
        raise
    return None


def spawn(
    fn: Callable[..., Any], args: tuple[Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:  # fmt: skip
    """The same by the start method "spawn"; another asked for is warned of, and :func:`start_processes` takes it.

    Source: https://docs.pytorch.org/docs/stable/multiprocessing.html#torch.multiprocessing.spawn.spawn
    """
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\n"
            "To use a different start_method use:\n\t\t"
            " torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")


class _Alias:
    """Unpickled, installs the alias: before whatever is pickled after it."""

    def __reduce__(self) -> Any:
        return _install, ()


def _install() -> None:
    # the roof knows the import system; only a child of a program that uses the alias gets here
    from ..torch_alias import install

    install()


def inherited() -> Any:
    """To be the first argument of a child's function: where ``import torch`` gives glassgrad here, it will there."""
    return _Alias() if sys.modules.get("torch") is sys.modules[_OURS] else None
