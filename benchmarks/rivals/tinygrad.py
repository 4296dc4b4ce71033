"""The workloads that are short to write in tinygrad, each recorded once by its ``TinyJit``, its best setting."""

from __future__ import annotations

from typing import Any

import numpy as np

import glassgrad

from ..engines import Absent, Engine, Step
from ..workloads import training
from .numbers import array, named

__all__ = ["WORKLOADS"]

UNROLLED = 100  # multiplications: a longer chain takes minutes to compile, or meets the recursion limit


def _tensor(engine: Engine, value: Any) -> Any:
    return engine.module.Tensor(np.asarray(value)).clone().realize()  # a 0-d array alone would become a constant


def _replayed(engine: Engine, function: Any, *inputs: Any) -> Step:
    """The step that runs the recorded function and waits for it."""
    run, device = engine.whole(function), engine.module.Device
    tensors = [_tensor(engine, value) for value in inputs]

    def step() -> Any:
        result = run(*tensors)
        device[device.DEFAULT].synchronize()
        return result

    return step


def product(engine: Engine) -> Step:
    """The product; laziness has nothing to record here."""
    return _replayed(engine, lambda x, z: (x * z).realize(), *(np.array(v, np.float32) for v in (3.0, 4.0)))


def _gradients(engine: Engine, function: Any, *inputs: Any) -> Step:
    def both(*tensors: Any) -> Any:
        return [one.realize() for one in function(*tensors).gradient(*tensors)]

    return _replayed(engine, both, *inputs)


def expression(engine: Engine) -> Step:
    """The expression's gradients."""
    pair = (np.array(v, np.float32) for v in (3.0, 4.0))
    return _gradients(engine, lambda x, z: x * z + x + z + x.sin() + z.cos(), *pair)


def chain(engine: Engine, length: int, shape: tuple[int, ...], factor: float) -> Step:
    """The chain's gradients."""
    if length > UNROLLED:
        raise Absent("too long to compile")

    def function(x: Any, z: Any) -> Any:
        y = x
        for _ in range(length):
            y = y * z
        return y.sum()

    return _gradients(engine, function, *(np.full(shape, v, np.float32) for v in (1.0, factor)))


def tinynet(engine: Engine) -> Step:
    """TinyNet's training step."""
    model, x, y = training.tinynet_parts(glassgrad)
    parameters = [_tensor(engine, one) for one in named(model).values()]
    w1, b1, w2, b2 = parameters

    def train(x: Any, y: Any) -> Any:
        loss = (((x @ w1.T + b1).relu() @ w2.T + b2 - y) ** 2).mean()
        gradients = loss.gradient(*parameters)
        moved = [p.assign(p - 0.01 * g) for p, g in zip(parameters, gradients, strict=True)]
        return loss.realize(*moved)

    return _replayed(engine, train, array(x), array(y))


def mlp(engine: Engine, batch: int) -> Step:
    """The MLP's training step."""
    model, x, y = training.mlp_parts(glassgrad, batch)
    parameters = [_tensor(engine, one) for one in named(model).values()]
    w1, b1, w2, b2 = parameters
    means, squares = ([_tensor(engine, 0 * array(one)) for one in parameters] for _ in range(2))
    count = _tensor(engine, np.zeros(1, np.float32))

    def train(x: Any, y: Any) -> Any:
        loss = ((x @ w1.T + b1).relu() @ w2.T + b2).sparse_categorical_crossentropy(y)
        gradients = loss.gradient(*parameters)
        changed = [count.assign(count + 1)]
        size, scale = 1e-3 / (1 - 0.9**count), (1 - 0.999**count).sqrt()
        for p, g, m, s in zip(parameters, gradients, means, squares, strict=True):
            changed += [m.assign(0.9 * m + 0.1 * g), s.assign(0.999 * s + 0.001 * g * g)]
            changed.append(p.assign(p - size * m / (s.sqrt() / scale + 1e-8)))
        return loss.realize(*changed)

    return _replayed(engine, train, array(x), array(y))


def elementwise(engine: Engine, size: int) -> Step:
    """Eight operations, fused."""
    glassgrad.manual_seed(0)
    x = array(glassgrad.rand(size) + 0.5)
    return _replayed(engine, lambda x: (((x * 2.0 + 1.0).exp().log().sqrt() - 0.5).tanh() * x).realize(), x)


WORKLOADS = {
    "product": product, "expression": expression, "chain": chain, "tinynet": tinynet, "mlp": mlp,
    "elementwise": elementwise,
}  # fmt: skip
