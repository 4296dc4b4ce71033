"""Adam, and AdamW, whose weight decay is apart from the gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..ground import dtypes, modes
from ..tensor.tensor import Tensor, share, wrap
from . import narrow
from .numbers import F32, F64, check_one_element, constant, number
from .optimizer import Optimizer, evaluated
from .sgd import writable

add, divide, empty, maximum, multiply, sqrt, subtract = (
    np.add, np.divide, np.empty, np.maximum, np.multiply, np.sqrt, np.subtract,
)  # fmt: skip
#: The dtypes that are stepped by arrays, and those of their parts.
_FAST: dict[Any, np.dtype[Any]] = {F32: F32, F64: F64, np.dtype("c8"): F32, np.dtype("c16"): F64}
_ELSEWHERE = (
    "If capturable=True, params and state_steps must be on supported devices: ['cuda', 'xpu', 'hpu', 'privateuseone', "
    "'xla']."
)
_BLOCK = 1 << 16  # elements worked on at a time, of large arrays: all that a step touches stays in the cache


class Adam(Optimizer):
    """Steps along the running mean of the gradients, divided by the root of the running mean of their squares.

    betas         how much of the two running means stays at each step
    eps           added to the root
    weight_decay  how much of the parameter is added to its gradient
    amsgrad       divide by the largest running mean so far
    Source: Kingma and Ba (2014); https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

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
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_one_element(lr, "lr")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for index in (0, 1):
            if not 0.0 <= betas[index] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if not (all(isinstance(beta, float) for beta in betas) or all(isinstance(beta, Tensor) for beta in betas)):
            raise ValueError("betas must be either both floats or both Tensors")
        for index, beta in enumerate(betas):
            if isinstance(beta, Tensor) and not capturable and foreach:
                raise ValueError(f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True")
            check_one_element(beta, f"betas[{index}]")
        betas = (betas[0], betas[1])
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        if fused:
            if differentiable:
                raise RuntimeError("`fused` does not support `differentiable`")
            if foreach:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)
            for name in ("amsgrad", "maximize", "capturable", "differentiable", "decoupled_weight_decay"):
                group.setdefault(name, False)
            fused = group.setdefault("fused", None)
            for param in group["params"]:  # older states hold plain numbers
                held = self.state.get(param, {})
                if held and not isinstance(held["step"], Tensor):
                    held["step"] = _count(float(held["step"]), fused)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; gives the loss that ``closure`` computed."""
        loss = None if closure is None else evaluated(closure)
        for group in self.param_groups:
            settings = None
            for param in group["params"]:
                grad = param._grad
                if grad is None:
                    continue
                state = self.state[param]
                if not state:
                    self._start(state, param, group)
                if group["capturable"] and not group["fused"]:
                    raise AssertionError(_ELSEWHERE)
                kind = param._d.dtype
                step = _counted(state["step"])
                if group["differentiable"]:
                    _step_by_tensors(group, state, param, grad, step)
                    continue
                if kind not in _FAST:
                    version = share(param)
                    param._d[...] = narrow.adam(group, state, param._d, grad._d, step)
                    version.version += 2 if group["decoupled_weight_decay"] and group["weight_decay"] else 1
                    continue
                if settings is None or settings.step != step or settings.kind is not kind:
                    settings = _Settings(group, step, kind)
                _step_by_arrays(settings, state, param, grad._d)
        return loss

    def _start(self, state: dict[str, Any], param: Tensor, group: dict[str, Any]) -> None:
        state["step"] = _count(0.0, group["fused"])
        names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
        for name in names if group["amsgrad"] else names[:2]:
            held = np.empty_like(param._d)
            held[...] = 0
            state[name] = wrap(held)


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
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


def _count(steps: float, fused: bool | None) -> Tensor:
    wide = dtypes.get_default_dtype() is dtypes.float64 and not fused
    return wrap(np.float64(steps) if wide else np.float32(steps))


def _counted(steps: Tensor) -> float:
    """One more step in the count, which is a tensor; gives the number."""
    if steps._v is None:
        steps._d = steps._d + steps._d.dtype.type(1)
    else:
        steps._d += 1
        steps._v.version += 1
    return float(steps._d)


class _Settings:
    """A group's settings as arrays, for one step: the same for all its parameters of one dtype."""

    __slots__ = ("step", "kind", "maximize", "amsgrad", "decay", "shrink", "numbers")

    def __init__(self, group: dict[str, Any], step: float, kind: np.dtype[Any]) -> None:
        self.step, self.kind = step, kind
        real = _FAST[kind]
        lr, decay = number(group["lr"]), group["weight_decay"]
        beta1, beta2 = number(group["betas"][0]), number(group["betas"][1])
        root = (1 - beta2**step) ** 0.5  # this and the next make up for running means that began at nought
        rate = lr / (1 - beta1**step) * root
        apart = group["decoupled_weight_decay"]
        self.maximize, self.amsgrad = group["maximize"], group["amsgrad"]
        self.decay = constant(decay, kind) if decay != 0 and not apart else None
        self.shrink = constant(1 - lr * decay, kind) if decay != 0 and apart else None
        self.numbers = (
            constant(1 - beta1, real), constant(beta2, real), constant(1 - beta2, real),
            np.array(group["eps"] * root, real), np.array(rate, real),
        )  # fmt: skip


def _step_by_arrays(settings: _Settings, state: dict[str, Any], param: Tensor, g: Any) -> None:
    """One step of one parameter."""
    version = param._v or share(param)
    data: Any = param._d
    if settings.maximize:
        g = -g
    if settings.shrink is not None:
        data *= settings.shrink
        version.version += 1
    elif settings.decay is not None:
        g = g + data * settings.decay
    arrays = [data, g, writable(state["exp_avg"]), writable(state["exp_avg_sq"])]
    if settings.amsgrad:
        arrays.append(writable(state["max_exp_avg_sq"]))
    if settings.kind.kind == "c":  # real and imaginary parts are numbers of their own
        arrays = [np.asarray(array)[..., None].view(settings.numbers[0].dtype) for array in arrays]
    if data.size <= 4 * _BLOCK:
        _update(settings.numbers, *arrays)
    else:
        for pieces in _blocks(arrays):
            _update(settings.numbers, *pieces)
    version.version += 1


def _update(numbers: Any, data: Any, g: Any, mean: Any, square: Any, largest: Any = None) -> None:
    """``lr * m / (sqrt(v) / root + eps)`` with numerator and denominator multiplied by ``root``: a pass less."""
    fresh1, beta2, fresh2, eps, rate = numbers
    spare = empty(data.shape, data.dtype)
    subtract(g, mean, spare)
    multiply(spare, fresh1, spare)
    add(mean, spare, mean)
    multiply(square, beta2, square)
    multiply(g, g, spare)
    multiply(spare, fresh2, spare)
    add(square, spare, square)
    if largest is not None:
        maximum(largest, square, out=largest)
        square = largest
    sqrt(square, spare)
    add(spare, eps, spare)
    divide(mean, spare, spare)
    multiply(spare, rate, spare)
    subtract(data, spare, data)


def _blocks(arrays: list[Any]) -> Iterator[list[Any]]:
    """Large arrays piece by piece, where all are laid out alike; else all at once."""
    if not all(array.flags.c_contiguous for array in arrays):
        yield arrays
        return
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, flat[0].size, _BLOCK):
        yield [array[start : start + _BLOCK] for array in flat]


def _step_by_tensors(group: dict[str, Any], state: dict[str, Any], param: Any, grad: Any, step: float) -> None:
    """The same step in operations, where it is to be differentiated itself."""
    before = modes.set_grad(True)
    try:
        beta1, beta2 = (number(beta) for beta in group["betas"])
        lr, decay = group["lr"], group["weight_decay"]
        grad = -grad if group["maximize"] else grad
        if decay != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * decay)
            else:
                grad = grad.add(param, alpha=decay)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad.conj() if grad.is_complex() else grad, value=1 - beta2)
        root = (1 - beta2**step) ** 0.5
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = square = state["max_exp_avg_sq"].maximum(square)
        denominator = (square.sqrt() / root).add_(group["eps"])
        size = lr / (1 - beta1**step)
        if isinstance(size, Tensor):
            param.sub_(mean.clone() / denominator * size)
        else:
            param.addcdiv_(mean.clone(), denominator, value=-size)
    finally:
        modes.set_grad(before)
