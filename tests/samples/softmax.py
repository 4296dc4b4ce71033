"""Samples of softmax, its logarithm and log-sum-exp."""

from __future__ import annotations

import numpy as np

from . import given, ints, sample, t

_FAR = [[200.0, -300.0, 199.0], [-500.0, -501.0, -502.0]]
_GONE = [[float("-inf"), 1.0, 2.0], [0.5, float("-inf"), -1.0]]

SAMPLES = [
    sample("softmax", t(2, 3), 1),
    sample("softmax", t(2, 3), 0),
    sample("softmax", t(2, 3, 4), -1),
    sample("softmax", t(2, 3, 4), 1),
    sample("softmax", t(5), dim=0),
    sample("softmax", t(), 0),
    sample("softmax", t(0, 3), 1),
    sample("softmax", t(3, 0), 1),
    sample("softmax", t(4, 3, layout="transposed"), 1),
    sample("softmax", given(_FAR, "float"), 1, label="far"),
    sample("softmax", given(_GONE, "float"), 1, label="-inf"),
    sample("softmax", t(2, 3), 1, dtype="dtype:float64"),
    sample("softmax", ints(2, 3), 1, dtype="dtype:float32", only=("float32",)),
    sample("nn.functional.softmax", t(2, 3), dim=1),
    sample("nn.functional.softmin", t(2, 3), 1),
    sample("log_softmax", t(2, 3), 1),
    sample("log_softmax", t(2, 3), 0),
    sample("log_softmax", t(2, 3, 4), 1),
    sample("log_softmax", t(5), dim=0),
    sample("log_softmax", t(), 0),
    sample("log_softmax", t(0, 3), 1),
    sample("log_softmax", given(_FAR, "float"), 1, label="far"),
    sample("log_softmax", t(4, 3, layout="transposed"), -1),
    sample("log_softmax", t(2, 3), 1, dtype="dtype:float64"),
    sample("nn.functional.log_softmax", t(2, 3), 1),
    sample("logsumexp", t(2, 3), 1),
    sample("logsumexp", t(2, 3), (0, 1)),
    sample("logsumexp", t(2, 3), 0, True),
    sample("logsumexp", t(2, 3, 4), (0, 2), keepdim=True),
    sample("logsumexp", given(_FAR, "float"), 1, label="far", only=("float64",)),
    sample("logsumexp", given(_FAR, "float"), 1, label="far in float32", only=("float32",), second=False),
    sample("logsumexp", ints(2, 3), 0),
    sample("logsumexp", t(), 0),
    sample("row.hardened", t(2, 3), 1, gradient=False, reference=lambda a, dim: np.eye(3, dtype=a.dtype)[a.argmax(1)]),
    sample("row.hardened", t(), 0, gradient=False, reference=lambda a, dim: np.ones_like(a)),
]
