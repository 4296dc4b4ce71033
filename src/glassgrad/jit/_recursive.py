"""The ``torch.jit._recursive`` namespace: compiling a module with all it calls, which is not done."""

from __future__ import annotations

from typing import Any

from . import script


def recursive_script(mod: Any, *args: Any) -> Any:
    """The scripted module, which is a twin that runs as Python."""
    return script(mod)


create_script_module = recursive_script
