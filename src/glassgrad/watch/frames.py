"""What the frames of an error know: the user's line, the module that ran, its tensors; and tracebacks for people."""

from __future__ import annotations

import ast
import linecache
import os
import sysconfig
import traceback as tracebacks
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from ..explore.model import SourceLoc
from ..explore.source import engine_of_file, is_users, location, users_around
from ..explore.walk import is_tensor

INSTALLED = tuple({sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib")})


def users_frames(traceback: TracebackType | None) -> list[tuple[FrameType, int]]:
    """The user's frames of a traceback, the innermost last, each with the instruction it stands at."""
    frames = []
    while traceback is not None:
        if is_users(traceback.tb_frame.f_code):
            frames.append((traceback.tb_frame, traceback.tb_lasti))
        traceback = traceback.tb_next
    return frames


def place_of(frames: list[tuple[FrameType, int]]) -> SourceLoc | None:
    """The line of the innermost of the user's frames; one of an installed package where there is no other."""
    own = [(frame, at) for frame, at in frames if not _is_installed(frame.f_code)] or frames
    return location(own[-1][0].f_code, own[-1][1]) if own else None


def own_place(frame: FrameType | None) -> SourceLoc | None:
    """The line of the innermost frame of the user's own that is ``frame`` or called it, else of a package's."""
    return place_of([(one, one.f_lasti) for one in users_around(frame)][::-1])


def _is_installed(code: CodeType) -> bool:
    """Whether a piece of code belongs to an installed package: a library that trains, a model of somebody's."""
    return code.co_filename.startswith(INSTALLED)


def module_path(traceback: TracebackType | None) -> tuple[str, Any]:
    """The innermost module whose call did not end, as ``Model.layers.0``, and the module; empty where there is none."""
    owners = [frame.f_locals.get("self") for frame, _ in tracebacks.walk_tb(traceback)]
    modules = [owner for owner in owners if owner is not None and hasattr(owner, "named_modules")]
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


# -- tracebacks for people ---------------------------------------------------------------------------------------------
# The frames of the program, those of an engine between them counted in one line.


def folded(error: BaseException, traceback: TracebackType | None) -> str:
    """The text of an error, and of those that led to it; frames of engines are one line for each run of them."""
    whole = tracebacks.TracebackException(type(error), error, traceback)
    waiting: list[tracebacks.TracebackException | None] = [whole]
    for part in waiting:
        if part is not None:
            part.stack = _Folded(part.stack)
            waiting += [part.__cause__, part.__context__, *(getattr(part, "exceptions", None) or ())]
    return "".join(whole.format())


class _Folded(tracebacks.StackSummary):
    """Frames, of which those of engines are not shown one by one; all of them, where none is the user's."""

    def __init__(self, frames: tracebacks.StackSummary) -> None:
        homes = [engine_of_file(frame.filename) for frame in frames]
        first = next((i for i, home in enumerate(homes) if not home), 0)  # what comes before has started the program
        super().__init__(frames[first:])
        homes = homes[first:]
        self.instead: dict[int, str | None] = {}
        run = 0
        for i, home in enumerate(homes if not all(homes) else ()):
            run = run + 1 if home else 0
            if home:
                last = i + 1 == len(homes) or not homes[i + 1]
                self.instead[id(self[i])] = f"  [{run} frame{'s' * (run > 1)} of {home}]\n" if last else None

    def format_frame_summary(self, frame_summary: tracebacks.FrameSummary, **options: object) -> str:
        """What is shown of a frame."""
        if id(frame_summary) in self.instead:
            return self.instead[id(frame_summary)]  # type: ignore[return-value]  # None: nothing
        return super().format_frame_summary(frame_summary, **options)
