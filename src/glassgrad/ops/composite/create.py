"""Tensors of given sizes: zeros, ones, ranges, and their ``*_like`` and ``new_*`` forms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ground import device as devices
from ...ground import dtypes
from ...tensor.tensor import Tensor
from ..declare import composite
from ..override import blank
from .construct import array_of, numpy_of, place


def read_size(function: str, size: Any) -> tuple[int, ...]:
    """The sizes of ``zeros(2, 3)`` or ``zeros((2, 3))``, checked."""
    if len(size) == 1 and not hasattr(size[0], "__index__"):
        size = size[0]
        if not isinstance(size, (tuple, list)):
            raise TypeError(
                f"{function}(): argument 'size' (position 1) must be tuple of ints, not {type(size).__name__}"
            )
    sizes = []
    for index, n in enumerate(size):
        if not hasattr(n, "__index__"):
            raise TypeError(
                f"{function}(): argument 'size' failed to unpack the object at pos {index + 1} with error "
                f'"type must be tuple of ints,but got {type(n).__name__}"'
            )
        sizes.append(n.__index__())
    return tuple(sizes)


def allocate(make: Any, sizes: tuple[int, ...], kind: np.dtype[Any], function: str) -> Any:
    """An array made by ``make(sizes, kind)``; PyTorch's errors for negative and impossible sizes."""
    for n in sizes:
        if n < 0:
            if function == "empty" or function == "full":
                raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(sizes)}")
            raise RuntimeError(f"{function}: Dimension size must be non-negative.")
    amount = math.prod(sizes) * kind.itemsize
    if amount >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
    try:
        return make(sizes, kind)
    except (MemoryError, ValueError):
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
            f"allocate {amount} bytes. Error code 12 (Cannot allocate memory)"
        ) from None


def _made(
    function: str, make: Any, sizes: tuple[int, ...], dtype: Any, device: Any, requires_grad: bool
) -> Tensor:
    kind = numpy_of(dtype) or dtypes.get_default_dtype().numpy
    if (device is not None or devices.get_default_device().type != "cpu") and (
        devices.require(device, function) == "meta"
    ):
        return place(allocate(blank, sizes, kind, function), "meta", requires_grad)
    array = allocate(make, sizes, kind, function)
    return place(array if sizes else array[()], "cpu" if device is not None else None, requires_grad)


def _missing(function: str) -> TypeError:
    return TypeError(f'{function}() missing 1 required positional arguments: "size"')


def _from_size(function: str, make: Any, doc: str) -> Any:
    def factory(
        *size: Any,
        out: Tensor | None = None,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        **rest: Any,
    ) -> Tensor:
        if "size" in rest:
            size = (rest.pop("size"),)
        memory_format = rest.pop("memory_format", None) if function == "empty" else None
        if rest:
            raise TypeError(f"{function}() got an unexpected keyword argument '{next(iter(rest))}'")
        if not size:
            raise _missing(function)
        sizes = read_size(function, size)
        if out is not None:
            out.resize_(sizes)  # type: ignore[attr-defined]
            out._d[...] = allocate(make, sizes, out._d.dtype, function)
            return out
        made = _made(function, make, sizes, dtype, device, requires_grad)
        return made if memory_format is None else made.contiguous(memory_format=memory_format)  # type: ignore[attr-defined]

    factory.__name__ = factory.__qualname__ = function
    factory.__doc__ = doc
    return composite(method=False)(factory)


zeros = _from_size("zeros", np.zeros, "A tensor of zeros.")
ones = _from_size("ones", np.ones, "A tensor of ones.")
empty = _from_size("empty", np.empty, "A tensor whose elements are whatever was in memory.")


@composite(method=False)
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with one value; its dtype is the value's unless told."""
    if isinstance(fill_value, Tensor):
        fill_value = fill_value._d.item()
    if dtype is None:
        dtype = dtypes.of_number(type(fill_value))
    kind = numpy_of(dtype)
    value = array_of(fill_value, kind)
    sizes = read_size("full", (size,))
    return _made("full", lambda s, k: np.full(s, value, k), sizes, dtype, device, requires_grad)


def _like(input: Tensor, make: Any, dtype: Any, device: Any, requires_grad: bool, memory_format: Any = None) -> Tensor:
    if not isinstance(input, Tensor):
        raise TypeError(f"zeros_like(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    kind = numpy_of(dtype) or (dtypes.of(input._d.dtype).numpy)
    if input._d.dtype.metadata or (device is not None and devices.require(device) == "meta"):
        return place(blank(input._d.shape, kind), "meta", requires_grad)
    array = make(input._d, kind)
    out = place(array if array.ndim else array[()], device, requires_grad)
    if memory_format is not None and str(memory_format) != "torch.preserve_format":
        out = out.contiguous(memory_format=memory_format)  # type: ignore[attr-defined]
    return out


def _dense_like(array: Any, kind: Any) -> Any:
    """An empty array laid out as ``array`` where that is dense, else row by row."""
    return np.empty_like(array, kind) if type(array) is np.ndarray else np.empty((), kind)


def _filled(value: Any) -> Any:
    def make(array: Any, kind: Any) -> Any:
        out = _dense_like(array, kind)
        out.fill(value)
        return out

    return make


@composite(method=False)
def zeros_like(
    input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:
    """Zeros of the same size, dtype and layout."""
    return _like(input, _filled(0), dtype, device, requires_grad, memory_format)


@composite(method=False)
def ones_like(
    input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:
    """Ones of the same size, dtype and layout."""
    return _like(input, _filled(1), dtype, device, requires_grad, memory_format)


@composite(method=False)
def empty_like(
    input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    memory_format: Any = None, pin_memory: bool = False,
) -> Tensor:
    """A tensor of the same size, dtype and layout, its elements whatever was in memory."""
    return _like(input, _dense_like, dtype, device, requires_grad, memory_format)


@composite(method=False)
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:
    """The same size, dtype and layout, filled with one value."""
    value = fill_value._d.item() if isinstance(fill_value, Tensor) else fill_value
    kind = numpy_of(dtype) or input._d.dtype
    return _like(input, _filled(array_of(value, dtypes.of(kind).numpy)), dtype, device, requires_grad, memory_format)


@composite(method=False)
def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """An uninitialised tensor of these sizes and strides, in elements."""
    sizes, strides = tuple(size), tuple(stride)
    span = 0 if 0 in sizes else 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    kind = numpy_of(dtype) or dtypes.get_default_dtype().numpy
    base = place(np.empty(span, kind), device)
    return base.as_strided(sizes, strides).detach().requires_grad_(requires_grad)  # type: ignore[attr-defined]


def _kind_of_range(values: tuple[Any, ...], dtype: Any) -> np.dtype[Any]:
    kind = numpy_of(dtype)
    if kind is not None:
        return kind
    if any(isinstance(v, float) or (isinstance(v, Tensor) and v.dtype.is_floating_point) for v in values):
        return dtypes.get_default_dtype().numpy
    return np.dtype(np.int64)


@composite(method=False)
def arange(
    *args: Any, start: Any = None, end: Any = None, step: Any = None, out: Tensor | None = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:
    """The numbers from ``start`` up to, without, ``end``, in steps of ``step``."""
    given = list(args)
    if len(given) == 1 and end is None and start is None:
        given = [0, given[0]]
    if start is not None:
        given.insert(0, start)
    elif end is not None and not given:
        given.insert(0, 0)
    if end is not None:
        given.insert(1, end)
    if step is not None:
        given.append(step)
    if len(given) == 2:
        given.append(1)
    if len(given) != 3:
        raise TypeError("arange() received an invalid combination of arguments")
    kind = _kind_of_range(tuple(given), dtype)
    first, last, by = (v._d.item() if isinstance(v, Tensor) else v for v in given)
    if by == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"unsupported range: {first} -> {last}")
    if (by > 0) != (last >= first) and first != last:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if kind.kind in "iu" and all(isinstance(v, int) for v in (first, last, by)):
        array = np.arange(first, last, by, dtype=kind)
    else:
        count = max(math.ceil((last - first) / by), 0)
        array = (first + by * np.arange(count, dtype=np.float64)).astype(kind)
    if out is not None:
        out.resize_(array.shape)  # type: ignore[attr-defined]
        out._d[...] = array
        return out
    return place(array, device, requires_grad, "arange")


@composite("range", method=False, name="linspace_range")
def range_(start: Any = 0, end: Any = None, step: Any = 1, **how: Any) -> Tensor:
    """The numbers from ``start`` to ``end``, both included, in steps of ``step``."""
    count = math.floor((end - start) / step) + 1
    kind = numpy_of(how.get("dtype")) or dtypes.get_default_dtype().numpy
    return place((start + step * np.arange(count)).astype(kind), how.get("device"), how.get("requires_grad", False))


def _spaced(start: float, end: float, steps: int, kind: np.dtype[Any]) -> Any:
    """``steps`` numbers from ``start`` to ``end``, counted from the nearer end, as PyTorch does."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if steps == 1:
        return np.array([start]).astype(kind)
    work = kind if kind.kind in "fc" and kind.itemsize >= 4 else np.dtype(np.float32 if kind.itemsize < 4 else np.float64)
    first, last = work.type(start), work.type(end)
    by = (last - first) / work.type(steps - 1) if kind.kind != "i" else work.type((end - start) / (steps - 1))
    index = np.arange(steps, dtype=work)
    half = steps // 2
    out = np.where(np.arange(steps) < half, first + by * index, last - by * (work.type(steps - 1) - index))
    return out.astype(kind)


@composite(method=False)
def linspace(
    start: Any, end: Any, steps: int, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
    first, last = (v._d.item() if isinstance(v, Tensor) else v for v in (start, end))
    complex_ = isinstance(first, complex) or isinstance(last, complex)
    default = dtypes.default_complex() if complex_ else dtypes.get_default_dtype()
    kind = numpy_of(dtype) or default.numpy
    return place(_spaced(first, last, int(steps), kind), device, requires_grad, "linspace")


@composite(method=False)
def logspace(
    start: Any, end: Any, steps: int, base: float = 10.0, *, out: Tensor | None = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:
    """``steps`` numbers from ``base ** start`` to ``base ** end``, evenly spaced in the exponent."""
    first, last = (v._d.item() if isinstance(v, Tensor) else v for v in (start, end))
    kind = numpy_of(dtype) or dtypes.get_default_dtype().numpy
    exponents = _spaced(first, last, int(steps), np.dtype(np.float64))
    return place(np.power(base, exponents).astype(kind), device, requires_grad, "logspace")


@composite(method=False)
def eye(
    n: int, m: int | None = None, *, out: Tensor | None = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m is not None and m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    kind = numpy_of(dtype) or dtypes.get_default_dtype().numpy
    return place(np.eye(n, n if m is None else m, dtype=kind), device, requires_grad, "eye")


def _new(function: str, make: Any) -> Any:
    def method(
        self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
        layout: Any = None, pin_memory: bool = False, **rest: Any,
    ) -> Tensor:
        if "size" in rest:
            size = (rest.pop("size"),)
        if not size:
            raise _missing(function)
        place_ = device if device is not None else ("meta" if self._d.dtype.metadata else None)
        return _made(function, make, read_size(function, size), dtype or self.dtype, place_, requires_grad)

    method.__name__ = method.__qualname__ = function
    method.__doc__ = f"A tensor as ``{function[4:]}`` makes it, with this one's dtype and device unless told."
    return composite(function=False)(method)


new_zeros = _new("new_zeros", np.zeros)
new_ones = _new("new_ones", np.ones)
new_empty = _new("new_empty", np.empty)


@composite(function=False)
def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    layout: Any = None, pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with one value, with this one's dtype and device unless told."""
    return full(size, fill_value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)  # type: ignore[no-any-return]


@composite(function=False)
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **rest: Any
) -> Tensor:
    """A tensor of ``data``, with this one's dtype unless told."""
    return place(array_of(data, numpy_of(dtype) or self.dtype.numpy), device, requires_grad)
