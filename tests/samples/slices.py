"""Samples of fetching and placing whole slices by one index along a dimension."""

from __future__ import annotations

from . import given, ints, sample, t

_I = given([1, 0])
_TWICE = given([1, 1])
_0 = given([0])

SAMPLES = [
    sample("index_select", t(2, 3), 0, _I),
    sample("index_select", t(2, 3), 1, given([2, 2, 0])),
    sample("index_select", t(2, 3), -1, given(1)),
    sample("index_select", t(), 0, _0),
    sample("index_select", ints(2, 3), 0, _I),
    sample("index_select", t(2, 3, layout="transposed"), 0, _TWICE, label="transposed"),
    sample("index_add", t(2, 3), 0, _I, t(2, 3)),
    sample("index_add", t(2, 3), 0, _TWICE, t(2, 3), alpha=2),
    sample("index_add", t(2, 3), 1, given([2]), t(2, 1)),
    sample("index_add", t(), 0, _0, t()),
    sample("Tensor.index_add", t(2, 3), 0, _TWICE, t(2, 3), inplace=True),
    sample("index_copy", t(2, 3), 0, _I, t(2, 3)),
    sample("index_copy", t(2, 3), 1, given([2]), t(2, 1)),
    sample("index_copy", t(), 0, _0, t()),
    sample("Tensor.index_copy", t(2, 3), 0, _I, t(2, 3), inplace=True),
    sample("index_fill", t(2, 3), 0, _0, 1.5),
    sample("index_fill", t(2, 3), 1, given([0, -1]), 2),
    sample("index_fill", t(2, 3), 0, _I, t()),
    sample("Tensor.index_fill", t(2, 3), 1, _I, 0.5, inplace=True),
    sample("index_reduce", t(2, 3), 0, _TWICE, t(2, 3), "prod"),
    sample("index_reduce", t(2, 3, away=0.02), 1, _I, t(2, 2, away=0.05), "amax", include_self=False),
    sample("index_reduce", t(3, 2), 0, given([0, 0, 2]), t(3, 2), "mean"),
]
