"""What an expression gives in either engine, in a form that can be compared: a value, or an error and its words."""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np


def outcome(expression: str, engine: Any, **names: Any) -> Any:
    """The value of an expression of ``torch`` and ``np``, described; or the type and message of what it raises."""
    scope = {"torch": engine, "np": np, "pickle": pickle, "math": math, **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(eval(expression, scope), engine)  # noqa: S307  the expressions are the tests' own
        except Exception as error:  # noqa: BLE001  any error is an outcome
            return type(error).__name__, str(error)


def described(value: Any, engine: Any) -> Any:
    """A value as plain data: of a tensor its dtype, sizes, strides, elements and place in the graph."""
    if isinstance(value, engine.Tensor):
        named = [type(value).__name__, str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad]
        named += [type(value.grad_fn).__name__, value.is_leaf, str(value.device)]
        return (*named, None if value.device.type == "meta" else plain(value.detach().tolist()))
    if isinstance(value, np.ndarray):
        return "ndarray", str(value.dtype), value.shape, value.strides, plain(value.tolist())
    if isinstance(value, list | tuple):
        return [described(piece, engine) for piece in value]
    return plain(value) if isinstance(value, float | complex) else (type(value).__name__, str(value))


def plain(value: Any) -> Any:
    """Numbers rounded to what float32 tells for sure, NaN equal to itself."""
    if isinstance(value, list):
        return [plain(piece) for piece in value]
    if isinstance(value, complex):
        return plain(value.real), plain(value.imag)
    if isinstance(value, float):
        return "nan" if value != value else float(f"{value:.6g}")
    return value
