"""Scaled dot-product attention in one record: blocks of queries small enough for the cache, weights made twice.

The weights of a query are softmax(scale * query @ keys + mask).  Forward keeps the logarithms of their sums only;
backward makes the weights again from these, block by block. Source: Dao (2023), FlashAttention-2, arXiv:2307.08691.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from ...core.row import op
from ...core.tensor import wrap
from ...kernels import compiled
from ..arithmetic.rows import mul_number
from ..matrix.batch import bmm, each_by_transposed, each_transposed_by
from ..norm.rows import shaped
from ..reduce.rows import F32, F64, along, sum_dim
from ..shape.rows import expand, on_arrays, unsqueeze
from ..softmax.rows import softmax_backward

ndarray = np.ndarray
_BLOCK = 2**17  # weights at work at once: half a megabyte of single precision, which stays in the cache
_ROWS = 64  # queries in a block where keys that come later are left out
# Sums of exponentials between these are exact enough that nothing need be subtracted first.
_LEAST, _MOST = {F32: 1e-6, F64: 1e-30}, {F32: 1e12, F64: 1e100}

# -- softmax whose lines may be masked altogether ----------------------------------------------------------------------


@op(public=False, batched="dims")
def safe_softmax(self: Any, /, dim: int) -> Any:
    """``softmax`` along ``dim``; lines of minus infinity alone become zeros."""
    d = self.dtype
    if d != F32 and d != F64:
        return safe_softmax.row.kernel(self.astype(F32), dim).astype(d)
    if not self.size:
        return self.copy()
    top = np.maximum.reduce(self, axis=dim, keepdims=True)
    top[np.isneginf(top)] = 0
    weights = self - top
    np.exp(weights, weights)
    sums = along(weights, dim, True)
    sums[sums == 0] = 1
    weights /= sums
    return weights


safe_softmax.derivative(self=lambda grad, result, dim: softmax_backward(grad, result, dim))


# -- masks -------------------------------------------------------------------------------------------------------------


def factor(scale: float | None, width: int) -> float:
    """What the products of queries and keys are multiplied by: one over the root of their width, unless told."""
    return 1 / sqrt(width) if scale is None else float(scale)


def added(mask: Any, kind: Any) -> Any:
    """A mask as what is added to the products: truth values say where attention may go."""
    if mask is None:
        return None
    if mask.dtype.kind == "b":
        return np.where(mask, kind.type(0), kind.type(-np.inf))
    return mask.astype(kind, copy=False)


_later = np.empty((0, 0), bool)


def later(count: int) -> Any:
    """Whether a key comes later than its query."""
    global _later
    if len(_later) < count:
        _later = np.triu(np.ones((max(count, _ROWS),) * 2, bool), 1)
    return _later[:count, :count]


@on_arrays(lambda query, key, attn_mask, is_causal: _bias(query, key, attn_mask, is_causal))
def bias_of(query: Any, key: Any, attn_mask: Any, is_causal: bool) -> Any:
    """All that is added to the products, for matrices of the heads of all samples; None where nothing is."""
    bias = _bias(query._array, key._array, attn_mask if attn_mask is None else attn_mask._array, is_causal)
    return None if bias is None else wrap(bias)


def _bias(query: Any, key: Any, attn_mask: Any, is_causal: bool) -> Any:
    bias = added(attn_mask, query.dtype)
    n, heads, rows, _ = query.shape
    columns = key.shape[2]
    if is_causal:
        causal = np.triu(np.full((rows, columns), -np.inf, query.dtype), 1)
        bias = causal if bias is None else bias + causal
    return None if bias is None else np.broadcast_to(bias, (n, heads, rows, columns)).reshape(n * heads, rows, columns)


# -- blocks ------------------------------------------------------------------------------------------------------------


def _blocks(n: int, heads: int, rows: int, columns: int, causal: bool) -> Iterator[tuple[slice, slice, slice, int]]:
    """Blocks of samples, heads and queries, with how many keys each sees; all queries of a head in order."""
    height = rows
    if rows * columns > _BLOCK:
        height = max(16, _BLOCK // columns)
    if causal and rows >= 2 * _ROWS:
        height = min(height, _ROWS)
    width = heads if rows * columns * heads <= _BLOCK else max(1, min(heads, _BLOCK // (height * columns)))
    depth = max(1, _BLOCK // (rows * columns * heads)) if width == heads and height == rows else 1
    for first in range(0, n, depth):
        for head in range(0, heads, width):
            for row in range(0, rows, height):
                seen = min(row + height, columns) if causal and height < rows else columns
                yield slice(first, first + depth), slice(head, head + width), slice(row, row + height), seen


def _scratch(n: int, heads: int, rows: int, columns: int, kind: Any) -> Any:
    """Room for the weights of the largest block."""
    return np.empty(min(n * heads * rows * columns, max(_BLOCK, 16 * columns)), kind)


def _products(queries: Any, keys: Any, room: Any, bias: Any, block: Any, causal: bool) -> Any:
    """The products of a block's queries with the keys it sees, masked, in the memory of ``room``."""
    n, heads, rows, _ = queries.shape
    seen = keys.shape[2]
    products = room[: n * heads * rows * seen].reshape(n, heads, rows, seen)
    np.matmul(queries, keys.swapaxes(2, 3), out=products)
    if bias is not None:
        products += bias[block[0], block[1], block[2], :seen]
    if causal:
        start = block[2].start or 0
        wide = min(seen, start + rows) - start
        if wide > 0:
            np.copyto(products[..., start : start + wide], -np.inf, where=later(rows)[:, :wide])  # whatever was there
            products[..., start + wide :] = -np.inf
    return products


def _sums(weights: Any) -> Any:
    """The sums of the last dimension of a contiguous array."""
    shape = weights.shape
    return along(weights.reshape(-1, shape[3]), 1).reshape(*shape[:3], 1)


def _shared_heads(query: Any, key: Any) -> int:
    """How many heads of queries share one head of keys."""
    return int(query.shape[1] // key.shape[1])


def _spread(heads: Any, shared: int) -> Any:
    return heads if shared == 1 else heads.repeat(shared, axis=1)


def _gathered(back: Any, shared: int) -> Any:
    """The sums over the heads that share."""
    if shared == 1:
        return back
    n, heads, rows, width = back.shape
    return along(np.ascontiguousarray(back).reshape(n, heads // shared, shared, rows, width), 2, False)


def _whole_bias(attn_mask: Any, shape: tuple[int, ...], kind: Any) -> Any:
    bias = added(attn_mask, kind)
    return None if bias is None else np.broadcast_to(bias, shape)


# -- attention ---------------------------------------------------------------------------------------------------------


@op(
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    auxiliary=("attn_mask",),
    outputs=("output", "logsumexp"),
    differentiable=("output",),
    public=False,
)
def flash_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, /, dropout_p: float = 0.0, is_causal: bool = False,
    scale: Any = None,
) -> Any:  # fmt: skip
    """Values averaged by how well their keys match each query, and the logarithms of the weights' sums.

    All are (samples, heads, positions, width); several heads of queries may share one of keys and values.
    """
    kind = query.dtype
    if kind != F32 and kind != F64:
        out, logs = flash_attention.row.kernel(
            query.astype(F32), key.astype(F32), value.astype(F32), attn_mask, dropout_p, is_causal, scale
        )
        return out.astype(kind), logs
    n, heads, rows, width = query.shape
    columns = key.shape[2]
    times = kind.type(factor(scale, width))
    bias = _whole_bias(attn_mask, (n, heads, rows, columns), kind)
    if max(n * heads * rows * columns, query.size) >= compiled.few:
        result = compiled.attention.forward(query, key, value, bias, is_causal, times)
        if result is not None:
            return result
    out = np.empty_like(query)
    shared = _shared_heads(query, key)
    keys, values = _spread(key, shared), _spread(value, shared)
    logs = np.empty((n, heads, rows), kind)
    bounded = True
    room = _scratch(n, heads, rows, columns, kind)
    for block in _blocks(n, heads, rows, columns, is_causal):
        *ranges, seen = block
        some, heads_, rows_ = ranges
        queries, keys_ = query[some, heads_, rows_] * times, keys[some, heads_, :seen]
        weights = _products(queries, keys_, room, bias, block, is_causal)
        top = None
        if bounded:
            np.exp(weights, weights)
            sums = _sums(weights)
            if not _LEAST[kind] < sums.min() <= sums.max() < _MOST[kind]:
                weights = _products(queries, keys_, room, bias, block, is_causal)
                bounded = False
        if not bounded:
            top = np.maximum.reduce(weights, axis=3, keepdims=True)
            top[np.isneginf(top)] = 0
            weights -= top
            np.exp(weights, weights)
            sums = _sums(weights)
            sums[sums == 0] = 1
        part = out[some, heads_, rows_]
        np.matmul(weights, values[some, heads_, :seen], out=part)
        part /= sums
        np.log(sums, sums)
        if top is not None:
            sums += top
        logs[some, heads_, rows_] = sums[..., 0]
    return out, logs


@flash_attention.derivative("query", "key", "value")
def _attention_rule(
    grad: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any, attn_mask: Any, dropout_p: Any,
    is_causal: Any, scale: Any,
) -> Any:  # fmt: skip
    return flash_attention_backward(grad, query, key, value, output, logsumexp, attn_mask, dropout_p, is_causal, scale)


@op(auxiliary=("attn_mask", "output", "logsumexp"), outputs=("grad_query", "grad_key", "grad_value"), public=False)
def flash_attention_backward(
    grad_output: Any, query: Any, key: Any, value: Any, output: Any, logsumexp: Any, attn_mask: Any = None, /,
    dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None,
) -> Any:  # fmt: skip
    """The gradients of ``flash_attention`` with respect to queries, keys and values."""
    kind = query.dtype
    if kind != F32 and kind != F64:
        tensors = (array.astype(F32) for array in (grad_output, query, key, value, output, logsumexp))
        result = flash_attention_backward.row.kernel(*tensors, attn_mask, dropout_p, is_causal, scale)
        return tuple(array.astype(kind) for array in result)
    n, heads, rows, width = query.shape
    columns = key.shape[2]
    times = kind.type(factor(scale, width))
    bias = _whole_bias(attn_mask, (n, heads, rows, columns), kind)
    if max(n * heads * rows * columns, query.size) >= compiled.few:
        result = compiled.attention.backward(grad_output, query, key, value, output, logsumexp, bias, is_causal, times)
        if result is not None:
            return result
    shared = _shared_heads(query, key)
    keys, values = _spread(key, shared), _spread(value, shared)
    by_query, by_key, by_value = np.empty_like(query), np.empty_like(keys), np.empty_like(values)
    if grad_output.strides[3] != kind.itemsize or grad_output.strides[2] < width * kind.itemsize:
        grad_output = np.ascontiguousarray(grad_output)  # a spread-out number, say, which BLAS cannot read
    room, room2 = (_scratch(n, heads, rows, columns, kind) for _ in range(2))
    logs = logsumexp[..., None]
    for block in _blocks(n, heads, rows, columns, is_causal):
        *ranges, seen = block
        some, heads_, rows_ = ranges
        queries, grads = query[some, heads_, rows_] * times, grad_output[some, heads_, rows_]
        keys_, values_ = keys[some, heads_, :seen], values[some, heads_, :seen]
        weights = _products(queries, keys_, room, bias, block, is_causal)
        weights -= logs[some, heads_, rows_]
        np.exp(weights, weights)
        back = room2[: weights.size].reshape(weights.shape)
        np.matmul(grads, values_.swapaxes(2, 3), out=back)
        back -= np.einsum("...i,...i->...", grads, output[some, heads_, rows_])[..., None]
        back *= weights
        to_value, to_key = by_value[some, heads_, :seen], by_key[some, heads_, :seen]
        turned, turned_back = weights.swapaxes(2, 3), back.swapaxes(2, 3)
        if rows_.stop >= rows and not rows_.start:  # the only block of its heads
            np.matmul(turned, grads, out=to_value)
            np.matmul(turned_back, queries, out=to_key)
        else:
            if not rows_.start:
                by_value[some, heads_] = by_key[some, heads_] = 0
            to_value += np.matmul(turned, grads)
            to_key += np.matmul(turned_back, queries)
        to_query = by_query[some, heads_, rows_]
        np.matmul(back, keys_, out=to_query)
        to_query *= times
    return by_query, _gathered(by_key, shared), _gathered(by_value, shared)


@flash_attention_backward.derivative("grad_output", "query", "key", "value")
def _attention_twice(
    grads: Any, grad_output: Any, query: Any, key: Any, value: Any, attn_mask: Any, grad_output_sizes: Any,
    query_sizes: Any, key_sizes: Any, value_sizes: Any, is_causal: Any, scale: Any,
) -> Any:  # fmt: skip
    """With P the weights, a = P * (b - sum(P * b)) for b = g @ v.T, and s the scale: through s a k, s a.T q, P.T g."""
    shared = shared_heads(query, key)
    s = factor(scale, query_sizes[3])
    g, q, k, v = (
        matrices(grad_output, 1),
        matrices(query, 1),
        matrices(key, shared),
        matrices(value, shared),
    )
    to_q, to_k, to_v = [
        None if part is None else matrices(part, count) for part, count in zip(grads, (1, shared, shared), strict=True)
    ]
    products = mul_number(each_by_transposed(q, k), s)  # which keeps bfloat16, as ml_dtypes does not
    bias = bias_of(query, key, attn_mask, is_causal)
    p = safe_softmax(products if bias is None else products + bias, -1)
    b = each_by_transposed(g, v)
    a = softmax_backward(b, p, -1)
    w = by_k = by_q = None
    if to_q is not None:
        w = each_by_transposed(to_q, k)
        by_k = each_transposed_by(a, to_q)
    if to_k is not None:
        other = each_by_transposed(q, to_k)
        w = other if w is None else w + other
        by_q = bmm(a, to_k)
    by_p = by_g = by_v = None
    if w is not None:
        w = mul_number(w, s)
        x = softmax_backward(w, p, -1)
        by_g, by_v = bmm(x, v), each_transposed_by(x, g)
        by_p = w * (b - sum_dim(p * b, (2,), True)) - b * sum_dim(p * w, (2,), True)
    if to_v is not None:
        other, second = each_by_transposed(g, to_v), bmm(p, to_v)
        by_p = other if by_p is None else by_p + other
        by_g = second if by_g is None else by_g + second
    if by_p is None:
        return None, None, None, None
    c = softmax_backward(by_p, p, -1)
    more_q, more_k = bmm(c, k), each_transposed_by(c, q)
    by_q = (more_q if by_q is None else more_q + by_q) * s
    by_k = (more_k if by_k is None else more_k + by_k) * s
    return (
        heads_of(by_g, grad_output_sizes, 1),
        heads_of(by_q, query_sizes, 1),
        heads_of(by_k, key_sizes, shared),
        None if by_v is None else heads_of(by_v, value_sizes, shared),
    )


# -- and once more: PyTorch stops here, this composition of rows goes on -----------------------------------------------


@on_arrays(lambda heads, shared: _spread(heads, shared).reshape(-1, *heads.shape[2:]))
def matrices(heads: Any, shared: int) -> Any:
    """(samples, heads, positions, width) as one batch of matrices, each head as often as it is shared."""
    n, count, rows, width = heads._array.shape
    if shared > 1:
        heads = expand(unsqueeze(heads, 2), (n, count, shared, rows, width))
    return shaped(heads, (n * count * shared, rows, width))


@on_arrays(lambda back, sizes, shared: _gathered(back.reshape(sizes[0], -1, *sizes[2:]), shared))
def heads_of(back: Any, sizes: tuple[int, ...], shared: int) -> Any:
    """The gradient of a batch of matrices for the heads that they were made of."""
    n, count, rows, width = sizes
    if shared > 1:
        back = sum_dim(shaped(back, (n, count, shared, rows, width)), (2,), False)
    return shaped(back, sizes)


@on_arrays(lambda query, key: _shared_heads(query, key))
def shared_heads(query: Any, key: Any) -> int:
    """How many heads of queries share one head of keys."""
    return _shared_heads(query._array, key._array)
