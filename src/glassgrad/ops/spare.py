"""Operands that nobody will see again, whose memory may take the result: knows CPython's references and frames.

In ``((x * 2).exp() - 1).tanh()`` each number is read from memory and written to other memory eight times over, though
nobody ever sees what lies between. Memory is what large operations wait for: written over its operand, a result costs
half to a third. So the short path of a large elementwise operation asks here whether its first operand is *spent*.

Three things must be proved, else the result gets memory of its own:

* Nobody else holds the array, and it is a view of nothing: its references are counted.
* Nobody else holds the tensor. Called as a function or a method, Python has moved the caller's reference to the
  callee: if that is the only one, no one is left who could ask for it. An operator keeps the caller's reference on its
  stack. Then one reference more is allowed, if it is seen to be that one: the caller's frame stands at an operator,
  what lies on its stack where this instruction finds its left operand is the tensor, and the right one is of a kind
  that leaves the operator to the tensor at once. A borrowed reference, as NumPy's arrays of objects hand out, never
  lies there; and where the right operand is such an array, it may ask for the left one again and again.
* The operand has no history and no alias, so that no rule, view or version knows of it.

The tensor's references are counted before the array's: once nobody else has the tensor, no other thread can ask it for
its array. Weak references come first of all. A debugger or another function that traces may keep frames of operations,
and with them their operands: while there is one, nothing is written over.

Where frames or references are of another make than those known here, only the first form is found, or none.
``GLASSGRAD_SPARE=0`` gives every result memory of its own.
"""

from __future__ import annotations

import ctypes
import dis
import inspect
import os
import sys
from functools import cache
from sys import getrefcount
from types import CodeType
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..tensor.parameter import Parameter

ndarray = np.ndarray
_OFF = os.environ.get("GLASSGRAD_SPARE") == "0"  # read once: what a function reads while it is captured is its own
_FRAME, _LOCALS, _WORD = 24, 72, 8  # bytes: of a frame's inner part in the frame; of its first local in that
_KIND = 8  # of an object's class in the object
#: Classes of right operands that ask for the left one only once: its own class is asked first, and answers.
_PLAIN = frozenset(map(id, (Tensor, Parameter, float, int)))
_word = ctypes.c_size_t.from_address
_MOST = 4096
_depths: dict[int, tuple[CodeType, dict[int, int]]] = {}  # the code is kept, so that its id stays its own
OPERATION = dis.opmap.get("BINARY_OP", -1)


def _depths_of(code: CodeType) -> dict[int, int]:
    """For each binary operator of a function that is reached without an exception: words from the first local to the
    left operand."""
    found = _depths.get(id(code))
    if found is not None:
        return found[1]
    # Cells that are arguments have one place for both.
    first = code.co_nlocals + len(set(code.co_cellvars) - set(code.co_varnames)) + len(code.co_freevars)
    instructions = list(dis.get_instructions(code))
    place = {one.offset: i for i, one in enumerate(instructions)}
    heights: dict[int, int] = {}
    waiting = [(0, 1 if code.co_flags & _RESUMED and _BEGINS == 0 else 0)]
    while waiting:
        i, height = waiting.pop()
        while i < len(instructions) and i not in heights:
            heights[i] = height
            one = instructions[i]
            if one.opcode in _JUMPS and one.argval in place:
                waiting.append((place[one.argval], height + dis.stack_effect(one.opcode, one.arg, jump=True)))
            if one.opname in _ENDS:
                break
            height += dis.stack_effect(one.opcode, one.arg, jump=False)
            i += 1
    made = {
        instructions[i].offset: first + height - 2
        for i, height in heights.items()
        if instructions[i].opcode == OPERATION
    }
    if len(_depths) >= _MOST:
        _depths.clear()
    _depths[id(code)] = code, made
    return made


#: Generators and coroutines begin with what was sent to them on the stack; newer Pythons count it as an effect.
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_BEGINS = dis.stack_effect(dis.opmap["RETURN_GENERATOR"]) if "RETURN_GENERATOR" in dis.opmap else 0
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
_ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD",
         "JUMP_BACKWARD_NO_INTERRUPT", "INTERPRETER_EXIT"}  # fmt: skip


def left_operand(frame: Any, tensor: Any, classes: frozenset[int] = _PLAIN) -> bool:
    """Whether ``frame`` is in the midst of an operator whose left operand, on its stack, is ``tensor``, and whose right
    one is of one of ``classes``, given by their identities."""
    depth = _depths_of(frame.f_code).get(frame.f_lasti)
    if depth is None:
        return False
    left = _word(id(frame) + _FRAME).value + _LOCALS + depth * _WORD
    if _word(left).value != id(tensor):
        return False
    return _word(_word(left + _WORD).value + _KIND).value in classes


def _method(tensor: Any) -> int:
    return getrefcount(tensor)


class _Probe:
    """Something with an operator and a method, to see how references are counted here."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return getrefcount(self), left_operand(sys._getframe(1), self)

    def count(self) -> int:
        return getrefcount(self)


@cache
def known() -> tuple[bool, bool]:
    """Whether references, and whether frames, are counted and laid out here as this file believes."""
    if _OFF or sys.implementation.name != "cpython":
        return False, False
    if not (3, 11) <= sys.version_info < (3, 14) or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False, False  # from 3.14 on a stack may hold a reference that is not counted
    held, several = _Probe(), [_Probe()]
    if (_Probe().count(), held.count(), several[0].count(), _method(_Probe()), _method(held)) != (2, 3, 3, 2, 3):
        return False, False
    if ctypes.sizeof(ctypes.c_void_p) != _WORD or hasattr(sys, "gettotalrefcount"):
        return True, False
    frame = sys._getframe()
    inner = _word(id(frame) + _FRAME).value
    if _word(inner + _LOCALS).value != id(held) or _word(id(held) + _KIND).value != id(_Probe):
        return True, False
    seen: list[Any] = [_Probe() + 1, held + 1, several[0] + 1, [_Probe(), _Probe() + 1][1], sum([_Probe()], held)]
    return True, seen == [(3, True), (4, True), (4, True), (3, True), (seen[4][0], False)]


def spent(references: tuple[Any, int, int] | None, tensor: Any, array: Any, level: int) -> bool:
    """Whether ``array``, of the operand ``tensor``, may be written over.

    references  weak ones to the tensor, and how many there are to it and to its array, looked up in this order in the
                operation's caller; ``None`` if another operand's rule will read the array
    level       frames from this one to that of the user
    """
    if references is None or references[0] is not None or references[2] != 3:
        return False
    by_call, by_operator = known()
    if references[1] == 2:
        if not by_call:
            return False
    elif references[1] != 3 or not by_operator or not left_operand(sys._getframe(level), tensor):
        return False
    if tensor._edge is not None or tensor._counter is not None:
        return False
    if sys.gettrace() is not None or callable(sys.getprofile()):  # cProfile, which keeps nothing, cannot be called
        return False
    flags = array.flags
    return flags.owndata and flags.writeable
