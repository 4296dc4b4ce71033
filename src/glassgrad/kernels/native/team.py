"""A team of threads that takes parts of a kernel's rows from the thread that called it, without a word of Python.

Each helper is a daemon thread inside one compiled call, which holds no lock of Python's. It looks at one number in
memory, the *job*, for some tens of microseconds, then sleeps until it is woken. Whoever has a job writes down where the
kernel's code and its arguments lie, and publishes the job's number; from then on everybody, the caller first, claims
one part after the other until none is left. So a helper that comes late finds nothing to do, and nobody waits for it.

There is one team. A thread that finds it busy does its work alone.
"""

from __future__ import annotations

import atexit
import platform
import threading
import time
from functools import partial
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from .binding import INWARD, intrinsic, kernel, njit, note

# -- the team's memory: words of eight bytes; those that different threads write lie in different lines ----------------

_JOB = 0
_TRAMPOLINE, _FUNCTION, _ARGUMENTS, _ROWS, _SIZE = 256, 264, 272, 280, 288
_DONE, _FAILED, _BUSY = 512, 520, 768
_ASLEEP, _MUTEX, _CONDITION, _OF_HELPER = 1024, 64, 128, 256  # of the first helper, within its room, and that room
#: A job's number: how many came before, of how many members, how many parts, and the next part that nobody has.
_NUMBER_AT, _MEMBERS_AT, _PARTS_AT, _SMALL = 32, 24, 12, 0xFFF
_MOST_HELPERS = 0xFF
_LOOKS = 32  # at the job's number between two offers of the processor to somebody else
_ROUNDS = 30  # of looks before a helper sleeps: about 50 microseconds

_WORD, _STATUS = ir.IntType(64), ir.IntType(32)


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _WORD.as_pointer())


@intrinsic
def _read(typing: Any, address: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
        return builder.load_atomic(_pointer(builder, operands[0]), "seq_cst", 8)

    return types.int64(types.int64), code


@intrinsic
def _write(typing: Any, address: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
        builder.store_atomic(operands[1], _pointer(builder, operands[0]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@intrinsic
def _replaced(typing: Any, address: Any, before: Any, after: Any) -> Any:
    """Whether a word was ``before``, and is now ``after``."""

    def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
        pair = builder.cmpxchg(_pointer(builder, operands[0]), *operands[1:], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), code


@intrinsic
def _count(typing: Any, address: Any) -> Any:
    """Add one to a word."""

    def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, operands[0]), _WORD(1), "seq_cst")

    return types.int64(types.int64), code


@intrinsic
def _pause(typing: Any) -> Any:
    """A moment in which the processor does not look."""

    def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            nothing = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, nothing, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def _called(typing: Any, trampoline: Any, function: Any, arguments: Any, first: Any, last: Any) -> Any:
    """Rows ``first`` to ``last`` done by a kernel; tells whether it failed."""

    def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
        form = ir.FunctionType(_STATUS, [_WORD] * 4).as_pointer()
        status = builder.call(builder.inttoptr(operands[0], form), operands[1:])
        return builder.zext(builder.icmp_signed(">", status, _STATUS(0)), _WORD)

    return types.int64(*[types.int64] * 5), code


# -- the work ----------------------------------------------------------------------------------------------------------

_system: Any = types.ExternalFunction
_give_way = _system("sched_yield", types.int32())
_prepare_mutex = _system("pthread_mutex_init", types.int32(types.int64, types.int64))
_prepare_condition = _system("pthread_cond_init", types.int32(types.int64, types.int64))
_lock = _system("pthread_mutex_lock", types.int32(types.int64))
_unlock = _system("pthread_mutex_unlock", types.int32(types.int64))
_sleep = _system("pthread_cond_wait", types.int32(types.int64, types.int64))
_signal = _system("pthread_cond_signal", types.int32(types.int64))

_inner = njit(nogil=True, _nrt=False, error_model="numpy", **INWARD)


@_inner
def _wanted(job: Any, member: Any) -> Any:
    """Whether a job has a part for a member."""
    return (job & _SMALL) < ((job >> _PARTS_AT) & _SMALL) and member <= ((job >> _MEMBERS_AT) & _MOST_HELPERS)


@_inner
def _rest(looks: Any) -> None:
    _pause()
    if looks % _LOOKS == 0:
        _give_way()


@_inner
def _work_off(team: Any, member: Any) -> None:
    """Claim part after part of the job at hand, and do them.

    A claim succeeds only while the job is the one that was looked at; it then stays until the part is done.
    """
    job = _read(team + _JOB)
    while _wanted(job, member):
        if _replaced(team + _JOB, job, job + 1):
            size, rows = _read(team + _SIZE), _read(team + _ROWS)
            first = (job & _SMALL) * size
            last = min(first + size, rows)
            if _called(_read(team + _TRAMPOLINE), _read(team + _FUNCTION), _read(team + _ARGUMENTS), first, last):
                _write(team + _FAILED, 1)
            _count(team + _DONE)
        job = _read(team + _JOB)


@kernel
def _help(team: Any, member: Any) -> None:
    """What a helper does all its life, until there is a job below zero."""
    room = team + _ASLEEP + (member - 1) * _OF_HELPER
    _prepare_mutex(room + _MUTEX, 0)
    _prepare_condition(room + _CONDITION, 0)
    while True:
        _work_off(team, member)
        looks, job = 0, _read(team + _JOB)
        while looks < _LOOKS * _ROUNDS and job >= 0 and not _wanted(job, member):
            looks += 1
            _rest(looks)
            job = _read(team + _JOB)
        if job < 0:
            return
        if not _wanted(job, member):
            _write(room, 1)
            job = _read(team + _JOB)  # whoever publishes a job looks who sleeps afterwards: one of the two sees it
            if job >= 0 and not _wanted(job, member):
                _lock(room + _MUTEX)
                while _read(room) == 1:
                    _sleep(room + _CONDITION, room + _MUTEX)
                _unlock(room + _MUTEX)
            _write(room, 0)


@_inner
def _wake(team: Any, members: Any) -> None:
    for member in range(members):
        room = team + _ASLEEP + member * _OF_HELPER
        if _read(room) == 1:
            _lock(room + _MUTEX)
            _write(room, 0)
            _signal(room + _CONDITION)
            _unlock(room + _MUTEX)


@partial(kernel, no_cfunc_wrapper=False)
def _conduct(
    team: Any, trampoline: Any, function: Any, arguments: Any, rows: Any, size: Any, parts: Any, members: Any
) -> Any:
    """Have a job done by the caller and so many helpers, alone if the team is busy; tells whether a part failed.

    A job of no parts lets the helpers end, if the team is not busy: nobody has it from then on.
    """
    if not _replaced(team + _BUSY, 0, 1):
        return _called(trampoline, function, arguments, 0, rows) if parts else 1
    if not parts:
        _write(team + _JOB, -1)
        _wake(team, members)
        return 0
    _write(team + _TRAMPOLINE, trampoline)
    _write(team + _FUNCTION, function)
    _write(team + _ARGUMENTS, arguments)
    _write(team + _ROWS, rows)
    _write(team + _SIZE, size)
    _write(team + _DONE, 0)
    _write(team + _FAILED, 0)
    number = ((_read(team + _JOB) >> _NUMBER_AT) + 1) & 0x7FFFFFFF
    _write(team + _JOB, (number << _NUMBER_AT) | (members << _MEMBERS_AT) | (parts << _PARTS_AT))
    _wake(team, members)
    _work_off(team, 0)
    looks = 0
    while _read(team + _DONE) < parts:
        looks += 1
        _rest(looks)
    failed = _read(team + _FAILED)
    _write(team + _BUSY, 0)
    return failed


# -- from a kernel's arguments to a job --------------------------------------------------------------------------------


def _trampoline(context: Any, module: Any, kinds: Any, struct: Any) -> Any:
    """A function of a kernel's address, of where its arguments are held, and of rows: it calls the kernel."""
    trampoline = ir.Function(module, ir.FunctionType(_STATUS, [_WORD] * 4), module.get_unique_name("trampoline"))
    trampoline.linkage = "internal"
    function, arguments, first, last = trampoline.args
    builder = ir.IRBuilder(trampoline.append_basic_block())
    every = (types.int64, types.int64, *kinds)
    form = context.call_conv.get_function_type(types.none, every)
    slots = [cgutils.alloca_once(builder, slot.pointee) for slot in form.args[:2]]  # for a result, and what went wrong
    packed = builder.inttoptr(arguments, struct.as_pointer())
    values = [builder.load(cgutils.gep_inbounds(builder, packed, 0, n)) for n in range(len(kinds))]
    flat = context.get_arg_packer(every).as_arguments(builder, [first, last, *values])
    builder.ret(builder.call(builder.inttoptr(function, form.as_pointer()), [*slots, *flat]))
    return trampoline


@intrinsic
def _conducted(
    typing: Any, conductor: Any, team: Any, function: Any, rows: Any, size: Any, parts: Any, members: Any,
    arguments: Any,
) -> Any:  # fmt: skip
    kinds = tuple(arguments)

    def code(context: Any, builder: Any, signature: Any, operands: Any) -> Any:
        conductor, team, function, *numbers, packed = operands
        values = cgutils.unpack_tuple(builder, packed, len(kinds))
        struct = ir.LiteralStructType([value.type for value in values])
        memory = cgutils.alloca_once(builder, struct)
        for n, value in enumerate(values):
            builder.store(value, cgutils.gep_inbounds(builder, memory, 0, n))
        trampoline = _trampoline(context, builder.module, kinds, struct)
        form = ir.FunctionType(_WORD, [_WORD] * 8).as_pointer()
        addresses = [builder.ptrtoint(pointer, _WORD) for pointer in (trampoline, memory)]
        return builder.call(builder.inttoptr(conductor, form), [team, addresses[0], function, addresses[1], *numbers])

    return types.int64(*[types.int64] * 7, arguments), code


@kernel
def _hand_over(
    conductor: Any, team: Any, function: Any, rows: Any, size: Any, parts: Any, members: Any, *arguments: Any
) -> Any:
    """A kernel's arguments taken out of Python's objects once, and given to the conductor."""
    return _conducted(conductor, team, function, rows, size, parts, members, arguments)


# -- in Python ---------------------------------------------------------------------------------------------------------


try:
    from numba import _dispatcher

    _fingerprint_of: Any = _dispatcher.compute_fingerprint
except (ImportError, AttributeError):
    note("fingerprints of arguments")
    _fingerprint_of = None


def _fingerprint(arguments: tuple[Any, ...]) -> Any:
    """What tells the types of arguments apart."""
    try:
        if _fingerprint_of is not None:
            return _fingerprint_of(arguments)
    except NotImplementedError:  # of tuples with names
        pass
    return tuple([numba.typeof(a) for a in arguments])


def _compiled(function: Any, kinds: Any) -> Any:
    """The compiled form of a function for arguments of these types."""
    compiled = function.overloads.get(kinds)
    if compiled is None:
        function.compile(kinds)
        compiled = function.overloads[kinds]
    return compiled


class Team:
    """Helpers for up to so many cores, each of which begins when it is first asked for."""

    def __init__(self, cores: int) -> None:
        conductor = _compiled(_conduct, (types.int64,) * 8)
        self._conductor = conductor.library.get_pointer_to_function(conductor.fndesc.llvm_cfunc_wrapper_name)
        self._most = min(cores - 1, _MOST_HELPERS)
        self._memory = np.zeros(_ASLEEP + (self._most + 1) * _OF_HELPER, np.uint8)
        self._at = -(-self._memory.ctypes.data // _OF_HELPER) * _OF_HELPER
        self._helpers: list[threading.Thread] = []
        self._gathering = threading.RLock()  # a signal's handler may ask for helpers while they are gathered
        self._codes: dict[Any, int] = {}
        self._closed = False
        _compiled(_help, (types.int64, types.int64))
        atexit.register(self.close)

    def _gather(self, members: int) -> None:
        """Let so many helpers begin, or as many as the system allows: none when the interpreter ends."""
        with self._gathering:
            while len(self._helpers) < members <= self._most:
                member = len(self._helpers) + 1
                helper = threading.Thread(
                    target=_help, args=(self._at, member), name=f"glassgrad kernel {member}", daemon=True
                )
                self._helpers.append(helper)  # before an interruption: no two have the same room
                try:
                    helper.start()
                except RuntimeError:
                    self._helpers.remove(helper)
                    self._most = len(self._helpers)

    def code_of(self, work: Any, arguments: tuple[Any, ...]) -> int:
        """Where a kernel's code for such arguments lies; 0 if it gives a result, which a part cannot."""
        key = work, _fingerprint(arguments)
        code = self._codes.get(key)
        if code is None:
            compiled = _compiled(work, (types.int64, types.int64, *[numba.typeof(a) for a in arguments]))
            name = compiled.fndesc.llvm_func_name
            code = compiled.library.get_pointer_to_function(name) if compiled.signature.return_type == types.none else 0
            self._codes[key] = code
        return code

    def run(self, function: int, rows: int, size: int, threads: int, arguments: tuple[Any, ...]) -> bool:
        """Have a kernel's rows done in parts of ``size`` by so many threads; False if a part failed."""
        if len(self._helpers) < min(threads - 1, self._most):
            self._gather(min(threads - 1, self._most))
        members = min(threads - 1, self._most)
        if (parts := -(-rows // size)) > _SMALL:
            size *= -(-parts // _SMALL)
            parts = -(-rows // size)
        return not _hand_over(self._conductor, self._at, function, rows, size, parts, members, *arguments)

    def forget(self) -> None:
        """What a forked process does with the team of its parent: none of the helpers is there."""
        atexit.unregister(self.close)

    def close(self) -> None:
        """Let all helpers end, as they must before the interpreter does."""
        atexit.unregister(self.close)
        if self._closed:
            return
        self._closed = True
        while _conduct(self._at, 0, 0, 0, 0, 0, 0, len(self._helpers)):
            time.sleep(0.001)
        for helper in self._helpers:
            if helper.is_alive():
                helper.join(1)
