"""Adamax: Adam by the largest gradient instead of the mean square."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, check, check_betas, check_decay, check_rate
from .numbers import number


class Adamax(Elementwise):
    """Steps along the running mean of the gradients, divided by their largest, which decays.

    betas         how much of the mean, and of the largest, stays at each step
    eps           added to each gradient's absolute value
    weight_decay  how much of the parameter is added to its gradient
    Source: Kingma and Ba (2014); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adamax.html
    """

    _arrays = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check("epsilon value", eps)
        check_betas(betas)
        check_decay(weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step = float(scalars[0]) + 1
        beta1, beta2 = group["betas"]
        return (step,), (number(group["lr"]) / (1 - beta1**step), 1 - beta1, beta2, group["eps"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        rate, fresh, beta2, eps = numbers
        mean, largest = kept
        mean.lerp_(g, fresh)
        largest.copy_((largest * beta2).maximum(g.abs() + eps))
        p.addcdiv_(mean, largest, value=-rate)


def adamax(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_infs: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
) -> None:
    """One step of Adamax, given the state as lists."""
    group = {
        "betas": (beta1, beta2), "lr": lr, "eps": eps, "weight_decay": weight_decay,
        "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
    }  # fmt: skip
    Adamax._over(group, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_inf": exp_infs})
