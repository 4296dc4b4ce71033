"""What rows and composites are called: functions, methods, in-place variants and operators."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..core import call
from ..core.row import TABLE, Row
from ..core.tensor import Tensor
from ..ground.listening import audible
from ..ground.synonyms import in_pytorchs_words, synonyms_in
from .declare import COMPOSITES, Composite

#: ``in_place(row, target, others, settings)`` computes a row into ``target``: from ``core/write.py``.
in_place: Callable[..., Any] = NotImplemented

#: Operators that have a reflected form under the same function.
_COMMUTE = {"add", "mul", "and", "or", "xor"}
_BUILTIN_OPERATORS = {
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift",
    "neg", "pos", "invert", "abs", "eq", "ne", "lt", "le", "gt", "ge",
    "radd", "rsub", "rmul", "rtruediv", "rfloordiv", "rmod", "rpow", "rmatmul", "rand", "ror", "rxor",
    "rlshift", "rrshift",
    "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift",
}  # fmt: skip


Spelled = tuple[str, Any]


def spelled_by_row(row: Row) -> tuple[list[Spelled], list[Spelled]]:
    """The functions and the methods that a row brings, by name."""
    functions: list[Spelled] = []
    methods: list[Spelled] = []
    if row.public:
        is_method = bool(row.inputs) and row.inputs[0] == "self"
        for name in (row.name, *row.aliases):
            functions.append((name, row.caller))
            if row.inplace:
                functions.append((f"{name}_", writer(row)))
        if is_method:
            methods += functions
    if row.operator is not None:
        methods += _operators(row.operator, row.operate)
        if row.inplace:
            methods.append((f"__i{row.operator}__", _in_place_operator(writer(row))))
    return functions, methods


def spelled_by_composite(composite: Composite) -> tuple[list[Spelled], list[Spelled]]:
    """The functions and the methods that a composite brings, by name."""
    functions = [(name, composite.function) for name in composite.names] if composite.is_function else []
    methods: list[Spelled] = [(name, composite.function) for name in composite.names] if composite.method else []
    if composite.operator is not None:
        methods += _operators(composite.operator, composite.function)
    return functions, methods


def functions() -> dict[str, Callable[..., Any]]:
    """Every public function by name: rows first, composites over them."""
    by_name: dict[str, Callable[..., Any]] = {}
    for row in TABLE.values():
        by_name.update(spelled_by_row(row)[0])
    for composite in COMPOSITES.values():
        by_name.update(spelled_by_composite(composite)[0])
    return by_name


_tables: tuple[tuple[int, int], list[Any]] = (0, 0), []


def table_functions() -> list[Any]:
    """Every function that the table brings: callers of rows, their operators and writers, composites."""
    global _tables
    size = len(TABLE), len(COMPOSITES)  # which imports all families
    if _tables[0] != size:
        rows, composites = TABLE.values(), COMPOSITES.values()
        every = [row.caller for row in rows] + [row.operate for row in rows if row.operator is not None]
        every += [*functions().values(), *(composite.function for composite in composites)]
        distinct = {id(function): function for function in every if type(function) is FunctionType}
        _tables = (len(TABLE), len(COMPOSITES)), [*distinct.values()]
    return _tables[1]


_writers: dict[str, Callable[..., Any]] = {}


def writer(row: Row) -> Callable[..., Any]:
    """The in-place variant of a row."""
    variant = _writers.get(row.name)
    if variant is None:
        n_inputs, settings, defaults = len(row.inputs), row.settings, row.defaults
        usual = tuple(defaults[name] for name in settings) if len(defaults) == len(settings) else None
        synonyms = synonyms_in([*row.inputs[1:], *settings])

        def write(self: Tensor, *args: Any, **kwargs: Any) -> Any:
            if len(args) == n_inputs - 1 and usual is not None and not kwargs:
                return in_place(row, self, args, usual)
            kwargs = in_pytorchs_words(kwargs, synonyms)
            values = list(args)
            if row.formerly and any([isinstance(value, Tensor) for value in args[n_inputs - 1 :]]):
                tensors, former_settings = call.refusals.former(row, (self, *args))
                return in_place(row, self, tensors[1:], former_settings)
            for name in row.inputs[1 + len(values) : n_inputs]:
                values.append(kwargs.pop(name) if name in kwargs or name not in row.optional else None)
            others, setting_values = values[: n_inputs - 1], values[n_inputs - 1 :]
            setting_values += [kwargs.pop(name, defaults.get(name)) for name in settings[len(setting_values) :]]
            if kwargs:
                raise TypeError(f"{row.name}_() got an unexpected keyword argument '{next(iter(kwargs))}'")
            return in_place(row, self, others, setting_values)

        write.__name__ = write.__qualname__ = f"{row.name}_"
        write.__doc__ = f"In-place :func:`{row.name}`."
        variant = _writers[row.name] = audible(write)
    return variant


def _in_place_operator(write_: Callable[..., Any]) -> Callable[..., Any]:
    def operate(self: Tensor, other: Any) -> Any:
        if not call.is_operand(other):
            return NotImplemented
        return write_(self, other)

    return operate


def _operators(name: str, function: Callable[..., Any]) -> list[Spelled]:
    if name not in _BUILTIN_OPERATORS:
        raise ValueError(f"no such operator: {name}")
    return [(f"__{p}{name}__", function) for p in (("", "r") if name in _COMMUTE else ("",))]
