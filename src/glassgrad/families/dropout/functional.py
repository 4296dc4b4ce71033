"""The dropout family with ``torch.nn.functional``'s signatures and warnings."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground.listening import audible
from ...ground.runtime import warn
from . import functions as drop


def _check(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@audible
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training each element zero with probability ``p``, the others divided by ``1 - p``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html
    """
    _check(p)
    return (drop.dropout_ if inplace else drop.dropout)(input, p, training)


@audible
def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of standardised input."""
    _check(p)
    return (drop.alpha_dropout_ if inplace else drop.alpha_dropout)(input, p, training)


@audible
def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """``alpha_dropout`` of whole channels."""
    _check(p)
    return (drop.feature_alpha_dropout_ if inplace else drop.feature_alpha_dropout)(input, p, training)


def _by_channel(input: Any, p: float, training: bool, inplace: bool) -> Any:
    return (drop.feature_dropout_ if inplace else drop.feature_dropout)(input, p, training)


@audible
def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    _check(p)
    ndim = input.dim()
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch "
            "dimension (i.e. 2D or 3D inputs)."
        )
    if ndim == 3:
        return _by_channel(input, p, training, inplace)
    result = _by_channel(input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)


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
def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, H, W)."""
    _check(p)
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
def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of (N, C, D, H, W)."""
    _check(p)
    ndim = input.dim()
    _spatial("dropout3d", ndim, (4, 5), 3, "4D or 5D")
    if ndim == 5:
        return _by_channel(input, p, training, inplace)
    result = _by_channel(input.unsqueeze_(0) if inplace else input.unsqueeze(0), p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)
