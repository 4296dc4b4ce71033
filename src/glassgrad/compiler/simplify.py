"""Leaves out of a program what is needless: steps nobody reads or that were taken before, copies of what is fresh."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground.nested import frozen, mapped
from .program import Step, Value


def simplified(steps: Sequence[Step], kept: list[Value]) -> tuple[list[Step], list[Value]]:
    """The steps that are needed, and the values that stand for ``kept``."""
    steps, kept = _without_repeats(steps, kept)
    needed = _needed(steps, kept)
    steps = [step for place, step in enumerate(steps) if place in needed]
    own_gradients(steps, kept)
    return steps, kept


def _needed(steps: Sequence[Step], kept: Sequence[Value]) -> set[int]:
    """The places of steps whose results are read, or that do more than making them."""
    read = {value.number for value in kept}
    places = set()
    for place in reversed(range(len(steps))):
        step = steps[place]
        if step.acts or step.draws or any(value.number in read for value in step.results):
            places.add(place)
            read.update(value.number for value in step.inputs)
    return places


def memory_of(steps: Sequence[Step]) -> dict[int, int]:
    """The value whose memory each view looks at, and each gradient that is no copy."""
    roots: dict[int, int] = {}
    for step in steps:
        if step.kind == "view" or step.kind == "gradient" and step.named:
            source = step.inputs[step.kind == "gradient"]
            for value in step.results:
                roots[value.number] = roots.get(source.number, source.number)
    return roots


def _without_repeats(steps: Sequence[Step], kept: list[Value]) -> tuple[list[Step], list[Value]]:
    """Steps that compute what an earlier one has computed give way to it."""
    roots = memory_of(steps)
    fixed = {roots.get(value.number, value.number) for value in kept}  # memory that others may write to or hold
    for step in steps:
        if step.acts and step.kind == "tensors":
            fixed.update(roots.get(value.number, value.number) for value in step.inputs)
    stands_for: dict[int, Value] = {}
    known: dict[Any, Step] = {}
    unique: list[Step] = []

    def current(piece: Any) -> Any:
        return stands_for.get(piece.number, piece) if isinstance(piece, Value) else piece

    for step in steps:
        step.operands, step.named = mapped(step.operands, current), mapped(step.named, current)
        if step.acts:
            known.clear()  # an outside tensor may have changed
        elif step.kind in ("kernel", "view") and not step.draws:
            memory = {roots.get(value.number, value.number) for value in step.results}
            key = None if memory & fixed else _key(step)
            if key is not None:
                earlier = known.setdefault(key, step)
                if earlier is not step:
                    stands_for.update({v.number: w for v, w in zip(step.results, earlier.results, strict=True)})
                    continue
        unique.append(step)
    return unique, [current(value) for value in kept]


def _key(step: Step) -> Any:
    """What two steps that compute the same have in common; None where that cannot be told."""

    def token(piece: Any) -> Any:
        if isinstance(piece, Value):
            if piece.source == "constant" and not piece.shape:
                return ("constant", piece.dtype.str, np.asarray(piece.held).tobytes())
            return ("value", piece.number)
        return (type(piece).__name__, repr(piece)) if isinstance(piece, float) else (type(piece).__name__, piece)

    key = id(step.function), frozen(step.operands, token)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def own_gradients(steps: Sequence[Step], kept: Sequence[Value]) -> None:
    """A gradient that nobody else reads becomes a leaf's without a copy.

    Of several results of a kernel, two may be the same array: whether such a one can be taken is seen when it is there.
    """
    used = Counter(value.number for step in steps for value in step.inputs)
    used.update(value.number for value in kept)
    fresh = {v.number: step.several for step in steps if step.kind == "kernel" for v in step.results}
    for step in steps:
        if step.kind == "gradient" and step.name == "set":
            target, value = step.operands[:2]
            alone = value.number in fresh and used[value.number] == 1 and value.dtype == target.dtype
            step.named = {}
            if alone and value.dense and target.dense:
                step.named = {"taken" if fresh[value.number] else "own": True}
