"""Makes programs of the calls that a run has deferred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .build import Builder, Program
from .capture import Capture
from .program import NotCapturable


def program_of(run: Any, pending: Any, alive: Sequence[int]) -> Program | None:
    """Make the calls that are pending while they are noted; gives a program of them, None where that cannot be."""
    state = run.state
    outside = {id(tensor) for tensor, *_ in run.outside} - set(map(id, run.given))
    capture = run.noting = Capture(run.given[: run.count], outside)
    try:
        with capture.listening():
            run.carry_out(pending, (), listened=True)
    except BaseException:
        capture.let_go()
        raise
    finally:
        run.noting = None
    try:
        if capture.reason is not None:
            raise NotCapturable(capture.reason)
        builder = Builder(state.name, capture, [run.things[number] for number in alive], state.twice)
        if builder.graded and not all(_again(run, entry) for entry, *_ in pending):
            raise NotCapturable("it changes tensors that have gradients, and gives back one that has a way back")
        program = builder.program()
    except NotCapturable as reason:
        state.refuse(str(reason))
        return None
    except Exception as error:  # noqa: BLE001  a mistake of the compiler's must not end the program that runs
        state.refuse(f"{type(error).__name__} while its program was made: {error}")
        return None
    finally:
        capture.let_go()
    state.made(program)
    return program


def _again(run: Any, entry: Any) -> bool:
    """Whether a call may be made again for second derivatives: on copies of what it writes to, without a history."""
    return entry.written is not None and all(run.things[number]._edge is None for number in entry.written)
