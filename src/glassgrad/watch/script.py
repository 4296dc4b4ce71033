"""A script and how it is run: in the place of ``__main__``, on the installed PyTorch or on glassgrad."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import os
from types import ModuleType
from typing import Any

from ..torch_alias import install


@dataclasses.dataclass
class Script:
    """What ``python TARGET ARGUMENTS`` or ``python -m TARGET ARGUMENTS`` would run, in ``folder``."""

    target: str
    arguments: list[str]
    is_module: bool = False
    on_glassgrad: bool = False
    folder: str = dataclasses.field(default_factory=os.getcwd)

    def as_json(self) -> dict[str, Any]:
        """The fields, for another process."""
        return dataclasses.asdict(self)

    def run(self) -> dict[str, Any]:
        """Run it; gives its names. FileNotFoundError where there is no such script."""
        from ..cli import module_code, new_main, script_code

        main_module = new_main(self.target, self.arguments)
        code = (module_code if self.is_module else script_code)(self.target, main_module)
        if isinstance(code, int):
            raise SystemExit(code)  # the one that python gives; the message is out
        exec(code, main_module.__dict__)
        return main_module.__dict__


def engine(on_glassgrad: bool) -> ModuleType:
    """The module that ``import torch`` gives the script; glassgrad where PyTorch is not installed."""
    if on_glassgrad or importlib.util.find_spec("torch") is None:
        install()
    return importlib.import_module("torch")
