"""Adagrad: steps divided by the root of the sum of all squared gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share
from ..families.sparse.kernels import coalesced
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
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
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
        return (step,), (number(group["lr"]) / (1 + (step - 1) * group["lr_decay"]), group["eps"])

    def _step_sparse(self, group: dict[str, Any], param: Any, grad: Any) -> None:
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
