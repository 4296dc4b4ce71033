"""The ``torch.jit.annotations`` namespace: words of annotations; nothing is compiled by them."""

from typing import Any, Dict, List, Tuple, Type  # noqa: UP035  the words of older programs

from .._jit_internal import (
    BroadcastingList1,
    BroadcastingList2,
    BroadcastingList3,
    BroadcastingListCls,
    Final,
    Future,
    Optional,
    Union,
    ignore,
    is_scripting,
)

__all__ = [
    "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "BroadcastingListCls", "Final", "Future", "Optional",
    "Any", "Dict", "List", "Tuple", "Type", "Union", "ignore", "is_scripting",
]  # fmt: skip
