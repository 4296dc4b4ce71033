"""Samples of the connectionist temporal classification loss."""

from __future__ import annotations

from . import given, sample, t

F = "nn.functional."
CHOSEN = ("float32",)  # the gradient is that of the scores behind the log probabilities, no slope
_TARGETS = given([[1, 2, 2], [3, 0, 0], [4, 1, 0]])
_LINE = given([1, 2, 2, 3, 4, 1])
_INPUTS, _LABELS = given([6, 5, 4]), given([3, 1, 2])

# second=False: torch has no second derivative
SAMPLES = [
    sample(F + "ctc_loss", t(6, 3, 5, low=-3.0, high=-0.5), _TARGETS, _INPUTS, _LABELS, second=False, only=CHOSEN),
    sample(
        F + "ctc_loss", t(6, 3, 5, low=-3.0, high=-0.5), _LINE, (6, 5, 4), (3, 1, 2), reduction="sum", second=False,
        only=CHOSEN,
    ),
    sample(
        F + "ctc_loss", t(6, 3, 5, low=-3.0, high=-0.5), _TARGETS, given([2, 5, 4]), _LABELS, reduction="none",
        zero_infinity=True, second=False, only=CHOSEN,
    ),
    sample(
        F + "ctc_loss", t(6, 5, low=-3.0, high=-0.5), given([1, 2, 2]), given(6), given(3), blank=4, second=False,
        only=CHOSEN,
    ),
    sample("ctc_loss", t(6, 3, 5, low=-3.0, high=-0.5), _TARGETS, _INPUTS, _LABELS, 0, 2, second=False, only=CHOSEN),
]
