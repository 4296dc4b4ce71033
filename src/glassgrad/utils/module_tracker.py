"""The ``torch.utils.module_tracker`` namespace: which module of a model runs now."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from ..nn.modules.calls import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)


class ModuleTracker:
    """A block in which ``parents`` is the set of the names of the modules that run now, ``"Global"`` always among them.

    Source: https://docs.pytorch.org/docs/stable/module_tracker.html
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._hooks: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """False: in the backward pass the set is that of the forward pass's end."""
        return False

    def _name(self, module: Any) -> str:
        if module not in self._names:
            self._names[module] = type(module).__name__
        own = self._names[module]
        for name, child in module.named_children():
            self._names.setdefault(child, f"{own}.{name}")
        return own

    def __enter__(self) -> ModuleTracker:
        self._hooks = [
            register_module_forward_pre_hook(lambda module, args: self.parents.add(self._name(module))),
            register_module_forward_hook(lambda module, args, out: self.parents.discard(self._name(module))),
        ]
        return self

    def __exit__(self, *exception: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
