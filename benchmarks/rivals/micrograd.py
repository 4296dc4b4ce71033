"""The workloads that micrograd can express: scalars, sums, products, powers, rectified units."""

from __future__ import annotations

import sys
from typing import Any

import glassgrad

from ..engines import Absent, Engine, Step
from ..workloads import training
from .jax import LONGEST
from .numbers import named

__all__ = ["WORKLOADS"]


def product(engine: Engine) -> Step:
    """A recorded product."""
    x, z = (engine.module.Value(v) for v in (3.0, 4.0))
    return lambda: [(x * z).data]


def chain(engine: Engine, length: int, shape: tuple[int, ...], factor: float) -> Step:
    """The chain of scalars, forward and backward; its backward pass is a recursion as deep as the graph."""
    if shape:
        raise Absent("scalars only")
    if length > LONGEST:
        raise Absent("a recursion too deep")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 3 * length + 1000))
    x, z = (engine.module.Value(v) for v in (1.0, factor))

    def step() -> Any:
        x.grad = z.grad = 0
        y = x
        for _ in range(length):
            y = y * z
        y.backward()
        return x.grad, z.grad

    return step


def tinynet(engine: Engine) -> Step:
    """TinyNet's training step, number by number."""
    value = engine.module.Value
    model, x, y = training.tinynet_parts(glassgrad)
    w1, b1, w2, b2 = (one.tolist() for one in named(model).values())
    w1 = [[value(v) for v in row] for row in w1]
    b1, w2, b2 = [value(v) for v in b1], [value(v) for v in w2[0]], value(b2[0])
    parameters = [v for row in w1 for v in row] + b1 + w2 + [b2]
    rows = list(zip(x.tolist(), (one[0] for one in y.tolist()), strict=True))

    def step() -> Any:
        total = value(0.0)
        for (left, right), wanted in rows:
            hidden = [(w[0] * left + w[1] * right + b).relu() for w, b in zip(w1, b1, strict=True)]
            out = sum((w * h for w, h in zip(w2, hidden, strict=True)), b2)
            total = total + (out - wanted) ** 2
        loss = total * (1 / len(rows))
        for parameter in parameters:
            parameter.grad = 0
        loss.backward()
        for parameter in parameters:
            parameter.data -= 0.01 * parameter.grad
        return loss.data

    return step


WORKLOADS = {"product": product, "chain": chain, "tinynet": tinynet}
