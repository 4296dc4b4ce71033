"""Floor 3: the catalogue of operations: rows (kernel, rules, spellings) and the composites over them."""

from typing import Any


def __getattr__(name: str) -> Any:
    """PyTorch's ``aten``, and the namespaces in which a program has defined operations."""
    if not name.startswith("__"):
        from importlib import import_module
        from sys import modules

        home = f"{__name__}.namespace"
        if name == "aten" or home in modules and name in modules[home].NAMESPACES:
            return import_module(home).namespace(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
