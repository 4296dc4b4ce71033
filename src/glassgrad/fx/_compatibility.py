"""A mark that PyTorch puts on what it promises to keep; packages put it on what they override."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def compatibility(is_backward_compatible: bool) -> Callable[[Any], Any]:
    """A decorator that changes nothing."""
    return lambda function: function
