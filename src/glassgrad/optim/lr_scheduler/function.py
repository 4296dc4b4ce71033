"""Schedules given by functions of the epoch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, functions_packed, in_groups


class _ByFunctions(LRScheduler):
    """A schedule that holds a function for each group; those that are objects are saved by their attributes."""

    _apart = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * count
        elif len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas: list[Callable[[int], float]] = list(lr_lambda)
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self) -> None:
        """Nothing to ask of them here."""

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and plain functions."""
        return {**super().state_dict(), "lr_lambdas": functions_packed(self.lr_lambdas)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        packed = state_dict["lr_lambdas"]
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, packed, strict=False):
            if attributes is not None:
                function.__dict__.update(attributes)


class LambdaLR(_ByFunctions):
    """The initial rate times ``lr_lambda(epoch)``; one function, or one for each group.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LambdaLR.html
    """

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunctions):
    """The last rate times ``lr_lambda(epoch)``; one function, or one for each group.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.MultiplicativeLR.html
    """

    def _check_functions(self) -> None:
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        if self._is_initial:
            return in_groups(self.optimizer, "lr")
        groups = self.optimizer.param_groups
        pairs = zip(self.lr_lambdas, groups, strict=True)
        return [group["lr"] * function(self.last_epoch) for function, group in pairs]
