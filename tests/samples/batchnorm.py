"""Samples of batch and instance normalisation."""

from __future__ import annotations

from . import positive, sample, t

# second=False: torch has no second derivative there
SAMPLES = [
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
    sample("nn.functional.batch_norm", t(5, 3, 8, 9, low=2.0, high=3.0), None, None, t(3), t(3), training=True),
    sample("nn.functional.batch_norm", t(2, 2, 80), None, None, t(2), None, training=True),
    sample("nn.functional.batch_norm", t(4, 3, layout="transposed"), None, None, t(3), t(3), training=True),
]
