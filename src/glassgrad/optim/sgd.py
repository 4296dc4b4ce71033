"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..ground import modes
from ..tensor.tensor import Tensor, share, wrap
from . import narrow
from .numbers import F32, F64, check_one_element, constant, number
from .optimizer import Optimizer, evaluated

ndarray, subtract = np.ndarray, np.subtract
_FAST = {F32, F64, np.dtype("c8"), np.dtype("c16")}


class SGD(Optimizer):
    """``p -= lr * grad``; with momentum, ``buf = momentum * buf + (1 - dampening) * grad; p -= lr * buf``.

    nesterov      look ahead: ``p -= lr * (grad + momentum * buf)``
    weight_decay  how much of the parameter is added to its gradient
    maximize      climb instead
    Source: https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_one_element(lr, "lr")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)
        if fused:
            if differentiable:
                raise RuntimeError("`fused` does not support `differentiable`")
            if foreach:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("nesterov", "maximize", "foreach", "differentiable", "fused"):
                group.setdefault(name, None if name == "foreach" else False)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters once; gives the loss that ``closure`` computed."""
        loss = None if closure is None else evaluated(closure)
        for group in self.param_groups:
            lr = group["lr"]
            if (
                group["momentum"] != 0
                or type(lr) is not float
                or group["maximize"]
                or group["differentiable"]
                or type(group["weight_decay"]) is Tensor
                or group["weight_decay"] != 0
            ):
                for param in group["params"]:
                    if param._grad is not None:
                        self._step(group, param, param._grad)
                continue
            kind: Any = None
            for param in group["params"]:  # the everyday step: as little as possible for each parameter
                grad = param._grad
                if grad is None:
                    continue
                data = param._d
                if data.dtype is not kind:
                    kind = data.dtype
                    if kind is not F32 and kind is not F64:
                        kind = None
                        self._step(group, param, grad)
                        continue
                    rate = constant(lr, kind)
                version = param._v
                if version is None:
                    version = share(param)
                    data = param._d
                subtract(data, grad._d * rate, data)
                version.version += 1
        return loss

    def _step(self, group: dict[str, Any], param: Tensor, grad: Tensor) -> None:
        """One step of one parameter, whatever the settings."""
        kind = param._d.dtype
        if group["differentiable"]:
            self._step_by_tensors(group, param, grad)
        elif kind in _FAST:
            self._step_by_arrays(group, param, grad._d, kind)
        else:
            version = share(param)
            state = self.state[param] if group["momentum"] != 0 else {}
            param._d[...] = narrow.sgd(group, state, param._d, grad._d)
            version.version += 1

    def _step_by_arrays(self, group: dict[str, Any], param: Tensor, g: Any, kind: Any) -> None:
        version = share(param)
        data: Any = param._d
        if group["maximize"]:
            g = -g
        decay = number(group["weight_decay"])
        if decay != 0:
            g = g + data * constant(decay, kind)
        momentum = group["momentum"]
        if momentum != 0:
            state = self.state[param]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                held = np.empty_like(data)
                held[...] = g
                state["momentum_buffer"] = wrap(held)
            else:
                held = writable(buffer)
                held *= constant(momentum, kind)
                fresh = 1 - group["dampening"]
                held += g if fresh == 1 else g * constant(fresh, kind)
            g = g + held * constant(momentum, kind) if group["nesterov"] else held
        data -= g * constant(number(group["lr"]), kind)
        version.version += 1

    def _step_by_tensors(self, group: dict[str, Any], param: Any, grad: Any) -> None:
        """The same step in operations, where it is to be differentiated itself."""
        before = modes.set_grad(True)
        try:
            grad = -grad if group["maximize"] else grad
            decay, momentum, lr = group["weight_decay"], group["momentum"], group["lr"]
            if isinstance(decay, Tensor) or decay != 0:
                grad = grad + param.clone() * decay if isinstance(decay, Tensor) else grad.add(param, alpha=decay)
            if momentum != 0:
                state = self.state[param]
                buffer = state.get("momentum_buffer")
                if buffer is None:
                    buffer = state["momentum_buffer"] = grad.detach().clone()
                else:
                    buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
                grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
            if isinstance(lr, Tensor) and lr.requires_grad:
                param.sub_(grad * lr)
            else:
                param.add_(grad, alpha=-number(lr))
        finally:
            modes.set_grad(before)


def writable(tensor: Tensor) -> Any:
    """The data of a state tensor, an array to write to; the write is counted where anybody could notice."""
    if type(tensor._d) is not ndarray:
        share(tensor)
    if tensor._v is not None:
        tensor._v.version += 1
    return tensor._d
