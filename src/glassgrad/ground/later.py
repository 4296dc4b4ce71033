"""Namespaces whose names come from many files: each file is imported when one of its names is first wanted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .importing import load


class _Unread(ModuleType):
    """A module whose names come later, until somebody looks at all of them: it is a plain one then, and whole."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        self.__class__ = ModuleType  # type: ignore[assignment]
        try:
            return whole(self)
        except BaseException:
            self.__class__ = _Unread  # type: ignore[assignment]
            raise

    def __dir__(self) -> list[str]:
        return names_so_far(self)["__dir__"]()  # type: ignore[no-any-return]


def names_so_far(module: ModuleType) -> dict[str, Any]:
    """The namespace of a module as it is, without the names that are not there yet."""
    return ModuleType.__dict__["__dict__"].__get__(module)  # type: ignore[index]


def later(
    names: dict[str, Any], called: str, files: dict[str, str], modules: str = "",
    hint: Callable[[str], str] = lambda name: "", often: bool = False, pages: str = "",
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:  # fmt: skip
    """The ``__getattr__`` and ``__dir__`` of a package with the namespace ``names``, in messages ``called`` torch.x.

    ``files`` has the names that each file brings, the file as relative imports write it, with spaces between them;
    "name=attribute" where the file has it under another. ``modules`` are names that are files themselves. ``hint`` has
    more to say of a name that is not there. Of a module whose names are looked up ``often``, ``vars`` tells those that
    are there: to tell all would cost each of them time. ``pages`` is where PyTorch documents them (:func:`cite`).
    """
    homes = {name: (file, attribute) for file, brought in files.items() for name, attribute in published(brought)}
    package = names["__package__"]
    if not often:
        sys.modules[names["__name__"]].__class__ = _Unread

    parts = modules.split()

    def get(name: str) -> Any:
        if name in homes:
            file, attribute = homes[name]
            value = names[name] = getattr(load(file, package), attribute)
            if pages:
                cite(value, f"{pages}.{name}")
            return value
        if name in parts:
            return load(f".{name}", package)
        raise AttributeError(f"module '{called}' has no attribute '{name}'{hint(name)}")

    def list_names() -> list[str]:
        return sorted({*names, *homes, *parts})

    return get, list_names


_PAGES = "https://docs.pytorch.org/docs/stable/"
#: What PyTorch has under these names, and has no page for.
_WITHOUT_PAGE = "celu_ selu_ native_channel_shuffle Container CrossMapLRN2d NLLLoss2d".split()


def cite(value: Any, name: str) -> None:
    """Add PyTorch's page of a function or class, its name there given, to its docstring, unless that has a source."""
    doc = getattr(value, "__doc__", None)
    if doc and callable(value) and "Source: " not in doc and name.rpartition(".")[2] not in _WITHOUT_PAGE:
        indent = "" if "\n" in doc and "\n    " not in doc else "    "  # from Python 3.13 on docstrings have none
        page = f"special.html#{name}" if name.startswith("torch.special.") else f"generated/{name}.html"
        value.__doc__ = f"{doc.rstrip()}\n\n{indent}Source: {_PAGES}{page}"


def cite_all(names: dict[str, Any], path: str, cited: str) -> None:
    """Add PyTorch's pages to some of a namespace's functions and classes, which are at ``path`` there."""
    for name in cited.split():
        cite(names[name], f"{path}.{name}")


def published(names: str) -> list[tuple[str, str]]:
    """The names that a file brings, each with the attribute of the file that serves it."""
    return [(name, attribute or name) for name, _, attribute in (word.partition("=") for word in names.split())]


def whole(module: ModuleType) -> dict[str, Any]:
    """The namespace of a module with all its names in it."""
    for name in dir(module):
        getattr(module, name)
    return vars(module)
