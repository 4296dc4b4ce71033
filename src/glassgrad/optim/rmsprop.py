"""RMSprop: steps divided by the root mean square of the gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, direction, functional
from .settings import number


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
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
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
