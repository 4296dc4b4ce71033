"""The layer of attention with several heads; PyTorch keeps it in ``torch.nn.modules.activation``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import modes
from ...nn import functional as F
from ...nn.init import constant_, xavier_normal_, xavier_uniform_
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...tensor.lifted import derives
from ..create.functions import empty
from ..matrix.layers import NonDynamicallyQuantizableLinear
from .functions import _canonical_mask, _none_or_dtype, switches


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads, each on its own projection of queries, keys and values.

    Input is (L, N, E), or (N, L, E) with ``batch_first``, or (L, E).  Gives the output and, with ``need_weights``, the
    weights.  Masks: True (or minus infinity) is where attention may not go.  ``dropout`` acts on the weights.
    """

    __constants__ = ["batch_first"]

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim == self.vdim
        self.num_heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(*sizes: int) -> Parameter:
            return Parameter(empty(sizes, device=device, dtype=dtype))  # type: ignore[no-any-return]

        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            absent = ["q_proj_weight", "k_proj_weight", "v_proj_weight"]
        else:
            self.q_proj_weight = parameter(embed_dim, embed_dim)
            self.k_proj_weight = parameter(embed_dim, self.kdim)
            self.v_proj_weight = parameter(embed_dim, self.vdim)
            absent = ["in_proj_weight"]
        for name in absent:
            self.register_parameter(name, None)
        if bias:
            self.in_proj_bias = parameter(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k = parameter(1, 1, embed_dim) if add_bias_kv else None
        self.bias_v = parameter(1, 1, embed_dim) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            constant_(self.in_proj_bias, 0.0)
            constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)  # not in what very old versions saved
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The output and the weights (None unless ``need_weights``)."""
        fast = not self.training and self._is_fast(query, key, value, attn_mask, key_padding_mask)
        key_padding_mask = _canonical_mask(
            key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
        )
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        with_weights = need_weights
        if fast:  # where PyTorch's kernel for inference ignores the hint, and has no answer for hidden rows
            is_causal = False
            merged, _ = self.merge_masks(attn_mask, key_padding_mask, query)
            with_weights = need_weights or hides_a_row(merged)
        swaps = self.batch_first and query.dim() == 3  # type: ignore[attr-defined]
        if swaps:
            query, key, value = _swapped(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=with_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        if swaps:
            output = output.transpose(1, 0)  # type: ignore[attr-defined]
        return (output.contiguous() if fast else output), (weights if need_weights else None)  # type: ignore[attr-defined]

    def _is_fast(self, query: Any, key: Any, value: Any, *masks: Any) -> bool:
        """Whether PyTorch would take its path for inference here."""
        if query is not key or key is not value or query.dim() != 3 or not self.batch_first or self.num_heads % 2:
            return False
        if self.in_proj_weight is None or self.bias_k is not None or self.bias_v is not None or self.add_zero_attn:
            return False
        if self.in_proj_bias is None or query.dtype is not self.in_proj_weight.dtype:
            return False
        if any(mask is not None and mask.is_floating_point() for mask in masks):
            return False
        return may_be_fast(query, self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one, and what it is: 1 for keys that are padding, 2 for a whole mask; None without masks."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, length, _ = query.shape
        mask: Any = attn_mask
        if mask.dim() == 3:
            mask = mask.view(n, -1, length, length)
        else:
            mask = mask.view(1, 1, length, length).expand(n, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            padding: Any = key_padding_mask
            mask = mask + padding.view(n, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return mask, 2


def may_be_fast(*tensors: Any) -> bool:
    """Whether nothing here is to be differentiated or cast, so that PyTorch may use its kernels for inference."""
    if not switches["mha_fastpath"] or modes.local.autocast is not None:
        return False
    return not derives(*tensors)


def hides_a_row(mask: Any) -> bool:
    """Whether a mask that is added leaves some query without any key."""
    return mask is not None and bool(np.isneginf(mask._array).all(-1).any())


def nonzero(mask: Any) -> Any:
    """A mask that is added, as PyTorch's kernels for inference read it: whatever is not zero hides."""
    return None if mask is None else wrap(np.asarray(mask._array != 0))


def _swapped(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """The same with the first two dimensions swapped; what was one tensor stays one."""
    if key is not value:
        return query.transpose(1, 0), key.transpose(1, 0), value.transpose(1, 0)
    turned = key.transpose(1, 0)
    return (turned if query is key else query.transpose(1, 0)), turned, turned
