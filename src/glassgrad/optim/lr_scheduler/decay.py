"""Schedules that change a little at each epoch: by a line, a power, a polynomial."""

from __future__ import annotations

from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, in_groups


class LinearLR(LRScheduler):
    """The initial rate times a factor that goes from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LinearLR.html
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        groups = self.optimizer.param_groups
        if self.last_epoch == 0:
            return [group["lr"] * self.start_factor for group in groups]
        if self._is_initial or self.last_epoch > self.total_iters:
            return in_groups(self.optimizer, "lr")
        way = self.end_factor - self.start_factor
        growth = 1.0 + way / (self.total_iters * self.start_factor + (self.last_epoch - 1) * way)
        return [group["lr"] * growth for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        way = self.end_factor - self.start_factor
        gone = min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + way * gone / self.total_iters) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times ``gamma`` at each epoch.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ExponentialLR.html
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        if self._is_initial:
            return in_groups(self.optimizer, "lr")
        return [group["lr"] * self.gamma for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The initial rate times ``(1 - epoch / total_iters) ** power``, and zero from then on.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.PolynomialLR.html
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return in_groups(self.optimizer, "lr")
        left = 1.0 - self.last_epoch / self.total_iters
        shrunk = (left / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power
        return [group["lr"] * shrunk for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        gone = min(self.total_iters, self.last_epoch)
        return [base * (1.0 - gone / self.total_iters) ** self.power for base in self.base_lrs]
