"""Dropout: elements, channels or samples set to zero by chance, drawn as PyTorch draws them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...core.write import check_cast
from ...ground.generator import default_generator
from ...ops.declare import composite, unit
from ..random.kernels import bernoulli
from ..random.rows import placed
from ..reduce.functions import check_tensor

_ALPHA = 1.7580993408473766  # SELU's scale times its alpha: where dropped elements of alpha dropout go


def _check(p: float, input: Any, name: str) -> None:
    check_tensor(input, name)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def _kept(input: Tensor, p: float, by_channel: bool) -> Any:
    """Ones where something is kept, zeros where it is dropped."""
    sizes, kind = input._array.shape, input._array.dtype
    if by_channel:
        if len(sizes) < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        return bernoulli(default_generator, 1 - p, (*sizes[:2], *(1,) * (len(sizes) - 2)), kind)
    like = input._array if type(input._array) is np.ndarray else np.empty(())
    return placed(like, lambda n: bernoulli(default_generator, 1 - p, n, kind))


@unit
def dropout_factor(input: Tensor, p: float, by_channel: bool) -> Tensor:
    """What dropout multiplies by: zeros, and ``1 / (1 - p)`` where something is kept."""
    factor = _kept(input, p, by_channel)
    if factor.dtype.kind in "bui":
        check_cast(np.dtype("f4"), input)
    factor /= factor.dtype.type(1 - p)
    return wrap(factor)


@unit
def alpha_dropout_terms(input: Tensor, p: float, by_channel: bool) -> tuple[Tensor, Tensor]:
    """What alpha dropout multiplies by, and what it adds."""
    mask = _kept(input, p, by_channel)
    kind = mask.dtype.type
    a = 1 / ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** 0.5
    return wrap(mask * kind(a)), wrap((mask - kind(1)) * kind(_ALPHA * a) + kind(_ALPHA * a * p))


def _times(input: Any, factor: Tensor, inplace: bool) -> Any:
    return input.mul_(factor) if inplace else input * factor


def _dropped(input: Any, p: float, train: bool, by_channel: bool, inplace: bool = False) -> Any:
    if p == 0 or not train or not input._array.size:
        return input
    if p == 1:
        return _times(input, wrap(np.zeros((), input._array.dtype)), inplace)
    return _times(input, dropout_factor(input, p, by_channel), inplace)


def _alpha_dropped(input: Any, p: float, train: bool, by_channel: bool, inplace: bool = False) -> Any:
    if p == 0 or not train or not input._array.size:
        return input
    if p == 1:
        return _times(input, wrap(np.zeros((), input._array.dtype)), inplace)
    factor, shift = alpha_dropout_terms(input, p, by_channel)
    scaled = _times(input, factor, inplace)
    return scaled.add_(shift) if inplace else scaled + shift


def _pair(name: str, doc: str, drop: Any, by_channel: bool) -> tuple[Any, Any]:
    """A function and its in-place variant."""

    def dropped(input: Any, p: float, train: bool) -> Any:
        _check(p, input, name)
        return drop(input, p, train, by_channel)

    def written(input: Any, p: float, train: bool) -> Any:
        _check(p, input, name)
        return drop(input, p, train, by_channel, inplace=True)

    for function, own, text in ((dropped, name, doc), (written, f"{name}_", f"In-place :func:`{name}`.")):
        function.__name__ = function.__qualname__ = own
        function.__doc__ = text
    return composite(method=False)(dropped), composite(method=False)(written)


dropout, dropout_ = _pair(
    "dropout",
    "``input`` with each element zero with probability ``p``, the others divided by ``1 - p``.",
    _dropped,
    False,
)
feature_dropout, feature_dropout_ = _pair("feature_dropout", "``dropout`` of whole channels.", _dropped, True)
alpha_dropout, alpha_dropout_ = _pair(
    "alpha_dropout", "Dropout that keeps mean and variance of standardised input.", _alpha_dropped, False
)
feature_alpha_dropout, feature_alpha_dropout_ = _pair(
    "feature_alpha_dropout", "``alpha_dropout`` of whole channels.", _alpha_dropped, True
)
