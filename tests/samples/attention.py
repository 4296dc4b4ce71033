"""Samples of scaled dot-product attention; the heads come second, as in (samples, heads, positions, width)."""

from __future__ import annotations

from . import given, mask, sample, t

_F = "nn.functional.scaled_dot_product_attention"
_FAR = [[-80.0] * 5]
_SEEN = [[True, False, True, True, False], [False] * 5, [True] * 5]  # the second query sees nothing
_ADDED = [[0.5, -1.0, 0.0, 2.0, -0.5], [0.0] * 5, [-3.0, float("-inf"), 0.0, 1.0, 0.5]]


def _qkv(*lead: int, rows: int = 3, columns: int = 5, width: int = 4, **how: object) -> tuple[object, ...]:
    return t(*lead, rows, width, **how), t(*lead, columns, width, **how), t(*lead, columns, width, **how)


# second=False: torch's fused row has no second derivative
SAMPLES = [
    sample(_F, *_qkv(2, 2), label="fused", second=False),
    sample(_F, *_qkv(2, 2), is_causal=True, label="fused,causal", second=False),
    sample(_F, *_qkv(2, 2, rows=5, columns=3), is_causal=True, label="fused,causal,tall", second=False),
    sample(_F, *_qkv(1, 1, rows=140, columns=150), is_causal=True, label="fused,causal,long", second=False),
    sample(_F, *_qkv(1, 2, rows=260, columns=600, width=2), label="fused,long", second=False),
    sample(_F, *_qkv(2, 2), given(_SEEN, "bool"), label="fused,bool mask", second=False),
    sample(_F, *_qkv(2, 2), given(_ADDED, "float", grad=False), label="fused,float mask", second=False),
    sample(_F, *_qkv(2, 2), mask(2, 1, 1, 5), label="fused,padding", second=False),
    sample(_F, *_qkv(2, 2), given(_SEEN, "bool"), is_causal=True, label="fused,both", second=False),
    sample(_F, *_qkv(2, 2), scale=2.0, label="fused,scale", second=False),
    sample(_F, *_qkv(2, 2), given(_FAR, "float", grad=False), label="fused,far", second=False, only=("float64",)),
    sample(_F, *_qkv(2, 2), scale=-0.5, label="fused,negative scale", second=False),
    sample(_F, *_qkv(2, 2, layout="transposed"), label="strided last dimension"),
    sample(_F, t(2, 4, 3, 4), *_qkv(2, 2)[1:], enable_gqa=True, label="fused,shared heads", second=False),
    sample(_F, t(2, 4, 3, 4), *_qkv(2, 2)[1:], None, 0.3, True, enable_gqa=True, label="shared heads,dropout"),
    sample(_F, t(2, 4, 3, 4), t(2, 2, 5, 4), t(2, 1, 5, 4), enable_gqa=True, label="shared heads,differing"),
    sample(_F, t(2, 3, 4), t(2, 5, 4), t(2, 5, 6), label="values of another width"),
    sample(_F, *_qkv(2), label="3-D"),
    sample(_F, *_qkv(), label="2-D"),
    sample(_F, *_qkv(2), is_causal=True, label="3-D,causal"),
    sample(_F, *_qkv(2), given(_SEEN, "bool"), label="3-D,bool mask"),
    sample(_F, *_qkv(2, 2), given(_ADDED, "float"), label="mask with gradient"),
    sample(_F, *_qkv(2, 2), mask(2, 3, 5), label="3-D mask"),
    sample(_F, *_qkv(2, 2), dropout_p=0.4, label="dropout"),
    sample(_F, *_qkv(2, 2), None, 0.4, True, scale=-0.3, label="dropout,causal,negative scale"),
    sample(_F, t(2, 3, 4, 5), t(2, 1, 6, 5), t(2, 1, 6, 5), label="broadcast heads"),
    sample(_F, *_qkv(2, 2, rows=0), label="no query"),
    sample(_F, *_qkv(2, columns=0), label="no key"),
]
