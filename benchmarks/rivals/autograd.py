"""The workloads that are short to write in HIPS autograd, which differentiates functions of NumPy arrays."""

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


def _numpy() -> Any:
    return importlib.import_module("autograd.numpy")


def product(engine: Engine) -> Step:
    """A recorded product."""
    operators = importlib.import_module("autograd.differential_operators")
    record = operators.make_vjp(lambda x, z: x * z, (0, 1))
    x, z = np.float32(3.0), np.float32(4.0)
    return lambda: record(x, z)[1]


def expression(engine: Engine) -> Step:
    """The expression's gradients."""
    anp = _numpy()
    both = engine.module.grad(lambda x, z: x * z + x + z + anp.sin(x) + anp.cos(z), (0, 1))
    x, z = np.float32(3.0), np.float32(4.0)
    return lambda: list(both(x, z))


def chain(engine: Engine, length: int, shape: tuple[int, ...], factor: float) -> Step:
    """The chain's gradients."""
    if length > LONGEST:
        raise Absent("left out")
    anp = _numpy()

    def function(x: Any, z: Any) -> Any:
        y = x
        for _ in range(length):
            y = y * z
        return anp.sum(y)

    both = engine.module.grad(function, (0, 1))
    x, z = (np.full(shape, v, np.float32) for v in (1.0, factor))
    return lambda: list(both(x, z))


def tinynet(engine: Engine) -> Step:
    """TinyNet's training step."""
    model, x, y = training.tinynet_parts(glassgrad)
    parameters, x, y, anp = list(named(model).values()), array(x), array(y), _numpy()

    def loss_of(parameters: Any) -> Any:
        w1, b1, w2, b2 = parameters
        return anp.mean((anp.dot(anp.maximum(anp.dot(x, w1.T) + b1, 0), w2.T) + b2 - y) ** 2)

    both = engine.module.value_and_grad(loss_of)

    def step() -> Any:
        loss, gradients = both(parameters)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter -= 0.01 * gradient
        return loss

    return step


def mlp(engine: Engine, batch: int) -> Step:
    """The MLP's training step."""
    model, x, y = training.mlp_parts(glassgrad, batch)
    parameters, x, y, anp = list(named(model).values()), array(x), array(y), _numpy()
    means, squares = ([np.zeros_like(one) for one in parameters] for _ in range(2))
    rows, count = np.arange(batch), 0

    def loss_of(parameters: Any) -> Any:
        w1, b1, w2, b2 = parameters
        scores = anp.dot(anp.maximum(anp.dot(x, w1.T) + b1, 0), w2.T) + b2
        scores = scores - anp.max(scores, axis=1, keepdims=True)
        return anp.mean(anp.log(anp.sum(anp.exp(scores), axis=1)) - scores[rows, y])

    both = engine.module.value_and_grad(loss_of)

    def step() -> Any:
        nonlocal count
        count += 1
        loss, gradients = both(parameters)
        size, scale = np.float32(1e-3 / (1 - 0.9**count)), np.float32((1 - 0.999**count) ** 0.5)
        for p, g, m, s in zip(parameters, gradients, means, squares, strict=True):
            m += np.float32(0.1) * (g - m)
            s += np.float32(0.001) * (g * g - s)
            p -= size * m / (np.sqrt(s) / scale + np.float32(1e-8))
        return loss

    return step


def elementwise(engine: Engine, size: int) -> Step:
    """Eight operations through its NumPy."""
    anp = _numpy()
    glassgrad.manual_seed(0)
    x = array(glassgrad.rand(size) + 0.5)
    return lambda: anp.tanh(anp.sqrt(anp.log(anp.exp(x * 2.0 + 1.0))) - 0.5) * x


WORKLOADS = {
    "product": product, "expression": expression, "chain": chain, "tinynet": tinynet, "mlp": mlp,
    "elementwise": elementwise,
}  # fmt: skip
