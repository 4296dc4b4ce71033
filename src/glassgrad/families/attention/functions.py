"""Scaled dot-product attention as users call it: checks, the choice between one fused row and the plain composition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ...ground.dtypes import called
from ...ground.listening import audible
from ...ops.autocast import low
from ..arithmetic.rows import mul_number
from ..dropout.functions import dropout
from ..matrix.functions import matmul
from ..matrix.rows import c_name
from ..shape.rows import transpose
from .rows import added, factor, flash_attention, safe_softmax

#: The ways of computing that are allowed, by PyTorch's names; what only accelerators have is allowed, and never taken.
allowed = {"cudnn": True, "flash": True, "mem_efficient": True, "math": True, "overrideable": True}
#: The numbers of the same in ``SDPBackend``, and their order of preference.
NUMBERS = {"math": 0, "flash": 1, "mem_efficient": 2, "cudnn": 3, "overrideable": 4}
priority = [1, 2, 0, 3, 4]
#: Whether layers may behave as PyTorch's kernels for inference do where those would run (``torch.backends.mha``).
switches = {"mha_fastpath": True}

_NAME = "scaled_dot_product_attention"


@audible
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Values averaged with the weights softmax(``scale`` * query @ keys + mask).

    Queries are (..., L, E), keys (..., S, E), values (..., S, Ev); gives (..., L, Ev). A bool ``attn_mask`` says
    where attention may go, a floating one is added; ``is_causal`` leaves out the keys that come later than the
    query; ``dropout_p`` always applies; ``scale`` is 1/sqrt(E) unless given; with ``enable_gqa`` several heads of
    queries (dimension -3) share one of keys and values.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """
    if modes.watch:
        query, key, value, attn_mask = low(query, key, value, attn_mask)
    _check(query, key, value, attn_mask, dropout_p, is_causal, scale)
    sizes = _sizes_where_empty(query, key, value)
    if sizes is not None:
        nothing: Any = wrap(np.zeros(sizes, query._array.dtype))
        return nothing + mul_number(query.sum() + key.sum() + value.sum(), 0.0)  # type: ignore[attr-defined,no-any-return]
    if allowed["flash"] and _fuses(query, key, value, attn_mask, dropout_p, enable_gqa):
        if attn_mask is not None and attn_mask._array.dtype.kind == "b":
            attn_mask = wrap(added(attn_mask._array, query._array.dtype))
        return flash_attention(query, key, value, attn_mask, 0.0, is_causal, scale)[0]  # type: ignore[no-any-return]
    if not allowed["math"]:
        if not allowed["flash"]:
            raise RuntimeError(
                "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both "
                "the math kernel and the fused kernels."
            )
        raise RuntimeError("No available kernel. Aborting execution.")
    return _composed(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)


def _check(query: Any, key: Any, value: Any, mask: Any, dropout_p: Any, is_causal: Any, scale: Any) -> None:
    """Raise PyTorch's error for arguments of a wrong type, dtype or number of dimensions."""
    tensors = (("query", query), ("key", key), ("value", value), ("attn_mask", mask))
    for position, (name, argument) in enumerate(tensors, 1):
        if not isinstance(argument, Tensor) and (position < 4 or argument is not None):
            raise TypeError(
                f"{_NAME}(): argument '{name}' (position {position}) must be Tensor, not {called(argument)}"
            )
    for name, argument in (("dropout_p", dropout_p), ("scale", scale)):
        if type(argument) is not float and not (name == "scale" and argument is None):
            if isinstance(argument, (bool, str)) or not hasattr(argument, "__float__"):
                raise TypeError(f"{_NAME}(): argument '{name}' must be float, not {called(argument)}")
    if not isinstance(is_causal, (bool, np.bool_)):
        raise TypeError(f"{_NAME}(): argument 'is_causal' must be bool, not {called(is_causal)}")
    q, k, v = query._array, key._array, value._array
    if not q.dtype == k.dtype == v.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {c_name(q)} "
            f"key.dtype: {c_name(k)} and value.dtype: {c_name(v)} instead."
        )
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {q.ndim} "
            f"key.dim: {k.ndim} and value.dim: {v.ndim} instead."
        )
    if mask is not None and mask._array.dtype.kind != "b" and mask._array.dtype not in (np.float32, q.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{_short(mask._array)} and  query.dtype: {c_name(q)} instead."
        )


def _short(array: Any) -> str:
    """The name of a C++ type as this error has it."""
    return {"short int": "short", "long int": "long int"}.get(c_name(array), c_name(array))


def _sizes_where_empty(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...] | None:
    """The sizes of the result where there is nothing to attend to, or nobody who does; None elsewhere."""
    q, v = query._array, value._array
    if q.shape[-2] and key._array.shape[-2] and v.size:
        return None
    return (*q.shape[:-1], v.shape[-1])


def _fuses(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, shares: bool) -> bool:
    """Whether the fused row serves these arguments: PyTorch's conditions for its own on CPUs."""
    q, k, v = query._array, key._array, value._array
    if not q.ndim == k.ndim == v.ndim == 4 or dropout_p > 0 or q.dtype.kind not in "fV":
        return False
    (n, heads, rows, width), (m, few, columns, _) = q.shape, k.shape
    if k.shape != v.shape or width != k.shape[3] or n != m:
        return False
    if heads != few and not (shares and few and heads % few == 0):
        return False
    size = q.itemsize
    if not (width and q.strides[3] == k.strides[3] == v.strides[3] == size):
        return False
    if mask is None:
        return True
    shape = mask._array.shape
    if mask.requires_grad or len(shape) not in (2, 4):
        return False
    return all(a == 1 or a == b for a, b in zip(reversed(shape), (columns, rows, heads, n), strict=False))


def _composed(
    query: Any, key: Any, value: Any, mask: Any, dropout_p: float, is_causal: bool, scale: Any, shares: bool
) -> Tensor:
    """The same as products, a softmax and what is between them, each of which PyTorch's graph shows."""
    own = query.dtype
    if query._array.dtype.kind in "fV" and query._array.dtype.itemsize == 2:  # halves: all in single precision
        query, key, value = query.to(dtypes.float32), key.to(dtypes.float32), value.to(dtypes.float32)
    root = math.sqrt(abs(factor(scale, query._array.shape[-1])))
    query = mul_number(query, -root if scale is not None and scale < 0 else root)
    if is_causal:
        if mask is not None:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        rows, columns = query._array.shape[-2], key._array.shape[-2]
        mask = wrap(np.triu(np.full((rows, columns), -np.inf, query._array.dtype), 1))
    elif mask is not None:
        mask = wrap(added(mask._array, query._array.dtype)) if mask._array.dtype.kind == "b" else mask.to(query.dtype)
    if shares:
        key, value = _shared(query, key), _shared(query, value)
    weights = matmul(query, mul_number(transpose(key, -2, -1), root))
    if mask is not None:
        weights = weights.add_(mask)
    if weights._array.dtype.kind == "c":
        raise NotImplementedError("\"softmax_lastdim_kernel_impl\" not implemented for 'ComplexFloat'")
    weights = safe_softmax(weights, -1)
    if dropout_p != 0:
        weights = dropout(weights, dropout_p, True)
    attended = matmul(weights, value)
    return attended.to(own) if own.itemsize == 2 else attended  # type: ignore[no-any-return]


def _shared(query: Any, heads: Any) -> Any:
    """Each head of keys or values as often as heads of queries share it."""
    if min(query._array.ndim, heads._array.ndim) < 3:
        short = min(query._array.ndim, heads._array.ndim)
        raise IndexError(f"Dimension out of range (expected to be in range of [{-short}, {short - 1}], but got -3)")
    wanted, count = query._array.shape[-3], heads._array.shape[-3]
    if not count or wanted % count:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in ")
    return heads if wanted == count else heads.repeat_interleave(wanted // count, -3)
