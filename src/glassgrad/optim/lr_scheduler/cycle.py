"""Schedules that go up and down: in cycles, with the momentum against the rate, or along a cosine."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, attributes, check_optimizer, for_groups, in_groups, put


class _WithMomentum(LRScheduler):
    """A schedule that sets the momentum, or the first of the betas, as well."""

    cycle_momentum: bool
    use_beta1: bool

    def _begin_momentum(self, base: Any, largest: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        bases = for_groups("base_momentum", optimizer, base)
        most = for_groups("max_momentum", optimizer, largest)
        if last_epoch == -1:
            for high, low, group in zip(most, bases, optimizer.param_groups, strict=True):
                self._set_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low
        return bases, most

    def _set_momentum(self, group: dict[str, Any], momentum: Any) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_WithMomentum):
    """Up from ``base_lr`` to ``max_lr`` in ``step_size_up`` steps, down in ``step_size_down``, and again.

    mode        "triangular", "triangular2" (half as high each time) or "exp_range" (times ``gamma ** step``)
    scale_fn    what the height is multiplied by, in place of ``mode``; of the cycle or the step, by ``scale_mode``
    base_momentum, max_momentum  the limits of the momentum, which is low where the rate is high
    Source: Smith (2017); https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CyclicLR.html
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000,
        step_size_down: int | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                put(group, "lr", lr)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is not None:
            return
        self._scale_fn_ref: Callable[[float], float]
        if self.mode == "triangular":
            self._scale_fn_ref, self.scale_mode = _level, "cycle"
        elif self.mode == "triangular2":
            self._scale_fn_ref, self.scale_mode = _half_each, "cycle"
        elif self.mode == "exp_range":
            self._scale_fn_ref, self.scale_mode = partial(_power, self.gamma), "iterations"

    def scale_fn(self, x: float) -> float:
        """What the height of a cycle is multiplied by."""
        return self._scale_fn_ref(x) if self._scale_fn_custom is None else self._scale_fn_custom(x)

    def get_lr(self) -> list[Any]:
        """The rates of this step; sets the momentum, too."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        counted = cycle if self.scale_mode == "cycle" else self.last_epoch
        rates = [
            low + (high - low) * height * self.scale_fn(counted)
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]
        if self.cycle_momentum:
            groups = self.optimizer.param_groups
            for group, low, high in zip(groups, self.base_momentums, self.max_momentums, strict=True):
                self._set_momentum(group, high - (high - low) * height * self.scale_fn(counted))
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and plain functions."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        state["_scale_fn_custom"] = attributes(state.pop("_scale_fn_custom"))
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        attributes = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)
        self._init_scale_fn()


def _level(x: float) -> float:
    return 1.0


def _half_each(x: float) -> float:
    return 1 / (2.0 ** (x - 1))


def _power(gamma: float, x: float) -> float:
    return gamma**x


class OneCycleLR(_WithMomentum):
    """Once up from ``max_lr / div_factor`` to ``max_lr``, then down to the first divided by ``final_div_factor``.

    total_steps      how long, or ``epochs`` times ``steps_per_epoch``; stepping on is an error
    pct_start        which part of it goes up
    anneal_strategy  "cos" or "linear"
    three_phase      down to where it began first, then further down
    base_momentum, max_momentum  the limits of the momentum, which is low where the rate is high
    Source: Smith and Topin (2017);
    https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.OneCycleLR.html
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            for name, count in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
                if not isinstance(count, int) or count <= 0:
                    raise ValueError(f"Expected positive integer {name}, but got {count}")
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self._schedule_phases = _phases(pct_start, self.total_steps, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        max_lrs = for_groups("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for largest, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"] = largest / div_factor
                group["max_lr"] = largest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: Any, end: Any, part: float) -> Any:
        """The value at some part of the way."""
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        raise ValueError(f"Unknown _anneal_func_type: {self._anneal_func_type}")

    def get_lr(self) -> list[Any]:
        """The rates of this step; sets the momentum, too."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        start: float = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                break
            start = end
        part = (step - start) / (end - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                low, high = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(low, high, part))
        return rates


def _phases(pct_start: float, total: int, three: bool) -> list[dict[str, Any]]:
    """From where to where rate and momentum go, until which step."""
    up = float(pct_start * total) - 1
    ends: list[tuple[Any, str, str, str, str]] = [(up, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
    if three:
        middle = float(2 * pct_start * total) - 2
        ends.append((middle, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
        ends.append((total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
    else:
        ends.append((total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
    names = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
    return [dict(zip(names, values, strict=True)) for values in ends]


class CosineAnnealingLR(LRScheduler):
    """From the initial rate down to ``eta_min`` in ``T_max`` epochs, and up again.

    Source: Loshchilov and Hutter (2016);
    https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CosineAnnealingLR.html
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        if self._is_initial:
            return in_groups(self.optimizer, "lr")
        epoch, half, least, groups = self.last_epoch, self.T_max, self.eta_min, self.optimizer.param_groups
        if self._step_count == 1 and epoch > 0:
            return [least + (base - least) * (1 + math.cos(epoch * math.pi / half)) / 2 for base in self.base_lrs]
        if (epoch - 1 - half) % (2 * half) == 0:  # at the bottom, of which there is no multiple
            rise = 1 - math.cos(math.pi / half)
            return [group["lr"] + (base - least) * rise / 2 for base, group in zip(self.base_lrs, groups, strict=True)]
        ratio = (1 + math.cos(math.pi * epoch / half)) / (1 + math.cos(math.pi * (epoch - 1) / half))
        return [ratio * (group["lr"] - least) + least for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        height = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the initial rate down to ``eta_min`` in ``T_0`` epochs, then anew, each time ``T_mult`` times as long.

    ``step`` may be given the epoch, with a fraction.
    Source: Loshchilov and Hutter (2016);
    https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CosineAnnealingWarmRestarts.html
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: Any = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: Any = None) -> None:
        """Go to the next epoch, or to the one given, and set its rates."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            self._set(self.get_lr())
        finally:
            self._get_lr_called_within_step = False

    def _go_to(self, epoch: Any) -> None:
        """Where in which run an epoch is."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i = self.T_0
            self.T_cur = epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            runs = int(math.log((epoch / self.T_0 * (self.T_mult - 1) + 1), self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**runs - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**runs
