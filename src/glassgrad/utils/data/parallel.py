"""The epoch of a loader with workers: hands out indices, takes batches in, keeps them in order, ends the workers.

Each worker has two pipes of its own, so a worker that dies leaves nothing locked and nobody else's data torn; whatever
ends this process ends the workers, who watch it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import warnings
from multiprocessing.connection import wait
from typing import Any

from ...multiprocessing.messages import receive, writable
from ...multiprocessing.spawn import inherited
from ._utils.worker import END, INTERVAL, RESUME, Assignment, ExceptionWrapper, _IterableDatasetStopIteration, work
from .dataloader import DataLoader, _BaseDataLoaderIter

_NOT_PICKLED = (
    "Got pickle error when attempting to start a worker Process. This might be because the worker Process arguments "
    "are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX platforms to "
    "'forkserver', which requires the worker Process arguments to be picklable. You can also try "
    "multiprocessing.set_start_method('fork')."
)
_BUS = (
    "It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit."
)


class _Worker:
    """A worker as the main process sees it."""

    def __init__(self, context: Any, job: Assignment) -> None:
        theirs, self.tasks = context.Pipe(duplex=False)
        self.results, sink = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(job, theirs, sink), daemon=True)
        self.active = True  # whether it still gives data in this epoch
        self.ended = False  # whether it was told to end, or did
        self.load = 0  # tasks it has not answered
        try:
            self.process.start()
        except BaseException:
            self.close()
            raise
        finally:  # theirs alone now, so that the pipe ends with the worker
            theirs.close()
            sink.close()

    def tell(self, task: Any) -> None:
        """Send a task; that the worker is gone shows where its answer is waited for."""
        try:
            self.tasks.send(task)
        except OSError:
            pass

    def end(self) -> None:
        """Tell it to end, unless it is not even reading."""
        if not self.ended and writable(self.tasks):
            self.tell(END)
        self.ended = True
        self.active = False

    def close(self) -> None:
        """Give the pipes back."""
        self.tasks.close()
        self.results.close()

    def fate(self) -> str | None:
        """How the process ended, in PyTorch's words; None where it ended as it should."""
        self.process.join(1)
        code, pid = self.process.exitcode, self.process.pid
        if not code:
            return None
        if code > 0:
            return (
                f"DataLoader worker (pid {pid}) exited unexpectedly with exit code {code}. Details are lost due to "
                "multiprocessing. Rerunning with num_workers=0 may give better error trace."
            )
        import signal

        name = signal.strsignal(-code) or f"signal {-code}"
        return f"DataLoader worker (pid {pid}) is killed by signal: {name}. " + (_BUS if name == "Bus error" else "")


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """One epoch, or with persistent workers all epochs, of a loader with workers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._workers: list[_Worker] = []
        self._shutdown = False
        self._owner = os.getpid()
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor or 0
        self._in_order = loader.in_order
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        context = loader.multiprocessing_context
        if context is None:
            import multiprocessing as context
        self._worker_init_fn = loader.worker_init_fn
        if importlib.util.find_spec("threadpoolctl") is not None:
            importlib.import_module("threadpoolctl")  # once here, rather than in each forked worker
        for worker_id in range(self._num_workers):
            job = Assignment(
                inherited(), self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn,
                self._drop_last, self._base_seed, self._worker_init_fn, worker_id, self._num_workers,
            )  # fmt: skip
            try:
                self._workers.append(_Worker(context, job))
            except BaseException as error:
                self._shutdown_workers()
                if isinstance(error, (TypeError, AttributeError)) or type(error).__name__ == "PicklingError":
                    warnings.warn(_NOT_PICKLED, stacklevel=4)
                raise
        self._reset(loader, first_iter=True)

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        super()._reset(loader, first_iter)
        self._send_idx = 0  # the place of the next task
        self._rcvd_idx = 0  # the place of the batch that comes next
        self._task_info: dict[int, int] = {}  # which worker has, or had, a task
        self._arrived: dict[int, Any] = {}  # what came before its turn
        self._turn = 0
        for worker in self._workers:
            worker.active, worker.load = True, 0
            if not first_iter:
                worker.tell(RESUME)
        waiting = 0 if first_iter else len(self._workers)
        while waiting:  # what was still on its way belongs to the epoch before
            position, _, _ = self._receive()
            waiting -= position == RESUME
        for _ in range(self._prefetch_factor * self._num_workers):
            self._try_put_index()

    def _try_put_index(self) -> None:
        """Give the next task to the next worker that can take one."""
        try:
            index = self._next_index()
        except StopIteration:
            return
        share = self._prefetch_factor * self._num_workers // max(1, sum(worker.active for worker in self._workers))
        for _ in self._workers:
            number, self._turn = self._turn, (self._turn + 1) % self._num_workers
            worker = self._workers[number]
            if worker.active and (self._in_order or worker.load < share):
                break
        else:
            return
        worker.tell((self._send_idx, index))
        worker.load += 1
        self._task_info[self._send_idx] = number
        self._send_idx += 1

    def _next_data(self) -> Any:
        while True:
            while self._rcvd_idx < self._send_idx and not self._comes(self._rcvd_idx):
                self._task_info.pop(self._rcvd_idx, None)
                self._rcvd_idx += 1
            wanted = self._rcvd_idx
            if wanted == self._send_idx:
                if not self._persistent_workers:
                    self._shutdown_workers()
                raise StopIteration
            if wanted in self._arrived:
                self._rcvd_idx += 1
                return self._process_data(self._arrived.pop(wanted), self._task_info.pop(wanted))
            if self._shutdown:
                raise AssertionError("Invalid iterator state: shutdown or no outstanding tasks when fetching next data")
            position, number, data = self._receive()
            if isinstance(data, _IterableDatasetStopIteration):
                worker = self._workers[number]
                worker.active = False
                if not self._persistent_workers:
                    worker.end()
                self._try_put_index()
            elif position == wanted or not self._in_order:
                self._rcvd_idx += position == wanted
                del self._task_info[position]
                return self._process_data(data, number)
            else:
                self._arrived[position] = data

    def _comes(self, position: int) -> bool:
        """Whether a batch is here, or may still come."""
        number = self._task_info.get(position)
        return number is not None and (position in self._arrived or self._workers[number].active)

    def _process_data(self, data: Any, number: int) -> Any:
        self._workers[number].load -= 1
        self._try_put_index()
        if isinstance(data, ExceptionWrapper):
            data.reraise()
        return data

    def _receive(self) -> tuple[Any, int, Any]:
        """The next message of any worker; RuntimeError where one died, or the time is over."""
        deadline = time.monotonic() + self._timeout if self._timeout > 0 else None
        while True:
            living = [worker for worker in self._workers if not worker.ended]
            watched: list[Any] = [worker.results for worker in living]
            watched += [worker.process.sentinel for worker in living]
            patience = INTERVAL if deadline is None else min(INTERVAL, max(0.0, deadline - time.monotonic()))
            ready = set(wait(watched, patience))
            for worker in living:
                if worker.results in ready:
                    try:
                        return receive(worker.results)  # type: ignore[no-any-return]
                    except (EOFError, OSError):
                        continue
                    except BaseException:  # an interruption has torn the message: nothing after it can be read
                        self._shutdown_workers()
                        raise
            dead = [worker for worker in living if worker.process.sentinel in ready or worker.results in ready]
            dead += [worker for worker in living if worker not in dead and not worker.process.is_alive()]
            if dead:
                self._report(dead)
            elif deadline is not None and time.monotonic() >= deadline:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _report(self, dead: list[_Worker]) -> None:
        for worker in dead:
            worker.active, worker.ended = False, True
        pids = ", ".join(str(worker.process.pid) for worker in dead)
        fates = [fate for worker in dead if (fate := worker.fate()) is not None]
        cause = RuntimeError(fates[0]) if fates else None
        raise RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly") from cause

    def _shutdown_workers(self) -> None:
        """End the workers: each may finish the batch it is at, for a few seconds; then it is stopped."""
        if self._shutdown or self._owner != os.getpid() or sys.is_finalizing():
            return
        self._shutdown = True
        try:
            for worker in self._workers:
                worker.end()
            deadline = time.monotonic() + INTERVAL
            for worker in self._workers:
                worker.process.join(max(0.0, deadline - time.monotonic()))
        finally:
            for worker in self._workers:
                if worker.process.is_alive():
                    worker.process.terminate()
            for worker in self._workers:
                worker.process.join(INTERVAL)
                if worker.process.is_alive():
                    worker.process.kill()
                worker.close()

    def __del__(self) -> None:
        self._shutdown_workers()
