"""Rprop: a step size for each element, by the signs of its gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .elementwise import Elementwise, functional


class Rprop(Elementwise):
    """Steps against the gradient's sign; each element's step grows while the sign stays, and shrinks when it turns.

    etas        by how much steps shrink and grow
    step_sizes  the smallest and the largest step
    Source: Riedmiller and Braun (1993); https://docs.pytorch.org/docs/stable/generated/torch.optim.Rprop.html
    """

    _arrays = ("prev", "step_size")

    _checked = "lr"
    _order = "lr etas step_sizes foreach maximize differentiable capturable"
    _first = {"step_size": "lr"}

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
        self._begin(locals())

    def _check(self, settings: dict[str, Any]) -> None:
        super()._check(settings)
        etas = settings["etas"]
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")

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


rprop = functional(
    Rprop,
    "prevs step_sizes state_steps",
    "foreach capturable maximize differentiable has_complex",
    "step_size_min step_size_max etaminus etaplus",
)
