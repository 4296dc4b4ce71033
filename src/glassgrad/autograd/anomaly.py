"""Anomaly detection: where a record was made, and which one first gives NaN."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.record import Record
from ..core.tensor import Tensor
from ..ground import modes
from ..ground.names import user_frame
from ..tensor.hooks import hooks_of


def mark(record: Record) -> None:
    """Keep the traceback of the forward call in the record's metadata."""
    hooks_of(record).metadata["traceback_"] = traceback.format_stack(user_frame())


def explain(record: Record) -> None:
    """Warn with the traceback of the forward call that made ``record``."""
    metadata = hooks_of(record).metadata
    name = record.kind.name
    if "traceback_" in metadata:
        warnings.warn(
            f"Error detected in {name}. Traceback of forward call that caused the error:\n"
            + "".join(metadata["traceback_"]),
            UserWarning,
            stacklevel=2,
        )
    else:
        warnings.warn(
            f"Error detected in {name}. No forward pass information available. Enable detect anomaly during forward "
            "pass for more information.",
            UserWarning,
            stacklevel=2,
        )


def check(record: Record, outgoing: Sequence[Any]) -> None:
    """Raise PyTorch's error when a gradient that ``record`` gives holds NaN."""
    if not modes.local.anomaly_check_nan:
        return
    for index, grad in enumerate(outgoing):
        if grad is None or not hasattr(grad, "dtype"):
            continue
        array = grad._array if isinstance(grad, Tensor) else grad
        if np.isnan(getattr(array, "values", array)).any():
            explain(record)
            raise RuntimeError(f"Function '{record.kind.name}' returned nan values in its {index}th output.")
