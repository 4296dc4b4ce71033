"""Tensors of given sizes: zeros, ones, ranges, and their ``*_like`` and ``new_*`` forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor, wrap
from ...ground import device as devices
from ...ground import dtypes, modes
from ...ground.dtypes import called, is_int
from ...ground.hidden import Hidden
from ...ground.layout import dense_like, format_name, format_strides, unfilled
from ...ground.listening import asking
from ...ground.meta import blank, need_item
from ...ground.window import look
from ...ops.declare import composite
from ...tensor import lifted, writable
from ..arithmetic.functions import need_tensor
from ..sparse.kernels import Carrier
from .construct import array_of, fresh, mark, numpy_of, tensor_of, warn_of_copy

_EVERYDAY = 2**24  # elements; for more, allocation may fail


# -- arguments --------------------------------------------------------------------------------------------------------


def read_size(function: str, size: Any, rest: dict[str, Any] | None = None) -> tuple[int, ...]:
    """The sizes of ``zeros(2, 3)``, ``zeros((2, 3))`` or ``zeros(size=(2, 3))``, checked."""
    if rest and "size" in rest:
        if size:
            raise TypeError(f"{function}() got multiple values for argument 'size'")
        return checked_sizes(function, rest.pop("size"), "")
    if not size:
        raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
    if is_int(size[0]):
        return tuple(_size(function, n, index) for index, n in enumerate(size))
    if len(size) > 1:
        raise TypeError(f"{function}() takes 1 positional argument but {len(size)} were given")
    return checked_sizes(function, size[0])


def checked_sizes(function: str, size: Any, where: str = " (position 1)") -> tuple[int, ...]:
    """The sizes of a sequence; PyTorch's TypeError for anything else."""
    if not isinstance(size, tuple | list):
        raise TypeError(f"{function}(): argument 'size'{where} must be tuple of ints, not {called(size)}")
    if size and not is_int(size[0]):
        raise TypeError(
            f"{function}(): argument 'size'{where} must be tuple of ints, but found element of type {called(size[0])} "
            "at pos 0"
        )
    return tuple(_size(function, n, index) for index, n in enumerate(size))


def _size(function: str, n: Any, index: int) -> int:
    if not is_int(n) and not isinstance(n, bool):
        why = f"type must be tuple of ints,but got {called(n)}"
    elif not -(2**63) <= n.__index__() < 2**63:
        why = "Overflow when unpacking long long"
    else:
        return int(n.__index__())
    failure = f"failed to unpack the object at pos {index + 1} with error"
    raise TypeError(f"{function}(): argument 'size' {failure} \"{why}\"")


def check_options(function: str, layout: Any, rest: dict[str, Any] | None = None) -> None:
    """Raise PyTorch's error for a wrong ``layout``, or for keyword arguments that are none."""
    if layout is not None and not isinstance(layout, dtypes.layout):
        raise TypeError(f"{function}(): argument 'layout' must be torch.layout, not {called(layout)}")
    if rest:
        raise TypeError(f"{function}() got an unexpected keyword argument '{next(iter(rest))}'")


def number_of(function: str, name: str, position: int, value: Any) -> Any:
    """A number argument, which may come in a 0-d tensor or a NumPy scalar; PyTorch's TypeError for anything else."""
    if isinstance(value, Tensor) and not value._array.ndim and not value.requires_grad:
        need_item(value._array)
        return value._array.item()
    if not isinstance(value, dtypes.NUMBERS):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be Number, not {called(value)}")
    dtypes.check_word(value)
    return value.item() if isinstance(value, np.generic) else value


def filling(value: Any, kind: np.dtype[Any], count: int = 2) -> Any:
    """A number in the dtype it fills a tensor of, of so many elements; RuntimeError where it does not fit."""
    code = kind.kind
    if code == "b":
        return np.bool_(bool(value))
    (dtypes.check_one if count == 1 else dtypes.check_number)(value, kind)
    if isinstance(value, complex) and code != "c":
        value = value.real
    if code in "iu":
        value = int(value)
    return dtypes.cast(np.asarray(value), kind)[()]


# -- making -----------------------------------------------------------------------------------------------------------


def allocate(make: Callable[..., Any], sizes: tuple[int, ...], kind: np.dtype[Any], function: str) -> Any:
    """An array made by ``make(sizes, kind)``; PyTorch's errors for negative and impossible sizes."""
    for n in sizes:
        if n < 0:
            if function == "zeros":
                raise RuntimeError(f"{function}: Dimension size must be non-negative.")
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(sizes)}")
    amount = math.prod(sizes) * kind.itemsize
    if amount >= 2**63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}")
    try:
        return make(sizes, kind)
    except (MemoryError, ValueError):
        if amount < 2**40:
            raise
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
            f"allocate {amount} bytes. Error code 12 (Cannot allocate memory)"
        ) from None


def on_meta(device: Any, function: str) -> bool:
    """Whether a new tensor on ``device`` (None: the default) has shapes only; refuses devices that are not there."""
    if device is None and modes.local.device is None:
        return False
    return devices.require(device, function) == "meta"


def create(
    function: str, make: Callable[..., Any], sizes: tuple[int, ...], kind: np.dtype[Any], device: Any = None,
    requires_grad: bool = False, out: Any = None, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """A new tensor of ``make(sizes, kind)``, or ``out`` filled with it in its own dtype."""
    if out is not None:
        check_out(function, out, dtype)
        if function not in ("empty", "zeros", "ones", "full", "eye", "randperm"):  # PyTorch asks no more of these
            writable.check_overlap(out)
        return fill_out(out, allocate(make, sizes, out._array.dtype, function))
    if on_meta(device, function):
        result = fresh(allocate(blank, sizes, kind, function))
    else:
        array = allocate(make, sizes, kind, function)
        result = fresh(array if sizes else array[()])
    if requires_grad:
        mark(result)
    return result


def check_out(function: str, out: Any, dtype: Any = None) -> None:
    """Raise PyTorch's error unless a result of ``dtype`` can be put into ``out``."""
    if not isinstance(out, Tensor):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {called(out)}")
    if dtype is not None and numpy_of(dtype, function) != out._array.dtype:
        wanted = dtypes.demand(dtype, function).scalar_name
        raise RuntimeError(f"dtype {wanted} does not match dtype of out parameter ({out.dtype.scalar_name})")
    if modes.grad_enabled() and out.requires_grad:
        raise RuntimeError(
            f"aten::{function}(): functions with out=... arguments don't support automatic differentiation, but one of "
            "the arguments requires grad."
        )


def fill_out(out: Tensor, array: Any) -> Tensor:
    """``out``, resized without a word and filled."""
    if out._array.shape != array.shape:
        out.resize_(array.shape)  # type: ignore[attr-defined]
    write.store(out, array)
    return out


def quick(make: Callable[..., Any], size: tuple[Any, ...], dtype: Any) -> Tensor | None:
    """The everyday case of ``create``: plain integers, no wishes but a dtype; None where it is not that."""
    if len(size) == 1 and type(size[0]) is tuple:
        size = size[0]
    count = 1
    for n in size:
        if type(n) is not int or n < 0:
            return None
        count *= n
    if not size or count > _EVERYDAY or modes.local.device is not None:
        return None
    if dtype is None:
        return fresh(make(size, dtypes.get_default_dtype().numpy))
    return fresh(make(size, dtype.numpy)) if type(dtype) is dtypes.dtype else None


def _from_size(function: str, make: Callable[..., Any], doc: str) -> Any:
    def factory(
        *size: Any, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False, **rest: Any,
    ) -> Tensor:  # fmt: skip
        if device is None and out is None and not rest and not requires_grad and layout is None:
            tensor = quick(make, size, dtype)
            if tensor is not None:
                return tensor
        if rest or layout is not None:
            memory_format = rest.pop("memory_format", None) if function == "empty" else None
            sizes = read_size(function, size, rest)
            check_options(function, layout, rest)
        else:
            memory_format = None
            sizes = read_size(function, size)
        kind = numpy_of(dtype, function) or dtypes.get_default_dtype().numpy
        result = create(function, make, sizes, kind, device, requires_grad, out, dtype)
        return result if memory_format is None else laid_out(result, memory_format)

    factory.__name__ = factory.__qualname__ = function
    factory.__doc__ = doc
    return composite(method=False)(factory)


def laid_out(new: Tensor, memory_format: Any) -> Tensor:
    """A new tensor in a memory format."""
    if not isinstance(memory_format, dtypes.memory_format):
        raise TypeError(f"empty(): argument 'memory_format' must be torch.memory_format, not {called(memory_format)}")
    if memory_format is dtypes.preserve_format:
        raise RuntimeError("unsupported memory format Preserve")
    if memory_format is dtypes.contiguous_format:
        return new
    sizes = new._array.shape
    new._array = unfilled(sizes, format_strides(sizes, format_name(memory_format, len(sizes))), new._array.dtype)
    return new


zeros = _from_size("zeros", np.zeros, "A tensor of zeros.")
ones = _from_size("ones", np.ones, "A tensor of ones.")
empty = _from_size("empty", np.empty, "A tensor whose elements are whatever was in memory.")


@composite(method=False)
def full(
    size: Any, fill_value: Any, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor filled with one value; its dtype is the value's unless told."""
    sizes = checked_sizes("full", size)
    check_options("full", layout)
    value = number_of("full", "fill_value", 2, fill_value)
    kind = numpy_of(dtype, "full")
    if kind is None:
        kind = dtypes.of_number(float if isinstance(fill_value, np.generic) else type(value)).numpy
        if isinstance(fill_value, np.integer):
            kind = np.dtype(np.int64)
    return create("full", _filler(value), sizes, kind, device, requires_grad, out, dtype)


def _filler(value: Any) -> Callable[..., Any]:
    return lambda sizes, kind: np.full(sizes, filling(value, kind, math.prod(sizes)), kind)


@composite(method=False)
def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """An uninitialised tensor of these sizes and strides, in elements."""
    sizes = checked_sizes("empty_strided", size)
    strides = tuple(int(step) for step in stride)
    if len(sizes) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides ({len(strides)})"
        )
    kind = numpy_of(dtype, "empty_strided") or dtypes.get_default_dtype().numpy
    allocate(blank, sizes, kind, "empty")
    if strides and min(strides) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(strides)}")
    if on_meta(device, "empty_strided"):
        return tensor_of(blank(sizes, kind), "meta", requires_grad)
    span = 0 if 0 in sizes else 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    result = fresh(look(allocate(np.empty, (span,), kind, "empty"), (sizes, strides, 0)))
    if requires_grad:
        mark(result)
    return result


@composite(method=False)
def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """An uninitialised tensor whose dimensions lie in memory in the order ``physical_layout``."""
    sizes, strides, step = checked_sizes("empty_permuted", size), [0] * len(physical_layout), 1
    for dim in reversed(physical_layout):
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return empty_strided(sizes, strides, dtype=dtype, device=device, requires_grad=requires_grad)  # type: ignore[no-any-return]


# -- like another -----------------------------------------------------------------------------------------------------


def like(
    function: str, input: Any, make: Callable[..., Any], dtype: Any, layout: Any, device: Any, requires_grad: bool,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of the size, dtype and layout of ``input``, made by ``make(array, kind)``."""
    need_tensor(function, "input", 1, input)
    check_options(function, layout)
    source = input._array
    kind = numpy_of(dtype, function) or dtypes.of(source.dtype).numpy
    if isinstance(source, Carrier):
        if function == "ones_like":
            source.refuse("fill_.Scalar")
        return wrap(source.empty(kind))
    if source.dtype.metadata is not None and device is None or device is not None and on_meta(device, function):
        return tensor_of(blank(source.shape, kind), "meta", requires_grad)
    if memory_format is not None and memory_format is not dtypes.preserve_format:
        if not isinstance(memory_format, dtypes.memory_format):
            raise TypeError(
                f"{function}(): argument 'memory_format' must be torch.memory_format, not {called(memory_format)}"
            )
        source = laid_out(wrap(np.empty(source.shape, kind)), memory_format)._array
    elif source.dtype.metadata is not None or type(source) is Hidden:
        source = np.empty(source.shape, kind)
    array = make(source, kind)
    result = fresh(array if array.ndim else array[()])
    if requires_grad:
        mark(result)
    return _at_levels_of(input, result) if modes.transforming else result


def _at_levels_of(source: Tensor, out: Tensor) -> Tensor:
    """A new tensor as one of the transforms that ``source`` belongs to: each example of a batch has its own."""
    return lifted.born_like(out, source) if isinstance(source, lifted.Lifted) else out


def _filled(value: Any) -> Callable[..., Any]:
    def make(array: Any, kind: Any) -> Any:
        out = dense_like(array, kind)
        out.fill(value)
        return out

    return make


def _like(function: str, make: Callable[..., Any], doc: str) -> Any:
    @asking
    def factory(
        input: Tensor, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, memory_format: Any = None,
    ) -> Tensor:  # fmt: skip
        if dtype is layout is device is memory_format is None and not requires_grad and type(input) is Tensor:
            source = input._array
            if type(source) is np.ndarray and source.ndim and source.dtype.metadata is None and not modes.transforming:
                return fresh(make(source, source.dtype))  # the everyday case
        return like(function, input, make, dtype, layout, device, requires_grad, memory_format)

    factory.__name__ = factory.__qualname__ = function
    factory.__doc__ = doc
    return composite(method=False)(factory)


zeros_like = _like("zeros_like", _filled(0), "Zeros of the same size, dtype and layout.")
ones_like = _like("ones_like", _filled(1), "Ones of the same size, dtype and layout.")
empty_like = _like("empty_like", dense_like, "A tensor of the same size, dtype and layout, uninitialised.")


@composite(method=False)
@asking
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """The same size, dtype and layout, filled with one value."""
    need_tensor("full_like", "input", 1, input)
    value = number_of("full_like", "fill_value", 2, fill_value)

    def make(array: Any, kind: Any) -> Any:
        return _filled(filling(value, kind, array.size))(array, kind)

    return like("full_like", input, make, dtype, layout, device, requires_grad, memory_format)


def _new(function: str, make: Callable[..., Any], doc: str) -> Any:
    def method(
        self: Tensor, *size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
        requires_grad: bool = False, **rest: Any,
    ) -> Tensor:  # fmt: skip
        sizes = read_size(function, size, rest)
        check_options(function, layout, rest)
        where = device if device is not None else self.device
        kind = numpy_of(dtype, function) or self.dtype.numpy
        out = create(function, make, sizes, kind, where, requires_grad)
        return _at_levels_of(self, out) if modes.transforming else out

    method.__name__ = method.__qualname__ = function
    method.__doc__ = doc
    return composite(function=False)(method)


new_zeros = _new("new_zeros", np.zeros, "Zeros of a size, with this tensor's dtype unless told.")
new_ones = _new("new_ones", np.ones, "Ones of a size, with this tensor's dtype unless told.")
new_empty = _new("new_empty", np.empty, "An uninitialised tensor of a size, with this tensor's dtype unless told.")


@composite(function=False)
def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of a size filled with one value, with this one's dtype unless told."""
    sizes = checked_sizes("new_full", size)
    value = number_of("new_full", "fill_value", 2, fill_value)
    kind = numpy_of(dtype, "new_full") or self.dtype.numpy
    where = device if device is not None else self.device
    return _at_levels_of(self, create("new_full", _filler(value), sizes, kind, where, requires_grad))


@composite(function=False)
def new_empty_strided(
    self: Tensor, size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """An uninitialised tensor of these sizes and strides, with this one's dtype unless told."""
    where = device if device is not None else self.device
    out = empty_strided(size, stride, dtype=dtype or self.dtype, device=where, requires_grad=requires_grad)
    return _at_levels_of(self, out)


@composite(function=False)
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of ``data``, with this one's dtype unless told."""
    if isinstance(data, Tensor):
        warn_of_copy("tensor.new_tensor")
    if data is None:
        raise TypeError("must be real number, not NoneType")
    kind = numpy_of(dtype, "new_tensor") or self.dtype.numpy
    return tensor_of(array_of(data, kind), device if device is not None else self.device, requires_grad)
