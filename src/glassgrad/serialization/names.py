"""What the names in a checkpoint stand for here.

A name of PyTorch's is looked up in the module of the same name, then in the modules around it.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from ..core.tensor import Tensor
from ..ground.names import BACK, OURS
from . import rebuild


def locate(module: str, name: str) -> Any:
    """What PyTorch's name stands for here; AttributeError where it stands for nothing."""
    if (module, name) in BACK:
        module, name = BACK[module, name]
        return getattr(importlib.import_module(module), name)
    if module == "torch._utils" and hasattr(rebuild, name):
        return getattr(rebuild, name)
    if module == "torch._C" and name == "_VariableFunctionsClass":
        return importlib.import_module(OURS)
    if module == "torch._C" and name in ("TensorBase", "_TensorBase"):
        return Tensor
    path = OURS + module[len("torch") :]
    while path:
        attribute = _attribute(_module(path), name)
        if attribute is not None:
            return attribute
        path = path.rpartition(".")[0]
    raise AttributeError(f"{module}.{name} is not in {OURS} {sys.modules[OURS].RELEASE}")


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(error.name + ".")):
            raise
        return None


def _attribute(thing: Any, name: str) -> Any:
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing
