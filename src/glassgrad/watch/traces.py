"""Tracebacks for people: the frames of the program, those of an engine between them counted in one line."""

from __future__ import annotations

import traceback as tracebacks
from types import TracebackType

from ..explore.source import is_users


def folded(error: BaseException, traceback: TracebackType | None) -> str:
    """The text of an error; runs of frames that are not the user's are one line each."""
    whole = tracebacks.TracebackException(type(error), error, traceback)
    frames, hidden = [], []
    while traceback is not None:
        frames.append(is_users(traceback.tb_frame.f_code))
        hidden.append(traceback.tb_frame.f_globals.get("__name__", "").partition(".")[0])
        traceback = traceback.tb_next
    if not any(frames):
        return "".join(whole.format())
    shown = list(whole.stack.format())
    if len(shown) != len(frames):  # Python folds what repeats: then it is shown as Python shows it
        return "".join(whole.format())
    lines, run = ["Traceback (most recent call last):\n"], 0
    for i, users in enumerate(frames):
        run = 0 if users else run + 1
        if users:
            lines.append(shown[i])
        elif i + 1 == len(frames) or frames[i + 1]:
            lines.append(f"  [{run} frame{'s' * (run > 1)} of {hidden[i]}]\n")
    return "".join([*lines, *whole.format_exception_only()])
