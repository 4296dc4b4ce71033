"""Floor 3: the catalogue of operations: rows (kernel, rules, spellings) and the composites over them."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name != "aten":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"{__name__}.namespace").aten
