"""Training by processes with different numbers of batches: those done first answer the others' collectives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_EARLY = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
_ALONE = (
    "Detected uneven input skew of greater than 1000. This means that rank {rank} has at least 1000 fewer inputs than "
    "other currently-active ranks. This level of skew could lead to performance degradation during training."
)


class Uneven:
    """What one process says to the others while some may be done already.

    Every forward pass of a process still at work: how many are, whose buffers count, whether backward averages.
    """

    def __init__(self, owner: Any, divide_by_all: bool, throw: bool) -> None:
        self.owner, self.divide_by_all, self.throw = owner, divide_by_all, throw
        self.group = owner.process_group
        self.before = owner.reducer.divisor

    def _all(self, value: int, way: str) -> int:
        box = np.array([value])
        self.group.all_reduce(box, getattr(self.owner.reducer._ways, way), what="join")
        return int(box[0])

    def notify(self) -> None:
        """A process is still at work: the others learn of it."""
        at_work = self._all(1, "SUM")
        if self.throw and self._all(0, "MAX"):
            raise RuntimeError(_EARLY)
        if not self.divide_by_all:
            self.owner.reducer.divisor = at_work

    def authority(self) -> int:
        """The rank at work whose buffers all take over."""
        return self._all(self.group.rank(), "MAX")

    def announce(self, averaging: bool) -> None:
        """Say whether the coming backward pass averages gradients."""
        self._all(int(averaging), "MAX")

    def accompany(self) -> None:
        """This process is done: answer until all are."""
        owner, rounds, last = self.owner, 0, True
        while self._all(0, "SUM"):
            if self.throw:
                self._all(1, "MAX")
                raise RuntimeError(_EARLY)
            last, rounds = False, rounds + 1
            if rounds == 1000:
                warnings.warn(_ALONE.format(rank=self.group.rank()), stacklevel=3)
            root = self._all(-1, "MAX")
            if owner.require_forward_param_sync and owner.forward_sync_buffers and self.group.size() > 1:
                owner._follow(owner._own_buffers(), root)
            averaging = bool(self._all(0, "MAX"))
            owner.require_forward_param_sync = averaging
            if averaging:
                owner.reducer.shadow()
        # all take over the model of a process that was at work to the end
        root = self._all(self.group.rank() if last else -1, "MAX")
        owner._follow([*owner.module.parameters(), *owner._own_buffers()], root)


@contextmanager
def joined(owner: Any, divide_by_all: bool, enable: bool, throw: bool) -> Iterator[Any]:
    """The block of ``DistributedDataParallel.join``."""
    if not enable:
        yield owner
        return
    owner._uneven = state = Uneven(owner, divide_by_all, throw)
    try:
        yield owner
        state.accompany()
    finally:
        owner._uneven = None
        owner.reducer.divisor = state.before
