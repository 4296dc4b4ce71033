"""Join: several things that communicate, in processes with different numbers of batches.

Source: https://docs.pytorch.org/docs/stable/distributed.algorithms.join.html
"""

from __future__ import annotations

import importlib
import sys
import warnings
from types import TracebackType
from typing import Any

import numpy as np

from ...ground.paths import house

__all__ = ["Join", "JoinHook", "Joinable"]

_EARLY = "Detected at least one rank that exhausted inputs. Throwing across all ranks."
_ALONE = (
    "Detected uneven input skew of greater than 1000. This means that rank {rank} has at least 1000 fewer inputs than "
    "other currently-active ranks. This level of skew could lead to performance degradation during training."
)


class JoinHook:
    """What a process that is done does in a step of the others, and once all are done."""

    def main_hook(self) -> None:
        """Answer the collectives of one step of those still at work."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called on all ranks at the end; ``is_last_joiner``: whether this one worked to the end."""


class Joinable:
    """What may be trained within :class:`Join`: it gives a hook, and tells of each step by notify_join_context."""

    _join: Any = None

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A hook that answers what this does in a step."""
        raise NotImplementedError

    @property
    def join_device(self) -> Any:
        """Where its tensors are."""
        raise NotImplementedError

    @property
    def join_process_group(self) -> Any:
        """The group that it communicates in."""
        raise NotImplementedError


class Join:
    """A block in which processes may have different numbers of batches: those done first answer the others.

    throw_on_early_termination   raise RuntimeError everywhere as soon as one process is done
    """

    def __init__(
        self, joinables: list[Any], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables, self._enable, self._throw = joinables, enable, throw_on_early_termination
        self._hooks = [each.join_hook(**kwargs) for each in joinables]
        self._group = joinables[0].join_process_group
        self._at_work = self._group.size()
        for each in joinables:
            each._join = self if enable else None

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._enable and kind is None:
            self._accompany()
        for each in self._joinables:
            each._join = None

    def _accompany(self) -> None:
        """This process is done: answer until all are."""
        last, rounds = True, 0
        while total(self._group, 0):
            if self._throw:
                total(self._group, 1)
                raise RuntimeError(_EARLY)
            last, rounds = False, rounds + 1
            if rounds == 1000:
                warnings.warn(_ALONE.format(rank=self._group.rank()), stacklevel=3)
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(last)

    @staticmethod
    def notify_join_context(joinable: Any) -> int | None:
        """Called by a joinable at the start of each step: how many ranks are at work; None outside of the block.

        Of several, the first says it for all.
        """
        context = joinable._join
        if context is None:
            return None
        if joinable is context._joinables[0]:
            context._at_work = total(context._group, 1)
            if context._throw and total(context._group, 0):
                raise RuntimeError(_EARLY)
        return int(context._at_work)


def total(group: Any, value: int, op: str = "SUM") -> int:
    """What the ranks of a group say in a step, summed, or reduced another way."""
    box = np.array([value])
    group.all_reduce(box, op, what="join")
    return int(box[0])


def group_of(group: Any = None) -> Any:
    """A process group, or the default one."""
    # the floor above, which only a program in several processes needs
    return importlib.import_module("glassgrad.distributed")._get_default_group() if group is None else group


house(sys.modules[__name__])
