"""Samples of running sums, products and extremes."""

from __future__ import annotations

import numpy as np

from . import given, ints, positive, sample, t

_ZEROS = [[1.5, 0.0, -2.0, 0.5], [0.0, 3.0, 0.0, 1.0], [1.0, 2.0, -1.5, 0.7]]

SAMPLES = [
    sample("cumsum", t(2, 3), 1),
    sample("cumsum", t(2, 3), -2, inplace=True),
    sample("cumsum", t(5), dim=0),
    sample("cumsum", t(), 0),
    sample("cumsum", t(0, 3), 0),
    sample("cumsum", t(2, 3, layout="transposed"), 1),
    sample("cumsum", ints(2, 3), 0),
    sample("cumsum", t(2, 3, kind="complex"), 0),
    sample("cumprod", t(2, 3), 1),
    sample("cumprod", t(2, 3, 2), -2, inplace=True),
    sample("cumprod", given(_ZEROS, "float"), 1, label="zeros"),
    sample("cumprod", given(_ZEROS, "float"), 0, label="zeros,0"),
    sample("cumprod", t(), 0),
    sample("cumprod", ints(2, 3), 0),
    sample("cumprod", t(2, 3, kind="complex"), 0),
    sample("logcumsumexp", t(2, 4), 1),
    sample("logcumsumexp", t(3, 2, 2), 0),
    sample("logcumsumexp", t(), 0),
    sample("logcumsumexp", t(2, 4, kind="complex"), 1, label="complex"),
    sample("logcumsumexp", t(3, 2, kind="complex"), 0, label="complex, 0"),
    sample("cummax", t(3, 4, away=0.01), 1),
    sample("cummax", t(3, 4, away=0.01, layout="transposed"), 0),
    sample("cummax", t(), 0),
    sample("cummax", ints(3, 4), 1),
    sample("cummin", t(3, 4, away=0.01), -1),
    sample("cummin", ints(3, 4), 0),
    sample("row.take_along", t(3, 4), ints(3, 4), 1, reference=np.take_along_axis),
    sample("diff", t(3, 4)),
    sample("diff", t(3, 4), 2),
    sample("diff", t(3, 4), dim=0),
    sample("diff", t(3, 4), prepend=t(3, 1), append=t(3, 2)),
    sample("diff", ints(3, 4)),
    sample("trapezoid", t(3, 4)),
    sample("trapezoid", t(3, 4), dx=2.0, dim=0),
    sample("trapezoid", t(3, 4), t(3, 4)),
    sample("trapezoid", t(3, 4), t(4)),
    sample("trapz", t(3, 4)),
    sample("trapz", t(4), t(4)),
    sample("cumulative_trapezoid", t(3, 4)),
    sample("cumulative_trapezoid", t(3, 4), t(4)),
    sample("cumulative_trapezoid", t(3, 4), dx=0.5, dim=0),
    sample("cumprod", positive(4), 0, label="positive"),
]
