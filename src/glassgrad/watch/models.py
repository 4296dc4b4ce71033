"""The models and optimizers of a running program, found without being handed in."""

from __future__ import annotations

import gc
import linecache
import re
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import Any

from ..explore.model import SourceLoc

PLAIN = (list, tuple, dict)


def living_models(torch: ModuleType) -> tuple[list[Any], list[Any]]:
    """All modules that are part of no other, and all optimizers that are alive."""
    modules, optimizers = [], []
    module_class, optimizer_class = torch.nn.Module, torch.optim.Optimizer
    for thing in gc.get_objects():
        kind = type(thing)  # isinstance would ask proxies, whose answers may run code
        if issubclass(kind, module_class):
            modules.append(thing)
        elif issubclass(kind, optimizer_class):
            optimizers.append(thing)
    inner = {id(child) for module in modules for child in module._modules.values()}
    return [module for module in modules if id(module) not in inner], optimizers


def trained_by(optimizer: Any) -> Iterator[Any]:
    """The parameters of all groups of an optimizer."""
    for group in optimizer.param_groups:
        yield from group["params"]


def names_of(roots: list[Any], frame: FrameType | None) -> dict[int, str]:
    """The parameters of some models by identity: ``model.fc.weight``, after the variable that holds the model."""
    variables: dict[int, str] = {}
    for scope in (frame.f_globals, frame.f_locals) if frame is not None else ():
        variables.update((id(value), name) for name, value in scope.items() if not name.startswith("_"))
    several = len(roots) > 1
    names: dict[int, str] = {}
    prefixes: set[str] = set()
    for root in roots:
        prefix = variables.get(id(root), type(root).__name__)
        if prefix in prefixes:  # several of one class, and no variable holds them
            prefix += f" {len(prefixes) + 1}"
        prefixes.add(prefix)
        for name, parameter in root.named_parameters():
            names.setdefault(id(parameter), f"{prefix}.{name}" if several or id(root) in variables else name)
    for key, name in variables.items():
        names.setdefault(key, name)
    return names


def modules_in(frames: list[tuple[FrameType, int]]) -> Iterator[tuple[str, Any]]:
    """The modules that the variables of some frames hold, innermost frame first."""
    seen: set[int] = set()
    for frame, _ in reversed(frames):
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            if hasattr(type(value), "named_modules") and id(value) not in seen:
                seen.add(id(value))
                yield name, value


def loose_layers(root: Any) -> Iterator[tuple[str, str, list[Any]]]:
    """Plain lists, tuples and dicts of layers, which a model does not see into: path, kind and layers."""
    registered = {id(module) for module in root.modules()}
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if name.startswith("_") or type(value) not in PLAIN:
                continue
            layers = [one for one in (value.values() if type(value) is dict else value) if _is_layer(one)]
            if any(id(layer) not in registered for layer in layers):
                yield f"{path}.{name}" if path else name, type(value).__name__, layers


def line_of_attribute(root: Any, path: str) -> SourceLoc | None:
    """The line that gives the attribute at the end of a path its value; None where it cannot be read."""
    owner, _, name = path.rpartition(".")
    code = getattr(type(root.get_submodule(owner)).__init__, "__code__", None)
    if code is None:
        return None
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    gives = re.compile(rf"\bself\.{name}\b[^=]*=(?!=)")
    at = next((i for i, line in enumerate(lines) if gives.search(line)), None)
    return None if at is None else SourceLoc(code.co_filename, code.co_firstlineno + at, code=lines[at].strip())


def registered_list(path: str, kind: str) -> str:
    """The line that makes a plain list or dict of layers, as ``loose_layers`` tells of it, a part of the model."""
    return f"self.{path.rpartition('.')[2]} = nn.{'ModuleDict' if kind == 'dict' else 'ModuleList'}(...)"


def _is_layer(value: Any) -> bool:
    return hasattr(type(value), "named_modules") and next(value.parameters(), None) is not None
