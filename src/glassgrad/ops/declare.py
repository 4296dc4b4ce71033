"""Where plain functions over rows are published, ``@composite``; and what rows and functions are called."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import cleandoc
from types import FunctionType
from typing import Any

from ..core import call
from ..core.row import Row
from ..core.tensor import Tensor, read_only
from ..ground.listening import Function, audible
from ..ground.register import Register
from ..ground.synonyms import in_pytorchs_words, synonyms_in

COMPOSITES: Register[Composite] = Register()
UNITS: list[Callable[..., Any]] = []  # what :func:`unit` marks
_OURS = __name__.partition(".")[0]


class Composite:
    """A plain function over rows, and where it is to be found."""

    def __init__(
        self,
        function: Callable[..., Any],
        names: tuple[str, ...],
        method: bool,
        operator: str | None,
        is_function: bool,
        home: str,
    ) -> None:
        self.function, self.names, self.method = function, names, method
        self.operator, self.is_function, self.home = operator, is_function, home


def composite(
    *aliases: str, method: bool = True, function: bool = True, operator: str | None = None, name: str | None = None,
    page: str = "",
) -> Callable[[Callable[..., Any]], Any]:  # fmt: skip
    """Publish the function below: as a function, as a Tensor method, as an operator; over a row of the same name.

    aliases   further names
    method    whether tensors have it as a method (the first argument is the tensor)
    function  whether the package has it as a function
    operator  the Python operator it stands behind
    name      its public name, where it is not its own (``all`` and ``sum`` would hide builtins)
    page      the module in whose part PyTorch documents it ("torch"), where its docstring is to name that page
    """

    frame: Any = sys._getframe(1)
    while frame.f_code.co_name != "<module>":
        frame = frame.f_back
    home = frame.f_globals["__name__"]  # the file being run: a property knows no module of its own

    def declare(func: Callable[..., Any]) -> Callable[..., Any]:
        own = key = name or func.__name__
        if page:
            from ..ground.later import cite  # of which an everyday call has no need

            cite(func, f"{page}.{own}")
        if type(func) is FunctionType:  # and no property
            if function and func.__name__ != own:  # errors and pickles know it by its public name
                func.__name__ = func.__qualname__ = own
                func.__module__ = _OURS
            func = audible(func)
        if isinstance(func, property) and func.fset is None:
            func = read_only(own, func)
        other = COMPOSITES.families.get(own)
        if COMPOSITES.is_taken(own) or (other is not None and not home.endswith(other)):
            key = f"{own} ({'method' if method else 'function'})"  # where they differ
        COMPOSITES[key] = Composite(func, (own, *aliases), method, operator, function, home)
        return func

    return declare


def functional(function: Function) -> Function:
    """Mark a function of ``torch.nn.functional`` where ``torch`` has another of its name: ``functional_dropout``."""
    function.__name__ = function.__qualname__ = function.__name__.removeprefix("functional_")
    function.__module__ = f"{_OURS}.nn.functional"  # where pickles find it
    return audible(function)


_DIMS = ("dimension", "two dimensions", "three dimensions")


def named(name: str, **words: str) -> Callable[[Function], Function]:
    """Call the function below by ``name``, and put ``words`` in the place of their names in braces in its docstring.

    So that operations which differ in little are written once.
    """

    def rename(function: Function) -> Function:
        function.__name__ = function.__qualname__ = name
        doc = cleandoc(function.__doc__ or "")  # it may stand deep
        for key, word in words.items():
            doc = doc.replace(f"{{{key}}}", word)
        function.__doc__ = doc
        return function

    return rename


def of_dims(name: str, dims: int) -> Callable[[Function], Function]:
    """The same of what differs in its number of dimensions: "{dims}" in the docstring."""
    return named(name, dims=_DIMS[dims - 1])


def unit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function below composites that makes tensors by itself, not by rows: who follows calls sees it whole."""
    UNITS.append(audible(function))
    return UNITS[-1]


# -- names ------------------------------------------------------------------------------------------------------------

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
                tensors, former_settings = call.refusals.former(row, (self, *args), True)
                return in_place(row, self, tensors[1:], former_settings)
            if len(args) > n_inputs - 1 + len(settings):
                most = n_inputs - 1 + len(settings)
                raise TypeError(f"{row.name}_() takes {most} positional arguments but {len(args)} were given")
            for name in row.inputs[1 + len(values) : n_inputs]:
                if name not in kwargs and name not in row.optional:
                    raise TypeError(f"{row.name}_() missing 1 required positional argument: '{name}'")
                values.append(kwargs.pop(name, None))
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
