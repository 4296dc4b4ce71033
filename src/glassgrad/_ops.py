"""Roof: ``torch.ops``: PyTorch's own operations by their inner names, and those that a program defines."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from .ops.namespace import OpOverload as OpOverload
from .ops.namespace import OpOverloadPacket as OpOverloadPacket
from .ops.namespace import _OpNamespace as _OpNamespace
from .ops.namespace import namespace


class HigherOrderOperator:
    """An operation over functions, in PyTorch's compiler: there are none, and the class is there to be asked for."""


class _Ops(ModuleType):
    """``torch.ops``: a namespace for each attribute."""

    __file__ = "_ops.py"

    def __init__(self) -> None:
        super().__init__("torch.ops")
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        space = self.__dict__[name] = namespace(name)
        return space

    def load_library(self, path: Any) -> None:
        """Load the operations of a compiled library: torchvision's are written anew; OSError for any other's."""
        if str(path) in self.loaded_libraries:
            return
        home, file = os.path.split(os.fspath(path))
        if not (os.path.basename(home) == "torchvision" and file.startswith("_C.") and os.path.exists(path)):
            raise OSError(
                f"Could not load this library: {path}: it is compiled for PyTorch's C++ library, which is not here; "
                "torch.library.custom_op defines operations in Python"
            )
        from .library.vision import define

        define()
        self.loaded_libraries.add(str(path))

    def import_module(self, module: str) -> None:
        """Import a module that defines operations."""
        from importlib import import_module

        import_module(module)


ops = _Ops()
