"""Modules for what is not here: each is written as a class in one table, and made when it is imported.

A :class:`Namespace` is a module as a table writes it: its docstring, its names, and classes within it for the modules
within it.  Most names are functions that always say the same, which :func:`answer` and :func:`refuse` write in a line.
"""

from __future__ import annotations
import __future__

import copy
import enum
import inspect
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any, NoReturn, TypeVar

from .importing import load

T = TypeVar("T")
_UNNAMED = "_unnamed"  # until the function is in its module
_GONE = "Refused, with a sentence that names what to use instead."


class Namespace:
    """A module as the table writes it; without a docstring of its own it has one that tells its name.

    more   names that are computed
    parts  of modules within it that have nothing else, what they have for ``more``
    """

    more: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.__doc__ = cls.__doc__ or f"The ``torch.{cls.__qualname__}`` namespace."
        for name, more in vars(cls).get("parts", {}).items():
            known = {"more": more, "__qualname__": f"{cls.__qualname__}.{name}", "__module__": cls.__module__}
            setattr(cls, name, type(name, (Namespace,), known))


def answer(signature: str, value: T, doc: str) -> Callable[..., T]:
    """A function with this signature that gives ``value`` (a copy, which may be written to)."""
    return _function(signature, "return _copied(_value)", doc, _copied=copy.copy, _value=value)


def refuse(signature: str, error: type[Exception], words: str, doc: str) -> Callable[..., NoReturn]:
    """A function with this signature that raises ``error(words)``."""
    return _function(signature, "raise _error(_words)", doc, _error=error, _words=words)


def refuse_all(
    error: type[Exception], words: str, names: str, doc: str = "Refused: there is no such device."
) -> dict[str, Callable[..., NoReturn]]:
    """Functions of these names, which take anything and raise ``error(words)``."""
    return {name: refuse("(*args: object, **kwargs: object) -> NoReturn", error, words, doc) for name in names.split()}


def stand_ins(words: str, names: str, error: type[Exception] = RuntimeError) -> dict[str, type]:
    """Classes of these names, of which nothing is an instance: they are asked for, and making one raises."""

    def refuse_to_make(self: Any, *args: Any, **kwargs: Any) -> None:
        raise error(f"there is no {type(self).__name__}: {words}")

    doc = f"Nothing is one: {words}."
    members = {"__init__": refuse_to_make, "__setstate__": refuse_to_make, "__doc__": doc, "__module__": __name__}
    return {name: type(name, (), dict(members)) for name in names.split()}


def gone(words: str, names: str) -> dict[str, Any]:
    """What is not here, and what to use instead: classes, which begin with a capital, and functions."""
    classes = [name for name in names.split() if name.lstrip("_")[0].isupper()]
    functions = [name for name in names.split() if name not in classes]
    refused = refuse_all(RuntimeError, f"it is not in glassgrad: {words}", " ".join(functions), _GONE)
    return stand_ins(words, " ".join(classes)) | refused


def block(doc: str = "A block; it changes nothing.") -> Callable[..., Any]:
    """A function of anything that gives a block which changes nothing."""

    @contextmanager
    def unchanged(*args: Any, **kwargs: Any) -> Any:
        yield

    unchanged.__doc__, unchanged.__module__ = doc, __name__
    return unchanged


def choices(name: str, members: Any) -> Any:
    """An enumeration: names that settings take."""
    enumeration: Any = enum.Enum(name, members)  # type: ignore[misc]  # the name is a variable
    enumeration.__doc__, enumeration.__module__ = "Names that a setting takes.", __name__
    return enumeration


def _function(signature: str, body: str, doc: str, **names: Any) -> Any:
    text = f"def {_UNNAMED}{signature}: {body}"
    code = compile(text, f"<glassgrad: {doc}>", "exec", __future__.annotations.compiler_flag, dont_inherit=True)
    exec(code, names)
    function = names[_UNNAMED]
    function.__doc__, function.__module__ = doc, __name__
    return function


def spec_of(name: str, table: ModuleType, parts: Iterable[str]) -> ModuleSpec | None:
    """How the module of that name is made from its namespace, ``parts`` within the table; None where there is none."""
    namespace: Any = table
    for part in parts:
        namespace = _inner(namespace).get(part)
        if namespace is None:
            return None
    spec = ModuleSpec(name, _Loader(namespace), origin=table.__file__, is_package=True)  # type: ignore[arg-type]
    spec.has_location = True  # who asks for the module's source is shown the table
    return spec


class _Loader:
    def __init__(self, namespace: type[Namespace]) -> None:
        self.namespace = namespace

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        namespace, inner = self.namespace, _inner(self.namespace)
        own = [name for name in vars(namespace) if not name.startswith("__") and name not in ("more", "parts")]
        names = {name: getattr(namespace, name) for name in own if name not in inner} | namespace.more
        for name in [*own, *namespace.more]:
            if name in names and getattr(names[name], "__module__", None) in (namespace.__module__, __name__):
                _move(names[name], name, module.__name__)
        module.__doc__ = inspect.getdoc(namespace)
        module.__dict__.update(names, __all__=sorted(name for name in [*names, *inner] if not name.startswith("_")))
        for name in inner:
            load(f"{module.__name__}.{name}")


def _inner(namespace: Any) -> dict[str, Any]:
    """The namespaces that are written within a namespace, or within the table."""
    return {
        name: value
        for name, value in vars(namespace).items()
        if isinstance(value, type) and issubclass(value, Namespace) and value is not Namespace
    }


def _move(value: Any, name: str, module: str) -> None:
    """Let a class or function of the table say that it is the module's."""
    if isinstance(value, FunctionType) and (value.__name__ == _UNNAMED or "<locals>" in value.__qualname__):
        value.__name__ = name
    if isinstance(value, (type, FunctionType)):
        value.__module__, value.__qualname__ = module, value.__name__
    if isinstance(value, type):
        for member, function in vars(value).items():
            if isinstance(function, FunctionType) and function.__name__ == _UNNAMED:
                function.__name__, function.__qualname__ = member, f"{name}.{member}"
                function.__module__ = module
