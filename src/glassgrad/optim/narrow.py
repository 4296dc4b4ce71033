"""Steps of float16 and bfloat16 parameters: in single precision, rounded after each operation as PyTorch rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensor.tensor import wrap
from .numbers import number

F32 = np.dtype("f4")


class Rounded:
    """An array of a narrow type; arithmetic gives others, computed in float32 and rounded."""

    __slots__ = ("kind", "values")

    def __init__(self, values: Any, kind: np.dtype[Any]) -> None:
        self.kind = kind
        self.values = np.asarray(values).astype(kind).astype(F32)

    def plus(self, other: Rounded, factor: float = 1.0) -> Rounded:
        """``self + factor * other``, rounded once; ``factor`` was rounded before, as in PyTorch's ``add``."""
        return Rounded(self.values + np.array(factor).astype(self.kind).astype(F32) * other.values, self.kind)

    def times(self, factor: float) -> Rounded:
        """``self * factor``."""
        return Rounded(self.values * np.float32(factor), self.kind)


def sgd(group: dict[str, Any], state: dict[str, Any], data: Any, gradient: Any) -> Any:
    """What a step of SGD makes of ``data``."""
    kind = data.dtype
    p, g = Rounded(data, kind), Rounded(gradient, kind)
    if group["maximize"]:
        g = g.times(-1)
    decay, momentum = number(group["weight_decay"]), group["momentum"]
    if decay != 0:
        g = g.plus(p, decay)
    if momentum != 0:
        held = state.get("momentum_buffer")
        if held is None:
            buffer = g
        else:
            buffer = Rounded(held._d, kind).times(momentum).plus(g, 1 - group["dampening"])
        _keep(state, "momentum_buffer", buffer)
        g = g.plus(buffer, momentum) if group["nesterov"] else buffer
    return p.plus(g, -number(group["lr"])).values


def adam(group: dict[str, Any], state: dict[str, Any], data: Any, gradient: Any, step: float) -> Any:
    """What step number ``step`` of Adam makes of ``data``."""
    kind = data.dtype
    p, g = Rounded(data, kind), Rounded(gradient, kind)
    lr, decay = number(group["lr"]), group["weight_decay"]
    beta1, beta2 = (number(beta) for beta in group["betas"])
    if group["maximize"]:
        g = g.times(-1)
    if decay != 0:
        if group["decoupled_weight_decay"]:
            p = p.times(1 - lr * decay)
        else:
            g = g.plus(p, decay)
    mean, square = Rounded(state["exp_avg"]._d, kind), Rounded(state["exp_avg_sq"]._d, kind)
    mean = Rounded(mean.values + np.float32(1 - beta1) * (g.values - mean.values), kind)
    square = square.times(beta2)
    square = Rounded(square.values + np.float32(1 - beta2) * g.values * g.values, kind)
    _keep(state, "exp_avg", mean)
    _keep(state, "exp_avg_sq", square)
    if group["amsgrad"]:
        square = Rounded(np.maximum(state["max_exp_avg_sq"]._d.astype(F32), square.values), kind)
        _keep(state, "max_exp_avg_sq", square)
    root = Rounded(np.sqrt(square.values), kind)
    root = Rounded(root.values / np.float32((1 - beta2**step) ** 0.5), kind)
    root = Rounded(root.values + np.float32(group["eps"]), kind)
    rate = np.float32(lr / (1 - beta1**step))
    return Rounded(p.values - rate * mean.values / root.values, kind).values


def _keep(state: dict[str, Any], name: str, value: Rounded) -> None:
    """Write a value into a state tensor, or make one."""
    held = state.get(name)
    if held is None:
        state[name] = wrap(value.values.astype(value.kind))
    else:
        held._d[...] = value.values
        if held._v is not None:
            held._v.version += 1
