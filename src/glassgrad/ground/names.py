"""What PyTorch calls classes and functions that lie elsewhere here: names as checkpoints and messages have them.

A Linear is ``torch.nn.modules.linear.Linear``, whatever our files are called.
"""

from __future__ import annotations

import sys
from typing import Any

OURS = __name__.partition(".")[0]

#: Single names that PyTorch keeps where no rule would look.
_ODD = {
    (f"{OURS}.ground.generator", "Generator"): ("torch._C", "Generator"),
    (f"{OURS}.serialization.rebuild", "_rebuild_from_type_v2"): ("torch._tensor", "_rebuild_from_type_v2"),
    (f"{OURS}.serialization.rebuild", "_get_layout"): ("torch.serialization", "_get_layout"),
    (f"{OURS}.serialization.rebuild", "_load_from_bytes"): ("torch.storage", "_load_from_bytes"),
    (f"{OURS}.families.storage.functions", "UntypedStorage"): ("torch.storage", "UntypedStorage"),
    (f"{OURS}.families.storage.typed", "TypedStorage"): ("torch.storage", "TypedStorage"),
}
BACK = {theirs: ours for ours, theirs in _ODD.items()}

#: Modules whose names are in one module of PyTorch's; the longest that fits counts.
_HOMES = {
    f"{OURS}.tensor.parameter": "torch.nn.parameter",
    f"{OURS}.serialization.rebuild": "torch._utils",
    f"{OURS}.nn.modules.parameters": "torch.nn.modules.container",
    f"{OURS}.tensor": "torch",
    f"{OURS}.core": "torch",
    f"{OURS}.ground": "torch",
    f"{OURS}.families.storage.typed": "torch",
}


def torch_name(module: str, name: str) -> tuple[str, str]:
    """Module and name that PyTorch knows a global of ours by; any other global's own."""
    if module.partition(".")[0] != OURS:
        return module, name
    if (module, name) in _ODD:
        return _ODD[module, name]
    for home in sorted(_HOMES, key=len, reverse=True):
        if module == home or module.startswith(home + "."):
            return _HOMES[home], name
    if module.startswith(f"{OURS}.families."):
        functional = sys.modules.get(f"{OURS}.nn.functional")  # nobody has such a function without it
        return ("torch.nn.functional" if hasattr(functional, name) else "torch"), name
    return "torch" + module[len(OURS) :], name


def path_of(thing: Any) -> str:
    """The dotted name of a class or function as checkpoints have it."""
    return ".".join(torch_name(thing.__module__, thing.__qualname__))
