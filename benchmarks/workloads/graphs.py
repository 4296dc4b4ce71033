"""Graphs of many small operations, where what is measured is the cost of an operation, not of arithmetic."""

from __future__ import annotations

from typing import Any

from ..engines import Engine, Step

__all__ = ["chain", "expression", "product"]


def product(engine: Engine) -> Step:
    """One product of 0-d tensors that both require gradients, forward."""
    x, z = (engine.module.tensor(v, requires_grad=True) for v in (3.0, 4.0))
    forward = engine.part(lambda x, z: x * z)
    return engine.whole(lambda: forward(x, z))


def expression(engine: Engine) -> Step:
    """x*z + x + z + sin(x) + cos(z), forward and backward."""
    torch = engine.module
    x, z = (torch.tensor(v, requires_grad=True) for v in (3.0, 4.0))
    sin, cos = torch.sin, torch.cos

    def forward(x: Any, z: Any) -> Any:
        return x * z + x + z + sin(x) + cos(z)

    forward = engine.part(forward)

    def step() -> Any:
        x.grad = z.grad = None
        forward(x, z).backward()
        return x.grad, z.grad

    return engine.whole(step)


def chain(engine: Engine, length: int, shape: tuple[int, ...], factor: float) -> Step:
    """``length`` multiplications by a tensor of ``factor``, one after the other, forward and backward."""
    torch = engine.module
    x, z = (torch.full(shape, v, requires_grad=True) for v in (1.0, factor))
    weight = torch.ones(shape)

    def forward(x: Any, z: Any) -> Any:
        y = x
        for _ in range(length):
            y = y * z
        return y

    forward = engine.part(forward)

    def step() -> Any:
        x.grad = z.grad = None
        forward(x, z).backward(weight)
        return x.grad, z.grad

    return engine.whole(step)
