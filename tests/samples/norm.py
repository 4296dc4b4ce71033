"""Samples of norms, distances and normalisation."""

from __future__ import annotations

from . import given, positive, sample, t

INF = float("inf")
_ZERO_ROW = [[0.0, 0.0, 0.0], [1.0, -2.0, 0.5]]

# second=False: torch has no second derivative there, or gives a ZeroTensor that knows no NumPy
SAMPLES = [
    sample("norm", t(2, 3)),
    sample("norm", t(2, 3), 1, second=False),
    sample("norm", t(2, 3), 2, 1),
    sample("norm", t(2, 3), 3, (0, 1), True),
    sample("norm", t(2, 3), p="fro", dim=1),
    sample("norm", t(2, 3), p="fro", dim=(0, 1)),
    sample("norm", t(2, 3), INF, second=False),
    sample("norm", t(2, 3), -INF, 0, second=False),
    sample("norm", t(2, 3), 0, second=False),
    sample("norm", t(2, 3), 0.5, 1),
    sample("norm", t(2, 3), 2.5, -1, True),
    sample("norm", t(), only=("float64",)),  # in float32 torch's second derivative is rounding, ours zero
    sample("norm", t(2, 3, kind="complex")),
    sample("norm", t(2, 3, kind="complex"), 1, 1),
    sample("norm", t(2, 3, kind="complex"), 3),
    sample("norm", given(_ZERO_ROW, "float"), 2, 1, label="zero row", second=False),
    sample("norm", given(_ZERO_ROW, "float"), 1, 1, label="zero row,1", second=False),
    sample("norm", given(_ZERO_ROW, "float"), 3, 1, label="zero row,3", second=False),
    sample("norm", t(4, 3, layout="transposed"), 2, 0),
    sample("norm", t(0, 3)),
    sample("linalg.vector_norm", t(2, 3)),
    sample("linalg.vector_norm", t(2, 3), 3, 1),
    sample("linalg.vector_norm", t(2, 3), 2, (0, 1), True),
    sample("linalg.vector_norm", t(2, 3), dtype="dtype:float64"),
    sample("linalg.norm", t(2, 3)),
    sample("linalg.norm", t(2, 3), 1),
    sample("linalg.norm", t(2, 3), -INF),
    sample("linalg.norm", t(2, 3), "fro"),
    sample("linalg.norm", t(4), 3),
    sample("linalg.norm", t(2, 3, 4), INF, (0, 2), True),
    sample("linalg.matrix_norm", t(2, 3)),
    sample("linalg.matrix_norm", t(2, 3, 4), 1),
    sample("dist", t(2, 3), t(2, 3)),
    sample("dist", t(2, 3), t(3), 1),
    sample("dist", t(2, 3), t(2, 1), 3),
    sample("dist", t(2, 3), t(2, 3), INF, second=False),
    sample("cdist", t(3, 4), t(2, 4), second=False),
    sample("cdist", t(3, 4), t(2, 4), 1.0, second=False),
    sample("cdist", t(2, 3, 4), t(2, 4), 3.0, second=False),
    sample("cdist", t(3, 4), t(2, 4), INF, second=False),
    sample("cdist", t(3, 4), t(2, 4), 0.0, second=False),
    sample("nn.functional.pairwise_distance", t(3, 4), t(3, 4)),
    sample("nn.functional.pairwise_distance", t(3, 4), t(3, 4), 1.0, keepdim=True),
    sample("nn.functional.pairwise_distance", t(4), t(4)),
    sample("nn.functional.pdist", t(4, 3), names=False, second=False),
    sample("cosine_similarity", t(3, 4), t(3, 4)),
    sample("cosine_similarity", t(3, 4), t(3, 4), dim=0),
    sample("cosine_similarity", t(3, 4), t(4), dim=-1),
    sample("nn.functional.normalize", t(3, 4)),
    sample("nn.functional.normalize", t(3, 4), 1.0, 0),
    sample("nn.functional.normalize", t(3, 4, 2), dim=-1, eps=1.0),
    sample("layer_norm", t(2, 6), (6,)),
    sample("layer_norm", t(2, 6), (6,), t(6), t(6)),
    sample("layer_norm", t(2, 6), (6,), t(6)),
    sample("layer_norm", t(2, 6), (6,), None, t(6), second=False),
    sample("layer_norm", t(2, 3, 4), (3, 4), t(3, 4), t(3, 4)),
    sample("layer_norm", t(2, 3, 4), (4,), t(4), t(4), 0.1),
    sample("layer_norm", t(5), (5,), t(5), t(5)),
    sample("nn.functional.layer_norm", t(2, 3, 4), [4], t(4), t(4)),
    sample("nn.functional.rms_norm", t(2, 3), (3,)),
    sample("nn.functional.rms_norm", t(2, 3, 4), (3, 4), t(3, 4), 0.1),
    sample("nn.functional.group_norm", t(2, 4, 3), 2),
    sample("nn.functional.group_norm", t(2, 4, 3, 2), 2, t(4), t(4)),
    sample("nn.functional.group_norm", t(2, 4, 3), 4, t(4), None, 0.1),
    sample("nn.functional.batch_norm", t(3, 2, 4), None, None, training=True),
    sample("nn.functional.batch_norm", t(3, 2), None, None, t(2), t(2), training=True),
    sample(
        "nn.functional.batch_norm", t(3, 2, 2, 2), t(2, grad=False), positive(2, grad=False), t(2), t(2), training=True
    ),
    sample("nn.functional.batch_norm", t(3, 2, 4), t(2, grad=False), positive(2, grad=False), t(2), t(2)),
    sample("nn.functional.batch_norm", t(3, 2, 4), t(2, grad=False), positive(2, grad=False)),
    sample("nn.functional.instance_norm", t(3, 2, 4)),
    sample("nn.functional.instance_norm", t(3, 2, 4), weight=t(2), bias=t(2), eps=0.1),
    sample("nn.functional.instance_norm", t(3, 2, 4), t(2, grad=False), positive(2, grad=False)),
    sample(
        "nn.functional.instance_norm", t(3, 2, 4), t(2, grad=False), positive(2, grad=False), use_input_stats=False
    ),
]
