"""AdamW: Adam whose weight decay is apart from the gradient."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from .adam import Adam, adam

__all__ = ["AdamW", "adamw"]


class AdamW(Adam):
    """Adam that shrinks the parameters by ``lr * weight_decay`` at each step, apart from their gradients.

    Source: Loshchilov and Hutter (2017); https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        self._begin({**locals(), "decoupled_weight_decay": True})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


adamw = functools.partial(adam, decoupled_weight_decay=True)
adamw.__doc__ = "One step of AdamW, given the state as lists."
