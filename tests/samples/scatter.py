"""Samples of fetching and placing by index along one dimension."""

from __future__ import annotations

from . import given, ints, sample, t

_G = given([[0, 1], [2, 2]])
_WIDE = given([[0, 1, 1], [2, 0, 0]])
_I = given([1, 0])
_TWICE = given([1, 1])
_0 = given([0])

SAMPLES = [
    sample("gather", t(2, 3), 1, _G),
    sample("gather", t(2, 3), 0, given([[1, 0, 0]])),
    sample("gather", t(3, 4), -1, given([[0], [3], [1]])),
    sample("gather", t(4), 0, given([3, 3, 0])),
    sample("gather", t(), 0, given(0)),
    sample("gather", t(), 0, given([0, 0])),
    sample("gather", t(2, 3, 4), 1, given([[[2, 1]], [[0, 0]]])),
    sample("gather", ints(2, 3), 1, _G),
    sample("gather", t(2, 3, layout="transposed"), 1, _G, label="transposed"),
    sample("gather", t(2, 3, kind="complex"), 1, _G),
    sample("scatter", t(2, 3), 1, _WIDE, t(2, 3), gradient=False, label="src-ties"),
    sample("scatter", t(2, 3), 1, given([[0, 1, 2], [2, 0, 1]]), t(2, 3)),
    sample("scatter", t(2, 3), 1, _G, 1.5),
    sample("scatter", t(2, 3), 1, _G, value=2),
    sample("scatter", t(3), 0, given([2]), t(1)),
    sample("scatter", t(), 0, given(0), 1.5),
    sample("scatter", t(2, 3), 1, given([[0], [2]]), t(2, 1), reduce="add", gradient=False),
    sample("scatter", t(2, 3), 1, given([[0], [2]]), 3.0, reduce="multiply", gradient=False),
    sample("Tensor.scatter", t(2, 3), 1, _G, 0.5, inplace=True),
    sample("scatter_add", t(2, 3), 1, _WIDE, t(2, 3)),
    sample("scatter_add", t(4), 0, given([1, 1, 3]), t(3)),
    sample("scatter_add", t(2, 3), -1, given([[0], [1]]), t(2, 1)),
    sample("Tensor.scatter_add", t(2, 3), 1, _G, t(2, 2), inplace=True),
    *(
        sample("scatter_reduce", t(2, 3, away=0.02), 1, _WIDE, t(2, 3, away=0.05), how, include_self=own)
        for how in ("sum", "mean", "prod", "amax", "amin")
        for own in (True, False)
    ),
    sample("scatter_reduce", ints(2, 3), 1, _WIDE, ints(2, 3), "mean"),
    sample("scatter_reduce", t(1, 3), 1, given([[0, 0, 1]]), given([[0.0, 2.0, 0.0]], "float"), "prod", label="zeros"),
    sample("row.corner", t(2, 3), (1, 2)),
    sample("row.corner_backward", t(1, 2), (2, 3)),
    sample("take", t(2, 3), _G),
    sample("take", t(2, 3), given(-1)),
    sample("put", t(2, 3), _I, t(2)),
    sample("put", t(2, 3), _TWICE, t(2), accumulate=True),
    sample("Tensor.put", t(2, 3), given([[5], [0]]), t(1, 2), inplace=True),
]
