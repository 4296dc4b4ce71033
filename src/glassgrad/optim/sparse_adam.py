"""SparseAdam: Adam for sparse gradients, which this library does not have; dense ones are refused, as by PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .elementwise import check_betas
from .numbers import check_one_element
from .optimizer import Optimizer, evaluated


class SparseAdam(Optimizer):
    """Adam that changes only what a sparse gradient names. Gradients are dense here, so a step with any is refused.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_one_element(lr, "lr")
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        complex_ones = [
            [number, place]
            for number, group in enumerate(self.param_groups)
            for place, param in enumerate(group["params"])
            if param.is_complex()
        ]
        if complex_ones:
            raise ValueError(
                f"Complex params at indices {complex_ones}: SparseAdam does not support complex parameters"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """RuntimeError where a parameter has a gradient, which is dense; else the loss that ``closure`` computed."""
        loss = evaluated(closure)
        if any(param.grad is not None for group in self.param_groups for param in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return loss
