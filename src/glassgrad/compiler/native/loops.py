"""Runs of elementwise steps as one compiled loop, shared out among threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np

from ...kernels.native.binding import shared_out
from ..formulas import given_to
from ..program import Step, Value
from .text import filled_in, functions_for, is_number, is_numeric

_made: dict[Any, Any] = {}


def loop_of(steps: Sequence[Step], inputs: Sequence[Value], outputs: Sequence[Value], kind: np.dtype[Any]) -> Any:
    """A function of the inputs' arrays that gives those of the outputs; equal loops are compiled once."""
    names = {value.number: f"x{n}" for n, value in enumerate(inputs)}
    lines = []
    for n, step in enumerate(steps):
        formula, given = given_to(step)
        assert formula is not None
        texts = {name: _text(value, names) for name, value in given.items() if is_numeric(value)}
        lines.append(f"t{n} = {filled_in(formula.text, texts)}")
        names[step.results[0].number] = f"t{n}"
    lines += [f"y{n}[i] = {names[value.number]}" for n, value in enumerate(outputs)]
    numbers = tuple(is_number(value) for value in inputs)
    key = (kind.str, numbers, len(outputs), tuple(lines))
    work = _made.get(key)
    if work is None:
        work = _made[key] = _compiled(lines, numbers, len(outputs), kind)
    return _caller(work, numbers, len(outputs), kind, " ".join(step.name for step in steps))


def _text(value: Any, names: dict[int, str]) -> str:
    if not isinstance(value, Value):
        return f"number({value!r})"
    name = names[value.number]
    return name if name[0] == "t" or is_number(value) else f"{name}[i]"


def _compiled(lines: Sequence[str], numbers: Sequence[bool], count: int, kind: np.dtype[Any]) -> Any:
    arguments = [*(f"x{n}" for n in range(len(numbers))), *(f"y{n}" for n in range(count))]
    text = [f"def loop(first, last, {', '.join(arguments)}):"]
    arrays = [name for name, number in zip(arguments, [*numbers, *[False] * count], strict=True) if not number]
    text += [f"    {name} = {name}[first:last]" for name in arrays]
    text.append("    for i in range(y0.size):")
    text += [f"        {line}" for line in lines]
    names = dict(functions_for(kind))
    exec(compile("\n".join(text) + "\n", "<glassgrad fused loop>", "exec"), names)
    settings: dict[str, Any] = {"nogil": True, "_nrt": False, "error_model": "numpy"}
    return numba.njit(**settings)(names["loop"])


def _caller(work: Any, numbers: Sequence[bool], count: int, kind: np.dtype[Any], title: str) -> Callable[..., Any]:
    def fused(*arrays: Any) -> Any:
        large = next(array for array, number in zip(arrays, numbers, strict=True) if not number)
        flat = [
            kind.type(array) if number else array.reshape(-1) for array, number in zip(arrays, numbers, strict=True)
        ]
        outs = [np.empty(large.shape, kind) for _ in range(count)]
        shared_out(work, large.size, large.size * 2, *flat, *[out.reshape(-1) for out in outs])
        return outs[0] if count == 1 else tuple(outs)

    fused.__doc__ = f"One loop for: {title}."
    return fused
