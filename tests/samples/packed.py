"""Samples of packed batches."""

from __future__ import annotations

from . import given, sample, t

LENGTHS, SIZES = given([3, 2, 2]), given([3, 3, 1])

# names=False: PyTorch fills the padded batch run by run, ours is one node
SAMPLES = [
    sample("_pack_padded_sequence", t(3, 3, 2), LENGTHS, False),
    sample("_pack_padded_sequence", t(3, 4), LENGTHS, True),
    sample("_pad_packed_sequence", t(7, 2), SIZES, False, 0.5, 3, names=False),
    sample("_pad_packed_sequence", t(7), SIZES, True, 0.0, 5, names=False),
]
