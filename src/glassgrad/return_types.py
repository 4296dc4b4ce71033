"""Roof: the ``torch.return_types`` namespace: the named tuples that operations with several outputs give."""

from __future__ import annotations

from typing import Any

from .ground.names import home_of
from .ops import pytree as _pytree
from .ops import return_types as _types


def pytree_register_structseq(cls: type[Any]) -> None:
    """Let ``torch.utils._pytree`` take results of this type apart."""
    _pytree.register_results(cls)


#: Under ``max_out`` PyTorch has what ``torch.max(..., out=...)`` gives: here the same type.
_BY_NAME = {
    name: value for name, value in vars(_types).items() if isinstance(value, type) and home_of(value) == __name__
}
_BY_NAME |= {f"{name}_out": kind for name, kind in _BY_NAME.items() if name[0] != "_" and name != "histogramdd"}
globals().update(_BY_NAME)
all_return_types = [_BY_NAME[name] for name in sorted(_BY_NAME) if name[0] != "_"]
__all__ = ["all_return_types", "pytree_register_structseq", *sorted(name for name in _BY_NAME if name[0] != "_")]
