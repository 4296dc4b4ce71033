"""What elementwise rows compute, written as expressions of their inputs and settings: what fused loops are made of.

Each is tested against its row's kernel. The functions are those of ``loops.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FEWEST = 1 << 14  # elements: a loop of fewer costs what it saves
ALONE = {"sin", "cos"}  # a loop would call the C library for each number, as only pieces near zero have a polynomial


@dataclass(frozen=True)
class Formula:
    """An expression; ``when`` are the settings for which it holds."""

    text: str
    when: dict[str, Any] = field(default_factory=dict)


_ONE = {"add": "self + other", "sub": "self - other"}
_LOOPS = {
    "mul": "self * other",
    "div": "self / other",
    "neg": "-self",
    "exp": "exp(self)",
    "log": "log(self)",
    "sin": "sin(self)",
    "cos": "cos(self)",
    "tanh": "tanh(self)",
    "sqrt": "sqrt(self)",
    "abs": "abs(self)",
    "sgn": "(one if self > zero else zero) - (one if self < zero else zero)",  # of NaN zero
    "sigmoid": "sigmoid(self)",
    "reciprocal": "one / self",
    "rsqrt": "one / sqrt(self)",
    "relu": "zero if self <= zero else self",
    "tanh_backward": "grad_output * (one - output * output)",
    "sigmoid_backward": "grad_output * ((one - output) * output)",
    "threshold_backward": "zero if self <= threshold else grad_output",
}

FORMULAS: dict[str, list[Formula]] = {
    **{name: [Formula(text, {"alpha": 1})] for name, text in _ONE.items()},
    **{name: [Formula(text)] for name, text in _LOOPS.items()},
    "pow_number": [Formula("self * self", {"exponent": 2}), Formula("self * self * self", {"exponent": 3})],
    "add_number": [Formula("self + other")],
    "rsub_number": [Formula("other - self", {"alpha": 1})],
    "mul_number": [Formula("self * other")],
}


def formula_of(row: Any, settings: dict[str, Any]) -> Formula | None:
    """The formula of a row's call with some settings; None where there is none."""
    for formula in FORMULAS.get(row.name, ()):
        if all(settings.get(name) == value for name, value in formula.when.items()):
            return formula
    return None
