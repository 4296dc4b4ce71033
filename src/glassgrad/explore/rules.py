"""Derivative rules as text, floor 8: looked up in glassgrad's table by the node's name, which both engines share."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from typing import Any

from ..ops.declare import TABLE

LONGEST = 700


@functools.lru_cache(1)
def _rows() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in TABLE.values():
        if row.rules:
            found.setdefault(row.node_name, row)
    return found


@functools.lru_cache(512)
def rule_of(op: str) -> str | None:
    """The rule of the operation whose node is called ``op``: for each input, what becomes of the gradient."""
    row = _rows().get(op)
    if row is None:
        return None
    lines = []
    for names, rule, _ in row.rules:
        text = _text(rule)
        if text is None:
            return None
        lines.append(f"{', '.join(names)}: {text}")
    return "\n".join(lines)


@functools.lru_cache(64)
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None


def _text(rule: Any) -> str | None:
    code = inspect.unwrap(rule).__code__
    tree = _tree(code.co_filename)
    if tree is None:
        return None
    wanted = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == code.co_firstlineno:
            if tuple(a.arg for a in (*node.args.args, *node.args.kwonlyargs)) == wanted:
                return _cut(ast.unparse(node.body))
        elif isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                body = [part for part in node.body if not _is_doc(part)]
                return _cut("; ".join(ast.unparse(part) for part in body))
    return None


def _is_doc(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def is_known(op: str) -> bool:
    """Whether the table has an operation whose node is called ``op``: one that is safe to ask for its derivative."""
    return op in _rows()
