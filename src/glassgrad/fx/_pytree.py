"""Trees taken apart along a shape that is known: what generated code does with arguments that are containers."""

from __future__ import annotations

from typing import Any

from ..utils._pytree import TreeSpec


def tree_flatten_spec(pytree: list[Any], spec: TreeSpec) -> list[Any]:
    """The leaves of a function's arguments that have the shape ``spec``."""
    return spec.flatten_up_to(tuple(pytree))
