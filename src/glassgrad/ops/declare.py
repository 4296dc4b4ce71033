"""Where plain functions over rows are published: ``@composite`` gives them their names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import cleandoc
from types import FunctionType
from typing import Any

from ..core.tensor import read_only
from ..ground.listening import Function, audible
from ..ground.register import Register

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

    def call(function: Function) -> Function:
        function.__name__ = function.__qualname__ = name
        doc = cleandoc(function.__doc__ or "")  # it may stand deep
        for key, word in words.items():
            doc = doc.replace(f"{{{key}}}", word)
        function.__doc__ = doc
        return function

    return call


def of_dims(name: str, dims: int) -> Callable[[Function], Function]:
    """The same of what differs in its number of dimensions: "{dims}" in the docstring."""
    return named(name, dims=_DIMS[dims - 1])


def unit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function below composites that makes tensors by itself, not by rows: who follows calls sees it whole."""
    UNITS.append(audible(function))
    return UNITS[-1]
