"""Adam: steps by the running means of gradients and of their squares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from .elementwise import Elementwise, direction, functional
from .settings import F32, F64, check_one_element, number
from .values import Values

add, divide, multiply, sqrt, subtract = np.add, np.divide, np.multiply, np.sqrt, np.subtract


class Adam(Elementwise):
    """Steps along the running mean of the gradients, divided by the root of the running mean of their squares.

    betas         how much of the two running means stays at each step
    eps           added to the root
    weight_decay  how much of the parameter is added to its gradient
    amsgrad       divide by the largest running mean so far
    Source: Kingma and Ba (2014); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

    _checked = "lr eps betas weight_decay"
    _order = "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable fused decoupled_weight_decay"
    _younger = "amsgrad maximize foreach capturable differentiable decoupled_weight_decay fused"
    _arrays = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    _only = {"max_exp_avg_sq": "amsgrad"}
    _constants_of: Any = None  # the numbers that were made into constants last
    _constants: Any = None

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        self._begin(locals())

    def _check(self, settings: dict[str, Any]) -> None:
        lr, betas, foreach, capturable = (settings[name] for name in ("lr", "betas", "foreach", "capturable"))
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        super()._check(settings)
        if not (all(isinstance(beta, float) for beta in betas) or all(isinstance(beta, Tensor) for beta in betas)):
            raise ValueError("betas must be either both floats or both Tensors")
        for index, beta in enumerate(betas):
            if isinstance(beta, Tensor) and not capturable and foreach:
                raise ValueError(f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True")
            check_one_element(beta, f"betas[{index}]")
        settings["betas"] = betas[0], betas[1]

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step = float(scalars[0]) + 1
        lr, beta1, beta2 = group["lr"], number(group["betas"][0]), number(group["betas"][1])
        if not group["differentiable"]:
            lr = number(lr)
        root = (1 - beta2**step) ** 0.5  # this and the next make up for running means that began at nought
        return (step,), (lr / (1 - beta1**step), 1 - beta1, beta2, 1 - beta2, root, group["eps"])

    def _compiled(self, group: dict[str, Any], numbers: Any) -> tuple[Any, ...] | None:
        rate, fresh1, beta2, fresh2, root, eps = numbers
        sign, decay = direction(group)
        apart = number(group["weight_decay"]) if group["decoupled_weight_decay"] else 0
        shrink = 1 - number(group["lr"]) * apart
        constants = (sign, decay, shrink, fresh1, beta2, fresh2, eps * root, rate * root)
        return "adam", 1 if apart == 0 else 2, constants, decay != 0, bool(group["amsgrad"])

    def _run(self, group: dict[str, Any], numbers: Any, arrays: Sequence[Any]) -> int:
        """The rule on arrays; where no setting is out of the ordinary, in as few calls as there can be."""
        dtype, decay, apart = arrays[0].dtype, group["weight_decay"], group["decoupled_weight_decay"]
        plain = (dtype is F32 or dtype is F64) and type(decay) is not Tensor and (apart or decay == 0)
        if not plain or group["amsgrad"] or group["maximize"]:
            return super()._run(group, numbers, arrays)
        data, g, mean, square = arrays
        if self._constants_of is not numbers or self._constants[0].dtype is not dtype:
            rate, fresh1, beta2, fresh2, root, eps = numbers
            shrink = 1 - number(group["lr"]) * decay
            values = (fresh1, beta2, fresh2, eps * root, rate * root, shrink)
            self._constants_of, self._constants = numbers, [np.array(constant, dtype) for constant in values]
        fresh1, beta2, fresh2, eps, rate, shrink = self._constants
        self._room.taken = 0
        spare = self._room.take(data)
        subtract(g, mean, spare)
        multiply(spare, fresh1, spare)
        add(mean, spare, mean)
        multiply(square, beta2, square)
        multiply(g, g, spare)
        multiply(spare, fresh2, spare)
        add(square, spare, square)
        sqrt(square, spare)
        add(spare, eps, spare)
        divide(mean, spare, spare)
        multiply(spare, rate, spare)
        if decay != 0:
            multiply(data, shrink, data)
        subtract(data, spare, data)
        return 1 if decay == 0 else 2

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        rate, fresh1, beta2, fresh2, root, eps = numbers
        mean, square = kept[:2]
        mean.lerp_(g, fresh1)
        square.mul_(beta2).addcmul_(g, g, value=fresh2)
        if group["amsgrad"]:
            square = kept[2].copy_(kept[2].maximum(square))
        if type(p) is Values:  # numerator and denominator multiplied by ``root``: a pass less
            p.addcdiv_(mean, square.sqrt() + eps * root, value=-rate * root)
            return
        denominator = square.sqrt() / root + eps
        if group["differentiable"]:
            mean = mean.clone()
        if isinstance(rate, Tensor):
            p.sub_(mean / denominator * rate)
        else:
            p.addcdiv_(mean, denominator, value=-rate)


adam = functional(
    Adam,
    "exp_avgs exp_avg_sqs max_exp_avg_sqs state_steps",
    "foreach capturable differentiable fused grad_scale found_inf has_complex decoupled_weight_decay",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
)
