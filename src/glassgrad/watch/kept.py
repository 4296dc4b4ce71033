"""What outlives its step: losses in a list, sums that hold the graphs of all steps before."""

from __future__ import annotations

import ast
import gc
import linecache
import math
from collections import deque
from types import FrameType
from typing import Any

from ..explore.model import SourceLoc
from ..explore.source import is_users
from ..explore.walk import family, op_name, sequence

HOLDERS = (list, tuple, dict, deque, set)
STEPS = 3  # earlier steps that something must hold


def kept_losses(losses: list[Any], frame: FrameType | None) -> tuple[str, SourceLoc | None] | None:
    """The variable in which all of several losses are still alive with their graphs, and its line; None: nowhere.

    ``losses`` are weak references; the name is empty where the variable is not found.
    """
    gc.collect()  # what lives in circles is no longer kept by anybody
    alive = [loss() for loss in losses]
    if len(alive) < STEPS or any(loss is None or loss.grad_fn is None for loss in alive):
        return None
    for name, value in _variables(frame):
        if isinstance(value, HOLDERS):
            inside = value.values() if isinstance(value, dict) else value
            if all(any(one is loss for one in inside) for loss in alive):
                return name, _line_that_fills(frame, name)
    return "", None


def summed_losses(ages: list[float], frame: FrameType | None) -> tuple[str, SourceLoc | None] | None:
    """A variable whose sums lead back through the graphs of several steps, of which ``ages`` are the last nodes."""
    for name, value in _variables(frame):
        node = getattr(value, "grad_fn", None)
        if node is None or getattr(value, "is_leaf", True) or value.numel() != 1:
            continue
        oldest = sequence(node)
        while node is not None and family(op_name(node)) == "Add":
            oldest = min(oldest, sequence(node))
            node = next((child for child, _ in node.next_functions if child and family(op_name(child)) == "Add"), None)
        if sum(oldest <= age < sequence(value.grad_fn) for age in ages if age != -math.inf) >= STEPS:
            return name, _line_that_fills(frame, name)
    return None


def _variables(frame: FrameType | None) -> list[tuple[str, Any]]:
    """The variables of a frame and of the user's frames around it, with the attributes of its ``self``."""
    variables: dict[str, Any] = {}
    while frame is not None:
        if is_users(frame.f_code):
            for name, value in {**frame.f_globals, **frame.f_locals}.items():
                if not name.startswith("__"):
                    variables.setdefault(name, value)
        frame = frame.f_back
    owner = vars(variables["self"]) if hasattr(variables.get("self"), "__dict__") else {}
    return [*variables.items(), *((f"self.{name}", value) for name, value in owner.items())]


def _line_that_fills(frame: FrameType | None, name: str) -> SourceLoc | None:
    """The first line of a frame's file that adds to a variable: ``name +=``, ``name = name +``, ``name.append()``."""
    if frame is None:
        return None
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if _fills(node, name):
            return SourceLoc(frame.f_code.co_filename, node.lineno, code=lines[node.lineno - 1].strip())  # type: ignore[attr-defined]
    return None


def _fills(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target) == name
    if isinstance(node, ast.Assign):
        target = ast.unparse(node.targets[0])
        parts = [ast.unparse(part) for part in ast.walk(node.value) if isinstance(part, (ast.Name, ast.Attribute))]
        return target == name and name in parts or target.startswith(f"{name}[")
    adds = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return adds and ast.unparse(node.func) in (f"{name}.append", f"{name}.add", f"{name}.appendleft")  # type: ignore[attr-defined]
