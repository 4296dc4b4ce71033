"""What the frames of an error know: the user's line, the module that ran, the tensors on the line."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from ..explore.model import SourceLoc
from ..explore.read import is_tensor
from ..explore.source import is_users, location


def users_frames(traceback: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The user's frames of a traceback, the innermost last, each with the instruction it stands at."""
    frames = []
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code):
            frames.append((traceback.tb_frame, traceback.tb_lasti))
        traceback = traceback.tb_next
    return frames


def place_of(frames: list[tuple[FrameType, int]]) -> SourceLoc | None:
    """The line of the innermost of the user's frames."""
    return location(frames[-1][0].f_code, frames[-1][1]) if frames else None


def module_path(traceback: TracebackType | None) -> tuple[str, Any]:
    """The innermost module whose call did not end, as ``Model.layers.0``, and the module; empty where there is none."""
    modules: list[Any] = []
    while traceback is not None:
        module = traceback.tb_frame.f_locals.get("self")
        if module is not None and hasattr(module, "named_modules") and (not modules or modules[-1] is not module):
            modules.append(module)
        traceback = traceback.tb_next
    if not modules:
        return "", None
    root, last = modules[0], modules[-1]
    name = next((name for name, module in root.named_modules() if module is last), "")
    return ".".join([type(root).__name__, name]) if name else type(root).__name__, last


def tensors_on_line(frame: FrameType, line: int) -> dict[str, Any]:
    """The tensors that a line of the user's names: names and attributes are looked up, nothing is called."""
    text = linecache.getline(frame.f_code.co_filename, line).strip()
    tensors = {}
    for expression in names_in(text):
        value = value_of(expression, frame)
        if is_tensor(value):
            tensors[ast.unparse(expression)] = value
    return tensors


def names_in(text: str) -> Iterator[ast.expr]:
    """The names and chains of attributes in a line of code, as far as it can be read alone."""
    for attempt in (text, text.rstrip(":") + ": pass", text.rstrip("(,") + ")" * text.count("(")):
        try:
            tree = ast.parse(attempt)
        except SyntaxError:
            continue
        yield from (node for node in ast.walk(tree) if isinstance(node, (ast.Name, ast.Attribute)))
        return


def value_of(expression: ast.expr, frame: FrameType) -> Any:
    """The value of a name or a chain of plain attributes in a frame; None where there is none."""
    if isinstance(expression, ast.Name):
        return frame.f_locals.get(expression.id, frame.f_globals.get(expression.id))
    if isinstance(expression, ast.Attribute):
        owner = value_of(expression.value, frame)
        if owner is None or not (is_tensor(owner) or hasattr(owner, "named_modules")):
            return None  # other objects' attributes may run code
        if expression.attr == "grad" and is_tensor(owner) and not owner.is_leaf:
            return None  # asking for it would warn
        return getattr(owner, expression.attr, None)
    return None


def shaped(name: str, tensor: Any) -> str:
    """``x [4, 3] float32``."""
    return f"{name} {[int(n) for n in tensor.shape]} {str(tensor.dtype).rpartition('.')[2]}"
