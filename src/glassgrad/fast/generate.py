"""Compiles the text of each row's everyday call: the one place where the speed of a call is made.

A caller starts as a stub.  Its second call writes the row's text, compiles it (as ``dataclasses`` does; ``linecache``
is fed, so tracebacks and debuggers show it) and puts the new code into the very function everybody already holds.
``source("mul")`` gives the text.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ..core import call, saved
from ..core import tensor as tensors
from ..core.fit import fit
from ..core.plan import B1, F32, F64, I64
from ..core.record import Record, freed, output_of, tick
from ..core.row import TABLE, Row
from ..core.tensor import LEAF, Tensor, View, edge_of, new, share
from ..ground import listening, modes
from ..ground.source_text import run_text
from ..kernels import compiled
from ..tensor.parameter import Parameter
from . import NAMES, large
from .constant import number
from .text import has_run, text_of

REQUIRED = object()  # for a setting that was not given


def arguments_by_name(
    row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any, named: Mapping[str, Any]
) -> tuple[Any, Any, Any]:
    """What ``call.arguments`` reads, of a call whose settings came under NumPy's names, ``named``, or not at all."""
    named = dict(named) if out is None else {**named, "out": out}
    for name, value in zip(row.settings, settings, strict=True):
        if value is not row.defaults.get(name, REQUIRED):
            named[name] = value
    return call.arguments(row, tensors, named)


def watched(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
    """Call a row while somebody may be listening: listeners are asked first."""
    return call.heard(row.caller, call.call, row, tensors, settings, out)


def watched_operator(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
    """The same of a Python operator."""
    return call.heard(row.operate, call.call_operator, row, tensors, settings, out)


NAMES.update(
    Tensor=Tensor, Parameter=Parameter, View=View, Record=Record, LEAF=LEAF, new=new, tick=tick, freed=freed,
    modes=modes, grad_enabled=modes.grad_enabled, edge_of=edge_of, share=share, output_of=output_of,
    call=call.call, watched=watched, call_operator=call.call_operator, watched_operator=watched_operator,
    doors=call, saved=saved, fitted=fit, number=number,
    number_of=tensors.number_of, F32=F32, F64=F64, I64=I64, B1=B1,
    float32=np.float32, ndarray=np.ndarray, applied=large.applied, compiled=compiled,
    REQUIRED=REQUIRED, arguments_by_name=arguments_by_name, LARGE=large.LARGE, CURVED=large.CURVED,
)  # fmt: skip


_making = threading.RLock()
_made: set[str] = set()


def _renew_lock() -> None:
    """In a forked process nobody is left who would let go of a lock that another thread held."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


#: The same text under other names: that of an operator, and that of a call which listeners were asked about.
_OPERATE = {"call": "call_operator", "watched": "watched_operator"}
_UNHEARD = {"watch": "unusual", "watched": "call"}
_OPERATE_UNHEARD = {"watch": "unusual", "watched": "call_operator", "call": "call_operator"}


def make_ready(row: Row) -> None:
    """Make sure that a row's text is compiled; one thread does it while others wait."""
    with _making:
        if row.name not in _made:
            ready(row)
            _made.add(row.name)


def ready(row: Row) -> None:
    """Write, compile and install a row's text."""
    caller: Any = row.caller
    text = text_of(row)
    kind = row.plan.kind
    NAMES[f"{row.name}_row"], NAMES[f"{row.name}_kernel"], NAMES[f"{row.name}_kind"] = row, row.kernel, kind
    for index, rule in enumerate(row.plan.rules):
        NAMES[f"{row.name}_rule{index}"] = rule.on_arrays
    functions: dict[str, Any] = {}
    run_text(text, f"<glassgrad operation {row.name}>", NAMES, functions)
    NAMES[f"{row.name}_plain"], NAMES[f"{row.name}_quick"] = row.plain, row.quick
    NAMES[f"{row.name}_native"] = row.native
    if row.layout is not None:
        NAMES[f"{row.name}_laid"] = row.laid
    if row.ufunc is not None:
        NAMES[f"{row.name}_ufunc"], NAMES[f"{row.name}_large"] = row.ufunc, functions[f"{row.name}_large"]
    if has_run(row):
        NAMES[f"{row.name}_run"] = kind.run = functions[f"{row.name}_run"]
        if row.ufunc is not None:
            NAMES[f"{row.name}_run_large"] = _run_large(row)
    function = functions[row.name]
    caller.unheard = _renamed(function, _UNHEARD)
    _install(caller, function)
    if row.operator is not None:
        row.operate.unheard = _renamed(function, _OPERATE_UNHEARD)  # type: ignore[attr-defined]
        _install(row.operate, _renamed(function, _OPERATE))


def _renamed(function: Any, names: dict[str, str]) -> Any:
    """The same function, where some names it reads are others."""
    code = function.__code__.replace(co_names=tuple(names.get(name, name) for name in function.__code__.co_names))
    renamed = FunctionType(code, NAMES, function.__name__, function.__defaults__, function.__closure__)
    renamed.__kwdefaults__ = function.__kwdefaults__
    return renamed


def _install(stub: Any, function: Any) -> None:
    stub.__defaults__, stub.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    stub.__code__ = function.__code__


def _run_large(row: Row) -> Any:
    """The ``run`` of records of large arrays: the same text, with other rules."""
    run = NAMES[f"{row.name}_run"]
    names = {name: NAMES[name] for name in run.__code__.co_names if name in NAMES}
    for index, rule in enumerate(row.plan.rules):
        name = f"{row.name}_rule{index}"
        names[name] = large.on_large(rule.lifted, NAMES[name])
    return FunctionType(run.__code__, names, f"{row.name}_run_large")


def source(name: str) -> str:
    """The text that was generated for an operation."""
    return text_of(TABLE[name])


listening.between.add(__name__)


def ready_all() -> None:
    """Make every row ready now (for tests and tools; a program pays only for the rows it uses)."""
    for row in TABLE.values():
        ready(row)
