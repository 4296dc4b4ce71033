"""How ``reduction=`` and its two retired forms are read: the number that rows take."""

from __future__ import annotations

from typing import Any

from ...ground.runtime import warn

MODES = {"none": 0, "mean": 1, "sum": 2}


def number(reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """0 for none, 1 for mean, 2 for sum; ValueError for other words."""
    if size_average is not None or reduce is not None:
        reduction = _retired(size_average, reduce)
    found = MODES.get(reduction)
    if found is None:
        if reduction != "elementwise_mean":
            raise ValueError(f"{reduction} is not a valid value for reduction")
        warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
        found = 1
    return found


def _retired(size_average: bool | None, reduce: bool | None) -> str:
    """The word that ``size_average`` and ``reduce`` stood for."""
    averaged = True if size_average is None else size_average
    reduced = True if reduce is None else reduce
    word = "mean" if averaged and reduced else "sum" if reduced else "none"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{word}' instead.")
    return word
