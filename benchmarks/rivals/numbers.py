"""Arrays of what an engine gives, and the starting numbers that all engines share."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["array", "arrays", "named"]


def array(value: Any) -> np.ndarray:
    """A copy of a tensor of any engine."""
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "numpy"):
        value = value.numpy()
    return np.array(getattr(value, "data", value) if type(value).__module__.startswith("mygrad") else value)


def arrays(result: Any) -> list[np.ndarray]:
    """Copies of all tensors that a step gave."""
    return [array(part) for part in (result if isinstance(result, (tuple, list)) else (result,))]


def named(model: Any) -> dict[str, np.ndarray]:
    """Copies of a model's parameters by their names."""
    return {name: array(parameter) for name, parameter in model.named_parameters()}
