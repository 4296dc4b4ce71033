"""Evenly spaced numbers: ``arange``, ``range``, ``linspace``, ``logspace``; and the identity matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import device as devices
from ...ground import dtypes
from ...ground.runtime import warn
from ..declare import composite
from .construct import numpy_of
from .create import check_options, check_out, made, number_of, whole
from .operand import no_match

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


@composite(method=False)
def arange(
    *args: Any, start: Any = None, end: Any = None, step: Any = None, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:
    """The numbers from ``start`` up to, without, ``end``, in steps of ``step``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.arange.html
    """
    if len(args) == 1 and type(args[0]) is int and 0 <= args[0] < _EVERYDAY and devices.default_is_cpu():
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

    return made("arange", make, (count,), kind, device, requires_grad, out)


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
        if not all(abs(v) < 2**63 for v in (first, last, by) if v == v):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        if by and not int(by) and (by > 0) == (last >= first):
            raise ValueError("step must be nonzero")
    if not (by > 0 or by < 0):
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(first) and math.isfinite(last)):
        raise RuntimeError(f"unsupported range: {first:g} -> {last:g}")
    if (by > 0) != (last >= first) and first != last:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if kind.kind in "iu":
        first, last, by = int(first), int(last), int(by)
        count = (last - first) // by + 1 if closed else -((first - last) // by)
        return first, last, by, max(count, 0)
    size = (last - first) / by
    if not size < 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    return first, last, by, max(math.floor(size) + 1 if closed else math.ceil(size), 0)


def _steps(first: Any, by: Any, count: int, kind: np.dtype[Any]) -> Any:
    if kind.kind in "iu":
        return np.arange(first, first + by * count, by).astype(kind, copy=False) if count else np.empty(0, kind)
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
) -> Tensor:
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

    return made("range", make, (count,), kind, device, requires_grad, out, dtype)


# -- a number of points -----------------------------------------------------------------------------------------------


def _spaced(start: Any, end: Any, steps: int, kind: np.dtype[Any]) -> Any:
    """``steps`` numbers from ``start`` to ``end``, counted from the nearer end, as PyTorch does."""
    if steps == 1:
        return np.array([start]).astype(kind)
    if kind.kind in "fc" and kind.itemsize >= 4:
        work = kind
    elif kind.kind in "iu":
        return _spaced_whole(start, end, steps, kind)
    else:
        work = np.dtype(np.float32)
    first, last = work.type(start), work.type(end)
    by = (last - first) / work.type(steps - 1)
    index = np.arange(steps, dtype=work)
    half = steps // 2
    values = np.where(np.arange(steps) < half, first + by * index, last - by * (work.type(steps - 1) - index))
    return values.astype(kind)


def _spaced_whole(start: Any, end: Any, steps: int, kind: np.dtype[Any]) -> Any:
    first, last = int(start), int(end)
    by = np.float32(last - first) / np.float32(steps - 1) if steps > 1 else np.float32(0)
    index = np.arange(steps)
    wide = index.astype(np.float64)
    values = np.where(index < steps // 2, first + float(by) * wide, last - float(by) * (steps - 1 - wide))
    return values.astype(np.int64).astype(kind)


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
) -> Tensor:
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
    if steps is None:
        raise no_match("linspace", (start, end), *_LINSPACE)
    first, last, count = _ends("linspace", start, end, steps)
    kind = numpy_of(dtype, "linspace") or _default_kind(first, last)
    _check_kind("linspace", kind)

    def make(sizes: Any, kind: Any) -> Any:
        return _spaced(first, last, count, kind)

    return made("linspace", make, (count,), kind, device, requires_grad, out, dtype)


@composite(method=False)
def logspace(
    start: Any, end: Any, steps: Any = None, base: float = 10.0, *, out: Any = None, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:
    """``steps`` numbers from ``base ** start`` to ``base ** end``, evenly spaced in the exponent."""
    if steps is None:
        raise no_match("logspace", (start, end), *_LINSPACE)
    first, last, count = _ends("logspace", start, end, steps)
    kind = numpy_of(dtype, "logspace") or _default_kind(first, last)

    def make(sizes: Any, kind: Any) -> Any:
        work = np.dtype(np.complex128 if kind.kind == "c" else np.float64)
        return np.power(work.type(base), _spaced(first, last, count, work)).astype(kind)

    return made("logspace", make, (count,), kind, device, requires_grad, out, dtype)


@composite(method=False)
def eye(
    n: Any, m: Any = None, *, out: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    if m is not None and (isinstance(m, bool) or not hasattr(m, "__index__")):
        raise no_match("eye", (n, m), *_EYE)
    sizes = [whole("eye", "n", 1, n)]
    sizes.append(sizes[0] if m is None else whole("eye", "m", 2, m))
    for name, size in zip("nm", sizes, strict=True):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    check_options("eye", layout)
    kind = numpy_of(dtype, "eye") or dtypes.get_default_dtype().numpy

    def make(sizes: Any, kind: Any) -> Any:
        return np.eye(*sizes, dtype=kind)

    return made("eye", make, (sizes[0], sizes[1]), kind, device, requires_grad, out, dtype)
