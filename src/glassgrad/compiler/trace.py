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
        program = Builder(state.name, capture, [run.things[number] for number in alive], state.twice).program()
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
