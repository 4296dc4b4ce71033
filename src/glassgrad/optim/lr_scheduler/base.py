"""What all schedules share: the epoch, the rates they began with, and who has been stepped first."""

from __future__ import annotations

import functools
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ...core.tensor import Tensor
from ...ground.listening import audible
from ...ground.runtime import warn
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_HOW = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure "
    "to call `optimizer.step()` before `lr_scheduler.step()`. " + _HOW
)
_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    "PyTorch skipping the first value of the learning rate schedule. " + _HOW
)
_RESUMED = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
)


def _undivided(advance: Callable[..., None]) -> Callable[..., None]:
    """A step that is undone where it does not come to its end, be it by Ctrl-C: the next goes on from there."""

    @functools.wraps(advance)
    def step(self: LRScheduler, *args: Any, **kwargs: Any) -> None:  # by this name ``compile`` knows it
        changing = [vars(schedule) for schedule in _with_inner(self)]
        changing += self.optimizer.param_groups
        undo = map(dict.update, changing, [one.copy() for one in changing])
        try:
            advance(self, *args, **kwargs)
        except BaseException:
            deque(undo, 0)  # one call of C: no signal is served in its midst
            raise

    return step


def _with_inner(schedule: LRScheduler) -> list[LRScheduler]:
    """A schedule and those that it consists of."""
    schedules = [schedule]
    for one in schedules:
        schedules += getattr(one, "_schedulers", ())
    return schedules


class LRScheduler:
    """The base of schedules: a subclass says in ``get_lr`` what the rates become, one for each group.

    optimizer   whose groups' "lr" is set; "initial_lr" in them keeps what it was at first
    last_epoch  the epoch to go on from; -1 to begin
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False
    #: attributes that are no part of the state
    _apart: tuple[str, ...] = ("optimizer",)

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "step" in vars(cls):
            cls.step = audible(_undivided(cls.step), asks=False)  # type: ignore[method-assign]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(_RESUMED.format(index))
        self.base_lrs: list[Any] = in_groups(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _notice_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key not in self._apart}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates of this epoch, from those of the last."""
        raise NotImplementedError

    @audible
    @_undivided
    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch and set its rates; to be called after the optimizer's ``step``."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warn(_OVERRIDDEN)
            elif not getattr(self.optimizer, "_opt_called", False):
                warn(_TOO_EARLY)
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_DEPRECATION_WARNING)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: Iterable[Any]) -> None:
        """Give the groups their rates."""
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            put(group, "lr", rate)
        self._last_lr: list[Any] = in_groups(self.optimizer, "lr")

    def _warn_outside_step(self) -> None:
        """A warning where ``get_lr`` is called by anybody but ``step``."""
        if not self._get_lr_called_within_step:
            warn("To get the last learning rate computed by the scheduler, please use `get_last_lr()`.")


class _LRScheduler(LRScheduler):
    """An older name of the base class."""


def check_optimizer(optimizer: Any) -> None:
    """TypeError where it is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _notice_steps(optimizer: Any) -> None:
    """Have the optimizer tell when its ``step`` is called."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    function, itself = optimizer.step.__func__, weakref.ref(optimizer)

    @functools.wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        owner: Any = itself()
        owner._opt_called = True
        return function(owner, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step


def copied(value: Any) -> Any:
    """A setting, apart from its source where it is a tensor."""
    return value.clone() if isinstance(value, Tensor) else value  # type: ignore[attr-defined]


def in_groups(optimizer: Optimizer, key: str) -> list[Any]:
    """A setting of every group."""
    return [copied(group[key]) for group in optimizer.param_groups]


def for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A value for each group, given one for all or one for each; ValueError where their number is another."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * count
    elif len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups "
            f"has {count}."
        )
    return [copied(one) for one in value]


def put(group: dict[str, Any], key: str, value: Any) -> None:
    """Set a setting; into the tensor, where it is one."""
    current: Any = group[key]
    if isinstance(current, Tensor):
        some: Any = value
        current.fill_(some.squeeze() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def attributes(function: Any) -> dict[str, Any] | None:
    """What of a function can be saved: the attributes of a callable object; None of all others."""
    return None if function is None or isinstance(function, FunctionType) else function.__dict__.copy()
