"""Arrays by the addresses of their data, as kernels take them that are compiled once for arrays of every kind."""

from __future__ import annotations

import ctypes
from typing import Any

from numba import types
from numba.core import cgutils

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


@intrinsic
def numbers_at(typing: Any, address: Any, like: Any) -> Any:
    """What lies at an address, as numbers of a type, or of the type of a number or of an array's elements."""
    kind = types.CPointer(getattr(like, "dtype", like))

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, like), code


@intrinsic
def beginning_of(typing: Any, array: Any) -> Any:
    """The address of a C array's data; 0 for an array of another layout."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if array.layout != "C":
            return context.get_constant(types.int64, 0)
        data = cgutils.create_struct_proxy(array)(context, builder, value=arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.int64))

    return types.int64(array), code
