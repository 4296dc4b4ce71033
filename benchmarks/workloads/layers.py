"""One layer or kernel at a time, forward and backward unless said otherwise, all gradients compared."""

from __future__ import annotations

from typing import Any

from ..engines import Engine, Step

__all__ = [
    "conv", "conv_parts", "cross_entropy", "elementwise", "layer_norm", "lstm", "lstm_parts", "reduction", "rows",
    "softmax",
]  # fmt: skip


def _differentiated(engine: Engine, forward: Any, inputs: list[Any], weight: Any, *data: Any) -> Step:
    """The step that gives the result and the gradients of ``inputs``; ``weight`` is the result's own gradient."""
    forward = engine.part(forward)

    def step() -> Any:
        for tensor in inputs:
            tensor.grad = None
        y = forward(*data)
        y.backward(weight)
        return [y, *(tensor.grad for tensor in inputs)]

    return engine.whole(step)


def lstm_parts(torch: Any, width: int, steps: int, batch: int) -> tuple[Any, Any, Any]:
    """A layer, a batch of sequences, and the gradient of what comes out."""
    torch.manual_seed(0)
    model = torch.nn.LSTM(width, width)
    return model, torch.randn(steps, batch, width), torch.randn(steps, batch, width)


def lstm(engine: Engine, **sizes: int) -> Step:
    """A whole-sequence LSTM."""
    model, x, weight = lstm_parts(engine.module, **sizes)
    x.requires_grad_()
    return _differentiated(engine, lambda x: model(x)[0], [x, *model.parameters()], weight, x)


def conv_parts(torch: Any, batch: int) -> tuple[Any, Any, Any]:
    """A convolution of 64 to 64 channels, 3x3, on 32x32 images, and the gradient of what comes out."""
    torch.manual_seed(0)
    model = torch.nn.Conv2d(64, 64, 3, padding=1)
    return model, torch.randn(batch, 64, 32, 32), torch.randn(batch, 64, 32, 32)


def conv(engine: Engine, batch: int) -> Step:
    """The convolution, with the gradient of its input, as in the middle of a network."""
    model, x, weight = conv_parts(engine.module, batch)
    x.requires_grad_()
    return _differentiated(engine, lambda x: model(x), [x, *model.parameters()], weight, x)


def rows(torch: Any, count: int, length: int) -> tuple[Any, Any, Any]:
    """``count`` rows of random numbers, as many for the gradient, and a class for each row."""
    torch.manual_seed(0)
    return torch.randn(count, length), torch.randn(count, length), torch.randint(length, (count,))


def softmax(engine: Engine, count: int, length: int) -> Step:
    """Softmax of rows."""
    x, weight, _ = rows(engine.module, count, length)
    x.requires_grad_()
    function = engine.module.nn.functional.softmax
    return _differentiated(engine, lambda x: function(x, dim=1), [x], weight, x)


def layer_norm(engine: Engine, count: int, length: int) -> Step:
    """Layer normalisation of rows, with weight and bias."""
    x, weight, _ = rows(engine.module, count, length)
    x.requires_grad_()
    model = engine.module.nn.LayerNorm(length)
    return _differentiated(engine, lambda x: model(x), [x, *model.parameters()], weight, x)


def cross_entropy(engine: Engine, count: int, length: int) -> Step:
    """Cross-entropy of rows of scores."""
    x, _, classes = rows(engine.module, count, length)
    x.requires_grad_()
    function = engine.module.nn.functional.cross_entropy
    return _differentiated(engine, lambda x: function(x, classes), [x], None, x)


def reduction(engine: Engine, side: int, dims: tuple[int, ...]) -> Step:
    """The sum of ``side`` x ``side`` float32, forward: of all (no dims), of rows (1) or of columns (0)."""
    engine.module.manual_seed(0)
    x = engine.module.rand(side, side)
    forward = engine.part(lambda x: x.sum(*dims))
    return engine.whole(lambda: forward(x))


def elementwise(engine: Engine, size: int) -> Step:
    """Eight elementwise operations on ``size`` float32, forward."""
    engine.module.manual_seed(0)
    x = engine.module.rand(size) + 0.5
    forward = engine.part(lambda x: ((x * 2.0 + 1.0).exp().log().sqrt() - 0.5).tanh() * x)
    return engine.whole(lambda: forward(x))
