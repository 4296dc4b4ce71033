"""Tensors given other sizes in place, over the same memory or over more of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, share
from ...ground import dtypes
from ...ground.layout import format_name, format_strides, suggested
from ...ground.window import as_bytes, dense, look, owner_of, strides_of
from ...ops.declare import composite
from .functions import sizes_of


@composite(function=False)
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None, **named: Any) -> Tensor:
    """Give the tensor other sizes over the same memory, or over more of it; what is new has no particular value."""
    wanted = sizes_of("resize_", sizes, named)
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if memory_format is dtypes.preserve_format:
        raise RuntimeError("Unsupported memory formatPreserve")
    if min(wanted, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    share(self)
    old = self._array
    strides = strides_of(old) if wanted == old.shape else dense(wanted)
    if memory_format is not None:
        strides = format_strides(wanted, format_name(memory_format, len(wanted)))
    memory = owner_of(old)
    offset = (old.ctypes.data - memory.ctypes.data) // old.itemsize
    count = math.prod(wanted)
    if count and (offset + count) * old.itemsize > memory.nbytes:
        grown = np.empty(offset + count, old.dtype)
        grown.view(np.uint8)[: memory.nbytes] = as_bytes(memory)
        self._array = look(grown, (wanted, strides, offset))
    else:
        self._array = look(old, (wanted, strides, 0))
    if wanted != old.shape:
        share(self).version += 1
    return self


@composite(function=False)
def resize_as_(self: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the sizes of another."""
    template = the_template._array
    if memory_format is dtypes.preserve_format:
        memory_format = getattr(dtypes, suggested(template.shape, strides_of(template)))
    return resize_(self, tuple(template.shape), memory_format=memory_format)
