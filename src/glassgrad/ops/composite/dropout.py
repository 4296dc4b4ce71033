"""Dropout: elements, channels or samples set to zero by chance, drawn as PyTorch draws them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ground.generator import default_generator
from ...kernels.random import bernoulli
from ...tensor.tensor import Tensor, wrap
from ..declare import composite
from .reduce import check_tensor

_ALPHA = 1.7580993408473766  # SELU's scale times its alpha: where dropped elements of alpha dropout go


def _check(p: float, input: Any, name: str) -> None:
    check_tensor(input, name)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def _kept(input: Tensor, p: float, by_channel: bool) -> Any:
    """Ones where something is kept, zeros where it is dropped."""
    sizes = input._d.shape
    if by_channel:
        if len(sizes) < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        sizes = (*sizes[:2], *(1,) * (len(sizes) - 2))
    return bernoulli(default_generator, 1 - p, sizes, input._d.dtype)


def _dropped(input: Any, p: float, train: bool, by_channel: bool) -> Any:
    if p == 0 or not train or not input._d.size:
        return input
    if p == 1:
        return input * wrap(np.zeros((), input._d.dtype))
    kept = _kept(input, p, by_channel)
    return input * wrap(kept / kept.dtype.type(1 - p))


def _alpha_dropped(input: Any, p: float, train: bool, by_channel: bool) -> Any:
    if p == 0 or not train or not input._d.size:
        return input
    if p == 1:
        return input * wrap(np.zeros((), input._d.dtype))
    kept = _kept(input, p, by_channel)
    kind = kept.dtype.type
    a = 1 / ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** 0.5
    shift = (kept - kind(1)) * kind(_ALPHA * a) + kind(_ALPHA * a * p)
    return input * wrap(kept * kind(a)) + wrap(shift)


@composite(method=False)
def dropout(input: Any, p: float, train: bool) -> Any:
    """``input`` with each element zero with probability ``p``, the others divided by ``1 - p``."""
    _check(p, input, "dropout")
    return _dropped(input, p, train, False)


@composite(method=False)
def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """``dropout`` of whole channels."""
    _check(p, input, "feature_dropout")
    return _dropped(input, p, train, True)


@composite(method=False)
def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """Dropout that keeps mean and variance of standardised input."""
    _check(p, input, "alpha_dropout")
    return _alpha_dropped(input, p, train, False)


@composite(method=False)
def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """``alpha_dropout`` of whole channels."""
    _check(p, input, "feature_alpha_dropout")
    return _alpha_dropped(input, p, train, True)


def _in_place(function: Any) -> Any:
    def written(input: Any, p: float, train: bool) -> Any:
        result = function(input, p, train)
        return input if result is input else input.copy_(result)

    written.__name__ = written.__qualname__ = f"{function.__name__}_"
    written.__doc__ = f"In-place :func:`{function.__name__}`."
    return composite(method=False)(written)


dropout_ = _in_place(dropout)
feature_dropout_ = _in_place(feature_dropout)
alpha_dropout_ = _in_place(alpha_dropout)
feature_alpha_dropout_ = _in_place(feature_alpha_dropout)
