"""Lets a child process that starts afresh know by the name ``torch`` what its parent knows by it."""

from __future__ import annotations

import sys
from typing import Any

_OURS = __name__.partition(".")[0]


class _Alias:
    """Unpickled, installs the alias: before whatever is pickled after it."""

    def __reduce__(self) -> Any:
        return _install, ()


def _install() -> None:
    # the roof knows the import system; only a child of a program that uses the alias gets here
    from ..torch_alias import install

    install()


def inherited() -> Any:
    """To be the first argument of a child's function: where ``import torch`` gives glassgrad here, it will there."""
    return _Alias() if sys.modules.get("torch") is sys.modules[_OURS] else None
