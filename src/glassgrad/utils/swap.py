"""Exchanging two tensors in place: whoever holds one finds the other in it."""

from __future__ import annotations

import weakref
from typing import Any

from ..core.tensor import Tensor

_PARTS = ("_array", "_edge", "_counter", "__dict__", "__class__")


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange all that two tensors are: data, history, attributes and class.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.utils.swap_tensors.html
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    if _slots(t1) != _slots(t2):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name in (*_slots(t1), *_PARTS):
        first, second = getattr(t1, name, None), getattr(t2, name, None)
        setattr(t1, name, second)
        setattr(t2, name, first)


def _slots(tensor: Any) -> set[str]:
    """The slots that classes of the user's give a tensor."""
    own = [vars(kind).get("__slots__", ()) for kind in type(tensor).__mro__ if kind is not Tensor]
    return {slot for slots in own for slot in ((slots,) if isinstance(slots, str) else slots)}
