"""Settings as arrays: a 0-d array of the right dtype spares NumPy the conversion of a Python number, half the call."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor

F32, F64 = np.dtype("f4"), np.dtype("f8")
_known: dict[tuple[float, Any], np.ndarray] = {}
_MOST = 4096


def constant(value: float, kind: np.dtype[Any]) -> np.ndarray:
    """``value`` as a 0-d array, not to be written to."""
    key = (value, kind)
    found = _known.get(key)
    if found is None:
        if len(_known) > _MOST:  # a schedule gives a new rate at each step
            _known.clear()
        found = _known[key] = np.array(value, kind)
    return found


def number(setting: Any) -> float:
    """A setting as a Python number; one may be a tensor of one element."""
    return setting.item() if isinstance(setting, Tensor) else setting  # type: ignore[attr-defined,no-any-return]


def check_one_element(setting: Any, name: str) -> None:
    """ValueError where a setting is a tensor of several elements."""
    if isinstance(setting, Tensor) and setting._array.size != 1:
        raise ValueError(f"Tensor {name} must be 1-element")
