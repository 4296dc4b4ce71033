"""The choice between NumPy and the kernels that Numba compiles: by what is installed, and by size.

``compiled.softmax`` is the file ``native.py`` of that family, or that of the name in ``kernels/native``, loaded when it
is first asked for. A row names what serves large arrays in its column ``native`` (``columns.py``); a kernel that must
look closer first asks by itself. Either way small arrays, and machines without Numba, pay one comparison::

    if self.size >= compiled.least and (result := compiled.softmax.forward(self, dim)) is not None:
        return result

A file of kernels takes seconds to compile, and Numba half a second to import. So it is loaded when it has been asked
for as much work as makes that pay (``earned.py``); NumPy serves until then. What counts are elements, never seconds,
nor what an earlier run left on disk: the same program changes over at the same call, and gives the same bits always.

``GLASSGRAD_NUMBA=0`` leaves Numba alone, ``GLASSGRAD_NUMBA=now`` waits for nothing, ``GLASSGRAD_NUMBA=all`` takes
compiled kernels for arrays of any size, from the first call on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import get_ident
from typing import Any

from ..ground.importing import load

LEAST = 4096  # elements: below, the call of NumPy's functions costs no more than that of a compiled one
FEW = 128  # the same, of what takes NumPy many calls
NEVER = sys.maxsize


def _first_choice() -> int:
    wish = os.environ.get("GLASSGRAD_NUMBA", "")
    if wish == "0" or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return NEVER
    if "numba" not in sys.modules and find_spec("numba") is None:
        return NEVER
    return 0 if wish == "all" else LEAST


def _few(least: int) -> int:
    return least if least == NEVER else min(least, FEW)


#: Elements from which on an array is given to compiled kernels.
least = _first_choice()
#: The same where NumPy takes many calls for what is one compiled call: rows with the column ``few``, and others.
few = _few(least)
#: Whether a file of kernels is loaded only when it has earned it.
patient = os.environ.get("GLASSGRAD_NUMBA", "") not in ("now", "all")
#: The same for functions of one number, which NumPy too computes by vectors: these gain a third, and take a call.
CURVED = 8 * LEAST if least else 0


@contextmanager
def serving(elements: int) -> Iterator[None]:
    """A block in which compiled kernels serve arrays from so many elements on, at once; ``NEVER`` for none."""
    global least, few, patient
    before = least, few, patient
    least, few, patient = elements, _few(elements), False
    try:
        yield
    finally:
        least, few, patient = before


class _Absent:
    """What stands for a module of kernels that cannot be loaded: it serves nothing."""

    def __getattr__(self, name: str) -> Any:
        return _serve_nothing


def _serve_nothing(*arguments: Any, **settings: Any) -> None:
    """What a kernel says of arrays that it does not serve."""


_PATHS = {name: f"glassgrad.kernels.native.{name}" for name in ("elementary", "elementwise", "optimizer")}
_loading: set[int] = set()  # the threads that are in the midst of it


_earned: Any = None


def _counts() -> Any:
    """The file ``earned.py``, which counts the work that was asked for: programs of small arrays have no use for it."""
    global _earned
    if _earned is None:
        _earned = load("glassgrad.kernels.earned")
    return _earned


class _Waiting:
    """What stands for a file of kernels that has not earned to be loaded: NumPy serves what it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Any:
        name, has_earned = self._name, _counts().by

        def asked(*arguments: Any, **settings: Any) -> Any:
            if patient and not has_earned(name, arguments, settings):
                return None
            return getattr(_loaded(name), function)(*arguments, **settings)

        setattr(self, function, asked)  # small arrays ask again and again: the next call finds it at once
        return asked


def is_ready(name: str, elements: int) -> bool:
    """Whether the file of kernels of that name is loaded, or has earned it by ``elements`` more to be made."""
    present = globals().get(name)
    is_loaded = present is not None and not isinstance(present, _Waiting)
    return is_loaded or not patient or _counts().by_elements(name, elements)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    if not patient or _counts().has(name):  # a name of no file has earned nothing
        return _loaded(name)
    globals()[name] = waiting = _Waiting(name)
    return waiting


def _loaded(name: str) -> Any:
    """The file of kernels of that name."""
    global least, few
    thread = get_ident()
    if thread in _loading:  # a signal handler computes while this thread imports Numba: NumPy serves it
        return _Absent()
    module: Any
    try:
        _loading.add(thread)
        module = load(_PATHS.get(name, f"glassgrad.families.{name}.native"))
    except Exception as problem:  # noqa: BLE001  an installation may be broken in any way
        if isinstance(problem, ImportError) and (problem.name or "").startswith("glassgrad"):
            raise AttributeError(f"there are no compiled kernels named {name!r}") from problem
        # Numba is there, but refuses, as it does a NumPy that is too new for it: all goes on without.
        module, least, few = _Absent(), NEVER, NEVER
        if not isinstance(problem, ImportError):
            from ..ground.runtime import warn

            warn(f"Numba cannot be used, NumPy serves in its place: {problem!r}")
    finally:
        _loading.discard(thread)
    globals()[name] = module
    return module
