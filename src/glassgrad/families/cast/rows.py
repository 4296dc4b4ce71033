"""Copies: into another dtype, another layout, another tensor; and complex numbers seen as pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...ground import dtypes, layout
from ...ground.meta import blank, marked
from ...ground.window import strides_of
from ..compare.rows import zero_like

ndarray = np.ndarray


@op(public=False, hidden=("dtype", "source"), stores=True, forward="linear", batched="point")
def to_copy(self: Any, /, dtype: Any, source: Any, memory_format: Any = None) -> Any:
    """The elements as a NumPy ``dtype``; ``source`` is the dtype that gradients take on their way back."""
    given, own = self, self.dtype
    kind = own.kind
    if own.itemsize == 1 and kind in "fV":
        self, kind = self.astype(np.float32), "f"
    if kind == "c" and dtype.kind not in "cb":
        self = self.real
    if kind == "f" and dtype.kind in "iu":
        converted = _whole(self, dtype)
    elif dtype.itemsize == 1 and dtype.kind in "fV":
        converted = _in_a_byte(self, dtype)
    else:
        converted = dtypes.cast(self, dtype)
    if memory_format is not None:
        return layout.laid(converted, layout.format_strides(self.shape, memory_format))
    if type(given) is not ndarray or given.base is None:
        return converted
    sizes = given.shape
    if given.flags.forc and 1 not in sizes and 0 not in sizes or layout.lies_as(converted, given):
        return converted
    return layout.laid(converted, layout.closed(sizes, strides_of(given)))


def _in_a_byte(a: Any, dtype: Any) -> Any:
    """The elements as floats of eight bits, as PyTorch rounds those that are beyond the largest, or have no sign."""
    kind, a = dtypes.of(dtype), np.asarray(a, np.float32)
    if kind is dtypes.float8_e4m3fn:  # which has no infinity
        a = np.clip(a, -448, 448)
    elif kind is dtypes.float8_e8m0fnu:
        a = np.maximum(np.abs(a), np.float32(2.0**-127))
    return a.astype(dtype)


to_copy.derivative(self=lambda grad, dtype, source: to_copy(grad, source, dtype))


def _whole(self: Any, dtype: Any) -> Any:
    """Floats as integers; those that do not fit become what PyTorch's conversion on x86 gives."""
    if dtype.kind == "u" or dtype.itemsize < 4:  # via a wider type, cut off, on every machine
        of_doubles = self.dtype.itemsize == 8 and dtype == np.uint8
        whole = self.astype("i8" if dtype.itemsize > 2 or of_doubles else "i4").astype(dtype)
        if dtype.itemsize == 8 and (upper := self >= 2.0**63).any():
            whole = np.where(upper, (self - 2.0**63).astype("i8").astype(dtype) ^ dtype.type(2**63), whole)
        return whole
    return self.astype(dtype)


@op(public=False, stores=True, forward="linear", batched="first")
def clone(self: Any, /, memory_format: Any = None) -> Any:
    """A copy; dense memory keeps its order, unless a ``memory_format`` asks for another."""
    if type(self) is not ndarray:
        return self
    if memory_format is None:
        if self.base is None and self.flags.c_contiguous:
            return self.copy()
        copy = self.copy("K")
        if copy.strides == self.strides and self.size:
            return copy
        return layout.laid(self, layout.closed(self.shape, strides_of(self)))
    if memory_format == "contiguous_format":
        return self.copy()
    return layout.laid(self, layout.format_strides(self.shape, memory_format))


clone.derivative(self=lambda grad: grad)


@op(node="torch::autograd::CopyBackwards", inplace=True, public=False, stores=True, forward="linear")
def copy(self: Any, src: Any, /) -> Any:
    """``src`` broadcast to the shape of ``self``, in its dtype: what ``copy_`` writes."""
    if src.dtype.kind == "c" and self.dtype.kind not in "cb":
        src = src.real
    if src.dtype.kind == "f" and self.dtype.kind in "iu":
        src = _whole(src, self.dtype)
    elif src.dtype is not self.dtype:
        src = dtypes.cast(src, self.dtype)
    return src if src.shape == self.shape else np.broadcast_to(src, self.shape)


copy.derivative(self=lambda grad: zero_like(grad), src=lambda grad: grad)


@op(node="FillBackward0", public=False, batched="point")
def fill_number(self: Any, /, value: Any) -> Any:
    """The shape and dtype of ``self``, filled with a number."""
    if self.dtype.kind == "u" and value < 0:  # which wraps around
        value = dtypes.cast(np.asarray(value), self.dtype)
    return np.full_like(self, value) if type(self) is ndarray else self.dtype.type(value)


fill_number.derivative(self=lambda grad: zero_like(grad))


@op(node="FillBackward1", public=False)
def fill_tensor(self: Any, value: Any, /) -> Any:
    """The shape and dtype of ``self``, filled with the value of a 0-d tensor."""
    return np.full(self.shape, value, self.dtype)


fill_tensor.derivative(self=lambda grad: zero_like(grad), value=lambda grad: whole_sum(grad))


@op(node="FillBackward2", inplace=True, public=False, one_value=True, stores=True, batched="point")
def fill_with_number(self: Any, /, value: Any) -> Any:
    """What ``fill_`` writes for a number."""
    return np.broadcast_to(dtypes.cast(np.asarray(value), self.dtype), self.shape)


fill_with_number.derivative(self=lambda grad: zero_like(grad))


@op(node="FillBackward3", inplace=True, public=False)
def fill_with_tensor(self: Any, value: Any, /) -> Any:
    """What ``fill_`` writes for a 0-d tensor."""
    return np.broadcast_to(value.astype(self.dtype), self.shape)


fill_with_tensor.derivative(self=lambda grad: zero_like(grad), value=lambda grad: whole_sum(grad))


@op(inplace=True, public=False, one_value=True, stores=True, batched="point")
def zero(self: Any, /) -> Any:
    """What ``zero_`` writes."""
    return np.broadcast_to(np.zeros((), self.dtype), self.shape)


zero.derivative(self=lambda grad: zero_like(grad))


@op(public=False, halves="single")
def whole_sum(grad: Any, /) -> Any:
    """The sum of all elements, for the gradient of a value that filled them."""
    return np.add.reduce(grad, axis=None)


whole_sum.derivative(grad=lambda grad, grad_sizes: spread_over(grad, grad_sizes))


@op(public=False)
def spread_over(self: Any, /, sizes: Any) -> Any:
    """A 0-d value seen as an array of ``sizes``."""
    return np.full(sizes, self)


spread_over.derivative(self=lambda grad: whole_sum(grad))


# -- complex numbers as pairs ----------------------------------------------------------------------------------------


@op(view=True, holomorphic=False, public=False, batched="first")
def view_as_real(self: Any, /) -> Any:
    """The view with one more dimension: real and imaginary part."""
    part = marked(self[...].real, self)
    return np.lib.stride_tricks.as_strided(part, (*part.shape, 2), (*part.strides, part.itemsize))


view_as_real.derivative(self=lambda grad: view_as_complex(grad))


@op(view=True, holomorphic=False, public=False, batched="first")
def view_as_complex(self: Any, /) -> Any:
    """The view that takes pairs along the last dimension as complex numbers."""
    kind = np.result_type(self.dtype, np.complex64)
    if self.strides[-1] != self.itemsize:  # a gradient; what users give is refused
        self = np.ascontiguousarray(self)
    return self.view(kind)[..., 0] if self.dtype.metadata is None else blank(self.shape[:-1], kind)


view_as_complex.derivative(self=lambda grad: view_as_real(grad))
