"""Quantiles: positions between sorted elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor, wrap
from ..declare import composite
from ..primitive.arithmetic import lerp
from ..primitive.norm import shaped
from ..primitive.scatter import gather
from ..primitive.shape import squeeze_dim, transpose, unsqueeze, view
from ..primitive.sort import sort
from .reduce import check_tensor, one_dim

_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")


def _checked(name: str, input: Any, q: Any, interpolation: str) -> Any:
    """The fractions as an array of the input's type."""
    check_tensor(input, name)
    if not input._array.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    kind = input._array.dtype
    if kind != np.float32 and kind != np.float64:
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    if isinstance(q, Tensor):
        if q._array.ndim > 1:
            raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
        if q._array.dtype != kind:
            raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
        fractions = q._array
        if fractions.size and not ((fractions >= 0) & (fractions <= 1)).all():
            raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    else:
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q:g}")
        fractions = np.asarray(q, kind)
    if interpolation not in _WAYS:
        raise RuntimeError(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    return fractions


def _quantile(name: str, input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str, skip_nan: bool) -> Tensor:
    fractions = _checked(name, input, q, interpolation)
    sizes = input._array.shape
    if dim is None:
        lines, reduced = input.flatten(), (1,) * len(sizes)
    else:
        at = one_dim(dim, len(sizes), name, 3)
        reduced = tuple([1 if i == at else n for i, n in enumerate(sizes)])
        last = len(sizes) - 1
        lines = input if at >= last else squeeze_dim(transpose(unsqueeze(input, -1), at, last + 1), at)
        lines = input.flatten() if not sizes else lines
    ordered = sort(lines, lines._array.ndim - 1)[0]
    n = ordered._array.shape[-1]
    ordered = view(ordered, (ordered._array.size // n, n))
    missing = np.isnan(ordered._array)
    wanted = fractions.reshape(1, -1)
    if skip_nan:
        ranks = wanted * np.maximum(n - missing.sum(1, keepdims=True) - 1, 0).astype(wanted.dtype)
    else:
        ranks = np.where(missing.any(1, keepdims=True), n - 1, wanted * wanted.dtype.type(n - 1))
    ranks = ranks.astype(ordered._array.dtype)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[interpolation](ranks)
    below = ranks.astype(np.int64)
    values = gather(ordered, wrap(below), 1)
    if interpolation in ("linear", "midpoint"):
        share = np.full_like(ranks, 0.5) if interpolation == "midpoint" else (ranks - below).astype(ranks.dtype)
        above = gather(ordered, wrap(np.ceil(ranks).astype(np.int64)), 1)
        values = lerp(values, above, wrap(share))
    rest = reduced if keepdim else tuple([m for i, m in enumerate(sizes) if dim is not None and i != at])
    if fractions.ndim == 0:
        return shaped(values, rest)
    return shaped(transpose(values, 0, 1), (fractions.size, *rest))


@composite()
def quantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear", out: Any = None
) -> Any:
    """The values below which fractions ``q`` of the elements lie, of all or along ``dim``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.quantile.html
    """
    values = _quantile("quantile", input, q, dim, keepdim, interpolation, False)
    return values if out is None else _into("quantile", input, out, values)


@composite()
def nanquantile(
    input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear", out: Any = None
) -> Any:
    """``quantile`` of what is not NaN."""
    values = _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)
    return values if out is None else _into("nanquantile", input, out, values)


def _into(name: str, input: Any, out: Any, values: Tensor) -> Any:
    return write.into(gather.row, (input,), out, values)
