"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, functional
from .settings import number


class NAdam(Elementwise):
    """Adam that looks ahead: the step mixes the gradient and the running mean by a momentum that grows.

    betas                   how much of the two running means stays at each step
    eps                     added to the root
    weight_decay            how much of the parameter is added to its gradient
    momentum_decay          how fast the momentum grows
    decoupled_weight_decay  shrink the parameters instead, as AdamW does
    Source: Dozat (2016); https://docs.pytorch.org/docs/stable/generated/torch.optim.NAdam.html
    """

    _checked = "lr eps betas weight_decay momentum_decay"
    _order = (
        "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize foreach capturable differentiable"
    )
    _younger = "maximize foreach capturable differentiable decoupled_weight_decay"
    _scalars = ("step", "mu_product")
    _arrays = ("exp_avg", "exp_avg_sq")
    _first = {"mu_product": 1.0}
    _placed = ("params, mu_products and state_steps", ", 'xla'")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        self._begin(locals())

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step, product = float(scalars[0]) + 1, scalars[1]
        lr, (beta1, beta2), growth = number(group["lr"]), group["betas"], group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * growth))
        ahead = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * growth))
        product = product * mu  # in the precision that the state has
        of_gradient = -lr * (1.0 - mu) / (1.0 - float(product))
        of_mean = -lr * ahead / (1.0 - float(product) * ahead)
        numbers = 1 - beta1, beta2, 1 - beta2, 1 - beta2**step, group["eps"], of_gradient, of_mean
        return (step, product), numbers

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        fresh1, beta2, fresh2, correction, eps, of_gradient, of_mean = numbers
        mean, square = kept
        mean.lerp_(g, fresh1)
        square.mul_(beta2).addcmul_(g, g, value=fresh2)
        denominator = (square / correction).sqrt() + eps
        if group["differentiable"]:
            p.addcdiv_(g * of_gradient, denominator)
            p.addcdiv_(mean * of_mean, denominator)
        else:
            p.addcdiv_(g, denominator, value=of_gradient)
            p.addcdiv_(mean, denominator, value=of_mean)


nadam = functional(
    NAdam,
    "exp_avgs exp_avg_sqs mu_products state_steps",
    "decoupled_weight_decay foreach capturable differentiable has_complex maximize",
    "beta1 beta2 lr weight_decay momentum_decay eps",
)
