"""Samples of embeddings, one-hot codes, and dropout that leaves nothing to chance."""

from __future__ import annotations

from . import given, ints, sample, t

F = "nn.functional."

CHOSEN = ("float32",)  # these gradients are not slopes, by intent: out of the law of slopes, which runs in float64
_TWICE = given([0, 2, 2, 1])

SAMPLES = [
    sample(F + "embedding", given([0, 2, 2, 1]), t(4, 3)),
    sample(F + "embedding", ints(2, 5, high=4), t(4, 3)),
    sample(F + "embedding", given(2), t(4, 3)),
    sample(F + "embedding", given([[0, 2], [2, 1]]), t(4, 3), padding_idx=2, only=CHOSEN),
    sample(F + "embedding", _TWICE, t(4, 3), padding_idx=-1, scale_grad_by_freq=True, second=False, only=CHOSEN),
    sample(F + "embedding", ints(0), t(4, 3)),
    sample("embedding", t(4, 3), given([3, 3, 0])),
    sample("row.embedding_twice", t(4, 3), given([0, 2, 2, 1]), 1, True),
    sample(F + "one_hot", given([0, 2, 1])),
    sample(F + "one_hot", given([[0, 2], [1, 1]]), 5),
    sample(F + "one_hot", given(1), 3),
    sample(F + "dropout", t(2, 3), 0.5, False),
    sample(F + "dropout", t(2, 3), 1.0),
    sample(F + "dropout", t(2, 3), 0.0),
    sample(F + "alpha_dropout", t(2, 3), 0.5),
    sample(F + "dropout2d", t(2, 3, 2, 2), 1.0),
    sample(F + "linear", t(2, 3), t(4, 3), t(4)),
    sample(F + "linear", t(2, 3), t(4, 3)),
    sample(F + "linear", t(5, 2, 3), t(4, 3), t(4)),
    sample(F + "linear", t(5, 2, 3), t(4, 3)),
    sample(F + "linear", t(3), t(4, 3), t(4)),
    sample(F + "linear", t(3), t(4, 3)),
    sample(F + "linear", t(2, 3), t(3)),
]
