"""Watches what a captured function does besides operations on tensors: a program could not do that again.

Python's profiler tells of every call. Functions written in C are known to be harmless or not; code of the package is
known too; in everybody else's code a store into a global or a nonlocal variable is found by reading its bytecode.
Stores into objects are found by comparing them before and after (``guards.py``).
"""

from __future__ import annotations

import dis
import gc
import itertools
import os
import sys
from functools import cache
from pathlib import Path
from types import BuiltinMethodType, CodeType, FrameType
from typing import Any

import numpy

from ..ground.names import is_own_frame
from .caught import caught, handlers

_PACKAGE = str(Path(__file__).parent.parent)
_GUEST = f"{_PACKAGE}/demo"  # a program that uses the package, within it
#: Code that is known as the package's own is: what it calls in C is its affair, but for parts that are named here.
_TRUSTED = (
    _PACKAGE, "<glassgrad", "<frozen importlib", "<dynamic", str(Path(numpy.__file__).parent),
    *(
        str(Path(os.__file__).parent / name)
        for name in (
            "functools.py", "contextlib.py", "typing.py", "abc.py", "_collections_abc.py", "enum.py",
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
        "serialization", "distributed", "multiprocessing", "explore", "profiler", "fx", "func", "hub",
    )
)  # fmt: skip
_BUSY_NAMES = frozenset(
    "manual_seed seed set_rng_state get_rng_state fork_rng set_default_dtype set_num_threads register_hook "
    "register_forward_hook register_full_backward_hook register_parameter load_state_dict state_dict "
    "use_deterministic_algorithms set_printoptions apply deepcopy".split()
)
#: Functions of the package, beside operations, that look at the values of the argument with this name.
_LOOKING = {
    "hides_a_row": "mask", "_detect_is_causal_mask": "mask", "gaussian_nll_loss": "var", "_sizes": "batch_sizes",
    "_lengths": "given",
}  # fmt: skip
_CALLERS = frozenset({"map", "filter", "reduce", "starmap"})  # they call without Python's telling of it
_SCHEDULES = f"{_PACKAGE}{os.sep}optim{os.sep}lr_scheduler{os.sep}"
_LOUD = frozenset({"print", "input", "open", "exec", "eval", "next", "setattr", "delattr"})
_STDLIB = (str(Path(os.__file__).parent) + os.sep, "<frozen ")
_INSTALLED = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))  # may be within
_KERNELS = f"{_PACKAGE}{os.sep}kernels{os.sep}"  # they compile, load and share out their work as they like
_EXCUSED = frozenset({"_notice_steps.<locals>.step"})  # through which a scheduler sees that the optimizer steps
_HARMLESS = frozenset(
    """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format
    frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max memoryview min next object
    oct ord pow property range repr reversed round set slice sorted str sum super tuple type vars zip __build_class__
    setattr locals dir""".split()
)
_MODULES = frozenset(
    {"math", "cmath", "_operator", "operator", "itertools", "_functools", "functools", "_abc", "_collections",
     "collections", "_collections_abc", "copy", "_typing", "typing", "numbers", "re", "_sre"}
)  # fmt: skip
#: Classes in C whose methods change nothing but the object, which is looked at otherwise.
_PLAIN = (list, dict, set, frozenset, tuple, str, bytes, int, float, complex, bool, slice, range, type(None), type)
_SOME: tuple[Any, ...] = (
    iter([]), iter(()), iter({}), iter({}.items()), iter({}.values()), iter(set()), iter(""), iter(range(1)),
    enumerate([]), zip(), map(len, []), filter(None, []), reversed([]), itertools.chain(), {}.items(), {}.keys(),
    {}.values(), iter(range(2**70)),
)  # fmt: skip
_ITERATORS = tuple(type(made) for made in _SOME)


class Watch:
    """A block in which everything that is called is looked at; ``reasons`` are what a program could not repeat."""

    def __init__(self, collect: bool = False) -> None:
        self.collect = collect  # code only, without judging it
        self.reasons: list[str] = []
        self.catching: list[tuple[str, tuple[type[BaseException], ...]]] = []  # who goes on after which errors
        self.codes: dict[tuple[CodeType, int], tuple[CodeType, dict[str, Any]]] = {}  # others', with globals
        self.excused = False  # whether steps of schedules are heard by somebody else
        self.own: set[CodeType] = set()  # code of the package that ran
        self._before: Any = None
        self._within: FrameType | None = None  # a frame whose doings are not looked at: an import, or a kernel
        self._collects = False

    def __enter__(self) -> Watch:
        self._before = sys.getprofile()
        if self._before is not None:
            self.reasons.append("a profiler is on")
        else:
            self._collects = gc.isenabled()
            gc.disable()  # what is called when garbage is collected is nobody's doing here
            sys.setprofile(self._look)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._before is None:
            sys.setprofile(None)
            if self._collects:
                gc.enable()

    @property
    def blind(self) -> bool:
        """Whether what is called just now is a kernel's affair: then Numba compiles unwatched."""
        return self._within is not None

    def _look(self, frame: FrameType, event: str, called: Any) -> None:
        if self._within is not None:  # what a module does when it is loaded, it does once
            if event == "return" and frame is self._within:
                self._within = None
            elif event == "call" and self._within.f_code.co_filename.startswith(_KERNELS):
                name = frame.f_code.co_filename
                if not (_own(name) or _trusted(name) or _of_python(name) or _of_package(frame)):
                    self.reasons.append(f"a kernel calls {frame.f_code.co_name}()")
            return
        if self.reasons and not self.collect:
            return
        if event == "call":
            self._enter(frame)
        elif event == "c_call" and not self.collect and not _trusted(frame.f_code.co_filename):
            if not harmless(called):
                owner = called.__self__ if isinstance(called, BuiltinMethodType) else None
                of = "" if owner is None or isinstance(owner, type(sys)) else f"{type(owner).__name__}."
                self.reasons.append(f"{of}{called.__name__}() is called at {_place(frame)}")

    def _enter(self, frame: FrameType) -> None:
        code = frame.f_code
        name = code.co_filename
        if name.startswith(_SCHEDULES) and code.co_name == "step" and self.excused:
            self._within = frame
            return
        if code.co_name == "_find_and_load" and name.startswith("<frozen importlib"):
            self._within = frame
            return
        if name.startswith(_KERNELS):
            self.own.add(code)
            self._within = frame
            return
        if _own(name) or name == "<string>" and _of_package(frame):
            self.own.add(code)
            if code.co_name in _LOOKING and hasattr(frame.f_locals.get(_LOOKING[code.co_name]), "_array"):
                self.reasons.append(f"{code.co_name}() looks at the values of a tensor")
            busy = name.startswith(_BUSY) and code.co_qualname not in _EXCUSED and not _idle(frame)
            if busy or (code.co_name in _BUSY_NAMES and not name.startswith("<")):
                caller = users_frame(frame)
                if caller is not None:
                    self.reasons.append(f"{code.co_name}() is called at {_place(caller)}")
            return
        if code.co_qualname == "suppress.__exit__":
            self.catching.append(("suppress", tuple(getattr(frame.f_locals.get("self"), "_exceptions", ()))))
        key = code, id(frame.f_globals)
        if key in self.codes or _trusted(name):
            return
        self.codes[key] = code, frame.f_globals
        stored = _stores(code)
        if stored:
            self.reasons.append(f"{code.co_name}() sets {stored}")
        elif not _of_python(name) and handlers(code):
            self.catching.append((code.co_name, caught(code, frame.f_globals)))
        elif _CALLERS.intersection(code.co_names) and _LOUD.intersection(code.co_names):
            through = min(_CALLERS.intersection(code.co_names))
            self.reasons.append(f"{code.co_name}() calls functions unseen, through {through}()")


def _idle(frame: FrameType) -> bool:
    """Whether a call of a busy part changes nothing that lasts: a block of autocast, a scaler that is switched off."""
    code = frame.f_code
    if code.co_filename.endswith("autocast_mode.py"):
        return code.co_qualname.startswith(("autocast.", "is_autocast", "get_autocast"))
    if code.co_filename.endswith("grad_scaler.py"):
        return getattr(frame.f_locals.get("self"), "_enabled", True) is False
    return False


def _of_package(frame: FrameType) -> bool:
    """Whether code that was written by code, such as a dataclass's, is of the package; or a named tuple's."""
    return is_own_frame(frame) or str(frame.f_globals.get("__name__")).startswith("namedtuple_")


def _own(filename: str) -> bool:
    """Whether a file is of the package, and no program of its own."""
    return filename.startswith((_PACKAGE, "<glassgrad")) and not filename.startswith(_GUEST)


def _of_python(filename: str) -> bool:
    """Whether a file is of Python itself."""
    return filename.startswith(_STDLIB) and not any(part in filename for part in _INSTALLED)


def _trusted(filename: str) -> bool:
    known = any(f"{os.sep}{name}{os.sep}" in filename for name in ("numba", "llvmlite"))
    return (known or filename.startswith(_TRUSTED)) and not filename.startswith(_GUEST)


def harmless(called: Any) -> bool:
    """Whether a function written in C changes nothing that outlives it, but what is looked at otherwise."""
    owner = getattr(called, "__self__", None)
    module = getattr(called, "__module__", None)
    if owner is None or isinstance(owner, type(sys)):
        if module == "builtins" or module is None and owner is None:
            return called.__name__ in _HARMLESS or module is None
        top = (module or "").partition(".")[0]
        return module in _MODULES or (top == "numpy" and "random" not in (module or ""))
    if isinstance(owner, type):
        return owner.__module__ in ("builtins", "numpy", "collections", "types", "enum") or not _in_c(owner)
    if isinstance(owner, (*_PLAIN, *_ITERATORS)):
        return True
    kind = type(owner)
    known = kind.__module__ == "numpy" or kind.__module__ in _MODULES
    return known or kind.__name__ in ("cell", "generator", "mappingproxy")


def _in_c(cls: type) -> bool:
    """Whether a class is written in C: its methods may read a clock, say."""
    return not cls.__flags__ & (1 << 9)


_ANY_NAME = frozenset("vars __dict__ attrgetter methodcaller globals locals __getattribute__".split())
_PUT_TOGETHER = frozenset({"BUILD_STRING", "FORMAT_VALUE", "FORMAT_SIMPLE", "BINARY_OP"})


@cache
def reads_any_name(code: CodeType) -> bool:
    """Whether a function reads attributes by names that its code does not spell out."""
    if _ANY_NAME.intersection(code.co_names):
        return True
    every = list(dis.get_instructions(code))
    for place, instruction in enumerate(every):
        if instruction.argval in ("getattr", "hasattr") and instruction.opname.startswith("LOAD"):
            calls = (n for n in range(place, len(every)) if every[n].opname.startswith("CALL"))
            within = every[place + 1 : next(calls, len(every))]
            spelt = any(one.opname == "LOAD_CONST" and isinstance(one.argval, str) for one in within)
            if not spelt or any(one.opname in _PUT_TOGETHER for one in within):
                return True
    return any(reads_any_name(const) for const in code.co_consts if isinstance(const, CodeType))


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
    while frame is not None and _own(frame.f_code.co_filename):
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
    asked = ""  # what is called next, as the code spells it
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset <= frame.f_lasti:
            continue
        name = instruction.opname
        if name == "RETURN_VALUE":
            return True
        if name not in _STRAIGHT:
            return False
        if name in ("LOAD_GLOBAL", "LOAD_METHOD", "LOAD_ATTR"):
            asked = instruction.argval
            if asked in ("real", "imag", "numerator", "denominator"):
                return False
        if name == "CALL" and (asked, instruction.arg) not in (("item", 0), ("float", 1)):
            return False  # it may look at the number
    return False


_STRAIGHT = frozenset(
    """CACHE NOP RESUME LOAD_FAST LOAD_CONST LOAD_GLOBAL LOAD_DEREF LOAD_ATTR LOAD_METHOD STORE_FAST POP_TOP BUILD_TUPLE
    BUILD_LIST BUILD_MAP BUILD_CONST_KEY_MAP PRECALL CALL PUSH_NULL COPY SWAP LOAD_FAST_BORROW LOAD_FAST_LOAD_FAST
    STORE_FAST_LOAD_FAST LOAD_FAST_CHECK LOAD_FAST_BORROW_LOAD_FAST_BORROW NOT_TAKEN LOAD_SMALL_INT""".split()
)
