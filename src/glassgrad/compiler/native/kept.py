"""Functions that were written as text: compiled by Numba, and kept on disk under what their text says.

To compile a loop takes half a second and some megabytes for good, to load it takes neither.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numba

from ...kernels import native
from ...kernels.native.binding import load_sound, njit, note

try:  # Numba keeps functions of files alone, unless its cache is told another place: nothing that it documents
    from numba.core import caching, ccallback

    _CacheForm: Any = caching.CompileResultCacheImpl
    _Cache: Any = caching.FunctionCache
    _CFunc: Any = ccallback.CFunc
except (ImportError, AttributeError):
    _CacheForm = _Cache = object
    _CFunc = None
    note("a cache for functions that were written as text")

SETTINGS: dict[str, Any] = {"nogil": True, "_nrt": False, "error_model": "numpy"}


def defined(lines: Sequence[str], names: dict[str, Any], about: str) -> Any:
    """The function that some lines define, with what they name.

    Its own name ends in a digest of the lines and of ``about``, on which ``names`` must hang alone: code that was kept
    by one process and linked into another is told apart by names.
    """
    text = "\n".join(lines) + "\n"
    short = text.partition("(")[0].removeprefix("def ")
    name = f"{short}_{hashlib.sha256((about + text).encode()).hexdigest()[:16]}"
    names.setdefault("__name__", __name__)  # the module that code from disk is tied to
    exec(compile(text.replace(short, name, 1), "<glassgrad loop>", "exec"), names)
    return names[name]


def called_by_python(function: Any) -> Any:
    """A function of :func:`defined` that Python calls, compiled for each kind of arguments."""
    made = njit(**SETTINGS)(function)
    kept = _kept(function)
    if kept is not None:
        made._cache = kept
    return made


def called_by_address(function: Any, signature: Any) -> Any:
    """A function of :func:`defined` that other compiled code calls by its address."""
    if _CFunc is None:
        return numba.cfunc(signature, **SETTINGS)(function)
    made: Any = _CFunc(function, (signature.args, signature.return_type), {}, SETTINGS)
    kept = _kept(function)
    if kept is not None:
        made._cache = kept
    made.compile()
    return made


class _Place:
    """Where the code of such a function is kept: beside that of this package's kernels."""

    def __init__(self, function: Any) -> None:
        self._py_file = function.__code__.co_filename  # Numba's warnings name it

    @classmethod
    def from_function(cls, function: Any, _: str) -> _Place:
        return cls(function)

    def get_cache_path(self) -> str:
        found = _beside()
        assert found is not None
        return found.get_cache_path()  # type: ignore[no-any-return]

    def ensure_cache_path(self) -> None:
        found = _beside()
        assert found is not None
        found.ensure_cache_path()

    def get_source_stamp(self) -> Any:
        found = _beside()
        assert found is not None
        return found.get_source_stamp(), _sources()

    def get_disambiguator(self) -> str:
        return "text"  # the name tells it apart


class _Form(_CacheForm):
    _locator_classes: Any = [_Place]


class _Kept(_Cache):
    _impl_class = _Form

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return load_sound(super().load_overload, self, self._py_func, sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError:  # a full disk is no error
            self.disable()


def _kept(function: Any) -> _Kept | None:
    try:
        return None if _beside() is None else _Kept(function)
    except (RuntimeError, OSError):  # places may be set in the environment, which know no text
        return None


@cache
def _beside() -> Any:
    """Numba's idea of where code from this file is to be kept; None where there is no such place."""
    try:
        return _Cache(defined)._impl.locator
    except (RuntimeError, OSError, AttributeError, TypeError):
        return None


@cache
def _sources() -> str:
    """A digest of all files whose functions loops may name."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, Path(native.__file__).parent):
        for path in sorted(folder.glob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
