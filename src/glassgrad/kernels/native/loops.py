"""Elementwise operations as one compiled loop over memory, shared out among threads."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from . import mathematics
from .binding import apart, shared_out, wide_vectors
from .kept import called_by_python, defined

_made: dict[Any, Any] = {}
_VECTOR, _TOGETHER = 16, 4  # elements of the longest vectors; how many of these go through a line together
_TILE = _VECTOR * _TOGETHER


def loop_of(
    operations: Sequence[tuple[str, dict[str, Any], Any]], inputs: dict[Any, bool], outputs: Sequence[Any],
    kind: np.dtype[Any], title: str,
) -> Any:  # fmt: skip
    """A function of the inputs' arrays that gives those of the outputs; equal loops are compiled once.

    operations  for each a formula, what its names stand for (keys of inputs or results, or plain numbers), and the key
                of its result
    inputs      keys, and whether each is a single number
    outputs     the keys of results that are wanted
    """
    texts: dict[Any, str] = {key: f"x{n}" if single else f"x{n}[i]" for n, (key, single) in enumerate(inputs.items())}
    lines = []
    for n, (formula, bindings, result) in enumerate(operations):
        names = {name: texts[key] if key in texts else f"number({key!r})" for name, key in bindings.items()}
        lines.append(f"t{n} = {filled_in(formula, names)}")
        texts[result] = f"t{n}"
    lines += [f"y{n}[i] = {texts[key]}" for n, key in enumerate(outputs)]
    numbers, count = tuple(inputs.values()), len(outputs)
    key = (kind.str, numbers, count, tuple(lines))
    if key not in _made:
        _made[key] = _compiled(lines, numbers, count, kind)
    loop = _caller(_made[key], numbers, count, kind, title)
    head = f"def loop({', '.join([*(f'x{n}' for n in range(len(numbers))), *(f'y{n}' for n in range(count))])}):"
    loop.text = "\n".join([head, "    for i in range(y0.size):", *(f"        {line}" for line in lines)]) + "\n"
    return loop


def _compiled(lines: Sequence[str], numbers: Sequence[bool], count: int, kind: np.dtype[Any]) -> Any:
    outs = [f"y{n}" for n in range(count)]
    arguments = [*(f"x{n}" for n in range(len(numbers))), *outs]
    text = [f"def loop(first, last, {', '.join(arguments)}):", "    apart()", "    wide_vectors()"]
    arrays = [name for name, number in zip(arguments, [*numbers, *[False] * len(outs)], strict=True) if not number]
    text += [f"    {name} = {name}[first:last]" for name in arrays]
    if _calls(lines):
        text += _abreast(lines, arrays)
    text.append("    for i in range(y0.size):")
    text += [f"        {line}" for line in lines]
    names = {**functions_for(kind), "apart": apart, "wide_vectors": wide_vectors}
    return called_by_python(defined(text, names, kind.str))


def _calls(lines: Sequence[str]) -> bool:
    """Whether there are functions in a loop: then it computes, else it waits for memory."""
    return any(re.search(r"\w\(", line.replace("number(", "(")) for line in lines)


def _abreast(lines: Sequence[str], arrays: Sequence[str]) -> list[str]:
    """A loop in which several vectors go through each line together; what is left over is the arrays afterwards.

    Lines with functions are a hundred instructions, each of which waits for the one before, and a processor does not
    look ahead that far: with one vector it idles half the time.
    """
    text = [f"    whole = y0.size // {_TILE} * {_TILE}", f"    for at in range(0, whole, {_TILE}):"]
    text += [f"        {name}_ = {name}[at : at + {_TILE}]" for name in arrays]
    text.append(f"        for i in range({_VECTOR}):")
    for line in lines:
        for n in range(_TOGETHER):
            there = re.sub(r"\b([xy]\d+)\[i\]", rf"\1_[i + {n * _VECTOR}]", line)
            text.append("            " + re.sub(r"\bt(\d+)\b", rf"t\1_{n}", there))
    return text + [f"    {name} = {name}[whole:]" for name in arrays]


def _caller(work: Any, numbers: Sequence[bool], count: int, kind: np.dtype[Any], title: str) -> Any:
    def fused(*arrays: Any) -> Any:
        large = next(array for array, number in zip(arrays, numbers, strict=True) if not number)
        outs = tuple([np.empty(large.shape, kind) for _ in range(count)])
        flat = [kind.type(one) if number else one.reshape(-1) for one, number in zip(arrays, numbers, strict=True)]
        shared_out(work, large.size, large.size * 2, *flat, *[out.reshape(-1) for out in outs])
        return outs[0] if count == 1 else outs

    fused.__doc__ = f"One loop for: {title}."
    return fused


# -- formulas ----------------------------------------------------------------------------------------------------------


@cache
def functions_for(kind: np.dtype[Any]) -> dict[str, Any]:
    """The functions and constants that formulas on numbers of a dtype may name."""
    return {
        "number": kind.type, "zero": kind.type(0), "one": kind.type(1), "exp": mathematics.exp, "log": mathematics.log,
        "tanh": mathematics.tanh, "sigmoid": mathematics.sigmoid, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt,
        "np": np,
    }  # fmt: skip


class _Put(ast.NodeTransformer):
    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802  the name that ast asks for
        text = self.texts.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body


def filled_in(formula: str, texts: dict[str, str]) -> str:
    """A formula with other texts in the place of its names."""
    return ast.unparse(_Put(texts).visit(ast.parse(formula, mode="eval")))
