"""Schedules that multiply rates: by a factor at each epoch, by a function of the epoch, or where nothing improves."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from math import inf
from typing import Any

from ...ground.runtime import warn
from ..optimizer import Optimizer
from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, attributes, check_optimizer, in_groups, put


class _ByFactor(LRScheduler):
    """A schedule of a factor: what the rates of the last epoch are multiplied by, and what those of the first."""

    def _factor(self) -> float | None:
        """By what the rates of the last epoch are multiplied; None to leave them."""
        raise NotImplementedError

    def _whole_factor(self) -> float:
        """By what the initial rates are multiplied."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        factor = self._factor()
        if factor is None:
            return in_groups(self.optimizer, "lr")
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._whole_factor()
        return [base * factor for base in self.base_lrs]


class StepLR(_ByFactor):
    """The rate times ``gamma`` every ``step_size`` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self.last_epoch == 0 or self.last_epoch % self.step_size != 0 else self.gamma

    def _whole_factor(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_ByFactor):
    """The rate times ``gamma`` at each of the epochs ``milestones``."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return self.gamma ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else None

    def _whole_factor(self) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ConstantLR(_ByFactor):
    """The rate times ``factor`` until the epoch ``total_iters``."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else None

    def _whole_factor(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_ByFactor):
    """The initial rate times a factor that goes from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs."""

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        way = self.end_factor - self.start_factor
        return 1.0 + way / (self.total_iters * self.start_factor + (self.last_epoch - 1) * way)

    def _whole_factor(self) -> float:
        gone = min(self.total_iters, self.last_epoch)
        return self.start_factor + (self.end_factor - self.start_factor) * gone / self.total_iters


class ExponentialLR(_ByFactor):
    """The rate times ``gamma`` at each epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _whole_factor(self) -> float:
        return self.gamma**self.last_epoch  # type: ignore[no-any-return]


class PolynomialLR(_ByFactor):
    """The initial rate times ``(1 - epoch / total_iters) ** power``, and zero from then on."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        left = 1.0 - self.last_epoch / self.total_iters
        return (left / (1.0 - (self.last_epoch - 1) / self.total_iters)) ** self.power  # type: ignore[no-any-return]

    def _whole_factor(self) -> float:
        gone = min(self.total_iters, self.last_epoch)
        return (1.0 - gone / self.total_iters) ** self.power  # type: ignore[no-any-return]


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
        return {**super().state_dict(), "lr_lambdas": [attributes(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        packed = state_dict["lr_lambdas"]
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, saved in zip(self.lr_lambdas, packed, strict=False):
            if saved is not None:
                function.__dict__.update(saved)


class LambdaLR(_ByFunctions):
    """The initial rate times ``lr_lambda(epoch)``; one function, or one for each group."""

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunctions):
    """The last rate times ``lr_lambda(epoch)``; one function, or one for each group."""

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


# -- a schedule that waits for a measure to improve no more ------------------------------------------------------------


class ReduceLROnPlateau(LRScheduler):
    """The rate times ``factor`` when what ``step`` is given was no better for more than ``patience`` epochs.

    mode            "min" or "max": which is better
    threshold       by how much better counts, in ``threshold_mode`` "rel" (of the best) or "abs"
    cooldown        epochs to wait after a change
    min_lr          the least rate, for all groups or for each
    eps             smaller changes are left out
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        check_optimizer(optimizer)
        self.optimizer = optimizer
        count = len(optimizer.param_groups)
        self.default_min_lr: Any
        self.min_lrs: list[Any]
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * count
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = in_groups(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _reset(self) -> None:
        """Forget what was best."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take note of a measure, and change the rates if it is time."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warn(EPOCH_DEPRECATION_WARNING)
        self.last_epoch = epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = in_groups(self.optimizer, "lr")

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                put(group, "lr", new)

    @property
    def in_cooldown(self) -> bool:
        """Whether the last change was not long ago."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        if self.mode == "min":
            return a < (best * (1.0 - self.threshold) if self.threshold_mode == "rel" else best - self.threshold)
        return a > (best * (self.threshold + 1.0) if self.threshold_mode == "rel" else best + self.threshold)

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in {"min", "max"}:
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in {"rel", "abs"}:
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.mode_worse = inf if mode == "min" else -inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
