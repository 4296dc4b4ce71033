"""Roof: gives modules, classes and functions PyTorch's names while ``import torch`` means glassgrad.

``torch.__name__`` is "torch" then, and ``Linear`` lives in ``torch.nn.modules.linear``, in messages, pickles and
wherever a program looks. A module keeps its ``__package__`` and ``__spec__``, by which it imports what it needs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

from . import promised
from .ground import paths
from .ground.later import names_so_far
from .ground.names import OURS, PRESENTED, is_function_of, is_internal, is_public, own_name, torch_name

THEIRS = "torch"


class Identity:
    """What bears PyTorch's names, until it is restored."""

    def __init__(self) -> None:
        self.modules: list[tuple[ModuleType, str]] = []

    def present(self, module: ModuleType) -> None:
        """Give a module of the package, and what it has made, the names by which PyTorch knows them."""
        names, homes = names_so_far(module), set()
        package = names_so_far(sys.modules[OURS])
        for value in [*names.values()]:
            if not issubclass(type(value), (type, FunctionType)) or id(value) in PRESENTED:
                continue
            home, name = value.__module__, value.__qualname__
            if not isinstance(home, str) or home.partition(".")[0] != OURS:
                continue
            theirs = torch_name(home, name)[0]
            if type(value) is FunctionType and not is_function_of(home, name):
                continue
            if is_public(home, name) or package.get(name) is value or promised.is_of(home, name):
                PRESENTED[id(value)] = value, home
                value.__module__ = theirs
                homes.add((home, theirs))
        own = own_name(module)
        if not is_internal(own):
            theirs = THEIRS + own[len(OURS) :]
            self.modules.append((module, module.__name__))
            module.__name__ = theirs
            sys.modules.setdefault(theirs, module)
        for home, theirs in homes:  # who looks for the module of a class looks there
            if theirs not in sys.modules and paths.is_shown(home):
                import_module(theirs)

    def presenting(self, loader: Any) -> Any:
        """A loader that loads as this one does, and presents what it has loaded."""
        return loader if loader is None else _Presenting(loader, self)

    def restore(self) -> None:
        """Give everything its own name again."""
        for module, name in self.modules:
            module.__name__ = name
        self.modules.clear()
        for thing, home in PRESENTED.values():
            thing.__module__ = home
        PRESENTED.clear()


class _Presenting:
    """Loads a module of the package as its own loader does, and presents it then."""

    def __init__(self, loader: Any, identity: Identity) -> None:
        self.loader, self.identity = loader, identity

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        own = module.__name__
        self.loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self.loader
        self.identity.present(sys.modules.get(own, module))
