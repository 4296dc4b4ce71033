"""Gives Tensor its methods, in-place variants and operators, and the package its functions, from the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tensor.tensor import Tensor
from . import write
from .declare import COMPOSITES, TABLE, Row

#: Operators that have a reflected form under the same function.
_COMMUTE = {"add", "mul", "and", "or", "xor"}
_BUILTIN_OPERATORS = {
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift",
    "neg", "pos", "invert", "abs", "eq", "ne", "lt", "le", "gt", "ge",
    "radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rmatmul", "rand", "ror", "rxor",
    "rlshift", "rrshift",
    "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift",
}  # fmt: skip


def functions() -> dict[str, Callable[..., Any]]:
    """Every public function by name: rows first, composites over them."""
    found: dict[str, Callable[..., Any]] = {}
    for row in TABLE.values():
        if row.public:
            for name in (row.name, *row.aliases):
                found[name] = row.caller
            if row.inplace:
                for name in (row.name, *row.aliases):
                    found[f"{name}_"] = writer(row)
    for made in COMPOSITES.values():
        if made.is_function:
            for name in made.names:
                found[name] = made.function
    return found


_writers: dict[str, Callable[..., Any]] = {}


def writer(row: Row) -> Callable[..., Any]:
    """The in-place variant of a row."""
    made = _writers.get(row.name)
    if made is None:
        n_inputs, settings, defaults = len(row.inputs), row.settings, row.defaults

        def in_place(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            values = list(args)
            for name in row.inputs[1 + len(values) : n_inputs]:
                values.append(kwargs.pop(name) if name in kwargs or name not in row.optional else None)
            others, given = values[: n_inputs - 1], values[n_inputs - 1 :]
            given += [kwargs.pop(name, defaults.get(name)) for name in settings[len(given) :]]
            if kwargs:
                raise TypeError(f"{row.name}_() got an unexpected keyword argument '{next(iter(kwargs))}'")
            return write.in_place(row, self, others, given)

        in_place.__name__ = in_place.__qualname__ = f"{row.name}_"
        in_place.__doc__ = f"In-place :func:`{row.name}`."
        made = _writers[row.name] = in_place
    return made


def bind() -> None:
    """Install methods and operators on Tensor."""
    for row in TABLE.values():
        if row.public and row.inputs and row.inputs[0] == "self":
            for name in (row.name, *row.aliases):
                setattr(Tensor, name, row.caller)
                if row.inplace:
                    setattr(Tensor, f"{name}_", writer(row))
        if row.operator is not None:
            _operator(row.operator, row.operate)
            if row.inplace:
                setattr(Tensor, f"__i{row.operator}__", _in_place_operator(writer(row)))
    for made in COMPOSITES.values():
        if made.method:
            for name in made.names:
                setattr(Tensor, name, made.function)
        if made.operator is not None:
            _operator(made.operator, made.function)


def _in_place_operator(write_: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, int, float, complex, np.generic)):
            return NotImplemented
        return write_(self, other)

    return operate


def _operator(name: str, function: Callable[..., Any]) -> None:
    if name not in _BUILTIN_OPERATORS:
        raise ValueError(f"no such operator: {name}")
    setattr(Tensor, f"__{name}__", function)
    if name in _COMMUTE:
        setattr(Tensor, f"__r{name}__", function)
