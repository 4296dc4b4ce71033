"""ASGD: gradient descent that also keeps the mean of where it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from ..ground import dtypes
from .elementwise import Elementwise, check_decay, check_rate, filled, scalar
from .numbers import number


class ASGD(Elementwise):
    """Gradient descent with a rate that falls; ``state[p]["ax"]`` is the mean of the parameters after ``t0`` steps.

    lambd         how fast parameters decay, and the rate falls
    alpha         the power by which the rate falls
    t0            the step from which on the mean is taken
    weight_decay  how much of the parameter is added to its gradient
    Source: Polyak and Juditsky (1992); https://docs.pytorch.org/docs/stable/generated/torch.optim.ASGD.html
    """

    _scalars = ("step", "eta", "mu")
    _arrays = ("ax",)
    _placed = ("params, mus, etas, and state_steps", ", 'xla'")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_decay(weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, group: dict[str, Any], state: dict[str, Any], param: Tensor) -> None:
        state["step"] = scalar(0.0, group)
        state["eta"] = scalar(number(group["lr"]), group)
        state["mu"] = scalar(1.0, group)
        state["ax"] = filled(param, 0)

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step, eta, mu = float(scalars[0]) + 1, float(scalars[1]), float(scalars[2])
        lr = number(group["lr"])
        after = lr / ((1 + group["lambd"] * lr * step) ** group["alpha"])
        rounded = dtypes.get_default_dtype().numpy.type  # as tensors of a number are, whatever the state's own type
        scalars = step, float(rounded(after)), float(rounded(1 / max(1, step - group["t0"])))
        return scalars, (1 - group["lambd"] * eta, eta, mu)

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        shrink, eta, mu = numbers
        (mean,) = kept
        p.mul_(shrink)
        p.add_(g, alpha=-eta)
        if mu == 1:
            mean.copy_(p)
        else:
            mean.add_((p - mean) * mu)


def asgd(
    params: list[Any],
    grads: list[Any],
    axs: list[Any],
    mus: list[Any],
    etas: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: Any,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """One step of ASGD, given the state as lists."""
    group = {
        "lambd": lambd, "lr": lr, "t0": t0, "alpha": alpha, "weight_decay": weight_decay, "maximize": maximize,
        "differentiable": differentiable, "capturable": capturable,
    }  # fmt: skip
    ASGD._over(group, params, grads, {"step": state_steps, "eta": etas, "mu": mus, "ax": axs})
