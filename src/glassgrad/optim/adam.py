"""Adam and its kin: steps by the running means of gradients and of their squares."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import setitem
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share
from ..families.sparse.kernels import coalesced
from ..ground.at_once import at_once
from ..ground.paths import house
from ..tensor.sparse import CooTensor
from .elementwise import Elementwise, direction, functional, learning_rate
from .optimizer import evaluated
from .settings import F32, F64, WithSettings, check, check_one_element, filled, invalid, number, writable
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
        self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
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
        beta1, beta2 = group["betas"]
        rate = learning_rate(group) / (1 - beta1**step)
        if not group["differentiable"]:
            rate = number(rate)
        root = (1 - beta2**step) ** 0.5  # this and the next make up for running means that began at nought
        return (step,), (rate, 1 - number(beta1), number(beta2), number(1 - beta2), number(root), group["eps"])

    def _compiled(self, group: dict[str, Any], numbers: Any) -> tuple[Any, ...] | None:
        rate, fresh1, beta2, fresh2, root, eps = numbers
        sign, decay = direction(group)
        apart = number(group["weight_decay"]) if group["decoupled_weight_decay"] else 0
        shrink = number(1 - learning_rate(group) * apart)
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
            shrink = number(1 - learning_rate(group) * decay)
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


class AdamW(Adam):
    """Adam that shrinks the parameters by ``lr * weight_decay`` at each step, apart from their gradients.

    Source: Loshchilov and Hutter (2017); https://docs.pytorch.org/docs/stable/generated/torch.optim.AdamW.html
    """

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        self._begin({**locals(), "decoupled_weight_decay": True})

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


adamw = functools.partial(adam, decoupled_weight_decay=True)
adamw.__doc__ = "One step of AdamW, given the state as lists."


class Adamax(Elementwise):
    """Steps along the running mean of the gradients, divided by their largest, which decays.

    betas         how much of the mean, and of the largest, stays at each step
    eps           added to each gradient's absolute value
    weight_decay  how much of the parameter is added to its gradient
    Source: Kingma and Ba (2014); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adamax.html
    """

    _arrays = ("exp_avg", "exp_inf")

    _checked = "lr eps betas weight_decay"

    def __init__(
        self, params: Iterable[Any], lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step = float(scalars[0]) + 1
        beta1, beta2 = group["betas"]
        return (step,), (number(group["lr"] / (1 - beta1**step)), 1 - beta1, beta2, group["eps"])

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        rate, fresh, beta2, eps = numbers
        mean, largest = kept
        mean.lerp_(g, fresh)
        largest.copy_((largest * beta2).maximum(g.abs() + eps))
        p.addcdiv_(mean, largest, value=-rate)


adamax = functional(
    Adamax,
    "exp_avgs exp_infs state_steps",
    "foreach maximize differentiable capturable has_complex",
    "eps beta1 beta2 lr weight_decay",
)


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
        self, params: Iterable[Any], lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step, product = float(scalars[0]) + 1, scalars[1]
        lr, (beta1, beta2), growth = group["lr"], group["betas"], group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * 0.96 ** (step * growth))
        ahead = beta1 * (1.0 - 0.5 * 0.96 ** ((step + 1) * growth))
        product = product * mu  # in the precision that the state has
        of_gradient = number(-lr * (1.0 - mu) / (1.0 - float(product)))
        of_mean = number(-lr * ahead / (1.0 - float(product) * ahead))
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


class RAdam(Elementwise):
    """Adam whose first steps are along the running mean alone; later ones are corrected for the variance of the root.

    betas                   how much of the two running means stays at each step
    eps                     added to the root
    weight_decay            how much of the parameter is added to its gradient
    decoupled_weight_decay  shrink the parameters instead, as AdamW does
    Source: Liu and others (2019); https://docs.pytorch.org/docs/stable/generated/torch.optim.RAdam.html
    """

    _checked = "lr eps betas weight_decay"
    _order = "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable"
    _younger = "foreach maximize differentiable decoupled_weight_decay capturable"
    _arrays = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())

    def _advance(self, group: dict[str, Any], *scalars: Any) -> tuple[tuple[Any, ...], Any]:
        step = float(scalars[0]) + 1
        beta1, beta2 = group["betas"]
        correction = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1  # the lengths of the simple means that the second running mean is like
        length = longest - 2 * step * (beta2**step) / correction
        rectified = None
        if length > 5.0:
            ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            rectified = ratio**0.5
        numbers = (
            1 - beta1, beta2, 1 - beta2, group["eps"], 1 - beta1**step, number(group["lr"]), correction**0.5, rectified,
        )  # fmt: skip
        return (step,), numbers

    def _rule(self, group: dict[str, Any], numbers: Any, p: Any, g: Any, *kept: Any) -> None:
        fresh1, beta2, fresh2, eps, correction, lr, root, rectified = numbers
        mean, square = kept
        mean.lerp_(g, fresh1)
        square.mul_(beta2).addcmul_(g, g, value=fresh2)
        way = mean / correction * lr
        if rectified is not None:
            way = way * (root / (square.sqrt() + eps)) * rectified
        p.add_(way, alpha=-1.0)


radam = functional(
    RAdam,
    "exp_avgs exp_avg_sqs state_steps",
    "decoupled_weight_decay foreach differentiable capturable has_complex maximize",
    "beta1 beta2 lr weight_decay eps",
)


class SparseAdam(WithSettings):
    """Adam for sparse gradients: the moments of elements without a gradient, and the elements, stay as they are.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html
    """

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:  # fmt: skip
        self._begin(locals())
        self._refuse("is_sparse", "Sparse", "requires dense parameter tensors")
        self._refuse("is_complex", "Complex", "does not support complex parameters")

    def _check(self, settings: dict[str, Any]) -> None:
        check_one_element(settings["lr"], "lr")
        for name in ("lr", "eps"):
            if not 0.0 < settings[name]:
                raise invalid(name, settings[name])
        check("betas", settings["betas"])

    def _refuse(self, question: str, kind: str, requirement: str) -> None:
        def holds(param: Any) -> bool:
            answer = getattr(param, question)
            return bool(answer() if callable(answer) else answer)

        indices = [
            [number, position]
            for number, group in enumerate(self.param_groups)
            for position, param in enumerate(group["params"])
            if holds(param)
        ]
        if indices:
            raise ValueError(f"{kind} params at indices {indices}: SparseAdam {requirement}")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the elements that have gradients once; gives the loss that ``closure`` computed."""
        loss = evaluated(closure)
        work: list[Any] = []
        for group in self.param_groups:
            todo = [param for param in group["params"] if param._grad is not None]
            for param in todo:
                if not isinstance(param._grad, CooTensor):
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                state = self.state[param]
                if not state:
                    state.update(step=0, exp_avg=filled(param, 0), exp_avg_sq=filled(param, 0))
                work.append((group, param, param._grad._array, state))
        states = [state for _, _, _, state in work]
        at_once(map(setitem, states, repeat("step"), [state["step"] + 1 for state in states]))
        for arguments in work:
            _step(*arguments)
        return loss


def _step(group: dict[str, Any], param: Any, grad: Any, state: dict[str, Any]) -> None:
    """One step of the elements that a gradient names."""
    grad = coalesced(-grad if group["maximize"] else grad)
    if not grad.values.size:
        return
    (beta1, beta2), indices, g = group["betas"], tuple(grad.indices), grad.values
    mean, square = writable(state["exp_avg"]), writable(state["exp_avg_sq"])
    old = mean[indices]
    m = (g - old) * (1 - beta1) + old
    mean[indices] = m
    old = square[indices]
    v = (g * g - old) * (1 - beta2) + old
    square[indices] = v
    step = state["step"]
    rate = float(group["lr"]) * math.sqrt(1 - beta2**step) / (1 - beta1**step)
    version = share(param)
    param._array[indices] -= (rate * (m / (np.sqrt(v) + group["eps"]))).astype(g.dtype, copy=False)
    version.version += 1


house(sys.modules[__name__])
