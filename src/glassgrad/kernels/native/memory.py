"""Arrays by the addresses of their heads: what a hundred arrays cost as arguments is more than to work on them.

NumPy's C interface lays down where in an array's head the address of its data is, and how it is laid out.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import types

from .binding import intrinsic

HEAD = object.__basicsize__  # bytes of an object before what it holds: a NumPy number its value, an array what follows
DATA, NDIM, SIZES, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 48  # of PyArrayObject_fields
ROWS, COLUMNS, FIT, WRITABLE = 0x0001, 0x0002, 0x0100, 0x0400  # NPY_ARRAY_C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, ...


def _word_at(typing: Any, address: Any) -> Any:
    """The eight bytes at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(types.CPointer(types.int64))
        return builder.load(builder.inttoptr(arguments[0], kind))

    return types.int64(types.int64), code


def _numbers_at(typing: Any, address: Any, like: Any) -> Any:
    """What lies at an address, as numbers of a type, or of the type of a number or of an array's elements."""
    kind = types.CPointer(getattr(like, "dtype", like))

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(kind))

    return kind(types.int64, like), code


def _told(array: Any) -> int:
    return 0 if array is None else int(array.__array_interface__["data"][0])


_word = ctypes.c_size_t.from_address


def _read(array: Any) -> int:
    return 0 if array is None else _word(id(array) + DATA).value


_PROBE = np.empty((3, 5))
#: Where an array's data begins; 0 for None. Read from its head it takes a sixth of the time.
address = _read if all(_read(a) == _told(a) for a in (_PROBE, _PROBE[1:, 2:])) else _told


word_at: Any = intrinsic(_word_at)
numbers_at: Any = intrinsic(_numbers_at)
