"""ASGD: gradient descent that also keeps the mean of where it was."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ground import dtypes
from .elementwise import Elementwise, functional
from .settings import number


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

    _checked = "lr weight_decay"
    _first = {"eta": "lr", "mu": 1.0}

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
        self._begin(locals())

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


asgd = functional(
    ASGD,
    "axs mus etas state_steps",
    "foreach maximize differentiable capturable has_complex",
    "lambd lr t0 alpha weight_decay",
)
