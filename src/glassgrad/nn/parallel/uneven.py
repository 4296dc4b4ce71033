"""DistributedDataParallel among processes with different numbers of batches: those done answer the others."""

from __future__ import annotations

from typing import Any

from .join import JoinHook, total


class UnevenSteps(JoinHook):
    """What a wrapped module says to the others in each forward pass, and answers once this process is done.

    It is the hook of ``torch.distributed.algorithms.join``: whose buffers count, whether backward averages.
    """

    def __init__(self, owner: Any, divide_by_all: bool) -> None:
        self.owner, self.divide_by_all = owner, divide_by_all
        self.before = owner.reducer.divisor

    def _largest(self, value: int) -> int:
        return total(self.owner.process_group, value, "MAX")

    def divide(self, at_work: int) -> None:
        """Gradients are averaged over those at work, unless over all."""
        if not self.divide_by_all:
            self.owner.reducer.divisor = at_work

    def authority(self) -> int:
        """The rank at work whose buffers all take over."""
        return self._largest(self.owner.process_group.rank())

    def announce(self, averaging: bool) -> None:
        """Say whether the coming backward pass averages gradients."""
        self._largest(int(averaging))

    def main_hook(self) -> None:
        """This process is done: answer one step of the others."""
        owner = self.owner
        root = self._largest(-1)
        if owner.require_forward_param_sync and owner.forward_sync_buffers and owner.process_group.size() > 1:
            owner._follow(owner._own_buffers(), root)
        owner.require_forward_param_sync = averaging = bool(self._largest(0))
        if averaging:
            owner.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """All take over the model of a process that was at work to the end."""
        owner = self.owner
        root = self._largest(owner.process_group.rank() if is_last_joiner else -1)
        owner._follow([*owner.module.parameters(), *owner._own_buffers()], root)
        owner.reducer.divisor = self.before
