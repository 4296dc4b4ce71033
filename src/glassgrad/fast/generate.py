"""Writes each row's short path as source text: the one place where the speed of a call lives.

A caller starts as a stub.  Its first call writes the row's text, compiles it (as ``dataclasses`` does; ``linecache`` is
fed, so tracebacks and debuggers show it) and puts the new code into the very function everybody already holds.
``source("mul")`` gives the text.
"""

from __future__ import annotations

import linecache
import os
import threading
from sys import getrefcount
from types import FunctionType
from typing import Any

import numpy as np

from ..core import call, saved
from ..core import row as row_module
from ..core.fit import fit
from ..core.record import Record, freed, new, tick
from ..core.row import TABLE, Row
from ..core.tensor import LEAF, Tensor, View, edge_of, share
from ..ground import listening, modes
from ..ops import override
from ..ops.constant import B1, F32, F64, I64, number
from ..tensor.parameter import Parameter
from . import large
from .text import NAMES, text_of

NAMES.update(
    Tensor=Tensor, Parameter=Parameter, View=View, Record=Record, LEAF=LEAF, new=new, tick=tick, freed=freed,
    modes=modes, watched=call.watched, usual=call.usual,
    grad_enabled=modes.grad_enabled, edge_of=edge_of, share=share, careful=call.careful, output_of=call.output_of,
    stale=saved.stale, fit=fit, shape_error=override.shape_error, number=number, F32=F32, F64=F64, I64=I64, B1=B1,
    float32=np.float32, ndarray=np.ndarray, TABLE=TABLE, getrefcount=getrefcount, applied=large.applied,
    LARGE=large.LARGE, CURVED=large.CURVED,
)  # fmt: skip


def _stub(*args: Any, **kwargs: Any) -> Any:
    return _first_call("NAME", args, kwargs)  # type: ignore[name-defined] # noqa: F821


def caller_of(row: Row) -> Any:
    """The function that calls ``row``: a stub until its first call."""
    code = _stub.__code__
    consts = tuple(row.name if const == "NAME" else const for const in code.co_consts)
    caller: Any = FunctionType(code.replace(co_consts=consts, co_name=row.name, co_qualname=row.name), NAMES, row.name)
    caller.__doc__ = row.kernel.__doc__
    caller.__module__ = row.kernel.__module__
    caller.__qualname__ = row.name
    caller.row = row
    if row.operator is not None:
        row.operate = operator_of(row)
    for column in (
        "derivative", "typed_as", "sets_apart", "returns", "complex_by_hand", "internal", "shows", "tensors_only",
        "autocasts", "checked_by", "falls_back_to", "sized_by",
        "keeps_numbers_single", "writes_one_value", "unfolds_by", "applies",
    ):  # fmt: skip
        setattr(caller, column, getattr(row, column))
    return caller


row_module.make_caller = caller_of


_making = threading.RLock()
_made: set[str] = set()


def _renew_lock() -> None:
    """In a forked process nobody is left who would let go of a lock that another thread held."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _operator_stub(*args: Any, **kwargs: Any) -> Any:
    return _first_operation("NAME", args)  # type: ignore[name-defined] # noqa: F821


def operator_of(row: Row) -> Any:
    """What stands behind the row's operator: its caller, but strangers are left to the other operand."""
    code = _operator_stub.__code__
    consts = tuple(row.name if const == "NAME" else const for const in code.co_consts)
    return FunctionType(code.replace(co_consts=consts), NAMES, f"__{row.operator}__")


#: The same text under other names: that of an operator, and that of a call which listeners were asked about.
_OPERATE = {"careful": "careful_operand", "watched": "watched_operand"}
_UNHEARD = {"watch": "unusual", "watched": "usual"}


def _alike(function: Any, names: dict[str, str]) -> Any:
    """The function with some names replaced by others."""
    alike = FunctionType(
        _renamed(function.__code__, names), NAMES, function.__name__, function.__defaults__, function.__closure__
    )
    alike.__kwdefaults__ = function.__kwdefaults__
    return alike


def _renamed(code: Any, names: dict[str, str]) -> Any:
    return code.replace(co_names=tuple(names.get(name, name) for name in code.co_names))


def careful_operand(row: Row, tensors: Any, settings: Any, out: Any) -> Any:
    """The careful path of an operator."""
    for t in tensors:
        if not isinstance(t, (Tensor, int, float, complex, np.generic)) and not hasattr(type(t), "__torch_function__"):
            return NotImplemented
    return call.usual(row, tensors, settings, out)


def watched_operand(row: Row, tensors: Any, settings: Any, out: Any) -> Any:
    """The call of an operator: listeners are asked first."""
    if listening.listeners:
        args, kwargs = call.spelled(row, tensors, settings, out)
        return listening.heard(row.operate, row.operate_unheard, args, kwargs)
    return careful_operand(row, tensors, settings, out)


def _first_operation(name: str, args: Any) -> Any:
    row = TABLE[name]
    make_ready(row)
    return row.operate(*args)


def _first_call(name: str, args: Any, kwargs: Any) -> Any:
    row = TABLE[name]
    make_ready(row)
    return row.caller(*args, **kwargs)


def make_ready(row: Row) -> None:
    """Make sure that a row's short path exists; one thread makes it while others wait."""
    with _making:
        if row.name not in _made:
            ready(row)
            _made.add(row.name)


def ready(row: Row) -> None:
    """Write, compile and install the row's short path."""
    caller: Any = row.caller
    text = text_of(row)
    filename = f"<glassgrad operation {row.name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = NAMES
    kind = call.kind_of(row)
    names[f"{row.name}_row"], names[f"{row.name}_kernel"], names[f"{row.name}_kind"] = row, row.kernel, kind
    for index, (_, rule, _) in enumerate(row.array_rules):  # type: ignore[attr-defined]
        names[f"{row.name}_rule{index}"] = rule
    made: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), names, made)
    if row.ufunc is not None:
        names[f"{row.name}_ufunc"], names[f"{row.name}_large"] = row.ufunc, made[f"{row.name}_large"]
    if f"{row.name}_run" in made:
        names[f"{row.name}_run"] = kind.run = made[f"{row.name}_run"]
        if row.ufunc is not None:
            names[f"{row.name}_run_large"] = _run_large(row)
    code = made[row.name].__code__
    row.unheard = _alike(made[row.name], _UNHEARD)
    if row.operator is not None:
        row.operate_unheard = _alike(made[row.name], _OPERATE | _UNHEARD | {"watched": "careful_operand"})
    caller.__defaults__ = made[row.name].__defaults__
    caller.__kwdefaults__ = made[row.name].__kwdefaults__
    caller.__code__ = code
    if row.operator is not None:
        row.operate.__defaults__, row.operate.__kwdefaults__ = caller.__defaults__, caller.__kwdefaults__
        row.operate.__code__ = _renamed(code, _OPERATE)


def _run_large(row: Row) -> Any:
    """The ``run`` of records of large arrays: the same text, with other rules."""
    run = NAMES[f"{row.name}_run"]
    names = {name: NAMES[name] for name in run.__code__.co_names if name in NAMES}
    for index, (_, rule, _) in enumerate(row.rules):
        names[f"{row.name}_rule{index}"] = large.on_large(rule)
    return FunctionType(run.__code__, names, f"{row.name}_run_large")


def source(name: str) -> str:
    """The text that was generated for an operation."""
    return text_of(TABLE[name])


NAMES["_first_call"] = _first_call
NAMES["_first_operation"] = _first_operation
NAMES["careful_operand"], NAMES["watched_operand"] = careful_operand, watched_operand
listening.between.update((__name__, NAMES["__name__"]))


def ready_all() -> None:
    """Make every row ready now (for tests and tools; a program pays only for the rows it uses)."""
    for row in TABLE.values():
        ready(row)
