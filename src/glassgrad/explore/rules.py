"""Derivative rules as text, floor 8: by the node's name, which both engines share; the table is built."""

from __future__ import annotations

from functools import cache
from importlib import import_module


@cache
def _rules() -> dict[str, str | None]:
    home = f"{__package__}.derivatives"
    try:
        built = import_module(home)
    except ModuleNotFoundError:  # a clone that was never built; what cannot build it does without
        try:
            import_module(f"{__package__.rpartition('.')[0]}.ops.built").build()
            built = import_module(home)
        except ImportError:
            return {}
    rules: dict[str, str | None] = built.RULES
    return rules


def rule_of(op: str) -> str | None:
    """The rule of the operation whose node is called ``op``: for each input, what becomes of the gradient."""
    return _rules().get(op)


def is_known(op: str) -> bool:
    """Whether the table has an operation whose node is called ``op``: one that is safe to ask for its derivative."""
    return op in _rules()
