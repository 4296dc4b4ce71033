"""Adadelta: steps as large as the steps before, whatever the scale of the gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, functional
from .settings import number


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
        self,
        params: Iterable[Any],
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
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
