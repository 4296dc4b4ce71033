"""Writes elementwise formulas as the text of loops."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ...kernels.native import mathematics

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


class NotNative(Exception):  # noqa: N818  it is no error of the user's
    """Why a program is no tape."""
