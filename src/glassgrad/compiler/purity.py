"""Watches what a captured function does besides operations on tensors: a program could not do that again.

Python's profiler tells of every call. Functions written in C are known to be harmless or not; code of the package is
known too; in everybody else's code a store into a global or a nonlocal variable is found by reading its bytecode. Stores
into objects are found by comparing them before and after (``guards.py``).
"""

from __future__ import annotations

import dis
import itertools
import os
import sys
from functools import cache
from pathlib import Path
from types import BuiltinMethodType, CodeType, FrameType
from typing import Any

import numpy

_PACKAGE = str(Path(__file__).parent.parent)
#: Code that is known as the package's own is: what it calls in C is its affair, but for parts that are named here.
_TRUSTED = (
    _PACKAGE, "<glassgrad", "<frozen importlib", "<string>", "<dynamic", str(Path(numpy.__file__).parent),
    *(
        str(Path(os.__file__).parent / name)
        for name in (
            "functools.py", "contextlib.py", "collections/", "typing.py", "abc.py", "_collections_abc.py", "enum.py",
            "dataclasses.py", "types.py", "operator.py", "weakref.py", "re/", "warnings.py", "importlib/", "inspect.py",
            "dis.py", "opcode.py", "numbers.py", "threading.py", "string.py", "linecache.py", "ast.py",
        )
    ),
)  # fmt: skip
#: Parts of the package whose functions keep books of their own, or talk to the world.
_BUSY = tuple(
    f"{_PACKAGE}/{part}"
    for part in (
        "utils/data", "utils/checkpoint", "utils/tensorboard", "optim/lr_scheduler", "optim/swa_utils", "amp",
        "serialization", "distributed", "multiprocessing", "explore", "profiler", "fx", "func", "hub", "onnx",
    )
)  # fmt: skip
_BUSY_NAMES = frozenset(
    "manual_seed seed set_rng_state get_rng_state fork_rng set_default_dtype set_num_threads register_hook "
    "register_forward_hook register_full_backward_hook register_parameter load_state_dict state_dict "
    "use_deterministic_algorithms set_printoptions apply deepcopy".split()
)
_EXCUSED = frozenset({"_notice_steps.<locals>.step"})  # through which a scheduler sees that the optimizer steps
_HARMLESS = frozenset(
    """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format
    frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max memoryview min next object
    oct ord pow property range repr reversed round set slice sorted str sum super tuple type vars zip __build_class__
    setattr locals globals dir""".split()
)
_MODULES = frozenset(
    {"math", "cmath", "_operator", "operator", "itertools", "_functools", "functools", "_abc", "_collections",
     "collections", "_collections_abc", "copy", "_typing", "typing", "numbers", "re", "_sre"}
)  # fmt: skip
#: Classes in C whose methods change nothing but the object, which is looked at otherwise.
_PLAIN = (list, dict, set, frozenset, tuple, str, bytes, int, float, complex, bool, slice, range, type(None), type)
_ITERATORS = tuple(
    type(made)
    for made in (iter([]), iter(()), iter({}), iter({}.items()), iter({}.values()), iter(set()), iter(""), iter(range(1)),
                 enumerate([]), zip(), map(len, []), filter(None, []), reversed([]), itertools.chain(), {}.items(),
                 {}.keys(), {}.values(), iter(range(2**70)))
)  # fmt: skip


class Watch:
    """A block in which everything that is called is looked at; ``reasons`` are what a program could not repeat."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.codes: dict[CodeType, dict[str, Any]] = {}  # everybody else's code that ran, with its globals
        self.own: set[CodeType] = set()  # code of the package that ran
        self._before: Any = None

    def __enter__(self) -> Watch:
        self._before = sys.getprofile()
        if self._before is not None:
            self.reasons.append("a profiler is on")
        else:
            sys.setprofile(self._look)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is None:
            sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, called: Any) -> None:
        if self.reasons:
            return
        if event == "call":
            self._enter(frame)
        elif event == "c_call" and not _trusted(frame.f_code.co_filename):
            if not harmless(called):
                owner = type(called.__self__).__name__ + "." if isinstance(called, BuiltinMethodType) and not isinstance(
                    called.__self__, type(sys)) and called.__self__ is not None else ""
                self.reasons.append(f"{owner}{called.__name__}() is called at {_place(frame)}")

    def _enter(self, frame: FrameType) -> None:
        code = frame.f_code
        name = code.co_filename
        if name.startswith((_PACKAGE, "<glassgrad")):
            self.own.add(code)
            if name.startswith(_BUSY) and code.co_qualname not in _EXCUSED or (code.co_name in _BUSY_NAMES and not name.startswith("<")):
                caller = users_frame(frame)
                if caller is not None:
                    self.reasons.append(f"{code.co_name}() is called at {_place(caller)}")
            return
        if code in self.codes or _trusted(name):
            return
        self.codes[code] = frame.f_globals
        stored = _stores(code)
        if stored:
            self.reasons.append(f"{code.co_name}() sets {stored}")


def _trusted(filename: str) -> bool:
    return filename.startswith(_TRUSTED) or f"{os.sep}numba{os.sep}" in filename


def harmless(called: Any) -> bool:
    """Whether a function written in C changes nothing that outlives it, but what is looked at otherwise."""
    owner = getattr(called, "__self__", None)
    module = getattr(called, "__module__", None)
    if owner is None or isinstance(owner, type(sys)):
        if module == "builtins" or module is None and owner is None:
            return called.__name__ in _HARMLESS or module is None
        top = (module or "").partition(".")[0]
        return module in _MODULES or (top == "numpy" and "random" not in (module or ""))
    if isinstance(owner, (*_PLAIN, *_ITERATORS)):
        return True
    kind = type(owner)
    return kind.__module__ == "numpy" or kind.__module__ in _MODULES or kind.__name__ in ("cell", "generator", "mappingproxy")


@cache
def _stores(code: CodeType) -> str:
    """The first variable of somebody else that a function's code stores into; "" for none."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            return f"the global variable {instruction.argval!r}"
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in code.co_freevars:
            return f"the variable {instruction.argval!r} of the function around it"
    return ""


def _place(frame: FrameType) -> str:
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def users_frame(frame: FrameType | None = None) -> FrameType | None:
    """The innermost frame that is not the package's."""
    frame = frame or sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_PACKAGE, "<glassgrad")):
        frame = frame.f_back
    return frame


def handed_back(until: CodeType) -> bool:
    """Whether everybody, from here up to the function with the code ``until``, only returns what is asked for now."""
    frame = users_frame()
    while frame is not None and straight_to_return(frame):
        if frame.f_code is until:
            return True
        frame = users_frame(frame.f_back) if frame.f_back is not None else None
    return False


def straight_to_return(frame: FrameType) -> bool:
    """Whether a frame, from where it is on, only puts its result together and returns it."""
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset <= frame.f_lasti:
            continue
        name = instruction.opname
        if name == "RETURN_VALUE":
            return True
        if name not in _STRAIGHT:
            return False
    return False


_STRAIGHT = frozenset(
    """CACHE NOP RESUME LOAD_FAST LOAD_CONST LOAD_GLOBAL LOAD_DEREF LOAD_ATTR LOAD_METHOD STORE_FAST POP_TOP BUILD_TUPLE
    BUILD_LIST BUILD_MAP BUILD_CONST_KEY_MAP PRECALL CALL PUSH_NULL COPY SWAP LOAD_FAST_BORROW LOAD_FAST_LOAD_FAST
    STORE_FAST_LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_BORROW_LOAD_FAST_BORROW NOT_TAKEN LOAD_SMALL_INT""".split()
)
