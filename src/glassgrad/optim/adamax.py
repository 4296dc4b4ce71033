"""Adamax: Adam by the largest gradient instead of the mean square."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, functional
from .settings import number


class Adamax(Elementwise):
    """Steps along the running mean of the gradients, divided by their largest, which decays.

    betas         how much of the mean, and of the largest, stays at each step
    eps           added to each gradient's absolute value
    weight_decay  how much of the parameter is added to its gradient
    Source: Kingma and Ba (2014); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adamax.html
    """

    _arrays = ("exp_avg", "exp_inf")

    _checked = "lr eps betas weight_decay"

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
        self._begin(locals())

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


adamax = functional(
    Adamax,
    "exp_avgs exp_infs state_steps",
    "foreach maximize differentiable capturable has_complex",
    "eps beta1 beta2 lr weight_decay",
)
