"""Reductions of segments: pieces of one dimension that lie one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from .compare import unsupported

#: reduction -> ufunc and what an empty segment gives
_KINDS = {
    "sum": (np.add, 0.0),
    "mean": (np.add, np.nan),
    "prod": (np.multiply, 1.0),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
}


def _bounds(data: Any, lengths: Any, offsets: Any) -> tuple[Any, Any, Any]:
    """The data as lines, and where among them each segment starts and ends."""
    layout = lengths if lengths is not None else offsets
    axis = layout.ndim - 1
    count = data.shape[axis]
    lines = data.reshape(-1, *data.shape[axis + 1 :])
    sizes = lengths if lengths is not None else np.diff(offsets, axis=-1)
    sizes = sizes.reshape(-1, sizes.shape[-1]).astype(np.intp)
    first = offsets[..., :1].reshape(-1, 1) if offsets is not None else 0
    ends = np.cumsum(sizes, 1) + first + np.arange(len(sizes))[:, None] * count
    starts = ends - sizes
    return lines, starts.reshape(-1), ends.reshape(-1)


def _folded(ufunc: Any, lines: Any, starts: Any, ends: Any, empty: Any) -> Any:
    """``ufunc`` over each segment, ``empty`` where it has no element."""
    out = np.full((len(starts), *lines.shape[1:]), empty, lines.dtype)
    filled = ends > starts
    if filled.any():
        padded = np.concatenate([lines, lines[:1]])  # so that an end may lie behind the last element
        cuts = np.stack([starts[filled], ends[filled]], 1).reshape(-1)
        out[filled] = ufunc.reduceat(padded, cuts, axis=0)[::2]
    return out


@op(node="SegmentReduceBackward0", apart=("lengths", "offsets"), public=False)
def segmented(
    data: Any, lengths: Any = None, offsets: Any = None, /, reduce: Any = "sum", axis: Any = 0, initial: Any = None
) -> Any:
    """The sum, mean, product or extreme of each segment of ``data``."""
    kind = data.dtype
    if kind.kind not in "fV":
        raise unsupported("_segment_reduce_cpu", data)
    if kind.itemsize == 2:
        return segmented.row.kernel(data.astype("f4"), lengths, offsets, reduce, axis, initial).astype(kind)
    ufunc, empty = _KINDS[reduce]
    lines, starts, ends = _bounds(data, lengths, offsets)
    out = _folded(ufunc, lines, starts, ends, empty if initial is None else initial)
    sizes = (ends - starts).reshape(-1, *(1,) * (lines.ndim - 1))
    if initial is not None:
        out = np.where(sizes > 0, ufunc(out, kind.type(initial)), out)
    if reduce == "mean":
        out = np.where(sizes > 0, out / np.maximum(sizes, 1).astype(kind), out)
    layout = lengths if lengths is not None else offsets
    number = layout.shape[-1] - (lengths is None)
    return out.reshape(*layout.shape[:-1], number, *data.shape[layout.ndim :])


segmented.derivative(
    data=lambda grad, result, data, lengths, offsets, reduce, axis, initial: segment_reduce_backward(
        grad, result, data, lengths, offsets, reduce, initial
    )
)


def refuse_again(grad: Any) -> Any:
    """Raise PyTorch's error for the second derivative."""
    raise RuntimeError("derivative for aten::_segment_reduce_backward is not implemented")


@op(apart=("lengths", "offsets"), public=False)
def segment_reduce_backward(
    grad: Any, result: Any, data: Any, lengths: Any = None, offsets: Any = None, /, reduce: Any = "sum",
    initial: Any = None,
) -> Any:  # fmt: skip
    """The gradient of each element: its segment's, shared among equals for extremes."""
    kind = data.dtype
    if kind.itemsize == 2:
        wide = [a.astype("f4") for a in (grad, result, data)]
        return segment_reduce_backward.row.kernel(*wide, lengths, offsets, reduce, initial).astype(kind)
    lines, starts, ends = _bounds(data, lengths, offsets)
    sizes = ends - starts
    where = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)] or [np.zeros(0, np.intp)])
    owner = np.repeat(np.arange(len(sizes)), sizes)
    grads = grad.reshape(-1, *lines.shape[1:])[owner]
    results = result.reshape(-1, *lines.shape[1:])[owner]
    own = lines[where]
    if reduce == "mean":
        grads = grads / sizes[owner].reshape(-1, *(1,) * (lines.ndim - 1)).astype(kind)
    elif reduce == "prod":
        hidden = (own == 0) | np.isnan(own)
        rest = np.divide(results, own, where=~hidden, out=np.zeros_like(results))
        for position in np.argwhere(hidden):  # division would lose them: multiply the others
            segment = owner[position[0]]
            others = np.arange(starts[segment], ends[segment])
            others = others[others != where[position[0]]]
            others = lines[(others, *position[1:])]
            rest[tuple(position)] = np.multiply.reduce(others) * (1 if initial is None else initial)
        grads = grads * rest
    elif reduce in ("max", "min"):
        chosen = (own == results) | np.isnan(own)
        shares = np.zeros((len(sizes), *lines.shape[1:]), kind)
        np.add.at(shares, owner, chosen.astype(kind))
        grads = np.where(chosen, grads / np.maximum(shares[owner], 1), 0)
    out = np.zeros_like(lines)
    out[where] = grads
    return out.reshape(data.shape)


segment_reduce_backward.derivative(grad=refuse_again, result=refuse_again, data=refuse_again)
