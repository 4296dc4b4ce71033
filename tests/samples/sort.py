"""Samples of order: sorting, ranking, finding and counting."""

from __future__ import annotations

from . import given, ints, mask, sample, t

_NAN = given([3.0, float("nan"), 1.0, 2.0], "float", grad=False)
_STEPS = given([0.0, 1.0, 1.0, 2.5], "float", grad=False)

SAMPLES = [
    sample("sort", t(2, 5, away=0.05)),
    sample("sort", t(4, 3, away=0.05), 0),
    sample("sort", t(4, 3, away=0.05), 0, True),
    sample("sort", t(2, 5, away=0.05), dim=-1, descending=True, stable=True),
    sample("sort", t()),
    sample("sort", t(0)),
    sample("sort", _NAN),
    sample("sort", _NAN, descending=True),
    sample("sort", t(3, 4, away=0.05, layout="transposed"), 1, label="transposed"),
    sample("sort", ints(7), stable=True),
    sample("sort", mask(5), stable=True),
    sample("msort", t(4, 3, away=0.05)),
    sample("argsort", t(2, 5, away=0.05), gradient=False),
    sample("argsort", t(2, 5, away=0.05), 0, True, gradient=False),
    sample("argsort", ints(7), dim=0, stable=True),
    sample("topk", t(2, 5, away=0.05), 2),
    sample("topk", t(5, 2, away=0.05), 3, 0, False),
    sample("topk", t(), 1),
    sample("topk", t(3), 0),
    sample("topk", _NAN, 2),
    sample("topk", t(2, 600, low=-200, high=200, away=0.01), 5, label="few-of-many"),
    sample("topk", t(600, low=-200, high=200, away=0.01), 5, largest=False, label="few-of-many-smallest"),
    sample("unique", ints(9), gradient=False),
    sample("unique", ints(3, 4), return_inverse=True, return_counts=True),
    sample("unique", ints(4, 2, high=2), dim=0, return_inverse=True, return_counts=True),
    sample("unique", given([2.0, float("nan"), 1.0, float("nan")], "float"), gradient=False),
    sample("unique_consecutive", given([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True),
    sample("unique_consecutive", given([[1, 2], [1, 2], [0, 5]]), dim=0),
    sample("nonzero", given([[0, 1], [2, 0]])),
    sample("nonzero", given([[0, 1], [2, 0]]), as_tuple=True),
    sample("nonzero", mask(5)),
    sample("nonzero", given(2)),
    sample("argwhere", given([[0, 1], [2, 0]])),
    sample("searchsorted", _STEPS, t(2, 3), gradient=False),
    sample("searchsorted", _STEPS, given([1.0, 2.5], "float"), right=True, gradient=False),
    sample("searchsorted", _STEPS, given([1.0, 2.5], "float"), side="right", out_int32=True, gradient=False),
    sample("searchsorted", given([[0, 2, 4], [1, 3, 5]]), given([[3, 4], [0, 9]])),
    sample("searchsorted", given([0, 2, 4]), 3),
    sample("searchsorted", given([4, 0, 2]), given([1, 3]), sorter=given([1, 2, 0])),
    sample("bucketize", t(2, 3), _STEPS, gradient=False),
    sample("bucketize", 1, given([0, 1, 2]), right=True),
    sample("bincount", ints(9)),
    sample("bincount", ints(9), minlength=6),
    sample("bincount", ints(3), t(3), gradient=False),
    sample("histc", t(9), 4, -2, 2, gradient=False),
    sample("histc", t(9, away=0.01), bins=3, gradient=False),
    sample("isin", ints(2, 3), given([1, 5])),
    sample("isin", ints(2, 3), 1, invert=True),
]
