"""Samples of pooling."""

from __future__ import annotations

import numpy as np

from . import given, ints, sample, t

F = "nn.functional."
INF = float("inf")


def x(*shape, **how):
    """A tensor without ties: its largest elements stay so when it is nudged."""
    return t(*shape, away=0.01, **how)


_NAN = [[[1.0, float("nan"), 3.0, float("nan"), 5.0, 6.0]]]
_PLACES = [[[0, 3, 5, 14], [1, 2, 10, 12]]]
_TWICE = [[[3, 3, 5, 14], [1, 2, 10, 2]]]
_ROOMS = [[[[0, 3], [9, 14]], [[1, 2], [10, 12]]]]
_CUBES = [[[[[0, 3], [9, 14]], [[1, 2], [60, 12]]]]]

SAMPLES = [
    sample("max_pool1d", x(2, 3, 8), 2),
    sample("max_pool1d", x(3, 8), 3, 2, 1),
    sample("max_pool1d", x(2, 3, 8, grad=False), 3, 2, 1, label="values only"),
    sample("max_pool1d_with_indices", x(2, 3, 9), 3, 2, 1, 2, True),
    sample("max_pool2d", x(2, 3, 6, 6), 2),
    sample("max_pool2d", x(3, 6, 7), (2, 3), stride=1),
    sample("max_pool2d", x(2, 2, 6, 6, grad=False), 3, 2, 1, label="values only"),
    sample("max_pool3d", x(1, 2, 4, 5, 6), 2),
    sample("max_pool3d", x(2, 4, 4, 4), (2, 3, 2), (2, 1, 2), (0, 1, 1), ceil_mode=True),
    sample(F + "max_pool1d", x(2, 3, 9), 3, 2, 1, 2, True, True),
    sample(F + "max_pool1d", given(_NAN, "float", grad=False), 2, stride=1, label="nan"),
    sample(F + "max_pool1d", given(_NAN, "float", grad=False), 4, stride=1, return_indices=True, label="last nan"),
    sample(F + "max_pool2d", x(2, 3, 7, 8), 3, 2, 1),
    sample(F + "max_pool2d", x(2, 3, 7, 8), 3, 2, 1, 1, True, True),
    sample(F + "max_pool2d", x(1, 2, 9, 9), 3, 1, 1, (2, 1), return_indices=True),
    sample(F + "max_pool2d", x(2, 2, 4, 6, layout="transposed"), 2, label="transposed"),
    sample(F + "max_pool2d", x(2, 2, 6, 4, layout="strided"), 2, label="strided"),
    sample(F + "max_pool2d", ints(2, 2, 4, 4, high=90), 3, 2, 1, return_indices=True),
    sample(F + "max_pool2d", t(0, 2, 4, 4), 2),
    sample(F + "max_pool3d", x(1, 2, 5, 5, 5), 3, 2, 1, return_indices=True),
    sample("avg_pool1d", t(2, 3, 8), 2),
    sample("avg_pool1d", t(3, 8), 3, 2, 1, True, False),
    sample(F + "avg_pool1d", t(2, 3, 9), (3,), (2,), (1,)),
    sample(F + "avg_pool2d", t(2, 3, 6, 6), 2),
    sample(F + "avg_pool2d", t(3, 7, 8), (3, 2), (2, 1), (1, 0)),
    sample(F + "avg_pool2d", t(2, 3, 7, 8), 3, 2, 1, True, False),
    sample(F + "avg_pool2d", t(2, 3, 7, 8), 3, 2, 1, True, True),
    sample(F + "avg_pool2d", t(2, 3, 7, 8), 3, 2, 1, divisor_override=5),
    sample(F + "avg_pool2d", t(2, 3, 7, 8), (7, 8)),
    sample(F + "avg_pool2d", t(2, 2, 2), (1, 4), (1, 3), (0, 2), True, False),  # a tap that only padding has
    sample(F + "avg_pool2d", ints(1, 2, 5, 5, low=-9, high=9), 2, ceil_mode=True),
    sample(F + "avg_pool2d", t(2, 2, 4, 6, layout="transposed"), 3, 1, label="transposed"),
    sample(F + "avg_pool3d", t(1, 2, 4, 5, 6), 2),
    sample(F + "avg_pool3d", t(2, 5, 5, 5), 3, 2, 1, True, False, 4),
    sample(F + "avg_pool3d", t(2, 5, 5, 5), 3, 2, 1, True, False),
    sample("adaptive_avg_pool1d", t(2, 3, 7), 3),
    sample("adaptive_avg_pool1d", t(3, 6), 1),
    sample(F + "adaptive_avg_pool2d", t(2, 3, 7, 8), (3, 5)),
    sample(F + "adaptive_avg_pool2d", t(3, 6, 8), (3, None)),
    sample(F + "adaptive_avg_pool2d", t(2, 3, 3, 4), (5, 9)),
    sample(F + "adaptive_avg_pool2d", t(2, 3, 7, 8), 1),
    sample(F + "adaptive_avg_pool2d", t(2, 3, 7, 8), (1, 3)),
    sample(F + "adaptive_avg_pool3d", t(2, 3, 4, 5, 6), (2, 3, 4)),
    sample(F + "adaptive_avg_pool3d", t(3, 4, 5, 6), 1),
    sample("adaptive_max_pool1d", x(2, 3, 7), 3),
    sample(F + "adaptive_max_pool1d", x(3, 8), 4),
    sample(F + "adaptive_max_pool2d", x(2, 3, 7, 8), (3, 5), True),
    sample(F + "adaptive_max_pool2d", x(2, 3, 6, 8), (3, None)),
    sample(F + "adaptive_max_pool2d", x(2, 3, 3, 4), (5, 4), return_indices=True),
    sample(F + "adaptive_max_pool2d", x(2, 3, 7, 8), 1, return_indices=True),
    sample(F + "adaptive_max_pool3d", x(2, 3, 4, 5, 6), (2, 3, 4), return_indices=True),
    sample(F + "max_unpool1d", t(1, 2, 4), given(_PLACES), 4),
    sample(F + "max_unpool2d", t(1, 2, 2, 2), given(_ROOMS), 2),
    sample(F + "max_unpool2d", t(2, 2, 2), given(_ROOMS[0]), 2, output_size=(5, 4)),
    sample(F + "max_unpool2d", t(1, 2, 4), given(_TWICE), 4, 3, label="twice at one place", gradient=False),
    sample(F + "max_unpool3d", t(1, 1, 2, 2, 2), given(_CUBES), 2),
    sample(F + "fractional_max_pool2d", x(2, 3, 7, 8), 2, (3, 4)),
    sample(F + "fractional_max_pool2d", x(3, 7, 8), (3, 2), output_ratio=(0.5, 0.6), return_indices=True),
    sample(F + "fractional_max_pool3d", x(1, 2, 5, 6, 7), 2, (2, 3, 4), return_indices=True),
    sample(F + "fractional_max_pool3d", x(2, 5, 6, 7), 2, output_ratio=0.5),
    sample(F + "lp_pool1d", t(2, 3, 8), 2, 2),
    sample(F + "lp_pool2d", t(2, 3, 6, 6, low=0.2), 3, 2),
    sample(F + "lp_pool2d", t(2, 3, 6, 6, low=0.2), 1.5, (2, 3), 1, True),
    sample(F + "lp_pool2d", x(2, 3, 6, 6), INF, 2),
    sample(F + "lp_pool2d", x(2, 3, 6, 6), -INF, 2),
    sample(F + "lp_pool3d", t(1, 2, 4, 4, 4), 2.0, 2),
    sample(F + "local_response_norm", t(2, 5, 4), 3, 0.5),
    sample(F + "local_response_norm", t(2, 5, 3, 2), 4, 0.5, 0.6, 2.0),
    sample("row.pool_pick", t(2, 4), given([[0, 3, 3], [2, 1, 0]]), 1, reference=np.take_along_axis),
    sample("row.pool_put", t(2, 3), given([[0, 3, 3], [2, 1, 0]]), (4,), False),
]
