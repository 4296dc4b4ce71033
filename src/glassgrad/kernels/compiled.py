"""The choice between NumPy and the kernels that Numba compiles: by what is installed, and by size.

``compiled.softmax`` is the file ``native.py`` of that family, or that of the name in ``kernels/native``, loaded when it
is first asked for. A row names what serves large arrays in its column ``native`` (``columns.py``); a kernel that must
look closer first asks by itself. Either way small arrays, and machines without Numba, pay one comparison::

    if self.size >= compiled.least and (result := compiled.softmax.forward(self, dim)) is not None:
        return result

The choice follows from the size alone, never from what ran before: the same program gives the same bits every time.
``GLASSGRAD_NUMBA=0`` leaves Numba alone, ``GLASSGRAD_NUMBA=all`` takes compiled kernels for arrays of any size.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import get_ident
from typing import Any

from ..ground.importing import load

LEAST = 4096  # elements: below, the call of NumPy's functions costs no more than that of a compiled one
NEVER = sys.maxsize


def _first_choice() -> int:
    wish = os.environ.get("GLASSGRAD_NUMBA", "")
    if wish == "0" or os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return NEVER
    if "numba" not in sys.modules and find_spec("numba") is None:
        return NEVER
    return 0 if wish == "all" else LEAST


#: Elements from which on an array is given to compiled kernels.
least = _first_choice()
#: The same for functions of one number, which NumPy too computes by vectors: these gain a third, and take a call.
CURVED = 8 * LEAST if least else 0


@contextmanager
def serving(elements: int) -> Iterator[None]:
    """A block in which compiled kernels serve arrays from so many elements on; ``NEVER`` for none."""
    global least
    before = least
    least = elements
    try:
        yield
    finally:
        least = before


class _Absent:
    """What stands for a module of kernels that cannot be loaded: it serves nothing."""

    def __getattr__(self, name: str) -> Any:
        return _serve_nothing


def _serve_nothing(*arguments: Any, **settings: Any) -> None:
    """What a kernel says of arrays that it does not serve."""


_PATHS = {name: f"glassgrad.kernels.native.{name}" for name in ("elementary", "elementwise", "optimizer")}
_loading: set[int] = set()  # the threads that are in the midst of it


def __getattr__(name: str) -> Any:
    global least
    if name.startswith("_"):
        raise AttributeError(name)
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
        module, least = _Absent(), NEVER
        if not isinstance(problem, ImportError):
            warnings.warn(f"Numba cannot be used, NumPy serves in its place: {problem!r}", RuntimeWarning, stacklevel=2)
    finally:
        _loading.discard(thread)
    globals()[name] = module
    return module
