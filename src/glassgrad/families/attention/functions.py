"""Attention as users call it: of one head's tensors, fused or composed, and of several heads with projections."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ...ground.dtypes import called
from ...ground.listening import audible
from ...ground.runtime import warn
from ...ops.autocast import cast_already, low
from ...tensor.lifted import Lifted, derives
from ..arithmetic.rows import mul_number
from ..dropout.functions import dropout
from ..join.rows import cat
from ..matrix.batch import baddbmm, bmm
from ..matrix.functions import linear, matmul
from ..matrix.rows import c_name
from ..pad.functions import pad
from ..shape.rows import transpose
from ..softmax.functions import softmax_along
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
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """Values averaged with the weights softmax(``scale`` * query @ keys + mask).

    Queries are (..., L, E), keys (..., S, E), values (..., S, Ev); gives (..., L, Ev). A bool ``attn_mask`` says
    where attention may go, a floating one is added; ``is_causal`` leaves out the keys that come later than the
    query; ``dropout_p`` always applies; ``scale`` is 1/sqrt(E) unless given; with ``enable_gqa`` several heads of
    queries (dimension -3) share one of keys and values.
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
    arguments = query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
    if modes.local.autocast is None:
        return _composed(*arguments)
    with cast_already():
        return _composed(*arguments)


def _check(query: Any, key: Any, value: Any, mask: Any, dropout_p: Any, is_causal: Any, scale: Any) -> None:
    """Raise PyTorch's error for arguments of a wrong type, dtype or number of dimensions."""
    if not (isinstance(query, Tensor) and isinstance(key, Tensor) and isinstance(value, Tensor)):
        _refuse_types((query, key, value))
    if mask is not None and not isinstance(mask, Tensor):
        _refuse_types((query, key, value, mask))
    if type(dropout_p) is not float:
        _check_number("dropout_p", dropout_p)
    if scale is not None and type(scale) is not float:
        _check_number("scale", scale)
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


def _refuse_types(arguments: tuple[Any, ...]) -> None:
    """Raise PyTorch's error for the first of them that is no tensor."""
    position = next(index for index, argument in enumerate(arguments) if not isinstance(argument, Tensor))
    name = ("query", "key", "value", "attn_mask")[position]
    raise TypeError(
        f"{_NAME}(): argument '{name}' (position {position + 1}) must be Tensor, not {called(arguments[position])}"
    )


def _check_number(name: str, argument: Any) -> None:
    if isinstance(argument, str) or not hasattr(argument, "__float__"):
        raise TypeError(f"{_NAME}(): argument '{name}' must be float, not {called(argument)}")


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
    if derives(mask) or len(shape) not in (2, 4):
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
        if mask._array.dtype.kind != "b":
            mask = mask.to(query.dtype)
        elif isinstance(mask, Lifted):
            mask = mask.to(query.dtype).fill_(0).masked_fill(~mask, -math.inf)
        else:
            mask = wrap(added(mask._array, query._array.dtype))
    if shares:
        key, value = _shared(query, key), _shared(query, value)
    weights = matmul(query, mul_number(transpose(key, -2, -1), root))
    if mask is not None:
        weights = weights + mask if isinstance(mask, Lifted) else weights.add_(mask)
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


# -- several heads between projections ---------------------------------------------------------------------------------


def _require(holds: Any, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _mha_shape_check(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Raise PyTorch's errors for sizes that do not belong together; gives whether there is a batch."""
    ndim = query.dim()
    if ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {ndim}-D query tensor")
    kind = "batched (3-D)" if ndim == 3 else "unbatched (2-D)"
    _require(
        key.dim() == value.dim() == ndim,
        f"For {kind} `query`, expected `key` and `value` to be {ndim}-D"
        f" but found {key.dim()}-D and {value.dim()}-D tensors respectively",
    )
    if key_padding_mask is not None:
        _require(
            key_padding_mask.dim() == ndim - 1,
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {ndim - 1}-D"
            f" but found {key_padding_mask.dim()}-D tensor instead",
        )
    if attn_mask is not None:
        _require(
            attn_mask.dim() in (2, 3),
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D"
            f" but found {attn_mask.dim()}-D tensor instead",
        )
        if ndim == 2 and attn_mask.dim() == 3:
            wanted = (num_heads, query.shape[0], key.shape[0])
            _require(
                tuple(attn_mask.shape) == wanted, f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}"
            )
    return bool(ndim == 3)


def _canonical_mask(
    mask: Any, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Any:
    """A mask as what is added to the products; bool ones say here where attention may *not* go."""
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    _require(is_float or mask._array.dtype.kind == "b", f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
        )
    return mask if is_float else wrap(added(~np.asarray(mask._array), target_type.numpy))


def _none_or_dtype(input: Any) -> Any:
    """The dtype of a tensor, or None."""
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _in_projection_packed(q: Any, k: Any, v: Any, w: Any, b: Any = None) -> tuple[Any, Any, Any]:
    """Queries, keys and values under the three weights that are packed in ``w``; in one product where they are one."""
    width = q.shape[-1]
    if k is v:
        if q is k:
            parts = _apart(linear(q, w, b), 3, width)
            return parts[0], parts[1], parts[2]
        w_q, w_kv = w.split([width, 2 * width])
        b_q, b_kv = (None, None) if b is None else b.split([width, 2 * width])
        parts = _apart(linear(k, w_kv, b_kv), 2, width)
        return linear(q, w_q, b_q), parts[0], parts[1]
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _apart(packed: Any, count: int, width: int) -> Any:
    """The last dimension cut into ``count`` pieces, which become the first dimension, each contiguous."""
    return packed.unflatten(-1, (count, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()


def _in_projection(
    q: Any, k: Any, v: Any, w_q: Any, w_k: Any, w_v: Any, b_q: Any = None, b_k: Any = None, b_v: Any = None
) -> tuple[Any, Any, Any]:
    """Queries, keys and values, each under a weight of its own."""
    width = q.shape[-1]
    for name, operand, weight in (("query", q, w_q), ("key", k, w_k), ("value", v, w_v)):
        wanted = (width, operand.shape[-1])
        _require(weight.shape == wanted, f"expecting {name} weights shape of {wanted}, but got {weight.shape}")
    for name, bias in (("query", b_q), ("key", b_k), ("value", b_v)):
        _require(
            bias is None or bias.shape == (width,),
            f"expecting {name} bias shape of {(width,)}, but got {getattr(bias, 'shape', None)}",
        )
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _check_key_padding_mask(key_padding_mask: Any, src_len: int, bsz: int) -> None:
    for dim, wanted in enumerate((bsz, src_len)):
        size = key_padding_mask.shape[dim]
        _require(size == wanted, f"Expected key_padded_mask.shape[{dim}] to be {wanted}, but got {size}")


@audible
def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Attention of several heads between projections: what :class:`torch.nn.MultiheadAttention` computes.

    ``query`` is (L, E) or (L, N, E); ``key`` and ``value`` are (S, E) or (S, N, E).  Gives the output, sized as the
    query, and with ``need_weights`` the weights: (N, L, S), or (N, heads, L, S) where they are not averaged.  Masks say
    where attention may not go, or are added; ``is_causal`` promises that ``attn_mask`` is the causal one.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
    """
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = _batches_of_one(query, key, value)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)  # type: ignore[attr-defined]
    rows, n, width = query.shape
    columns = key.shape[0]
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # the hint says it all
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        is_causal = is_causal and key_padding_mask is None  # both masks together are not causal
    _require(width == embed_dim_to_check, f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    head = width // num_heads
    _require(head * num_heads == width, f"embed_dim {width} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        _require(
            key.shape[:2] == value.shape[:2],
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
        )
        for name, weight in (("q", q_proj_weight), ("k", k_proj_weight), ("v", v_proj_weight)):
            _require(weight is not None, f"use_separate_proj_weight is True but {name}_proj_weight is None")
        biases = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)  # type: ignore[attr-defined]
        q, k, v = _in_projection(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, *biases)
    else:
        _require(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
        _require(in_proj_weight is not None, "use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _fitting_mask(attn_mask, n * num_heads, rows, columns)
    if bias_k is not None and bias_v is not None:
        _require(static_k is None, "bias cannot be added to static key.")
        _require(static_v is None, "bias cannot be added to static value.")
        k, v = cat([k, bias_k.repeat(1, n, 1)], 0), cat([v, bias_v.repeat(1, n, 1)], 0)  # type: ignore[attr-defined]
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    else:
        _require(bias_k is None, "bias_k is set but bias_v is None")
        _require(bias_v is None, "bias_v is set but bias_k is None")
    q = _heads(q, n * num_heads, head)
    k = _heads(k, n * num_heads, head) if static_k is None else _static("static_k", static_k, n * num_heads, head)
    v = _heads(v, n * num_heads, head) if static_v is None else _static("static_v", static_v, n * num_heads, head)
    if add_zero_attn:
        zero = wrap(np.zeros((n * num_heads, 1, head), k._array.dtype))
        k, v = cat([k, zero], 1), cat([v, zero], 1)
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    columns = k.shape[1]
    if key_padding_mask is not None:
        attn_mask = _with_padding(attn_mask, key_padding_mask, n, num_heads, columns)
    chance = dropout_p if training else 0.0
    if need_weights:
        _require(not (is_causal and attn_mask is None), "FIXME: is_causal not implemented for need_weights")
        scaled = q * math.sqrt(1.0 / float(head))
        turned = k.transpose(-2, -1)
        weights = bmm(scaled, turned) if attn_mask is None else baddbmm(attn_mask, scaled, turned)
        weights = softmax_along(weights, -1)
        if chance > 0.0:
            weights = dropout(weights, chance, True)
        output = bmm(weights, v).transpose(0, 1).reshape(rows * n, width)
    else:
        if attn_mask is not None:
            whole = attn_mask._array.ndim == 3 and len(attn_mask._array) == 1
            attn_mask = attn_mask.unsqueeze(0) if whole else attn_mask.view(n, num_heads, -1, columns)  # type: ignore[attr-defined]
        q, k, v = (part.view(n, num_heads, -1, head) for part in (q, k, v))
        output = scaled_dot_product_attention(q, k, v, attn_mask, chance, is_causal)
        output = output.permute(2, 0, 1, 3).reshape(n * rows, width)  # type: ignore[attr-defined]
    output = linear(output, out_proj_weight, out_proj_bias)
    output = output.view(rows, n, output.shape[1])
    if not is_batched:
        output = output.squeeze(1)
    if not need_weights:
        return output, None
    weights = weights.view(n, num_heads, rows, columns)
    if average_attn_weights:
        weights = weights.mean(dim=1)
    return output, weights if is_batched else weights.squeeze(0)


def _batches_of_one(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    return query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)


def _fitting_mask(mask: Any, heads: int, rows: int, columns: int) -> Any:
    """A mask with a dimension for the heads; PyTorch's error where it does not fit."""
    if mask is None:
        return None
    ndim = mask.dim()
    wanted = (rows, columns) if ndim == 2 else (heads, rows, columns)
    if tuple(mask.shape) != wanted:
        raise RuntimeError(f"The shape of the {ndim}D attn_mask is {mask.shape}, but should be {wanted}.")
    return mask.unsqueeze(0) if ndim == 2 else mask


def _one_more(mask: Any) -> Any:
    """A mask that lets one more key through."""
    return None if mask is None else pad(mask, (0, 1))


def _heads(packed: Any, count: int, head: int) -> Any:
    """(positions, N, E) as (N * heads, positions, E / heads)."""
    return packed.view(packed.shape[0], count, head).transpose(0, 1)


def _static(name: str, static: Any, count: int, head: int) -> Any:
    """Keys or values that were given ready; PyTorch's error where their sizes do not fit."""
    for dim, wanted in ((0, count), (2, head)) if static is not None else ():
        size = static.shape[dim]
        _require(size == wanted, f"expecting {name}.size({dim}) of {wanted}, but got {size}")
    return static


def _with_padding(mask: Any, padding: Any, n: int, heads: int, columns: int) -> Any:
    """A mask together with one of keys for each sample."""
    _check_key_padding_mask(padding, columns, n)
    spread = padding.view(n, 1, 1, columns).expand(-1, heads, -1, -1).reshape(n * heads, 1, columns)
    return spread if mask is None else mask + spread
