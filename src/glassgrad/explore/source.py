"""Places in the user's program, floor 8: from a frame's code and instruction to file, line and the exact expression."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from .model import SourceLoc

LONGEST = 160  # characters of an expression
MANY = 4096  # pieces of code whose places are remembered
FEW = 16  # those whose instructions are
GUARDS = ("no_grad", "inference_mode", "set_grad_enabled")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = tuple(
    os.path.dirname(os.path.abspath(sys.modules[name].__file__ or "")) + os.sep + name
    for name in ("contextlib", "functools", "threading", "warnings")
    if name in sys.modules
)
_users: dict[str, bool] = {}


def is_users(code: CodeType) -> bool:
    """Whether a piece of code is the user's, and none of an engine's, of this package's or of Python's own."""
    file = code.co_filename
    known = _users.get(file)
    if known is None:
        generated = file == "<string>" and code.co_name in ("__init__", "__eq__", "__hash__")  # by dataclasses
        known = _users[file] = not (generated or engine_of_file(file))
    return known


def engine_of_file(file: str) -> str:
    """The engine that a file belongs to, ``torch`` or ``glassgrad``; ``Python`` for its own; empty for the user's."""
    torch = sys.modules.get("torch")
    home = getattr(torch, "__file__", None)
    whole = os.path.abspath(file)
    if whole.startswith(_HERE) or file.startswith("<glassgrad"):
        return "glassgrad"
    if home and whole.startswith(os.path.dirname(os.path.abspath(home)) + os.sep):
        return "torch"
    return "Python" if file.startswith(("<frozen", *_STANDARD)) else ""


_places: dict[int, tuple[CodeType, dict[int, SourceLoc]]] = {}  # by the code's identity: codes hash slowly


def location(code: CodeType, at: int) -> SourceLoc:
    """The place of instruction ``at`` (a frame's ``f_lasti``) of ``code``."""
    known = _places.get(id(code))
    if known is None:
        if len(_places) >= MANY:
            _places.clear()
        known = _places[id(code)] = code, {}
    loc = known[1].get(at)
    if loc is None:
        loc = known[1][at] = _location(code, at)
    return loc


def _location(code: CodeType, at: int) -> SourceLoc:
    line, last, left, right = _position(code, at)
    if line is None:
        line = next((n for start, stop, n in code.co_lines() if start <= at < stop and n is not None), None)
    line, text = line or code.co_firstlineno, None
    if None not in (last, left, right):
        text = _segment(code.co_filename, line, last, left, right)  # type: ignore[arg-type]
    whole = linecache.getline(code.co_filename, line).strip() or None
    name = qualified_name(code)
    return SourceLoc(shown(code.co_filename), line, "" if name == "<module>" else name, text, whole)


def qualified_name(code: CodeType) -> str:
    """The name of a piece of code with the classes and functions around it; before Python 3.11 its own name alone."""
    return getattr(code, "co_qualname", code.co_name)


Position = tuple["int | None", "int | None", "int | None", "int | None"]  # line, last line, and the two columns
_positions: dict[int, tuple[CodeType, tuple[Position, ...]]] = {}  # of the codes that were asked last


def _position(code: CodeType, at: int) -> Position:
    """The place of instruction ``at`` in the file, as far as Python tells it: from 3.11 on with the columns."""
    if at < 0 or not hasattr(code, "co_positions"):
        return None, None, None, None
    known = _positions.get(id(code))
    if known is None:
        if len(_positions) >= FEW:
            _positions.clear()
        known = _positions[id(code)] = code, tuple(code.co_positions())
    return known[1][at // 2] if at // 2 < len(known[1]) else (None, None, None, None)


def users_around(frame: FrameType | None) -> Iterator[FrameType]:
    """``frame`` and those that called it, the innermost first, as far as they are the user's."""
    while frame is not None:
        if is_users(frame.f_code):
            yield frame
        frame = frame.f_back


def shown(file: str) -> str:
    """A file as it is shown: relative to the working directory where it lies below it."""
    if file.startswith("<"):
        return file
    whole, here = os.path.abspath(file), os.getcwd()
    return os.path.relpath(whole, here) if whole.startswith(here.rstrip(os.sep) + os.sep) else whole


def _segment(file: str, line: int, last: int, left: int, right: int) -> str | None:
    """The text between two places, on one line and not too long; columns count bytes of UTF-8."""
    lines = [linecache.getline(file, number).encode() for number in range(line, last + 1)]
    if not lines or not lines[0]:
        return None
    if left and lines[0][left - 1 : left] == b".":  # a call over several lines: Python tells its last part only
        line, left = _whole(file, line, left, last, right)
        lines = [linecache.getline(file, number).encode() for number in range(line, last + 1)]
    lines[-1] = lines[-1][:right]
    lines[0] = lines[0][left:]
    text = " ".join(piece.decode(errors="replace").strip() for piece in lines).strip()
    return (text if len(text) <= LONGEST else text[: LONGEST - 3] + "...") or None


@functools.lru_cache(64)
def nodes_of(file: str) -> tuple[ast.AST, ...]:
    """The statements and expressions of a file, those around others first; none where it cannot be read as Python."""
    try:
        return tuple(ast.walk(ast.parse("".join(linecache.getlines(file)))))
    except (SyntaxError, ValueError):
        return ()


@functools.lru_cache(4096)
def _whole(file: str, line: int, left: int, last: int, right: int) -> tuple[int, int]:
    """Where the smallest expression begins that ends at (``last``, ``right``) and holds (``line``, ``left``)."""
    starts = [
        (node.lineno, node.col_offset)
        for node in nodes_of(file)
        if isinstance(node, ast.expr) and (node.end_lineno, node.end_col_offset) == (last, right)
    ]
    return max((start for start in starts if start <= (line, left)), default=(line, left))


@functools.lru_cache(64)
def _ends(file: str) -> dict[tuple[int, int, int, int], tuple[ast.expr, ast.AST | None]]:
    """The expressions of a file by where they begin and end, each with the statement that it is the value of."""
    known: dict[tuple[int, int, int, int], tuple[ast.expr, ast.AST | None]] = {}
    for node in nodes_of(file):
        value = getattr(node, "value", None)
        owner = node if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) else None
        for one, of in ((node, None), (value, owner)):
            if isinstance(one, ast.expr):
                key = one.lineno, one.col_offset, one.end_lineno or 0, one.end_col_offset or 0
                if of is not None or key not in known:
                    known[key] = one, of
    return known


@functools.lru_cache(4096)
def _expression(file: str, code: CodeType, at: int) -> tuple[ast.expr | None, ast.AST | None]:
    """The expression that instruction ``at`` computes, and the statement that names its value.

    The file is named because the same lines in two files are equal pieces of code.
    """
    first, last, left, right = _position(code, at)
    if first is None or last is None or left is None or right is None:
        return None, None
    return _ends(file).get((first, left, last, right), (None, None))


def assigned(code: CodeType, at: int) -> str | None:
    """The name that the value of instruction ``at`` is given: ``h`` of ``h = x @ w``; None where it is given none."""
    _, owner = _expression(code.co_filename, code, at)
    target = owner.targets[0] if isinstance(owner, ast.Assign) else getattr(owner, "target", None)
    return _name(target)


def operands(code: CodeType, at: int, count: int) -> tuple[str | None, ...]:
    """What the ``count`` tensors given to instruction ``at`` are called; empty where they cannot be told apart."""
    expression, _ = _expression(code.co_filename, code, at)
    pieces: list[ast.expr] = []
    if isinstance(expression, ast.BinOp):
        pieces = [expression.left, expression.right]
    elif isinstance(expression, ast.UnaryOp):
        pieces = [expression.operand]
    elif isinstance(expression, ast.Call):
        if isinstance(expression.func, ast.Attribute):
            pieces.append(expression.func.value)
        for piece in (*expression.args, *(keyword.value for keyword in expression.keywords)):
            pieces += piece.elts if isinstance(piece, (ast.List, ast.Tuple)) else [piece]
    pieces = [p for p in pieces if not isinstance(p, (ast.Constant, ast.UnaryOp))]
    if len(pieces) == count + 1 and isinstance(expression, ast.Call):
        pieces = pieces[1:]  # ``torch`` of ``torch.mul(a, b)``
    return tuple(map(_name, pieces)) if len(pieces) == count else ()


def _name(expression: Any) -> str | None:
    """The text of a name, an attribute or a place in a list; None of any other expression."""
    if isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript)):
        text = ast.unparse(expression)
        return text if len(text) <= 40 else None
    return None


@functools.lru_cache(64)
def _guards(file: str) -> tuple[tuple[int, int, str, int], ...]:
    """The blocks of a file in which nothing is recorded: first line, last line, what they are, the line saying so."""
    blocks = []
    for node in nodes_of(file):
        if isinstance(node, (ast.With, ast.AsyncWith)):
            said = [item.context_expr for item in node.items]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            said = list(node.decorator_list)
        else:
            continue
        for expression in said:
            for part in ast.walk(expression):
                name = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
                if name in GUARDS:
                    blocks.append((node.lineno, node.end_lineno or node.lineno, name, expression.lineno))
    return tuple(blocks)


def switch_before(code: CodeType, line: int) -> int | None:
    """The last line before ``line`` of the same file that is ``set_grad_enabled(False)`` and no block."""
    lines = [
        node.lineno
        for node in nodes_of(code.co_filename)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.lineno < line
        and ast.unparse(node.value).endswith("set_grad_enabled(False)")
    ]  # fmt: skip
    return max(lines, default=None)


def guard_around(code: CodeType, line: int) -> tuple[str, int] | None:
    """The innermost ``with no_grad()`` (or its like) or decorator around a line: its name and line."""
    around = [guard for guard in _guards(code.co_filename) if guard[0] <= line <= guard[1]]
    if not around:
        return None
    _, _, name, at = max(around, key=lambda guard: guard[0])
    return name, at
