"""How many examples generators try: a few, the same in every run, or with ``pytest --count 10000`` so many new ones."""

from __future__ import annotations

from typing import Any

chosen = 0  # what ``--count`` says, which conftest.py puts here before any test is collected


def count(few: int) -> int:
    """How many examples to try where a few are enough for every run."""
    return chosen or few


def generated(few: int, **more: Any) -> Any:
    """Hypothesis' settings of a generator."""
    from hypothesis import settings

    return settings(max_examples=count(few), deadline=None, derandomize=not chosen, database=None, **more)
