"""RAdam: Adam that waits until its second running mean can be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, functional
from .settings import number


class RAdam(Elementwise):
    """Adam whose first steps are along the running mean alone; later ones are corrected for the variance of the root.

    betas                   how much of the two running means stays at each step
    eps                     added to the root
    weight_decay            how much of the parameter is added to its gradient
    decoupled_weight_decay  shrink the parameters instead, as AdamW does
    Source: Liu and others (2019); https://docs.pytorch.org/docs/stable/generated/torch.optim.RAdam.html
    """

    _checked = "lr eps betas weight_decay"
    _order = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"
    _younger = "foreach maximize differentiable decoupled_weight_decay capturable"
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
        self._begin(locals())

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


radam = functional(
    RAdam,
    "exp_avgs exp_avg_sqs state_steps",
    "decoupled_weight_decay foreach differentiable capturable has_complex maximize",
    "beta1 beta2 lr weight_decay eps",
)
