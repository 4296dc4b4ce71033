"""Makes programs: of the calls that a run has deferred, or of a whole function that is promised to be pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .build import Builder, Program
from .capture import Capture
from .program import NotCapturable


def program_of(run: Any, pending: Any, alive: Sequence[int]) -> Program | None:
    """Make the calls that are pending while they are noted; gives a program of them, None where that cannot be."""
    state, things = run.state, run.things
    held = {id(tensor) for tensor, *_ in run.outside} - set(map(id, run.given))
    try:
        given = run.given[: run.count]
        capture = Capture(given, lambda tensor: id(tensor) in held)
    except NotCapturable as reason:
        state.refuse(str(reason))
        run.carry_out(pending, ())
        return None
    try:
        run.noting = capture
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
        result = tuple([things[number] for number in alive])
        program = Builder(state.name, capture, given, result, None, state.twice).program()
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
