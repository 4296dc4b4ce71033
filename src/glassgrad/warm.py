"""Roof: ``glassgrad warm``: the compiled kernels that a program may want are compiled now, and kept on disk.

Numba compiles a kernel for each kind of arrays that it meets, and keeps it; here every file of kernels meets the arrays
that most programs have, of float32, forward and backward. A script that is named is run instead, and compiles what it
uses itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import glassgrad as torch

from .kernels import ahead, compiled

nn = torch.nn
F = nn.functional


def _both_ways(call: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """A call on tensors of these shapes, and the way back to all of them."""
    tensors = [torch.rand(*shape, requires_grad=True) for shape in shapes]
    answer = call(*tensors)
    (answer[0] if isinstance(answer, tuple) else answer).sum().backward()


def _layers(*layers: Any, shape: tuple[int, ...]) -> None:
    for layer in layers:
        _both_ways(layer, shape)
        _both_ways(layer.eval(), shape)


def _activation() -> None:
    for name in ("gelu", "silu", "softplus", "mish", "logsigmoid", "elu", "leaky_relu", "relu", "hardswish"):
        _both_ways(getattr(F, name), (64, 128))
    for name in ("sigmoid", "tanh"):
        _both_ways(getattr(torch, name), (64, 128))


def _attention() -> None:
    for causal in (False, True):
        _both_ways(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), *[(2, 4, 64, 32)] * 3)


def _convolution() -> None:
    for settings in ({}, {"stride": 2}, {"padding": 1}, {"groups": 8}):
        _both_ways(nn.Conv2d(8, 16, 3, **settings), (8, 8, 28, 28))
    _both_ways(nn.Conv2d(1, 6, 5), (8, 1, 28, 28))
    _both_ways(nn.Conv1d(8, 16, 3), (8, 8, 256))


def _linalg() -> None:
    matrix = torch.rand(128, 128) + 128 * torch.eye(128)
    torch.linalg.lu_factor(matrix)
    torch.linalg.solve_triangular(matrix, matrix, upper=True)
    torch.linalg.cholesky(torch.eye(24).repeat(64, 1, 1))


def _random() -> None:
    for size in (100, 100_000):
        torch.randn(size)
        torch.rand(size)
        torch.randperm(size)
        torch.randint(10, (size,))
        torch.rand(size).bernoulli()
    _both_ways(lambda x: F.dropout(x, 0.1), (64, 128))


def _reduce() -> None:
    x = torch.rand(512, 512)
    for reduced in (x.sum, x.var, x.amax, x.prod):
        reduced()
        reduced(1)
    x.sum(0)


def _scatter() -> None:
    rows = torch.arange(4096) * 7 % 1000
    _both_ways(lambda weight: F.embedding(rows, weight), (1000, 64))
    _both_ways(lambda x: x.gather(1, x.detach().argsort(1)), (128, 128))
    _layers(nn.MaxPool2d(2), nn.MaxPool2d(3, 2, 1), shape=(8, 8, 28, 28))
    torch.zeros(128, 128).scatter_add(1, torch.zeros(128, 128).long(), torch.rand(128, 128))


def _optimizer() -> None:
    makers: list[tuple[Any, dict[str, Any]]] = [(torch.optim.SGD, {}), (torch.optim.SGD, {"momentum": 0.9})]
    makers += [(getattr(torch.optim, name), {}) for name in ("Adam", "AdamW", "RMSprop", "Adagrad")]
    for make, settings in makers:
        parameters = [torch.rand(*shape, requires_grad=True) for shape in ((128, 128), (128,))]
        for parameter in parameters:
            parameter.grad = torch.rand_like(parameter)
        make(parameters, **settings).step()


def _elementwise() -> None:
    x, y = torch.rand(256, 256), torch.rand(256, 256)
    x.exp(), x.sin(), x.cos(), x.sqrt(), x.view(256, 256, 1) @ y.view(256, 1, 256)


def _arithmetic() -> None:
    x, y = torch.rand(8192), torch.rand(8192) + 1
    x.remainder(y), x // y, x.fmod(y)


def _matrix() -> None:
    _both_ways(nn.Linear(256, 256), (128, 256))
    _both_ways(torch.matmul, (256, 256), (256, 256))


def _batchnorm() -> None:
    _layers(nn.BatchNorm2d(8), shape=(8, 8, 16, 16))
    _layers(nn.BatchNorm1d(128), shape=(64, 128))


def _norm() -> None:
    _layers(nn.LayerNorm(128), nn.RMSNorm(128), shape=(64, 128))
    _layers(nn.GroupNorm(8, 32), shape=(8, 32, 16, 16))


def _recurrent() -> None:
    layers = [make(32, 64, batch_first=True) for make in (nn.LSTM, nn.GRU, nn.RNN)]
    _layers(*layers, shape=(16, 16, 32))


#: For each file of kernels a program that compiles what most programs want of it.
PROGRAMS: dict[str, Callable[[], Any]] = {
    "activation": _activation,
    "arithmetic": _arithmetic,
    "attention": _attention,
    "batchnorm": _batchnorm,
    "convolution": _convolution,
    "elementwise": _elementwise,
    "linalg": _linalg,
    "matrix": _matrix,
    "norm": _norm,
    "optimizer": _optimizer,
    "random": _random,
    "recurrent": _recurrent,
    "reduce": _reduce,
    "scan": lambda: _both_ways(lambda x: x.cumsum(1) + x.cumprod(1) + x.cummax(1)[0], (64, 128)),
    "scatter": _scatter,
    "softmax": lambda: _both_ways(lambda x: F.softmax(x, 1) + F.log_softmax(x, 1), (64, 128)),
    "sort": lambda: torch.rand(64, 256).topk(5, 1),
    "special": lambda: _both_ways(lambda x: x.erf() + x.erfc() + x.erfinv() + x.lgamma() + x.digamma(), (64, 128)),
}


def warm(names: Iterable[str] = PROGRAMS) -> None:
    """Compile the files of kernels of these names, and keep them on disk.

    Raises RuntimeError where Numba is not installed, or cannot be used.
    """
    if compiled.least == compiled.NEVER:
        raise RuntimeError("there is no Numba here to compile kernels: pip install 'glassgrad[fast]'")
    for name in names:
        with compiled.serving(compiled.LEAST):
            PROGRAMS[name]()
        ahead.keep(name)
