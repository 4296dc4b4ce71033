"""Averages of models: over the steps of a training, equally or by a running mean; and the rates that go with them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain, repeat
from operator import setitem
from typing import Any

from ..autograd.grad_mode import no_grad
from ..core.tensor import Tensor
from ..families.batchnorm.layers import _BatchNorm
from ..families.create.construct import tensor
from ..nn.modules.module import Module
from .lr_scheduler.base import LRScheduler, for_groups
from .optimizer import Optimizer

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def _blends(parameter: Any) -> bool:
    """Whether values between two of its values exist."""
    return bool(parameter.is_floating_point() or parameter.is_complex())


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], None]:
    """A function that moves averages to current values by the part ``1 - decay``: lists, in place.

    Source: https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if _blends(average):
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Any, Any, Any], None]:
    """A function that takes current values into equal averages of ``num_averaged`` values: lists, in place.

    Source: https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
    """

    @no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        weight: Any = 1 / (num_averaged + 1)
        if isinstance(weight, Tensor):
            weight = weight.item()  # type: ignore[attr-defined]
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if _blends(average):
                average.lerp_(current, weight)
            elif isinstance(num_averaged, Tensor):
                average.addcdiv_(current - average, num_averaged + 1)
            else:
                average.add_(current - average, alpha=weight)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """A function that gives ``decay * average + (1 - decay) * current``.

    Source: https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """A function that gives the average of one value more, equally weighted.

    Source: https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
    """

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of the model's, taken at each ``update_parameters``.

    avg_fn        ``f(average, current, number)`` gives the new average; by default all count equally
    multi_avg_fn  ``f(averages, currents, number)`` changes lists of averages in place
    use_buffers   average the buffers as well, instead of copying them
    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.swa_utils.AveragedModel.html
    """

    n_averaged: Any

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[[Any, Any, Any], None] | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model gives."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the present parameters of ``model`` into the averages."""
        ours: Any = self.parameters()
        theirs: Any = model.parameters()
        if self.use_buffers:
            ours = chain(self.module.parameters(), self.module.buffers())
            theirs = chain(model.parameters(), model.buffers())
        pairs = [(mine.detach(), new.detach().to(mine.device)) for mine, new in zip(ours, theirs, strict=False)]
        if self.n_averaged == 0:
            for average, current in pairs:
                average.copy_(current)
        elif self.multi_avg_fn is not None:
            alike: dict[Any, list[Any]] = {}
            for pair in pairs:
                alike.setdefault(pair[0].dtype, []).append(pair)
            for some in alike.values():
                self.multi_avg_fn([one[0] for one in some], [one[1] for one in some], self.n_averaged)
        else:
            mean = self.avg_fn or get_swa_avg_fn()
            for average, current in pairs:
                average.copy_(mean(average, current, self.n_averaged))
        if not self.use_buffers:
            for mine, new in zip(self.module.buffers(), model.buffers(), strict=True):
                mine.detach().copy_(new.detach().to(mine.device))
        self.n_averaged += 1


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of batch norms anew, from one pass over ``loader``.

    ``loader`` gives batches, or tuples and lists that begin with one; the model runs in training mode, and gets its
    mode back afterwards.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.swa_utils.update_bn.html
    """
    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    momenta_back = map(setitem, [vars(module) for module in momenta], repeat("momentum"), momenta.values())
    try:
        model.train()
        for module in momenta:
            module.momentum = None
        for batch in loader:
            if isinstance(batch, (list, tuple)):
                batch = batch[0]
            model(batch if device is None else batch.to(device))
    finally:
        deque(momenta_back, 0)  # one call, as Ctrl-C may come before a second
        model.train(was_training)


class SWALR(LRScheduler):
    """From the present rates to ``swa_lr`` in ``anneal_epochs`` epochs, where they stay.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.swa_utils.SWALR.html
    """

    _apart = ("optimizer", "anneal_func")

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        for rate, group in zip(for_groups("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func = _cosine if anneal_strategy == "cos" else _line

    def get_lr(self) -> list[Any]:
        """The rates of this epoch."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        length = max(1, self.anneal_epochs)
        last = self.anneal_func(max(0, min(1, (step - 1) / length)))
        now = self.anneal_func(max(0, min(1, step / length)))
        rates = []
        for group in self.optimizer.param_groups:
            end = group["swa_lr"]
            start = end if last == 1 else (group["lr"] - last * end) / (1 - last)
            rates.append(end * now + start * (1 - now))
        return rates

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict`` gave."""
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)


def _line(t: float) -> float:
    return t


def _cosine(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2
