"""What PyTorch calls classes and functions that lie elsewhere here: names as checkpoints and messages have them.

A Linear is ``torch.nn.modules.linear.Linear``, whatever our files are called.
"""

from __future__ import annotations

import sys
from types import FrameType, ModuleType
from typing import Any

OURS = __name__.partition(".")[0]

# Parts of the package that are not parts of torch: as torch.x they would shadow functions such as torch.tensor.
INTERNAL = frozenset(
    "absent absent_compiled absent_devices absent_distributed absent_names cli compile core demo environment "
    "explore families fast ground identity kernels namespace ops promised standing tensor torch_alias warm watch why "
    "__main__".split()
)  # fmt: skip

#: Single names that PyTorch keeps where no rule would look.
_ODD = {
    (f"{OURS}.ground.generator", "Generator"): ("torch._C", "Generator"),
    (f"{OURS}.serialization.rebuild", "_rebuild_from_type_v2"): ("torch._tensor", "_rebuild_from_type_v2"),
    (f"{OURS}.serialization.rebuild", "_get_layout"): ("torch.serialization", "_get_layout"),
    (f"{OURS}.serialization.rebuild", "_load_from_bytes"): ("torch.storage", "_load_from_bytes"),
    (f"{OURS}.families.storage.functions", "UntypedStorage"): ("torch.storage", "UntypedStorage"),
    (f"{OURS}.families.storage.typed", "TypedStorage"): ("torch.storage", "TypedStorage"),
    (f"{OURS}.ground.handle", "RemovableHandle"): ("torch.utils.hooks", "RemovableHandle"),
    (f"{OURS}.tensor.node", "Node"): ("torch.autograd.graph", "Node"),
    (f"{OURS}.tensor.packed", "SavedTensor"): ("torch._C._autograd", "SavedTensor"),
    (f"{OURS}.optim.matrices", "Muon"): ("torch.optim", "Muon"),
    (f"{OURS}.optim.matrices", "Adafactor"): ("torch.optim", "Adafactor"),
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
    **{f"{OURS}.{ours}": f"torch.{theirs}" for ours, theirs in (
        ("optim.lr_scheduler", "optim.lr_scheduler"), ("serialization", "serialization"),
        ("profiler.session", "profiler.profiler"), ("profiler.legacy", "autograd.profiler"),
        ("profiler.events", "autograd.profiler_util"), ("utils.selective", "utils.checkpoint"),
    )},
}  # fmt: skip
_LONGEST_FIRST = sorted(_HOMES.items(), key=lambda home: -len(home[0]))
_PUBLIC = frozenset((f"{OURS}.tensor.parameter", f"{OURS}.families.storage.typed"))  # of parts that are not PyTorch's


def is_internal(module: str) -> bool:
    """Whether a module of the package is no part of torch, by its name."""
    return module.partition(".")[2].partition(".")[0] in INTERNAL


def is_public(module: str, name: str) -> bool:
    """Whether a class or function of the package is one of PyTorch's, by its own module and name."""
    return not is_internal(module) or (module, name) in _ODD or module in _PUBLIC


def is_function_of(module: str, name: str) -> bool:
    """Whether a function is found by its name in the module of PyTorch's that is called as its own is."""
    if is_internal(module) or module == f"{OURS}.multiprocessing.reductions":  # PyTorch's of those names do otherwise
        return (module, name) in _ODD
    return torch_name(module, name)[0] == "torch" + module[len(OURS) :] or module == f"{OURS}.serialization.rebuild"


def torch_name(module: str, name: str) -> tuple[str, str]:
    """Module and name that PyTorch knows a global of ours by; any other global's own."""
    if module.partition(".")[0] != OURS:
        return module, name
    if (module, name) in _ODD:
        return _ODD[module, name]
    for home, theirs in _LONGEST_FIRST:
        if module == home or module.startswith(home + "."):
            return theirs, name
    if module.startswith(f"{OURS}.families."):
        functional = sys.modules.get(f"{OURS}.nn.functional")  # nobody has such a function without it
        return ("torch.nn.functional" if hasattr(functional, name) else "torch"), name
    return "torch" + module[len(OURS) :], name


#: Classes and functions that bear PyTorch's names now, as they do while ``torch`` means this package: their own homes.
#: By their identities, themselves with them.
PRESENTED: dict[int, tuple[Any, str]] = {}


def home_of(thing: Any) -> str:
    """The module that a class or function is of, whatever it is called now."""
    presented = PRESENTED.get(id(thing))
    home = getattr(thing, "__module__", None) if presented is None else presented[1]
    return home if isinstance(home, str) else ""


def rehome(thing: Any, home: str) -> None:
    """Say that a class or function is of another module of the package."""
    if id(thing) in PRESENTED:
        PRESENTED[id(thing)] = thing, home
        home = torch_name(home, thing.__qualname__)[0]
    thing.__module__ = home


def own_name(module: ModuleType) -> str:
    """The name of a module, whatever it is called now."""
    return module.__name__ if module.__spec__ is None else module.__spec__.name


def is_own(thing: Any) -> bool:
    """Whether a class or function is of this package, whatever it is called now."""
    return home_of(thing).partition(".")[0] == OURS


def is_own_frame(frame: FrameType) -> bool:
    """Whether a frame runs code of this package; modules keep their ``__package__``, whatever they are called now."""
    names = frame.f_globals
    return str(names.get("__package__") or names.get("__name__")).partition(".")[0] == OURS


def user_frame() -> FrameType | None:
    """The innermost frame that runs code of others."""
    frame: Any = sys._getframe(1)
    while frame is not None and is_own_frame(frame):
        frame = frame.f_back
    return frame  # type: ignore[no-any-return]


def is_torch() -> bool:
    """Whether this process runs a program that was written for PyTorch: ``torch`` means this package."""
    return sys.modules.get("torch") is sys.modules[OURS]


def path_of(thing: Any) -> str:
    """The dotted name of a class or function as checkpoints have it."""
    return ".".join(torch_name(thing.__module__, thing.__qualname__))
