"""How a kernel is compiled, where the compiled code is kept, and how its rows are shared out among threads."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import extending, types
from numba.core.errors import NumbaError

from glassgrad.ground import runtime

try:  # tells when something is compiled
    from numba.core import event

    _Listener: Any = event.Listener
    _register: Any = event.register
except (ImportError, AttributeError):
    _Listener = object
    _register = None

# Numba's own types for these know less than they take.
intrinsic: Any = extending.intrinsic
overload: Any = extending.overload

#: Liberties with sums that vectorising needs. NaN, infinities and signs of zero keep their meaning.
LIBERTIES = {"reassoc", "contract"}
#: What a function that makes arrays names.
_MAKERS = {
    "array", "asarray", "ascontiguousarray", "carray", "arange", "concatenate", "copy", "dot", "empty", "empty_like",
    "flatten", "full", "full_like", "ones", "ones_like", "outer", "zeros", "zeros_like",
}  # fmt: skip
#: Elements that a part has at least: with fewer, handing it over costs more than it saves.
WORTH_SHARING = 1 << 14
#: Elements from which on parts are given to threads of Python's.
WORTH_A_FUTURE = 1 << 17
PARTS = 4  # for each thread: whoever begins late, or is held up, does fewer
_LONG, _LINE = 1 << 10, 1 << 6  # parts longer than this begin at multiples of that: a cache line has but one writer

# -- compiling ---------------------------------------------------------------------------------------------------------


#: Of what only other kernels call: no ways in from Python and from C.
INWARD: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
#: What was looked for in Numba and is not as it was: things go on without, slower. ``glassgrad info`` tells.
missing: list[str] = []


def note(what: str) -> None:
    """Remember what is not there."""
    if what not in missing:
        missing.append(what)


class _Unseen(_Listener):
    """Takes off a profiler that is ``blind`` to kernels while Numba compiles: it is called millions of times."""

    def __init__(self) -> None:
        self._taken: list[Any] = []

    def on_start(self, event: Any) -> None:
        """Something is compiled, maybe within another: only the first finds a profiler."""
        look = sys.getprofile()
        self._taken.append(look if getattr(getattr(look, "__self__", None), "blind", False) else None)
        if self._taken[-1] is not None:
            sys.setprofile(None)

    def on_end(self, event: Any) -> None:
        """It is done, or failed."""
        if (look := self._taken.pop()) is not None:
            sys.setprofile(look)


if _register is not None:
    _register("numba:compile", _Unseen())
else:
    note("word of what is compiled")


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Numba's ``njit``; without the option ``_nrt``, which is not documented, where there is none."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except (KeyError, TypeError, NumbaError):
            if "_nrt" not in options:
                raise
        note("functions that count no references")
        return numba.njit(**{name: value for name, value in options.items() if name != "_nrt"})(function)

    return compiled


def kernel(function: Callable[..., Any], *, strict: bool = False, **options: Any) -> Any:
    """``function`` compiled at its first call with arrays of new types, and kept on disk where that is possible.

    It runs without Python's lock, but with ``nogil=False``. ``strict`` leaves every sum in the order it is written in.
    """
    dispatcher = _function(function, strict, **{"no_cfunc_wrapper": True, **options})
    try:
        dispatcher.enable_caching()
    except (RuntimeError, OSError, AttributeError):  # no directory to keep it in; no compiling at all
        return dispatcher
    _keep_fresh(dispatcher, function)
    return dispatcher


def inlined(function: Callable[..., Any], *, strict: bool = False) -> Any:
    """A function for other kernels to call, compiled into them, be it ever so long.

    Python itself may call it only if it is ``strict``.
    """
    return _function(function, strict, forceinline=True, **({} if strict else INWARD))


def _function(function: Callable[..., Any], strict: bool, **options: Any) -> Any:
    """A compiled function. Where it makes no array, none is counted: else each row of a matrix, a view, costs calls."""
    counting = not _MAKERS.isdisjoint(function.__code__.co_names)
    fastmath = set() if strict else LIBERTIES
    settings = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, **options}
    return njit(_nrt=counting, **settings)(function)


def _keep_fresh(dispatcher: Any, function: Callable[..., Any]) -> None:
    """Let what is kept on disk be tied to all the sources it was made from, and a full disk be no error.

    Numba looks at the kernel's own file alone, though functions from other files are compiled into it.
    """
    cache = getattr(dispatcher, "_cache", None)
    file = getattr(cache, "_cache_file", None)
    if cache is None or file is None or not hasattr(file, "_source_stamp"):
        note("a cache whose stamp can be set")
        return
    file._source_stamp = tuple([_digest(path) for path in sorted(_sources(function))])
    save = cache.save_overload

    def save_if_possible(signature: Any, data: Any) -> None:
        try:
            save(signature, data)
        except OSError:
            cache.save_overload = _forgotten

    cache.save_overload = save_if_possible
    load = cache.load_overload
    cache.load_overload = lambda signature, context: load_sound(load, cache, function, signature, context)


def load_sound(load: Callable[..., Any], cache: Any, function: Callable[..., Any], signature: Any, context: Any) -> Any:
    """What is kept on disk for a signature; None, and an empty index, where a file is damaged or is another's."""
    try:
        kept = load(signature, context)
        if kept is None or _is_of(kept, function, signature):
            return kept
    except Exception:  # noqa: BLE001  whatever a damaged file makes of itself
        pass
    try:
        cache.flush()  # what is compiled now is written over it
    except Exception:  # noqa: BLE001  a folder that cannot be written to
        pass
    return None


def _is_of(kept: Any, function: Callable[..., Any], signature: Any) -> bool:
    """Whether compiled code is that of a function for a signature."""
    described = getattr(kept, "fndesc", None)
    arguments = getattr(signature, "args", signature)
    is_same = getattr(described, "qualname", function.__qualname__) == function.__qualname__
    return is_same and tuple(kept.signature.args) == tuple(arguments)


def _forgotten(signature: Any, data: Any) -> None:
    """What saves nothing."""


def _sources(function: Callable[..., Any]) -> set[str]:
    """The files of a kernel, and of the compiled functions that its module knows."""
    files = {__file__, function.__code__.co_filename}
    within = ("mathematics.py", "memory.py", "tiles.py", "vectors.py")  # compiled into what others name
    files.update(str(Path(__file__).with_name(name)) for name in within)
    package = (__package__ or "").partition(".")[0]  # constants and other kernels lie in other folders
    for value in function.__globals__.values():
        if isinstance(value, ModuleType):
            if value.__name__.startswith(package) and value.__file__:
                files.add(value.__file__)
        elif hasattr(value, "py_func"):
            files.add(value.py_func.__code__.co_filename)
    return files


@lru_cache(None)
def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:  # imported from an archive: numba's own stamp would be of the archive, ours is of the name
        return path


@intrinsic
def wide_vectors(typing: Any) -> Any:
    """In a kernel's first line: vectors of 512 bits where the processor has them, which LLVM else leaves half empty.

    It pays where much is computed for each number: a tenth to a fourth for exponentials.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')  # llvmlite's own add knows only older ones
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def apart(typing: Any) -> Any:
    """In a kernel's first line: no array that it writes shares memory with another of its arguments.

    LLVM then need not test for that before each row, and vectorises loops that it would give up on for the number of
    tests. Arrays that are only read may be the same.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for argument in builder.function.args[2:]:
            if argument.name.endswith(".4") and argument.type.is_pointer:  # where an array's data is
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.void(), code


def lines(a: Any, width: int) -> Any:
    """An array as a matrix of rows of ``width``, in memory as kernels are compiled for: a copy where it is not."""
    return (a if a.flags.carray else np.array(a, order="C")).reshape(-1, width)


# -- threads -----------------------------------------------------------------------------------------------------------

_pool: ThreadPoolExecutor | None = None
_team: Any = None
_gathering = threading.RLock()  # a signal's handler may compute while the team is made


def _forget_threads() -> None:
    """A forked process has none of its parent's threads."""
    global _pool, _team, _gathering
    if _team:
        _team.forget()
    _pool, _team, _gathering = None, None, threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def _the_team() -> Any:
    """The threads that kernels are shared out among; ``False`` where the system has none for compiled code."""
    global _team
    with _gathering:
        if _team is None:
            _team = False
            if os.name == "posix":
                try:
                    from .team import Team

                    _team = Team(runtime.cores())
                except (ImportError, AttributeError, NumbaError) as problem:
                    note(f"threads for compiled code ({problem})")
    return _team


def _handed_over(work: Callable[..., None], *arguments: Any) -> Future[None] | None:
    """Work given to another of Python's threads; ``None`` where the process is ending and takes no more."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(os.cpu_count() or 1, "glassgrad kernel")
    try:
        return _pool.submit(work, *arguments)
    except RuntimeError:
        return None


def shared_out(work: Callable[..., None], rows: int, elements: int, *arguments: Any, grain: int = 1) -> None:
    """Run ``work(first, last, *arguments)`` over ``rows`` rows, in parts on several threads where that pays.

    ``elements`` says how much there is to do in all, one for a nanosecond; parts begin at multiples of ``grain``. What
    is computed for a row must not depend on the part it falls into: then the result is the same for any number of
    threads. A kernel's parts are handed over in a microsecond (``team.py``), those of Python's functions in fifty.
    """
    global _team
    parts = min(elements // WORTH_SHARING, rows // grain)
    if parts <= 1 or (threads := runtime.get_num_threads()) == 1:
        work(0, rows, *arguments)
        return
    if type(work) is not FunctionType and (team := _team or _the_team()) and (code := team.code_of(work, arguments)):
        size = -(-rows // min(parts, threads * PARTS))
        step = grain * _LINE if size > grain * _LONG else grain
        size = -(-size // step) * step
        try:
            done = team.run(code, rows, size, threads, arguments)
        except (AttributeError, NumbaError) as problem:  # what hands arguments over could not be compiled
            note(f"threads for compiled code ({problem})")
            done = _team = False
        if not done:
            work(0, rows, *arguments)  # raises what the part raised
    elif elements < WORTH_A_FUTURE:
        work(0, rows, *arguments)
    else:
        _through_futures(work, rows, min(rows // grain, threads), grain, arguments)


def _through_futures(work: Callable[..., None], rows: int, parts: int, grain: int, arguments: tuple[Any, ...]) -> None:
    """Rows shared out among Python's threads."""
    size = -(-rows // parts // grain) * grain
    others = [(first, min(first + size, rows)) for first in range(size, rows, size)]
    waiting = [_handed_over(work, first, last, *arguments) for first, last in others]
    try:
        work(0, min(size, rows), *arguments)
    finally:
        for (first, last), part in zip(others, waiting, strict=True):
            if part is None:
                work(first, last, *arguments)
            else:
                part.result()
