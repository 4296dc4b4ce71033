"""Samples of bags of embeddings."""

from __future__ import annotations

from . import given, ints, sample, t

F = "nn.functional."
CHOSEN = ("float32",)  # these gradients are not slopes, by intent: out of the law of slopes, which runs in float64
_SIX = given([0, 1, 2, 2, 4, 0])
_BAGS = given([0, 2, 2, 5])

# second=False: torch has no second derivative of bags
SAMPLES = [
    sample(F + "embedding_bag", _SIX, t(5, 3), _BAGS, second=False),
    sample(F + "embedding_bag", _SIX, t(5, 3), _BAGS, mode="sum", second=False),
    sample(F + "embedding_bag", _SIX, t(5, 3, away=0.01), _BAGS, mode="max", second=False),
    sample(F + "embedding_bag", _SIX, t(5, 3), _BAGS, mode="sum", per_sample_weights=t(6), second=False),
    sample(
        F + "embedding_bag", _SIX, t(5, 3), _BAGS, mode="sum", per_sample_weights=t(6), padding_idx=0, second=False,
        only=CHOSEN,
    ),
    sample(F + "embedding_bag", _SIX, t(5, 3), _BAGS, padding_idx=-3, second=False, only=CHOSEN),
    sample(F + "embedding_bag", _SIX, t(5, 3), _BAGS, mode="sum", padding_idx=2, second=False, only=CHOSEN),
    sample(F + "embedding_bag", _SIX, t(5, 3, away=0.01), _BAGS, mode="max", padding_idx=2, second=False, only=CHOSEN),
    sample(F + "embedding_bag", _SIX, t(5, 3), _BAGS, scale_grad_by_freq=True, second=False, only=CHOSEN),
    sample(F + "embedding_bag", _SIX, t(5, 3), given([0, 2, 6]), include_last_offset=True, second=False),
    sample(F + "embedding_bag", ints(2, 4, high=5), t(5, 3), second=False),
    sample(F + "embedding_bag", ints(2, 4, high=5), t(5, 3), mode="sum", per_sample_weights=t(2, 4), second=False),
    sample(F + "embedding_bag", ints(2, 4, high=5), t(5, 3, away=0.01), mode="max", second=False),
    sample(F + "embedding_bag", ints(0), t(5, 3), given([0, 0]), mode="sum", second=False),
    sample("embedding_bag", t(5, 3), _SIX, _BAGS, False, 1, False, None, False, -1, second=False),
    sample("row.bag_sums", t(5, 3), _SIX, _BAGS, t(6)),
    sample("row.bag_table", t(4, 3), _SIX, _BAGS, t(6), 5),
    sample("row.bag_dots", t(4, 3), t(5, 3), _SIX, _BAGS),
    sample("row.bag_shares", t(4, 3), _SIX, _BAGS, 1, 2, True, gradient=False),
    sample("row.bag_peaks", t(5, 3), ints(4, 3, high=5), given([1, 0, 2, 1])),
    sample("row.bag_peaks_table", t(4, 3), ints(4, 3, high=5), given([1, 0, 2, 1]), 5),
]
