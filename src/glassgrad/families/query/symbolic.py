"""Functions of symbolic numbers, which are plain ones here: sizes are known when a call is made."""

from __future__ import annotations

import builtins
import math
from typing import Any

from ...ground.listening import asking
from ...ops.declare import composite


@composite(method=False)
def sym_int(a: Any) -> Any:
    """The integer part of a number."""
    return math.floor(a) if isinstance(a, float) and a >= 0 else math.ceil(a) if isinstance(a, float) else int(a)


@composite(method=False)
def sym_float(a: Any) -> Any:
    """A number as a float."""
    return float(a)


@composite(method=False)
@asking
def sym_not(a: Any) -> bool:
    """Whether a truth value is false."""
    return not a


@composite(method=False)
def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float if one of them is."""
    largest = builtins.max(a, b)
    return float(largest) if isinstance(a, float) or isinstance(b, float) else largest


@composite(method=False)
def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is."""
    smallest = builtins.min(a, b)
    return float(smallest) if isinstance(a, float) or isinstance(b, float) else smallest


@composite(method=False)
def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    return builtins.sum(args)


@composite(method=False)
def sym_sqrt(a: Any) -> float:
    """The square root of a number."""
    return math.sqrt(a)


@composite(method=False)
def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """``t`` or ``f``, which have one type, as the truth value ``b`` says."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


@composite(method=False)
def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a number lies between ``min`` and ``max``."""
    low, high = -(2**63) if min is None else min, 2**63 - 1 if max is None else max
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


@composite(method=False)
def sym_constrain_range_for_size(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a size lies between ``min`` and ``max``."""
    if min is not None and max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    sym_constrain_range(size, min=min, max=max)
