"""The rows of the table: each is a function that, given an engine, makes the step to be timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Step = Callable[[], Any]


@dataclass(frozen=True)
class Row:
    """A workload: its name, what makes a step of it for an engine, how many operations a step is, and the goal."""

    name: str
    make: Callable[[Any], Step]
    goal: float
    operations: int = 1
    rounds: int = 15
    seconds: float = 0.15


def multiplication(engine: Any) -> Step:
    """One product of 0-d tensors that both require gradients, forward."""
    x, z = (engine.tensor(v, requires_grad=True) for v in (3.0, 4.0))
    return lambda: x * z


def expression(engine: Any) -> Step:
    """The seed's expression, forward and backward."""
    x, z = (engine.tensor(v, requires_grad=True) for v in (3.0, 4.0))
    sin, cos = engine.sin, engine.cos

    def step() -> Any:
        x.grad = z.grad = None
        y = x * z + x + z + sin(x) + cos(z)
        y.backward()
        return x.grad

    return step


def chain(length: int, *shape: int) -> Callable[[Any], Step]:
    """``length`` multiplications in a row, forward and backward."""

    def make(engine: Any) -> Step:
        x, z = (engine.ones(shape, requires_grad=True) for _ in range(2))
        weight = engine.ones(shape)

        def step() -> Any:
            x.grad = z.grad = None
            y = x
            for _ in range(length):
                y = y * z
            y.backward(weight)
            return x.grad

        return step

    return make


def tinynet(engine: Any) -> Step:
    """A whole training step of the seed's TinyNet 2-3-1: batch 10, MSE, SGD."""
    nn = engine.nn

    class TinyNet(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear1 = nn.Linear(2, 3)
            self.relu = nn.ReLU()
            self.linear2 = nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            return self.linear2(self.relu(self.linear1(x)))

    engine.manual_seed(0)
    model = TinyNet()
    optimizer = engine.optim.SGD(model.parameters(), lr=0.01)
    criterion = nn.MSELoss()
    x, y = engine.randn(10, 2), engine.randn(10, 1)

    def step() -> Any:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def mlp(engine: Any) -> Step:
    """A training step of an MLP 784-256-10: batch 64, cross-entropy, Adam (PyTorch's fused one)."""
    nn = engine.nn
    engine.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = engine.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    criterion = nn.CrossEntropyLoss()
    x, y = engine.randn(64, 784), engine.randint(10, (64,))

    def step() -> Any:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def elementwise(engine: Any) -> Step:
    """Eight elementwise operations on a million float32, forward."""
    engine.manual_seed(0)
    x = engine.rand(1_000_000) + 0.5

    def step() -> Any:
        return ((x * 2.0 + 1.0).exp().log().sqrt() - 0.5).tanh() * x

    return step


def reduction(how: str) -> Callable[[Any], Step]:
    """The sum of four million float32: all, by rows, or by columns."""

    def make(engine: Any) -> Step:
        engine.manual_seed(0)
        x = engine.rand(2000, 2000)
        dims = {"full": (), "rows": (1,), "columns": (0,)}[how]
        return lambda: x.sum(*dims)

    return make


ROWS = [
    Row("x*z, 0-d, forward", multiplication, 3.0),
    Row("x*z + x + z + sin(x) + cos(z), forward + backward", expression, 3.0),
    Row("chain of 1,000 products, 0-d", chain(1000), 3.0, 1000),
    Row("chain of 1,000 products, 8-vectors", chain(1000, 8), 2.0, 1000),
    Row("chain of 1,000,000 products, built, walked, freed", chain(1_000_000), 2.0, 1_000_000, rounds=2, seconds=0),
    Row("TinyNet 2-3-1, batch 10, MSE, SGD, whole step", tinynet, 4.0),
    Row("MLP 784-256-10, batch 64, Adam (rival fused), whole step", mlp, 1.2, rounds=9),
    Row("elementwise chain of 8 on 1M float32", elementwise, 1.5, rounds=9),
    Row("sum of 4M float32, full (needs kernels)", reduction("full"), 1.0, rounds=9),
    Row("sum of 4M float32, rows (needs kernels)", reduction("rows"), 1.0, rounds=9),
    Row("sum of 4M float32, columns", reduction("columns"), 1.0, rounds=9),
]
