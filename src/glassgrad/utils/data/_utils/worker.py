"""A worker process of a DataLoader: its seeds, its loop, what it says of itself, and errors on their way home."""

from __future__ import annotations

import os
import random
import sys
import threading
import traceback
from collections import deque
from dataclasses import dataclass
from typing import Any

from ....ground import generator, runtime

INTERVAL = 5.0  # seconds between two looks at whether the other side is alive
END, RESUME = "end", "resume"


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker knows of itself: its number, how many there are, its seed, its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader, its :class:`WorkerInfo`; elsewhere None.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.get_worker_info
    """
    return _worker_info


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """Says that a worker's stream has ended."""

    worker_id: int


class KeyErrorMessage(str):
    """A text that a KeyError shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception's type and printed traceback, to be raised again in another process."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> None:
        """Raise it here: of the same type where that can be made of a text, else a RuntimeError."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            error = self.exc_type(text)
        except Exception:
            raise RuntimeError(text) from None
        raise error


@dataclass
class Assignment:
    """All that a worker is told at its start."""

    inherited: Any  # first, so that unpickling it comes before the dataset's class is looked up
    kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Any
    drop_last: bool
    base_seed: int
    init_fn: Any
    worker_id: int
    num_workers: int


def seed_all(base_seed: int, worker_id: int) -> int:
    """Start the streams of ``random``, NumPy and ours as PyTorch starts them in a worker; gives the worker's seed."""
    import numpy as np

    seed = base_seed + worker_id
    random.seed(seed)
    generator.manual_seed(seed)
    np.random.seed(_generate_state(base_seed, worker_id))
    return seed


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """What NumPy's stream of a worker starts from: four numbers of 32 bits."""
    import numpy as np

    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(entropy).generate_state(4).tolist()  # type: ignore[no-any-return]


def work(job: Assignment, tasks: Any, results: Any) -> None:
    """Fetch what ``tasks`` ask for and send it to ``results``, until told to end or the main process is gone."""
    global _worker_info
    try:
        import signal

        from ....multiprocessing.messages import Outbox

        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if runtime.get_num_threads() != 1:
            runtime.set_num_threads(1)
        seed = seed_all(job.base_seed, job.worker_id)
        _worker_info = WorkerInfo(job.worker_id, job.num_workers, seed, job.dataset)
        _Loop(job, _Tasks(tasks), Outbox(results)).run()
    except KeyboardInterrupt:
        pass  # the main process is interrupted too, and tells


class _Tasks:
    """What the main process asked for and is not done yet."""

    def __init__(self, connection: Any) -> None:
        from multiprocessing import parent_process

        self.connection, self.waiting, self.ended = connection, deque[Any](), False
        parent = parent_process()
        self.watched = [connection] if parent is None else [connection, parent.sentinel]
        self.parent = os.getppid()

    def next(self) -> Any:
        """The next task; END once the main process wants no more, or is no more."""
        from multiprocessing.connection import wait

        while not self.ended and not (self.waiting and not self.connection.poll()):
            ready = wait(self.watched, None if self.waiting else INTERVAL)
            if self.connection in ready:
                try:
                    task = self.connection.recv()
                except (EOFError, OSError):
                    self.ended = True
                else:
                    self.ended = task == END
                    self.waiting.append(task)
            elif ready or os.getppid() != self.parent:
                self.ended = True
        return END if self.ended else self.waiting.popleft()


class _Loop:
    """The life of a worker."""

    def __init__(self, job: Assignment, tasks: _Tasks, outbox: Any) -> None:
        self.job, self.tasks, self.outbox = job, tasks, outbox
        self.where = f"in DataLoader worker process {job.worker_id}"
        self.failure: ExceptionWrapper | None = None
        self.fetcher: Any = None
        self.exhausted = False

    def run(self) -> None:
        """Do one task after the other."""
        job = self.job
        self.begin(job.init_fn)
        while (task := self.tasks.next()) != END:
            if task == RESUME:
                self.exhausted = False
                self.send(RESUME, None)
                self.begin()
            elif not self.exhausted:
                position, index = task
                self.send(position, self.fetched(index))

    def begin(self, init_fn: Any = None) -> None:
        """Begin an epoch; an error on the way is what the first task will give."""
        from ..dataloader import _DatasetKind

        job = self.job
        try:
            if init_fn is not None:
                init_fn(job.worker_id)
            self.fetcher = _DatasetKind.create_fetcher(
                job.kind, job.dataset, job.auto_collation, job.collate_fn, job.drop_last
            )
        except Exception:
            self.failure = ExceptionWrapper(where=self.where)

    def fetched(self, index: Any) -> Any:
        """The batch of an index, or what stands for an error or the end of the stream."""
        from ..dataloader import _DatasetKind

        if self.failure is not None:
            failure, self.failure = self.failure, None
            return failure
        try:
            return self.fetcher.fetch(index)
        except Exception as error:
            if isinstance(error, StopIteration) and self.job.kind == _DatasetKind.Iterable:
                self.exhausted = True
                return _IterableDatasetStopIteration(self.job.worker_id)
            return ExceptionWrapper(where=self.where)

    def send(self, position: Any, data: Any) -> None:
        """Send a batch; where it cannot be pickled, the error of that."""
        from ....multiprocessing.messages import packed

        try:
            message = packed((position, self.job.worker_id, data))
        except Exception:
            wrapper = ExceptionWrapper(where=self.where)
            if isinstance(data, ExceptionWrapper):  # its type cannot be found by name
                data.exc_msg, data.exc_type, wrapper = f"{data.exc_type.__name__}: {data.exc_msg}", RuntimeError, data
            message = packed((position, self.job.worker_id, wrapper))
        self.outbox.put(message)
