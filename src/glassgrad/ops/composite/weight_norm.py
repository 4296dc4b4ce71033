"""Norms of weights over all dimensions but one, and weights that are given such norms."""

from __future__ import annotations

from typing import Any

from ..declare import composite
from ..primitive.distance import linalg_vector_norm, norm_dim
from ..primitive.weight_norm import weight_norm_interface


@composite(method=False)
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """The norms of order ``pow`` over all dimensions of ``v`` but ``dim``, which are kept; with ``dim`` -1 over all."""
    shape = v._array.shape
    if dim == -1:
        return linalg_vector_norm(v, pow, None, False)
    if dim == 0:
        return norm_dim(v.view(shape[0], -1), pow, (1,)).view(shape[0], *(1,) * (len(shape) - 1))
    if dim == len(shape) - 1:
        return norm_dim(v.view(-1, shape[-1]), pow, (0,)).view(*(1,) * (len(shape) - 1), shape[-1])
    return norm_except_dim(v.transpose(0, dim).contiguous(), pow, 0).transpose(0, dim)


@composite(method=False)
def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """``v`` with the norms ``g`` over all dimensions but ``dim``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
    """
    if dim == 0 or dim == v._array.ndim - 1:
        return weight_norm_interface(v.contiguous(), g.contiguous(), dim)[0]
    return v * (g / norm_except_dim(v, 2, dim))
