"""Modules at PyTorch's paths that have no file here: each shows names of other files, or is written in a table."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

from .importing import load

_shown: dict[str, dict[str, str]] = {}  # by path: the names of each file


def show(path: str, file: str, names: str) -> None:
    """From now on there is a module at this path, with these names of a file, and of others shown there."""
    _shown.setdefault(path, {})[file] = names
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)


def is_shown(path: str) -> bool:
    """Whether there is such a module."""
    return path in _shown


def show_all(package: str, files: dict[str, dict[str, str]]) -> None:
    """Show PyTorch's files of a package: by the file that has them here, the names in each of theirs.

    What is not imported yet is to ask for :func:`house` itself.
    """
    for file, homes in files.items():
        for path, names in homes.items():
            show(f"{package}.{path}", f"{package}.{file}", names)
        module = sys.modules.get(f"{package}.{file}")
        if module is not None:
            house(module)


def house(module: ModuleType, rest: str = "") -> None:
    """Let classes and functions of a file say that they live where they are shown, as pickles and messages have it.

    Classes that are shown nowhere live at the path ``rest``, where there is one.
    """
    from .later import published  # not every program has use for layers, or for modules at PyTorch's paths
    from .names import own_name

    file = own_name(module)
    values = vars(module)
    for path, files in _shown.items():
        for _, attribute in published(files.get(file, "")):
            _rehome(values[attribute], file, path)
    for value in [*values.values()] if rest else ():
        if isinstance(value, type):
            _rehome(value, file, rest)


def _rehome(value: Any, file: str, path: str) -> None:
    from .names import home_of, rehome  # as in ``house``

    if isinstance(value, (type, FunctionType)) and home_of(value) == file:
        rehome(value, path)


class _Finder:
    """Finds the modules that are shown, and makes them."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _shown:
            return None
        loader: Any = self
        return ModuleSpec(name, loader, is_package=any(shown.startswith(f"{name}.") for shown in _shown))

    def create_module(self, spec: ModuleSpec) -> None:
        """None: a plain module will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names, which are fetched when somebody wants them; those that nobody publishes too."""
        from .later import later, published  # as in ``house``

        name = module.__name__
        files = _shown[name]
        names = vars(module)
        brought = dict(published(" ".join(files.values())))
        served, listed = later(names, "torch" + name[name.index(".") :], files)

        def get(attribute: str) -> Any:
            try:
                return served(attribute)
            except AttributeError:
                if not attribute.startswith("__"):
                    for whole in map(load, files):
                        if attribute in vars(whole):
                            return vars(whole)[attribute]
                raise

        public = sorted(attribute for attribute in brought if not attribute.startswith("_"))
        names.update(__getattr__=get, __dir__=listed, __all__=public)
        first = next(iter(files))
        spec = find_spec(first)
        module.__file__ = None if spec is None else spec.origin  # by which the source of its classes is found
        if first in sys.modules:
            module.__doc__ = sys.modules[first].__doc__


_finder: Any = _Finder()


class _TableFinder:
    """Finds the modules of a package that are written in its module ``table``; ``names`` are the outermost of them."""

    def __init__(self, package: str, table: str, names: Iterable[str]) -> None:
        self.package, self.table, self.names = package, f"{package}.{table}", frozenset(names)

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, *parts = name.split(".")
        if package != self.package or not parts or parts[0] not in self.names:
            return None
        absent = load(".absent", __package__)  # not at the top: most programs ask for what is there
        return absent.spec_of(name, load(self.table), parts)  # type: ignore[no-any-return]


def find_in(table: str, names: Iterable[str]) -> None:
    """From now on these modules of the package are made from its module ``table``: see ``absent.py``."""
    package = __name__.partition(".")[0]
    sys.meta_path.append(_TableFinder(package, table, names))  # type: ignore[arg-type]
