"""Samples of weights split into length and direction."""

from __future__ import annotations

from . import sample, t

# second=False: there torch takes the norms for constants, and fails its own gradgradcheck
SAMPLES = [
    sample("_weight_norm", t(3, 4), t(3, 1), second=False),
    sample("_weight_norm", t(3, 4), t(1, 4), 1, second=False),
    sample("_weight_norm", t(3, 4, 5), t(1, 1, 5), 2, second=False),
    sample("_weight_norm", t(3, 4, 5), t(1, 4, 1), 1),
    sample("_weight_norm", t(3, 4), t(), -1, names=False),
    sample("_weight_norm", t(4, 3, layout="transposed"), t(4, 1), second=False),
    sample("norm_except_dim", t(3, 4)),
    sample("norm_except_dim", t(3, 4, 2), 3, 1),
    sample("norm_except_dim", t(3, 4, 2), 2, 2),
    sample("norm_except_dim", t(3, 4), 2, -1, names=False),
]
