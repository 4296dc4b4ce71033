"""Arrays by the addresses of their data, as kernels take them that are compiled once for arrays of every kind."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from numba import types

from .binding import intrinsic

_seen, _addressof = ctypes.c_char.from_buffer, ctypes.addressof
_UNSEEN = TypeError, ValueError, BufferError  # of what is read-only, has gaps, is empty, or of a dtype without a buffer


def address(array: Any) -> int:
    """Where an array's data begins; 0 for None."""
    if array is None:
        return 0
    try:
        return _addressof(_seen(array))  # a third of the time of the other
    except _UNSEEN:
        return int(array.ctypes.data)


def addresses_of(arrays: Sequence[Any]) -> list[int] | None:
    """The same of several; None where one is read-only, or its lines lie in another way than a C array's."""
    try:
        return [_addressof(_seen(array)) for array in arrays]
    except _UNSEEN:
        return None


@intrinsic
def numbers_at(typing: Any, address: Any, like: Any) -> Any:
    """What lies at an address, as numbers of a type, or of the type of a number or of an array's elements."""
    kind = types.CPointer(getattr(like, "dtype", like))

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, like), code
