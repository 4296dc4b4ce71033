"""Tracebacks for people: the frames of the program, those of an engine between them counted in one line."""

from __future__ import annotations

import traceback as tracebacks
from types import TracebackType

from ..explore.source import engine_of_file


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
