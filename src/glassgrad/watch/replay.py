"""The failing step once more, in this process: the body of the loop around an error, in a copy of its frame's names."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
from types import FrameType, TracebackType
from typing import Any

from ..explore.model import Graph
from ..explore.source import location
from .asked import Asked
from .frames import users_frames
from .watch import Watch

Replayed = tuple[dict[str, Asked], Graph | None]
#: What a body may not hold to be run by itself.
APART = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Nonlocal, ast.AsyncFor, ast.AsyncWith)


def replayed(error: BaseException, traceback: TracebackType | None, watch: Watch) -> Replayed:
    """What the graph says of a recorded replay of the failing step; nothing where it cannot be replayed, or goes well.

    The statements of the innermost loop from its beginning to the line of the error are run once more. What is printed
    is dropped. A cause that is older than the step is not seen.
    """
    for frame, instruction in reversed(users_frames(traceback)):
        line = location(frame.f_code, instruction).line
        body = _body_around(frame, line)
        if body is None:
            continue
        names = {**frame.f_globals, **frame.f_locals}
        again = Watch(watch.torch, record_from=0, ask_at=None)
        graphs: list[Graph] = []
        again.arrived = lambda answers, graph: graphs.append(graph)
        try:
            with again, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                exec(compile(body, frame.f_code.co_filename, "exec"), names)
        except Exception as repeated:
            if type(repeated) is type(error) and str(repeated)[:40] == str(error)[:40]:
                return again.answers, graphs[-1] if graphs else None
        return {}, None
    return {}, None


def _body_around(frame: FrameType, line: int) -> ast.Module | None:
    """The statements of the innermost loop around a line, up to the one that holds it; None where there is none."""
    try:
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    except (SyntaxError, ValueError):
        return None
    first = frame.f_code.co_firstlineno
    loops = [
        node for node in ast.walk(tree)
        if isinstance(node, (ast.For, ast.While)) and first <= node.lineno < line <= (node.end_lineno or 0)
    ]  # fmt: skip
    if not loops:
        return None
    loop = max(loops, key=lambda node: node.lineno)
    body: list[ast.stmt] = [statement for statement in loop.body if statement.lineno <= line]
    parts: list[Any] = [part for statement in body for part in ast.walk(statement)]
    if any(isinstance(part, APART) for part in parts) or _leaves_early(body):
        return None
    return ast.Module(body, [])


def _leaves_early(body: list[ast.stmt]) -> bool:
    """Whether ``break`` or ``continue`` of the loop itself is among the statements."""
    waiting = list(body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        if not isinstance(statement, (ast.For, ast.While, ast.FunctionDef, ast.ClassDef)):
            waiting += [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.stmt)]
    return False
