"""Floor 0: whether the engine has been imported, and who is to be told when it is; knows nothing of it."""

from __future__ import annotations

import sys
from collections.abc import Callable

_waiting: list[Callable[[], None]] = []
_here = "Tensor" in vars(sys.modules[__name__.partition(".")[0]])  # the package has the engine's names


def is_here() -> bool:
    """Whether the engine has been imported."""
    return _here


def when_here(run: Callable[[], None]) -> Callable[[], None]:
    """Call ``run`` when the engine has been imported, at once where it has; what is given back calls that off."""
    if _here:
        run()
    else:
        _waiting.append(run)

    def call_off() -> None:
        if run in _waiting:
            _waiting.remove(run)

    return call_off


def announce() -> None:
    """The engine has been imported."""
    global _here
    _here = True
    while _waiting:
        _waiting.pop(0)()
