"""Evenly spaced numbers: ``arange``, ``range``, ``linspace``, ``logspace``; and the identity matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, errors, modes
from ...ground.dtypes import called
from ...ground.hidden import Hidden
from ...ground.meta import need_item
from ...ground.runtime import warn
from ...ground.synonyms import NUMPY, in_pytorchs_words
from ...ground.window import dense, overlaps, strides_of
from ...ops.declare import composite
from ...tensor.out import Composed, check_outs, into
from ..arithmetic.functions import need_tensor, no_match
from ..cast.functions import view_as_complex, view_as_real
from ..index.rows import slice as piece
from ..random.uniform import fused
from ..shape import window
from ..shape.functions import rearranged
from ..shape.rows import alias, axis_of, compact
from .construct import numpy_of
from .functions import check_options, check_out, create, filling, number_of

_EVERYDAY = 2**24  # numbers; for more, allocation may fail
_OPTIONS = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, bool pin_memory = False, bool "
    "requires_grad = False"
)
_ARANGE = (
    f"Number end, *, Tensor out = None, {_OPTIONS}",
    f"Number start, Number end, *, {_OPTIONS}",
    f"Number start, Number end, Number step = 1, *, Tensor out = None, {_OPTIONS}",
)
_LINSPACE = tuple(
    f"{start} start, {end} end, int steps, *, Tensor out = None, {_OPTIONS}"
    for start, end in (("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"), ("Number", "Number"))
)
_EYE = (f"int n, *, Tensor out = None, {_OPTIONS}", f"int n, int m, *, Tensor out = None, {_OPTIONS}")


@composite(method=False, page="torch")
def arange(
    *args: Any, start: Any = None, end: Any = None, step: Any = None, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers from ``start`` up to, without, ``end``, in steps of ``step``."""
    if len(args) == 1 and type(args[0]) is int and 0 <= args[0] < _EVERYDAY and modes.local.device is None:
        if dtype is start is end is step is out is layout is device is None and not requires_grad:
            return wrap(np.arange(args[0]))
    first, last, by = _bounds(args, start, end, step)
    check_options("arange", layout)
    kind = numpy_of(dtype, "arange")
    if out is not None:
        check_out("arange", out, dtype)
        kind = out._array.dtype
    elif kind is None:
        whole_numbers = all(isinstance(v, int) for v in (first, last, by))
        kind = np.dtype(np.int64) if whole_numbers else dtypes.get_default_dtype().numpy
    _check_kind("arange", kind)
    first, last, by, count = _counted(first, last, by, kind, False)
    if out is not None:
        _warn_resized(out, count)

    def make(sizes: Any, kind: Any) -> Any:
        return _steps(first, by, count, kind)

    return create("arange", make, (count,), kind, device, requires_grad, out)


def _bounds(args: tuple[Any, ...], start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    """``start``, ``end`` and ``step`` as numbers, however they were given."""
    arguments = list(args)
    if len(arguments) == 1 and start is None and end is None:
        last = number_of("arange", "end", 1, arguments[0])
        return 0, last, 1 if step is None else number_of("arange", "step", 3, step)
    if start is not None:
        arguments.insert(0, start)
    elif end is not None and not arguments:
        arguments.insert(0, 0)
    if end is not None:
        arguments.insert(1, end)
    if step is not None and len(arguments) == 2:
        arguments.append(step)
    if len(arguments) == 1:
        raise TypeError('arange() missing 1 required positional arguments: "end"')
    if len(arguments) == 2:
        arguments.append(1)
    if len(arguments) != 3:
        raise no_match("arange", args, *_ARANGE)
    return _numbers("arange", arguments)


def _numbers(function: str, values: Any) -> tuple[Any, Any, Any]:
    start, end, step = values
    return (
        number_of(function, "start", 1, start), number_of(function, "end", 2, end), number_of(function, "step", 3, step)
    )  # fmt: skip


def _check_kind(function: str, kind: np.dtype[Any]) -> None:
    if kind.kind == "b" or kind.kind == "c" and function != "linspace":
        raise NotImplementedError(f"\"{function}_cpu\" not implemented for '{dtypes.of(kind).scalar_name}'")


def _counted(first: Any, last: Any, by: Any, kind: np.dtype[Any], closed: bool) -> tuple[Any, Any, Any, int]:
    """Start, end and step as the kernel of ``kind`` reads them, and how many numbers there are."""
    for value in (first, last, by):
        if isinstance(value, complex):
            raise RuntimeError("value cannot be converted to type double without overflow")
    if kind.kind in "iu":
        read = (first, last, by) if kind.itemsize == 8 or closed else (first, by)  # in int64: the kernel's own numbers
        if not all(abs(v) < 2**63 for v in read if v == v):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        if kind.itemsize == 8 and by == by and by and not int(by) and (by > 0) == (last >= first):
            raise ValueError("step must be nonzero")
    if not (by > 0 or by < 0):
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"unsupported range: {first:g} -> {last:g}")
    if (by > 0) != (last >= first) and first != last:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if kind.kind in "iu" and (closed or kind.itemsize == 8):
        first, last, by = int(first), int(last), int(by)
        count = (last - first) // by + 1 if closed else -((first - last) // by)
        return first, last, by, max(count, 0)
    size = (last - first) / by + closed
    if not size < 2**63:
        beyond = "IntArrayRef contains an int that cannot be represented as a SymInt: -9223372036854775808"
        raise RuntimeError(beyond if closed else "invalid size, possible overflow?")
    count = max(math.floor(size) if closed else math.ceil(size), 0)
    if kind.kind in "iu":  # counted as they came, and then made whole
        return int(first), int(last), int(by), count
    return first, last, by, count


def _steps(first: Any, by: Any, count: int, kind: np.dtype[Any]) -> Any:
    if kind.kind in "iu":
        if not by or not count:
            return np.full(count, first, np.int64).astype(kind, copy=False)
        return np.arange(first, first + by * count, by).astype(kind, copy=False)
    index = np.arange(count, dtype=np.float64)
    if not math.isfinite(by):
        return np.full(count, first, kind)
    index *= by
    index += first
    return index.astype(kind, copy=False)


def _warn_resized(out: Tensor, count: int) -> None:
    if out._array.size != count and out._array.size:
        shape = list(out._array.shape)
        warn(
            f"The number of elements in the out tensor of shape {shape} is {out._array.size} which does not match the "
            f"computed number of elements {count}. Note that this may occur as a result of rounding error. The out "
            f"tensor will be resized to a tensor of shape ({count},)."
        )


@composite(method=False, name="range")
def closed_range(
    start: Any, end: Any = None, step: Any = 1, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """The numbers from ``start`` to ``end``, both included, in steps of ``step``; deprecated for ``arange``."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
    )
    first, last, by = _numbers("range", (start, end, step))
    kind = numpy_of(dtype, "range") or dtypes.get_default_dtype().numpy
    first, _, by, count = _counted(first, last, by, kind, True)

    def make(sizes: Any, kind: Any) -> Any:
        return _steps(first, by, count, kind)

    return create("range", make, (count,), kind, device, requires_grad, out, dtype)


# -- a number of points -----------------------------------------------------------------------------------------------


def _spaced(start: Any, end: Any, steps: int, kind: np.dtype[Any]) -> Any:
    """``steps`` numbers from ``start`` to ``end``, in ``kind``; whole numbers are counted in float64, then cut off."""
    if steps < 2:
        return np.array([filling(start, kind, steps)] * steps, kind)
    first, last = filling(start, kind), filling(end, kind)
    if kind.kind not in "iu":
        by = (last - first) / np.asarray(steps - 1).astype(kind)
        return _counted_from_ends(first, last, by, steps, _fused)
    first, last = float(first), float(last)
    points = _counted_from_ends(first, last, (last - first) / (steps - 1), steps, _fused)
    return points.astype(np.int64).astype(kind)


def _counted_from_ends(
    first: Any, last: Any, by: Any, steps: int, fused: Callable[..., Any] = lambda a, b, c: a * b + c
) -> Any:
    """``steps`` numbers from ``first`` to ``last``, counted by ``by`` from the nearer end, as PyTorch does."""
    index = np.arange(steps)
    nearer = index < steps // 2
    counted = np.where(nearer, index, index - (steps - 1)).astype(np.asarray(by).dtype)
    return fused(by, counted, np.where(nearer, first, last))


def _fused(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, of float64 rounded once: what PyTorch's processors do, and what a whole number may depend on."""
    return fused(a, b, c) if np.result_type(a, b) == np.float64 else a * b + c


def _ends(function: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    """The two ends and the number of steps; PyTorch's errors where they are none."""
    ends = []
    for name, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor):
            if value._array.ndim:
                raise RuntimeError(
                    f"{function} only supports 0-dimensional start and end tensors, but got {name} with "
                    f"{value._array.ndim} dimension(s)."
                )
            need_item(value._array)
            value = value._array.item()
        elif isinstance(value, np.generic):
            value = value.item()
        elif not isinstance(value, bool | int | float | complex):
            raise no_match(function, (start, end, steps), *_LINSPACE)
        ends.append(value)
    if isinstance(steps, bool) or not hasattr(steps, "__index__"):
        raise no_match(function, (start, end, steps), *_LINSPACE)
    count = int(steps.__index__())
    if count < 0:
        raise RuntimeError("number of steps must be non-negative")
    return ends[0], ends[1], count


def _default_kind(first: Any, last: Any) -> np.dtype[Any]:
    if isinstance(first, complex) or isinstance(last, complex):
        return dtypes.default_complex().numpy
    return dtypes.get_default_dtype().numpy


@composite(method=False)
def linspace(
    start: Any, end: Any, steps: Any = None, *, out: Any = None, dtype: Any = None, layout: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
    if steps is None:
        raise no_match("linspace", (start, end), *_LINSPACE)
    first, last, count = _ends("linspace", start, end, steps)
    kind = _kind_of("linspace", dtype, first, last)
    _check_kind("linspace", kind)

    def make(sizes: Any, kind: Any) -> Any:
        return _spaced(first, last, count, kind)

    return create("linspace", make, (count,), kind, device, requires_grad, out, dtype)


def _kind_of(name: str, dtype: Any, *ends: Any) -> Any:
    """The dtype that is asked for, which must be complex where an end is; or that of the ends."""
    kind = numpy_of(dtype, name)
    if kind is not None and kind.kind != "c" and any(isinstance(end, complex) for end in ends):
        inferred = dtypes.c_name(dtypes.get_default_dtype().to_complex())
        passed = dtypes.of(kind).scalar_name
        raise RuntimeError(f"torch.{name}(): inferred dtype {inferred} can't be safely cast to passed dtype {passed}")
    return kind or _default_kind(*ends)


@composite(method=False)
def logspace(
    start: Any, end: Any, steps: Any = None, base: float = 10.0, *, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """``steps`` numbers from ``base ** start`` to ``base ** end``, evenly spaced in the exponent."""
    if steps is None:
        raise no_match("logspace", (start, end), *_LINSPACE)
    first, last, count = _ends("logspace", start, end, steps)
    dtypes.need_float("logspace", "base", 4, base := number_of("logspace", "base", 4, base))
    kind = _kind_of("logspace", dtype, first, last)

    def make(sizes: Any, kind: Any) -> Any:
        return _powers(base, first, last, count, kind)

    return create("logspace", make, (count,), kind, device, requires_grad, out, dtype)


def _powers(base: Any, start: Any, end: Any, steps: int, kind: np.dtype[Any]) -> Any:
    """``base`` to the powers of ``steps`` numbers between two ends, which are made of ``kind`` first."""
    whole_numbers = kind.kind in "iu"
    half = kind.itemsize == 2 and not whole_numbers
    work = np.dtype(np.complex128 if kind.kind == "c" else np.float32 if half else np.float64)
    if steps < 2:
        powers = np.power(work.type(base), _spaced(start, end, steps, work))
        return np.array([filling(power.item(), kind) for power in powers], kind)
    first, last = (filling(value, kind) for value in (start, end))
    span = last - first if half else work.type(last) - work.type(first)
    by = work.type(span) / work.type(steps - 1)
    powers = np.power(work.type(base), _counted_from_ends(work.type(first), work.type(last), by, steps))
    # as C++ does: what is too large for int32, or no number, is its least number, whose last digits are zeros
    return (powers.astype(np.int64 if kind.itemsize == 8 else np.int32) if whole_numbers else powers).astype(kind)


@composite(method=False)
def eye(
    n: Any, m: Any = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """Ones on the diagonal, zeros elsewhere."""
    if m is not None and (isinstance(m, bool) or not hasattr(m, "__index__")):
        raise no_match("eye", (n, m), *_EYE)
    sizes = [dtypes.need_int("eye", "n", 1, n)]
    sizes.append(sizes[0] if m is None else dtypes.need_int("eye", "m", 2, m))
    for name, size in zip("nm", sizes, strict=True):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    check_options("eye", layout)
    kind = numpy_of(dtype, "eye") or dtypes.get_default_dtype().numpy

    def make(sizes: Any, kind: Any) -> Any:
        return np.eye(*sizes, dtype=kind)

    return create("eye", make, (sizes[0], sizes[1]), kind, device, requires_grad, out, dtype)


# -- What views give, in memory of its own: the ``*_copy`` functions; and writes into a strided window of a copy.

# -- copies of views ---------------------------------------------------------------------------------------------------


def _copied(name: str, view: Callable[..., Any], doc: str) -> None:
    def copied(input: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        need_tensor(name, "input", 1, input)
        viewed = view(input, *args, **in_pytorchs_words(kwargs, NUMPY))
        if isinstance(viewed, tuple):
            if out is None:
                return tuple(compact(part) for part in viewed)
            check_outs(name, out, len(viewed), 1 + len(args) + len(kwargs))
            for target, part in zip(out, viewed, strict=True):
                target.resize_(part._array.shape).copy_(part)
            return None
        copy = compact(viewed)
        return copy if out is None else into(Composed(name, copied=True), (input,), out, copy)

    copied.__name__ = copied.__qualname__ = name
    copied.__doc__ = f"{doc}, in memory of its own."
    composite(method=False, name=name)(copied)


def _method(name: str) -> Callable[..., Any]:
    return lambda input, *args, **kwargs: getattr(input, name)(*args, **kwargs)


def _view(input: Any, *args: Any, **kwargs: Any) -> Any:
    is_reread = "dtype" in kwargs or (args and isinstance(args[0], dtypes.dtype))
    return (input if is_reread else input.contiguous()).view(*args, **kwargs)  # sizes that no view can have are taken


def _slice(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    if not input._array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    dim = axis_of(dim, input._array.ndim)
    return piece(input, dim, 0 if start is None else start, end, step)


def _split(input: Any, split_size: Any, dim: int = 0) -> Any:
    if isinstance(split_size, bool) or not isinstance(split_size, (int, np.integer)):
        raise TypeError(f"split_copy(): argument 'split_size' (position 2) must be int, not {called(split_size)}")
    return input.split(int(split_size), dim)


for _name, _doc in (
    ("as_strided", "The elements at these sizes and strides"),
    ("detach", "The tensor without its history"),
    ("diagonal", "The diagonal"),
    ("expand", "The tensor repeated along dimensions of size one"),
    ("permute", "The dimensions in another order"),
    ("select", "One index of a dimension"),
    ("split_with_sizes", "The pieces of a dimension of the sizes listed"),
    ("squeeze", "The tensor without dimensions of size one"),
    ("t", "The transposed matrix"),
    ("transpose", "The tensor with two dimensions exchanged"),
    ("unbind", "All indices of a dimension"),
    ("unfold", "All windows along a dimension"),
    ("unsqueeze", "The tensor with one more dimension"),
):
    _copied(f"{_name}_copy", _method(_name), _doc)
_copied("alias_copy", alias, "The tensor")
_copied("view_copy", _view, "The same elements under other sizes, or as another dtype")
_copied("slice_copy", _slice, "Part of a dimension")
_copied("split_copy", _split, "The pieces of a dimension")


_copied("view_as_real_copy", view_as_real, "Complex numbers as pairs of real ones")
_copied("view_as_complex_copy", view_as_complex, "Pairs of real numbers as complex ones")


# -- windows -----------------------------------------------------------------------------------------------------------


@composite(page="torch")
def as_strided_scatter(
    input: Any, src: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:  # fmt: skip
    """A copy of ``input`` with ``src`` in the window of these sizes, strides and offset, in elements."""
    need_tensor("as_strided_scatter", "input", 1, input)
    need_tensor("as_strided_scatter", "src", 2, src)
    size, stride = tuple(size), tuple(stride)
    window.check_window(size, stride)
    if src._array.shape != size:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src._array.shape)}, "
            f"slice size = {list(size)}"
        )
    if any(not step and count > 1 for count, step in zip(size, stride, strict=True)) and 0 not in size:
        raise RuntimeError(errors.OVERLAP)
    array = np.asarray(input._array)
    owner, start = window.memory_of(array)
    steps, room = strides_of(array), owner.nbytes // array.itemsize
    if overlaps((array.shape, steps, 0)):
        steps, start, room = dense(array.shape), 0, array.size  # as a copy lies
    offset = start if storage_offset is None else window.placed(storage_offset)
    needed = 0 if 0 in size else 1 + offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if needed > room:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{array.itemsize} requiring a storage size of {needed * array.itemsize} are out of bounds for storage of "
            f"size {room * array.itemsize}"
        )
    return window.put_window(input, src.to(input.dtype), (size, stride, offset - start), steps)  # type: ignore[no-any-return]


@composite(method=False)
def slice_inverse(
    input: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:  # fmt: skip
    """The view of ``input``'s memory that has the sizes and strides of ``src``."""
    return input.as_strided(src._array.shape, src.stride(), src.storage_offset())  # type: ignore[no-any-return]


@composite()
def as_strided(
    input: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """The view of the same memory with these sizes and strides, from an offset, all in elements."""
    layout = None if isinstance(input._array, Hidden) else window.layout_of(np.asarray(input._array))
    return window.as_strided(input, size, stride, storage_offset, layout)  # type: ignore[no-any-return]


@composite()
def as_strided_(
    self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Make the tensor itself the view of its memory with these sizes and strides, from an offset, in elements."""
    layout = window.layout_of(np.asarray(self._array))
    return rearranged(self, window.as_strided_inplace, tuple(size), tuple(stride), storage_offset, layout)


# -- other sizes -------------------------------------------------------------------------------------------------------


@composite(method=False)
def resize_as_(input: Any, the_template: Any, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the sizes of another."""
    need_tensor("resize_as_", "input", 1, input)
    return input.resize_as_(the_template)  # type: ignore[no-any-return]


@composite(function=False)
def resize(self: Any, *sizes: Any) -> Tensor:
    """The same number of elements under other sizes; deprecated for ``view`` and ``reshape``."""
    warn("non-inplace resize is deprecated")
    wanted = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if int(np.prod(wanted)) != self._array.size:
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, wanted))} ({int(np.prod(wanted))} elements in total), but the "
            f"given tensor has a size of {'x'.join(map(str, self._array.shape))} ({self._array.size} elements). "
            "autograd's resize can only change the shape of a given tensor, while preserving the number of elements. "
        )
    return self.contiguous().view(wanted)  # type: ignore[no-any-return]


@composite(function=False)
def resize_as(self: Any, tensor: Any) -> Tensor:
    """The same number of elements under the sizes of another tensor; deprecated for ``view_as``."""
    return resize(self, tuple(tensor._array.shape))


@composite(function=False)
def const_data_ptr(self: Any) -> int:
    """The address of the first element, for reading."""
    return self.data_ptr()  # type: ignore[no-any-return]


# -- indices -----------------------------------------------------------------------------------------------------------

#: How ``nonzero_static`` puts its indices into ``out=``.
_INDICES = Composed(
    "nonzero_static",
    "nonzero_static: Expected out tensor to have scalar type {Wanted} but got scalar type{Found}",
    inputs=("self",),
    disjoint=frozenset({"self"}),
)


@composite(page="torch")
def nonzero_static(input: Any, *, size: int, fill_value: int = -1, out: Any = None) -> Tensor:
    """The indices of elements that are not zero, one in a row: the first ``size``, or filled up with ``fill_value``."""
    if not hasattr(size, "__index__") or isinstance(size, bool):
        raise TypeError(f"nonzero_static(): argument 'size' must be int, not {called(size)}")
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    shape = (size, input._array.ndim)
    if input._array.dtype.metadata is not None:
        result = input.new_empty(shape, dtype=dtypes.int64)
    else:
        positions = np.argwhere(np.asarray(input._array))[:size]
        indices = np.full(shape, fill_value, np.int64)
        indices[: len(positions)] = positions
        result = wrap(indices)
    return result if out is None else into(_INDICES, (input,), out, result)
