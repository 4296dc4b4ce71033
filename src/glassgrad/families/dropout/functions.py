"""Dropout: elements, channels or samples set to zero by chance, drawn as PyTorch draws them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import modes
from ...ground.dtypes import need_bool, need_float
from ...ground.generator import default_generator
from ...ground.layout import dense_like
from ...ground.listening import asking, audible
from ...ground.runtime import warn
from ...ops.declare import composite, functional, unit
from ...tensor import lifted
from ...tensor.writable import check_cast
from ..random.kernels import bernoulli
from ..random.rows import placed
from ..reduce.functions import check_tensor

_ALPHA = 1.7580993408473766  # SELU's scale times its alpha: where dropped elements of alpha dropout go


def _check(name: str, input: Any, p: float, train: bool) -> None:
    check_tensor(input, name)
    if type(p) is not float:
        need_float(name, "p", 2, p)
    if train is not True:
        need_bool(name, "train", 3, train)
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def _kept(input: Tensor, p: float, by_channel: bool) -> Any:
    """Ones where something is kept, zeros where it is dropped."""
    sizes, kind = input._array.shape, input._array.dtype
    if by_channel:
        if len(sizes) < 2:
            raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
        return bernoulli(default_generator, 1 - p, (*sizes[:2], *(1,) * (len(sizes) - 2)), kind)
    like = input._array if type(input._array) is np.ndarray else np.empty((), kind)
    if not like.flags.forc:  # the memory that is drawn over is new: nothing is in it twice
        like = dense_like(like, kind)
    return _over(like, p)


def _over(array: Any, p: float) -> Any:
    """The same in the order in which the elements of an array lie."""
    return placed(array, lambda n: bernoulli(default_generator, 1 - p, n, array.dtype))


def _drawn(input: Tensor, p: float, by_channel: bool) -> Any:
    """The same while a function is transformed: once, or for each example of ``vmap``."""
    sizes, kind = input._array.shape, input._array.dtype
    if by_channel:
        sizes = (*sizes[:2], *(1,) * (len(sizes) - 2))
    elif not lifted.has_function():
        return lifted.drawn_like(lambda array: wrap(_over(array, p)), input)
    return lifted.drawn(lambda sizes: wrap(bernoulli(default_generator, 1 - p, sizes, kind)), sizes)


@unit
def dropout_factor(input: Tensor, p: float, by_channel: bool) -> Tensor:
    """What dropout multiplies by: zeros, and ``1 / (1 - p)`` where something is kept."""
    if modes.transforming:
        return _drawn(input, p, by_channel) / (1 - p)
    factor = _kept(input, p, by_channel)
    if factor.dtype.kind in "bui":
        check_cast(np.dtype("f4"), input)
    if factor.dtype.itemsize == 2:  # PyTorch divides in float32 and rounds once
        factor *= factor.dtype.type(np.float32(1) / np.float32(1 - p)) if p < 1 else 1
    else:
        factor /= factor.dtype.type(1 - p)
    return wrap(factor)


@unit
def alpha_dropout_terms(input: Tensor, p: float, by_channel: bool) -> tuple[Tensor, Tensor]:
    """What alpha dropout multiplies by, and what it adds."""
    a = 1 / ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** 0.5
    if modes.transforming:
        kept = _drawn(input, p, by_channel)
        return kept * a, (kept - 1) * (_ALPHA * a) + _ALPHA * a * p
    mask = _kept(input, p, by_channel)
    if mask.dtype.kind in "bui":
        check_cast(np.dtype("f4"), wrap(mask + 0))  # one less than a truth value is a whole number
    kind = mask.dtype.type
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

    @asking
    def dropped(input: Any, p: float, train: bool) -> Any:
        _check(name, input, p, train)
        return drop(input, p, train, by_channel)

    @asking
    def written(input: Any, p: float, train: bool) -> Any:
        _check(name, input, p, train)
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


# -- ``torch.nn.functional``'s signatures and warnings -----------------------------------------------------------------


def _need_chance(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _front(drop: Any, drop_: Any, input: Any, p: float, training: bool, inplace: bool) -> Tensor:
    _need_chance(p)
    return (drop_ if inplace else drop)(input, p, training)  # type: ignore[no-any-return]


@functional
def functional_dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training each element zero with probability ``p``, the others divided by ``1 - p``."""
    return _front(dropout, dropout_, input, p, training, inplace)


@functional
def functional_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of standardised input."""
    return _front(alpha_dropout, alpha_dropout_, input, p, training, inplace)


@functional
def functional_feature_alpha_dropout(
    input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """``alpha_dropout`` of whole channels."""
    return _front(feature_alpha_dropout, feature_alpha_dropout_, input, p, training, inplace)


def _by_channel(input: Any, p: float, training: bool, inplace: bool) -> Tensor:
    return (feature_dropout_ if inplace else feature_dropout)(input, p, training)  # type: ignore[no-any-return]


def _sample_by_channel(input: Any, p: float, training: bool, inplace: bool) -> Tensor:
    """Dropout of the channels of one sample, without a dimension for a batch."""
    result: Any = _by_channel(input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)  # type: ignore[no-any-return]


@audible
@asking
def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _need_chance(p)
    ndim = input.dim()
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs)."
        )
    return (_by_channel if ndim == 3 else _sample_by_channel)(input, p, training, inplace)


def _spatial(name: str, ndim: int, fits: tuple[int, int], spatial: int, batched: str) -> None:
    if ndim in fits:
        return
    warn(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
        "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel "
        f"dimension, and an optional batch dimension (i.e. {batched} inputs).",
    )


@audible
@asking
def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W)."""
    _need_chance(p)
    ndim = input.dim()
    _spatial("dropout2d", ndim, (3, 4), 2, "3D or 4D")
    if ndim == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change "
            "in a future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
            "maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
        )
    return _by_channel(input, p, training, inplace)


@audible
@asking
def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W)."""
    _need_chance(p)
    ndim = input.dim()
    _spatial("dropout3d", ndim, (4, 5), 3, "4D or 5D")
    return (_by_channel if ndim == 5 else _sample_by_channel)(input, p, training, inplace)
