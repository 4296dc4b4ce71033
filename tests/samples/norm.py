"""Samples of normalisation."""

from __future__ import annotations

from . import sample, t

# second=False: torch has no second derivative there
SAMPLES = [
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
    sample("nn.functional.rms_norm", t(2, 2048), (2048,), t(2048)),
    sample("nn.functional.group_norm", t(2, 4, 3), 2),
    sample("nn.functional.group_norm", t(2, 4, 3, 2), 2, t(4), t(4)),
    sample("nn.functional.group_norm", t(2, 4, 3), 4, t(4), None, 0.1),
]
