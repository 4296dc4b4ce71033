"""Derivative rules as text, for the explorer: read off the table when the package is built."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from os.path import commonprefix
from typing import Any

from ..core.row import TABLE

LONGEST = 700


def derivatives_text() -> str:
    """The text of ``explore/derivatives.py``: the rules of each operation, by the name of its node."""
    rows: dict[str, list[Any]] = {}
    for row in TABLE.values():
        if row.rules:
            rows.setdefault(row.node_name, []).append(row)
    lines = [
        '"""For each node what becomes of the gradient, by input: built by ``ops/publish.py`` for ``rules.py``."""',
        "",
        "RULES: dict[str, str | None] = {",
        *(f"    {name!r}: {_rule(_namesake(name, several))!r}," for name, several in sorted(rows.items())),
        "}  # fmt: skip",
    ]
    return "\n".join(lines) + "\n"


def _namesake(node: str, rows: list[Any]) -> Any:
    """Of the rows that make such nodes the one that is called most like the node, whatever was declared first."""
    return min(rows, key=lambda row: (-len(commonprefix([node.lower(), row.name.replace("_", "")])), row.name))


def _rule(row: Any) -> str | None:
    lines = []
    for names, rule, _ in row.rules:
        text = _text(rule)
        if text is None:
            return None
        lines.append(f"{', '.join(names)}: {text}")
    return "\n".join(lines)


def _text(rule: Any) -> str | None:
    """A rule's own lines, read alone: the whole file would take long."""
    code = inspect.unwrap(rule).__code__
    lines = linecache.getlines(code.co_filename)
    if not lines:
        return None
    try:
        if code.co_name != "<lambda>":
            block = inspect.getblock(lines[code.co_firstlineno - 1 :])
            body = ast.parse(textwrap.dedent("".join(block))).body[0].body  # type: ignore[attr-defined]
            return _cut("; ".join(ast.unparse(part) for part in body if not _is_doc(part)))
        positions = [p for p in code.co_positions() if None not in p and (p[0], p[2]) != (p[1], p[3])]
        first, left = min((p[0], p[2]) for p in positions)  # type: ignore[type-var]
        last, right = max((p[1], p[3]) for p in positions)  # type: ignore[type-var]
        piece = [line.encode() for line in lines[first - 1 : last]]  # type: ignore[operator]
        piece[-1] = piece[-1][:right]
        piece[0] = piece[0][left:]
        expression = ast.parse(f"({b''.join(piece).decode()})", mode="eval").body
        return _cut(ast.unparse(_Told(code.co_freevars, rule.__closure__).visit(expression)))
    except (SyntaxError, ValueError, IndexError):
        return None


class _Told(ast.NodeTransformer):
    """Puts the values of names around a rule, such as the number of dimensions it is written for, in their place."""

    def __init__(self, names: tuple[str, ...], cells: Any) -> None:
        self.values = {name: cell.cell_contents for name, cell in zip(names, cells or (), strict=True)}

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  what ``ast`` calls it
        """A number or a text for its name."""
        value = self.values.get(node.id)
        return ast.Constant(value) if isinstance(value, (int, str)) else node


def _is_doc(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
