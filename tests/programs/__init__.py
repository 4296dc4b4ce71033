"""Small programs that run under torch and under glassgrad alike: one public function, one thing to agree on.

A program is a function of (torch, show); a module may also hold a dictionary PROGRAMS of such functions.
`python -m tests.programs NAME...` prints the records of the programs whose names contain a NAME.
"""

import importlib
import inspect
import pkgutil

APART = {"record", "__main__"}


def programs():
    """Every program as {"module.name": function}, in the order of the files."""
    found = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name in APART:
            continue
        module = importlib.import_module(f"{__name__}.{info.name}")
        members = {**vars(module), **getattr(module, "PROGRAMS", {})}
        for name, member in members.items():
            if not name.startswith("_") and is_program(member):
                found[f"{info.name}.{name}"] = member
    return found


def is_program(member):
    """Whether a module's member takes exactly (torch, show)."""
    return inspect.isfunction(member) and list(inspect.signature(member).parameters) == ["torch", "show"]
