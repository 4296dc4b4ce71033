"""RMSprop: steps divided by the root mean square of the gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, check, check_decay, check_rate, direction
from .numbers import number


class RMSprop(Elementwise):
    """``p -= lr * grad / (sqrt(mean) + eps)``, where ``mean`` is the running mean of the squared gradients.

    alpha         how much of the running mean stays at each step
    momentum      how much of the step before is added to the step
    centered      divide by the estimated standard deviation instead
    weight_decay  how much of the parameter is added to its gradient
    Source: Hinton (2012); https://docs.pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
    """

    _younger = {
        "momentum": 0, "centered": False, "foreach": None, "maximize": False, "differentiable": False,
        "capturable": False,
    }  # fmt: skip

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
        check_rate(lr)
        check("epsilon value", eps)
        check("momentum value", momentum)
        check_decay(weight_decay)
        check("alpha value", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str, ...]:
        names = ["square_avg"]
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        if group["centered"]:
            names.append("grad_avg")
        return tuple(names)

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


def rmsprop(
    params: list[Any],
    grads: list[Any],
    square_avgs: list[Any],
    grad_avgs: list[Any],
    momentum_buffer_list: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: Any,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """One step of RMSprop, given the state as lists."""
    states = {"step": state_steps, "square_avg": square_avgs}
    if momentum > 0:
        states["momentum_buffer"] = momentum_buffer_list
    if centered:
        states["grad_avg"] = grad_avgs
    group = {
        "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum, "centered": centered,
        "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
    }  # fmt: skip
    RMSprop._over(group, params, grads, states)
