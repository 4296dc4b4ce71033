"""Rprop: a step size for each element, by the signs of its gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.tensor import Tensor
from .elementwise import Elementwise, both, check_rate, filled, scalar
from .numbers import number


class Rprop(Elementwise):
    """Steps against the gradient's sign; each element's step grows while the sign stays, and shrinks when it turns.

    etas        by how much steps shrink and grow
    step_sizes  the smallest and the largest step
    Source: Riedmiller and Braun (1993); https://docs.pytorch.org/docs/stable/generated/torch.optim.Rprop.html
    """

    _arrays = ("prev", "step_size")

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _start(self, group: dict[str, Any], state: dict[str, Any], param: Tensor) -> None:
        state["step"] = scalar(0.0, group)
        state["prev"] = filled(param, 0)
        state["step_size"] = filled(param, both(number(group["lr"]), param))

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        return (float(scalars[0]) + 1,), (*group["etas"], *group["step_sizes"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        less, more, least, most = numbers
        before, size = kept
        factor = (g * (before.clone() if group["differentiable"] else before)).sign()
        factor.masked_fill_(factor.gt(0), more).masked_fill_(factor.lt(0), less).masked_fill_(factor.eq(0), 1)
        size.mul_(factor).clamp_(least, most)
        g = g.clone().masked_fill_(factor.eq(less), 0)  # where the sign turned: no step this time
        before.copy_(g)
        p.addcmul_(g.sign(), size, value=-1)


def rprop(
    params: list[Any],
    grads: list[Any],
    prevs: list[Any],
    step_sizes: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """One step of Rprop, given the state as lists."""
    group = {
        "etas": (etaminus, etaplus), "step_sizes": (step_size_min, step_size_max), "maximize": maximize,
        "differentiable": differentiable, "capturable": capturable,
    }  # fmt: skip
    Rprop._over(group, params, grads, {"step": state_steps, "prev": prevs, "step_size": step_sizes})
