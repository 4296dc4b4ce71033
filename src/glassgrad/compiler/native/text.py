"""Writes elementwise formulas and places in memory as the text of loops."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...kernels.native import mathematics
from ..program import Value

#: The functions and constants that formulas name, by dtype.
FUNCTIONS: dict[str, dict[str, Any]] = {}


def functions_for(kind: np.dtype[Any]) -> dict[str, Any]:
    """What loops on numbers of a dtype may name."""
    if kind.str not in FUNCTIONS:
        one = kind.type(1)
        FUNCTIONS[kind.str] = {
            "number": kind.type, "zero": kind.type(0), "one": one, "exp": mathematics.exp, "log": mathematics.log,
            "tanh": mathematics.tanh, "sigmoid": mathematics.sigmoid, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt,
            "np": np,
        }  # fmt: skip
    return FUNCTIONS[kind.str]


class _Put(ast.NodeTransformer):
    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802  the name that ast asks for
        text = self.texts.get(node.id)
        return node if text is None else ast.parse(text, mode="eval").body


def filled_in(formula: str, texts: dict[str, str]) -> str:
    """A formula with other texts in the place of its names."""
    return ast.unparse(_Put(texts).visit(ast.parse(formula, mode="eval")))


class Place:
    """Where a value lies: the name of a flat array, and the steps between its elements."""

    __slots__ = ("name", "offset", "strides", "shape")

    def __init__(self, name: str, shape: tuple[int, ...], strides: Any = None, offset: int = 0) -> None:
        self.name, self.shape, self.offset = name, shape, offset
        if strides is None:
            steps, total = [], 1
            for n in reversed(shape):
                steps.append(total)
                total *= n
            strides = tuple(reversed(steps))
        self.strides = strides

    def at(self, index: Sequence[str]) -> str:
        """The text of the element at an index, broadcast: the last axes count."""
        own = index[len(index) - len(self.shape) :] if self.shape else ()
        terms = [str(self.offset)] if self.offset else []
        for name, n, step in zip(own, self.shape, self.strides, strict=True):
            if n != 1 and step:
                terms.append(name if step == 1 else f"{name} * {step}")
        return f"{self.name}[{' + '.join(terms) or '0'}]"

    def seen(self, view: Any, settings: Sequence[Any]) -> Place:
        """The place of what a row's kernel makes of this one: a view."""
        reach = 1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        base = np.empty(max(reach, 1), np.float32)
        dummy = np.lib.stride_tricks.as_strided(base, self.shape, [4 * step for step in self.strides])
        made = view(dummy, *settings)
        moved = (made.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 4
        if not np.may_share_memory(made, base):
            raise NotNative("a view that is a copy")
        return Place(self.name, made.shape, tuple(step // 4 for step in made.strides), self.offset + moved)


class NotNative(Exception):  # noqa: N818  it is no error of the user's
    """Why a program is not written as loops."""


def is_number(value: Value) -> bool:
    """Whether a value is a single number, kept in a local."""
    return value.shape == ()


def is_numeric(value: Any) -> bool:
    """Whether an operand has a place in a formula: a value, or a plain number."""
    return isinstance(value, (Value, int, float)) and not isinstance(value, bool)
