"""Adagrad and its kin: steps divided by the root of squared gradients, summed or averaged."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share
from ..families.sparse.kernels import coalesced
from ..ground.paths import house
from ..tensor.writable import check_writable
from .elementwise import Elementwise, direction, functional
from .settings import number, writable


class Adagrad(Elementwise):
    """``p -= lr * grad / (sqrt(sum) + eps)``, where ``sum`` adds up the squared gradients.

    lr_decay                   the rate is divided by ``1 + lr_decay`` times the steps already made
    weight_decay               how much of the parameter is added to its gradient
    initial_accumulator_value  where the sum begins
    Source: Duchi, Hazan and Singer (2011); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adagrad.html
    """

    _checked = "lr lr_decay weight_decay initial_accumulator_value eps"
    _order = "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize differentiable fused"
    _younger = "foreach maximize differentiable fused"
    _arrays = ("sum",)
    _first = {"sum": "initial_accumulator_value"}

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        self._begin(locals())
        for group in self.param_groups:
            for param in group["params"]:
                self._start(group, self.state[param], param)

    def _start(self, group: dict[str, Any], state: dict[str, Any], param: Tensor) -> None:
        value = "initial_accumulator_value"  # of the constructor, whatever the group says
        super()._start({**group, value: self.defaults[value]}, state, param)

    def share_memory(self) -> None:
        """Move the sums where other processes can see them."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step = float(scalars[0]) + 1
        return (step,), (number(group["lr"] / (1 + (step - 1) * group["lr_decay"])), group["eps"])

    def _step_sparse(self, group: dict[str, Any], param: Any, grad: Any) -> None:
        if group["fused"]:
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        if group["weight_decay"] != 0:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        state = self.state[param]
        if not state:
            self._start(group, state, param)
        sparse = coalesced(-grad._array if group["maximize"] else grad._array)
        (step,), (rate, eps) = self._advance(group, state["step"]._array[()])
        writable(state["step"])[...] = step
        total, indices, g = writable(state["sum"]), tuple(sparse.indices), sparse.values
        total[indices] += g * g
        if group["differentiable"]:
            check_writable(param, True)
        version = share(param)
        param._array[indices] -= (rate * (g / (np.sqrt(total[indices]) + eps))).astype(g.dtype, copy=False)
        version.version += 1

    def _compiled(self, group: dict[str, Any], numbers: Any) -> tuple[Any, ...] | None:
        rate, eps = numbers
        sign, decay = direction(group)
        return "adagrad", 1, (sign, decay, eps, rate), decay != 0

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        rate, eps = numbers
        (total,) = kept
        total.addcmul_(g, g, value=1)
        p.addcdiv_(g, total.sqrt() + eps, value=-rate)


adagrad = functional(
    Adagrad,
    "state_sums state_steps",
    "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex",
    "lr weight_decay lr_decay eps maximize",
)


class Adadelta(Elementwise):
    """The gradient times the root mean square of earlier steps, divided by that of the gradients.

    rho           how much of the two running means stays at each step
    eps           added to both under the root
    weight_decay  how much of the parameter is added to its gradient
    Source: Zeiler (2012); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adadelta.html
    """

    _arrays = ("square_avg", "acc_delta")
    _placed = ("params and state_steps", "")

    _checked = "lr rho eps weight_decay"
    _order = "lr rho eps weight_decay maximize capturable foreach differentiable"

    def __init__(
        self, params: Iterable[Any], lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        return (float(scalars[0]) + 1,), (number(group["lr"]), group["rho"], 1 - group["rho"], group["eps"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        lr, rho, fresh, eps = numbers
        square, steps = kept
        square.mul_(rho).addcmul_(g, g, value=fresh)
        way = (steps + eps).sqrt() / (square + eps).sqrt() * g
        steps.mul_(rho).addcmul_(way, way, value=fresh)
        p.add_(way, alpha=-lr)


adadelta = functional(
    Adadelta,
    "square_avgs acc_deltas state_steps",
    "capturable foreach differentiable has_complex",
    "lr rho eps weight_decay maximize",
)


class RMSprop(Elementwise):
    """``p -= lr * grad / (sqrt(mean) + eps)``, where ``mean`` is the running mean of the squared gradients.

    alpha         how much of the running mean stays at each step
    momentum      how much of the step before is added to the step
    centered      divide by the estimated standard deviation instead
    weight_decay  how much of the parameter is added to its gradient
    Source: Hinton (2012); https://docs.pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
    """

    _checked = "lr eps momentum weight_decay alpha"
    _order = "lr momentum alpha eps centered weight_decay capturable foreach maximize differentiable"
    _younger = "momentum centered foreach maximize differentiable capturable"
    _arrays = ("square_avg", "momentum_buffer", "grad_avg")
    _only = {"momentum_buffer": "momentum", "grad_avg": "centered"}

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        return (float(scalars[0]) + 1,), number(group["lr"])

    def _compiled(self, group: dict[str, Any], numbers: Any) -> tuple[Any, ...] | None:
        sign, decay = direction(group)
        alpha, momentum = group["alpha"], group["momentum"]
        constants = (sign, decay, alpha, 1 - alpha, momentum, group["eps"], numbers)
        return "rmsprop", 1, constants, decay != 0, momentum > 0, bool(group["centered"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        lr, alpha = numbers, group["alpha"]
        square = kept[0]
        square.mul_(alpha).addcmul_(g, g, value=1 - alpha)
        variance = square
        if group["centered"]:
            mean = kept[-1]
            mean.lerp_(g, 1 - alpha)
            variance = square.addcmul(mean, mean, value=-1)
        root = variance.sqrt() + group["eps"]
        if group["momentum"] > 0:
            buffer = kept[1]
            buffer.mul_(group["momentum"]).addcdiv_(g, root)
            p.add_(buffer, alpha=-lr)
        else:
            p.addcdiv_(g, root, value=-lr)


rmsprop = functional(
    RMSprop,
    "square_avgs grad_avgs momentum_buffer_list state_steps",
    "foreach maximize differentiable capturable has_complex",
    "lr alpha eps weight_decay momentum centered",
)


house(sys.modules[__name__])
