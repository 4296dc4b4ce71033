"""ZeroRedundancyOptimizer: every process keeps the optimizer's state of some parameters only, and sends those on."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

from ..core.tensor import share
from ..ground.paths import house
from ..nn.parallel.join import Join, Joinable, JoinHook, group_of
from .optimizer import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class _StepOfOthers(JoinHook):
    """A process without batches left takes the others' parameters over."""

    def __init__(self, owner: ZeroRedundancyOptimizer) -> None:
        self.owner = owner

    def main_hook(self) -> None:
        self.owner._step_and_spread(None)


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """``optimizer_class`` over the parameters, each stepped by one rank and then sent to the others.

    params           the same on all ranks, with the same gradients, as DistributedDataParallel gives them
    optimizer_class  for example torch.optim.Adam; ``defaults`` are its settings
    Source: https://docs.pytorch.org/docs/stable/distributed.optim.html#torch.distributed.optim.ZeroRedundancyOptimizer
    """

    def __init__(
        self, params: Any, optimizer_class: type[Optimizer], process_group: Any = None,
        parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False, **defaults: Any,
    ) -> None:  # fmt: skip
        if overlap_with_ddp:
            raise RuntimeError("overlap_with_ddp is not possible here: step after backward, as any optimizer does")
        self.process_group = group_of(process_group)
        self._optim_cls, self._settings = optimizer_class, defaults
        self._load = [0] * self.process_group.size()
        self._owner: dict[int, int] = {}
        self._whole_state: dict[str, Any] | None = None
        super().__init__(params, defaults)
        self._share_out(self.param_groups)
        mine = [self._own_part(group) for group in self.param_groups]
        self.optim: Any = optimizer_class(mine, **defaults)
        for whole, part in zip(self.param_groups, self.optim.param_groups, strict=True):
            for name, value in part.items():  # settings that optimizer_class adds
                whole.setdefault(name, value)

    def _share_out(self, groups: list[dict[str, Any]]) -> None:
        """The largest parameters first, each to the rank that has least."""
        for group in groups:
            for parameter in sorted(group["params"], key=lambda each: -each.numel()):
                rank = self._load.index(min(self._load))
                self._owner[id(parameter)] = rank
                self._load[rank] += parameter.numel()

    def _own_part(self, group: dict[str, Any]) -> dict[str, Any]:
        rank = self.process_group.rank()
        return {**group, "params": [each for each in group["params"] if self._owner[id(each)] == rank]}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, shared out as the first ones."""
        super().add_param_group(param_group)
        if hasattr(self, "optim"):
            self._share_out(self.param_groups[-1:])
            self.optim.add_param_group(self._own_part(self.param_groups[-1]))

    def _parameters(self) -> list[Any]:
        return [each for group in self.param_groups for each in group["params"]]

    def step(self, closure: Callable[[], float] | None = None, **kwargs: Any) -> Any:
        """Step this rank's parameters, then take over the others'; what ``closure`` gives."""
        Join.notify_join_context(self)
        return self._step_and_spread(closure, **kwargs)

    def _step_and_spread(self, closure: Callable[[], float] | None, **kwargs: Any) -> Any:
        for whole, part in zip(self.param_groups, self.optim.param_groups, strict=True):
            part.update({name: value for name, value in whole.items() if name != "params"})
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure=closure, **kwargs)
        self._spread()
        return loss

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What this does in ``torch.distributed.algorithms.Join`` once its process is done."""
        return _StepOfOthers(self)

    @property
    def join_device(self) -> Any:
        """Where the parameters are."""
        return self._parameters()[0].device

    @property
    def join_process_group(self) -> Any:
        """The group whose ranks may do different numbers of steps."""
        return self.process_group

    def _spread(self) -> None:
        for rank in range(self.process_group.size()):
            owned = [each for each in self._parameters() if self._owner[id(each)] == rank]
            self.process_group.spread(owned, rank, "ZeroRedundancyOptimizer's broadcast")
            if self.process_group.rank() != rank:
                for parameter in owned:
                    share(parameter).version += 1

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Collect the state of all ranks on rank ``to``, which may then ask for :meth:`state_dict`."""
        numbers = {id(each): number for number, each in enumerate(self._parameters())}
        mine = {numbers[id(parameter)]: state for parameter, state in self.optim.state.items()}
        parts = self.process_group.gathered(mine)
        self._whole_state = None
        if self.process_group.rank() == to:
            state = {number: part[number] for part in parts for number in part}
            self._whole_state = {**super().state_dict(), "state": dict(sorted(state.items()))}

    def state_dict(self) -> dict[str, Any]:
        """The state of all parameters, on the rank that :meth:`consolidate_state_dict` collected it on."""
        if self._whole_state is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict(to="
                f"{self.process_group.rank()})` on all ranks beforehand if you meant to save the global state."
            )
        return self._whole_state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a state that :meth:`state_dict` or ``optimizer_class`` gave: this rank its own part."""
        numbers = {id(each): number for number, each in enumerate(self._parameters())}
        for group, part, saved in zip(
            self.param_groups, self.optim.param_groups, state_dict["param_groups"], strict=True
        ):
            settings = {name: copy.deepcopy(value) for name, value in saved.items() if name != "params"}
            group.update(settings)
            part.update(settings)
        places = [numbers[id(each)] for group in self.optim.param_groups for each in group["params"]]
        state = {own: state_dict["state"][there] for own, there in enumerate(places) if there in state_dict["state"]}
        self.optim.load_state_dict({**self.optim.state_dict(), "state": state})


house(sys.modules[__name__])
