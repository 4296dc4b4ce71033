"""The workloads that are short to write in MyGrad."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import glassgrad

from ..engines import Absent, Engine, Step
from ..workloads import training
from .jax import LONGEST
from .numbers import array, named

__all__ = ["WORKLOADS"]


def product(engine: Engine) -> Step:
    """A recorded product."""
    x, z = (engine.module.tensor(v, dtype=np.float32) for v in (3.0, 4.0))
    return lambda: x * z


def expression(engine: Engine) -> Step:
    """The expression, forward and backward."""
    mygrad = engine.module
    x, z = (mygrad.tensor(v, dtype=np.float32) for v in (3.0, 4.0))

    def step() -> Any:
        x.null_grad()
        z.null_grad()
        (x * z + x + z + mygrad.sin(x) + mygrad.cos(z)).backward()
        return x.grad, z.grad

    return step


def chain(engine: Engine, length: int, shape: tuple[int, ...], factor: float) -> Step:
    """The chain, forward and backward."""
    if length > LONGEST:
        raise Absent("left out")
    x, z = (engine.module.tensor(np.full(shape, v, np.float32)) for v in (1.0, factor))

    def step() -> Any:
        x.null_grad()
        z.null_grad()
        y = x
        for _ in range(length):
            y = y * z
        y.backward()
        return x.grad, z.grad

    return step


def tinynet(engine: Engine) -> Step:
    """TinyNet's training step."""
    mygrad = engine.module
    model, x, y = training.tinynet_parts(glassgrad)
    parameters = [mygrad.tensor(one) for one in named(model).values()]
    w1, b1, w2, b2 = parameters
    x, y = array(x), array(y)
    relu = importlib.import_module("mygrad.nnet.activations").relu

    def step() -> Any:
        loss = mygrad.mean((mygrad.matmul(relu(mygrad.matmul(x, w1.T) + b1), w2.T) + b2 - y) ** 2)
        loss.backward()
        for parameter in parameters:
            parameter.data -= 0.01 * parameter.grad
        return loss

    return step


def mlp(engine: Engine, batch: int) -> Step:
    """The MLP's training step."""
    mygrad = engine.module
    model, x, y = training.mlp_parts(glassgrad, batch)
    parameters = [mygrad.tensor(one) for one in named(model).values()]
    w1, b1, w2, b2 = parameters
    means, squares = ([np.zeros_like(one.data) for one in parameters] for _ in range(2))
    x, y, count = array(x), array(y), 0
    relu = importlib.import_module("mygrad.nnet.activations").relu
    criterion = importlib.import_module("mygrad.nnet.losses").softmax_crossentropy

    def step() -> Any:
        nonlocal count
        count += 1
        loss = criterion(mygrad.matmul(relu(mygrad.matmul(x, w1.T) + b1), w2.T) + b2, y)
        loss.backward()
        size, scale = np.float32(1e-3 / (1 - 0.9**count)), np.float32((1 - 0.999**count) ** 0.5)
        for parameter, m, s in zip(parameters, means, squares, strict=True):
            g = parameter.grad
            m += np.float32(0.1) * (g - m)
            s += np.float32(0.001) * (g * g - s)
            parameter.data -= size * m / (np.sqrt(s) / scale + np.float32(1e-8))
        return loss

    return step


def elementwise(engine: Engine, size: int) -> Step:
    """Eight operations on a constant."""
    mygrad = engine.module
    glassgrad.manual_seed(0)
    x = mygrad.tensor(array(glassgrad.rand(size) + 0.5), constant=True)
    return lambda: mygrad.tanh(mygrad.sqrt(mygrad.log(mygrad.exp(x * 2.0 + 1.0))) - 0.5) * x


WORKLOADS = {
    "product": product, "expression": expression, "chain": chain, "tinynet": tinynet, "mlp": mlp,
    "elementwise": elementwise,
}  # fmt: skip
