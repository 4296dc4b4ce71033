"""RAdam: Adam that waits until its second running mean can be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, check, check_betas, check_decay, check_rate
from .numbers import number


class RAdam(Elementwise):
    """Adam whose first steps are along the running mean alone; later ones are corrected for the variance of the root.

    betas                   how much of the two running means stays at each step
    eps                     added to the root
    weight_decay            how much of the parameter is added to its gradient
    decoupled_weight_decay  shrink the parameters instead, as AdamW does
    Source: Liu and others (2019); https://docs.pytorch.org/docs/stable/generated/torch.optim.RAdam.html
    """

    _younger = {
        "foreach": None, "maximize": False, "differentiable": False, "decoupled_weight_decay": False,
        "capturable": False,
    }  # fmt: skip
    _arrays = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step = float(scalars[0]) + 1
        beta1, beta2 = group["betas"]
        correction = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1  # the lengths of the simple means that the second running mean is like
        length = longest - 2 * step * (beta2**step) / correction
        rectified = None
        if length > 5.0:
            ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            rectified = ratio**0.5
        numbers = (
            1 - beta1, beta2, 1 - beta2, group["eps"], 1 - beta1**step, number(group["lr"]), correction**0.5, rectified,
        )  # fmt: skip
        return (step,), numbers

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        fresh1, beta2, fresh2, eps, correction, lr, root, rectified = numbers
        mean, square = kept
        mean.lerp_(g, fresh1)
        square.mul_(beta2).addcmul_(g, g, value=fresh2)
        way = mean / correction * lr
        if rectified is not None:
            way = way * (root / (square.sqrt() + eps)) * rectified
        p.add_(way, alpha=-1.0)


def radam(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    state_steps: list[Any],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    eps: float,
) -> None:
    """One step of RAdam, given the state as lists."""
    group = {
        "betas": (beta1, beta2), "lr": lr, "eps": eps, "weight_decay": weight_decay,
        "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "capturable": capturable,
        "differentiable": differentiable,
    }  # fmt: skip
    RAdam._over(group, params, grads, {"step": state_steps, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs})
