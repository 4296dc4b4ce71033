"""Samples of padding."""

from __future__ import annotations

from . import ints, mask, sample, t

_PAD = "nn.functional.pad"

SAMPLES = [
    sample("constant_pad_nd", t(2, 3), (1, 2)),
    sample("constant_pad_nd", t(2, 3), (1, 0, 0, 2), 1.5),
    sample(_PAD, t(2, 3), (1, 2)),
    sample(_PAD, t(2, 3), (1, 1, 2, 0), value=3.0),
    sample(_PAD, t(2, 3), (-1, 2)),
    sample(_PAD, t(2, 3), (1, -1, -1, 0), "constant", 0.5),
    sample(_PAD, t(2, 3), ()),
    sample(_PAD, t(0, 3), (1, 1)),
    sample(_PAD, ints(2, 3), (1, 1), value=7),
    sample(_PAD, mask(2, 3), (0, 1)),
    sample(_PAD, t(2, 3, kind="complex"), (1, 1)),
    sample(_PAD, t(2, 3, layout="transposed"), (1, 1), label="transposed"),
    sample(_PAD, t(2, 3), (1, 2), "reflect"),
    sample(_PAD, t(2, 3, 4), (3, 1), "reflect"),
    sample(_PAD, t(2, 3, 4), (1, 1, 2, 1), "reflect"),
    sample(_PAD, t(1, 2, 3, 4), (-1, 2, 1, 0), mode="reflect"),
    sample(_PAD, t(1, 2, 3, 4), (1, 1, 1, 1, 0, 1), "reflect"),
    sample(_PAD, t(2, 3), (1, 5), "replicate"),
    sample(_PAD, t(2, 3, 4), (1, 1, 2, 0), "replicate"),
    sample(_PAD, t(1, 2, 3, 4), (-1, 1, 0, 2, 1, 1), "replicate"),
    sample(_PAD, t(2, 3), (1, 2), "circular", names=False),
    sample(_PAD, t(2, 3, 4), (2, 1, 3, 0), "circular", names=False),
    sample(_PAD, t(2, 3), (-1, 1), "circular", names=False),
    sample(_PAD, ints(2, 3), (1, 1), "reflect"),
]
