"""What a checkpointed part computed, first and again, and the error that lists it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..core.tensor import Tensor
from ..ground.listening import calling_frame, listening
from ..ops.bind import table_functions

_INTRODUCTION = """ An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.
"""
_END = """
 ERROR: Detected non-determinism while running activation checkpointing

 You are seeing this error because you passed `debug=True` to checkpoint and
 tensors to be saved during the original forward and differ between those saved
 during recomputation. This can happen if different operators were ran in the
 original forward and in the recomputation.
"""


class Log:
    """The operations of both computations, in order, each with the line that called it."""

    def __init__(self) -> None:
        self.first: list[str] = []
        self.second: list[str] = []

    def blocks(self) -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        """The blocks of the first and of the second computation."""
        return self._noting(self.first), self._noting(self.second)

    @contextmanager
    def _noting(self, lines: list[str]) -> Iterator[None]:
        lines.clear()

        def note(function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            frame = calling_frame()
            answer = proceed(*args, **kwargs)
            shape = f" of {list(answer.shape)}" if isinstance(answer, Tensor) else ""
            lines.append(f"{function.__name__}{shape}, from {frame.f_code.co_filename}:{frame.f_lineno}")
            return answer

        with listening(note, table_functions()):
            yield

    def explaining(self, unpack: Callable[[Any], Tensor], error_type: type[Exception]) -> Callable[[Any], Tensor]:
        """The same ``unpack``, whose error lists the operations."""

        def explained(place: Any) -> Tensor:
            try:
                return unpack(place)
            except error_type as error:
                raise error_type(self._text()) from error

        return explained

    def _text(self) -> str:
        both = (("the original forward", self.first), ("recomputation", self.second))
        listed = "".join(
            f"\nOperations executed during {when}:\n\n"
            + "".join(f"${number}: {line}\n" for number, line in enumerate(lines, 1))
            for when, lines in both
        )
        return _INTRODUCTION + listed + _END
