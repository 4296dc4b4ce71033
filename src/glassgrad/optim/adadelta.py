"""Adadelta: steps as large as the steps before, whatever the scale of the gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, check, check_decay, check_rate
from .numbers import number


class Adadelta(Elementwise):
    """The gradient times the root mean square of earlier steps, divided by that of the gradients.

    rho           how much of the two running means stays at each step
    eps           added to both under the root
    weight_decay  how much of the parameter is added to its gradient
    Source: Zeiler (2012); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adadelta.html
    """

    _arrays = ("square_avg", "acc_delta")
    _placed = ("params and state_steps", "")

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
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check("epsilon value", eps)
        check_decay(weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        return (float(scalars[0]) + 1,), (number(group["lr"]), group["rho"], 1 - group["rho"], group["eps"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        lr, rho, fresh, eps = numbers
        square, steps = kept
        square.mul_(rho).addcmul_(g, g, value=fresh)
        way = (steps + eps).sqrt() / (square + eps).sqrt() * g
        steps.mul_(rho).addcmul_(way, way, value=fresh)
        p.add_(way, alpha=-lr)


def adadelta(
    params: list[Any],
    grads: list[Any],
    square_avgs: list[Any],
    acc_deltas: list[Any],
    state_steps: list[Any],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step of Adadelta, given the state as lists."""
    group = {
        "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        "capturable": capturable, "differentiable": differentiable,
    }  # fmt: skip
    Adadelta._over(group, params, grads, {"step": state_steps, "square_avg": square_avgs, "acc_delta": acc_deltas})
