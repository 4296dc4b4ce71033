"""``assert_close``: numbers, tensors and arrays compared within a tolerance, alone or nested; ``make_tensor``.

Source: https://docs.pytorch.org/docs/stable/testing.html
"""

from __future__ import annotations

import cmath
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .core.tensor import Tensor, wrap
from .ground import dtypes
from .ground.names import is_own
from .ops.catalogue import FUNCTIONS as _FUNCTIONS

#: Relative and absolute tolerance by dtype; whole numbers and booleans must be equal.
_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex32: (1e-3, 1e-5),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}


class _Options:
    """What one comparison was asked to look at."""

    def __init__(self, **options: Any) -> None:
        self.rtol: float | None = options["rtol"]
        self.atol: float | None = options["atol"]
        self.equal_nan, self.allow_subclasses = options["equal_nan"], options["allow_subclasses"]
        self.device, self.dtype = options["check_device"], options["check_dtype"]
        self.layout, self.stride = options["check_layout"], options["check_stride"]

    def tolerance(self, *compared: dtypes.dtype) -> tuple[float, float]:
        """What was asked for, or the larger default of these dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        defaults = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in compared]
        return max(rtol for rtol, _ in defaults), max(atol for _, atol in defaults)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless ``|actual - expected| <= atol + rtol * |expected|`` everywhere.

    Both are tensors, arrays, numbers, None, or sequences and mappings of those. Without ``rtol`` and ``atol`` the
    dtype decides. ``msg`` replaces the message, or makes another of it. TypeError for what cannot be compared.
    Source: https://docs.pytorch.org/docs/stable/testing.html#torch.testing.assert_close
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}."
        )
    options = _Options(
        rtol=rtol, atol=atol, equal_nan=equal_nan, allow_subclasses=allow_subclasses, check_device=check_device,
        check_dtype=check_dtype, check_layout=check_layout, check_stride=check_stride,
    )  # fmt: skip
    difference = ""
    for path, one, other in list(_pairs(actual, expected, options)):
        difference = _difference(one, other, options)
        if difference:
            difference += f"\n\nThe failure occurred for item {path}" if path else ""
            break
    if difference:
        raise AssertionError(difference if msg is None else msg(difference) if callable(msg) else msg)


def _pairs(actual: Any, expected: Any, options: _Options) -> Iterator[tuple[str, Any, Any]]:
    """All pairs of single values, in order, each with its place in the whole."""
    ahead = [("", actual, expected)]
    while ahead:
        path, one, other = ahead.pop()
        inside: list[tuple[str, Any, Any]] | None = None
        if _is_sequence(one) and _is_sequence(other):
            if len(one) != len(other):
                _refuse(f"The length of the sequences mismatch: {len(one)} != {len(other)}", path)
            inside = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(one, other, strict=True))]
        elif isinstance(one, Mapping) and isinstance(other, Mapping):
            missing, more = other.keys() - one.keys(), one.keys() - other.keys()
            if missing or more:
                _refuse(
                    "The keys of the mappings do not match:\n"
                    f"Missing keys in the actual mapping: {_sorted(missing)}\n"
                    f"Additional keys in the actual mapping: {_sorted(more)}",
                    path,
                )
            inside = [(f"{path}[{key!r}]", one[key], other[key]) for key in _sorted(one.keys())]
        if inside is None:
            _check_comparable(one, other, path, options)
            yield path, one, other
        else:
            ahead += reversed(inside)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _sorted(keys: Any) -> list[Any]:
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _refuse(what: str, path: str) -> None:
    raise AssertionError(what + (f"\n\nThe failure occurred for item {path}" if path else ""))


def _check_comparable(one: Any, other: Any, path: str, options: _Options) -> None:
    comparable = one is None or other is None
    comparable |= isinstance(one, dtypes.NUMBERS) and isinstance(other, dtypes.NUMBERS)
    comparable |= isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        comparable = options.allow_subclasses or type(one) is type(other)
    if not comparable:
        text = f"No comparison pair was able to handle inputs of type {_shown(one)} and {_shown(other)}."
        raise TypeError(text + (f"\n\nThe failure occurred for item {path}" if path else ""))


def _shown(value: Any) -> str:
    kind = type(value)
    if isinstance(value, Tensor) and is_own(kind):
        return f"<class 'torch.{'' if kind is Tensor else 'nn.parameter.'}{kind.__name__}'>"
    return repr(kind)


def _difference(one: Any, other: Any, options: _Options) -> str:
    """What is wrong with a pair of single values; an empty text where nothing is."""
    if one is None or other is None:
        if one is None and other is None:
            return ""
        return f"None mismatch: {one} is not {other}"
    if isinstance(one, dtypes.NUMBERS):
        if isinstance(one, (bool, np.bool_)) and isinstance(other, (bool, np.bool_)):
            return "" if bool(one) is bool(other) else f"Booleans mismatch: {bool(one)} is not {bool(other)}"
        one, other = _plain(one), _plain(other)
        if options.dtype and type(one) is not type(other):
            return f"The (d)types do not match: {type(one)} != {type(other)}."
        dtype_of = {bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}
        rtol, atol = options.tolerance(dtype_of[type(one)], dtype_of[type(other)])
        return _of_numbers(one, other, rtol, atol, options.equal_nan)
    if isinstance(one, np.ndarray):
        one, other = wrap(one), wrap(other)
    return _attributes(one, other, options) or _of_tensors(one, other, options)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _attributes(one: Any, other: Any, options: _Options) -> str:
    looked_at = [("shape", one.shape, other.shape)]
    if options.device:
        looked_at.append(("device", one.device, other.device))
    if options.dtype:
        looked_at.append(("dtype", one.dtype, other.dtype))
    if options.stride:
        looked_at.append(("stride()", _strides(one), _strides(other)))
    for name, a, b in looked_at:
        if a != b:
            return f"The values for attribute '{name}' do not match: {a} != {b}."
    return ""


def _strides(tensor: Tensor) -> tuple[int, ...]:
    return tuple(stride // tensor._array.itemsize for stride in np.asarray(tensor._array).strides)


def _of_tensors(one: Tensor, other: Tensor, options: _Options) -> str:
    rtol, atol = options.tolerance(one.dtype, other.dtype)
    dtype = dtypes.promote_types(one.dtype, other.dtype).numpy
    a, b = np.asarray(one._array).astype(dtype), np.asarray(other._array).astype(dtype)
    integral = dtype.kind in "iub"
    with np.errstate(all="ignore"):
        wide = a.astype(np.int64), b.astype(np.int64)
        gap = np.abs(wide[0] - wide[1]) if integral else np.abs(a - b)
        size = np.abs(wide[1]) if integral else np.abs(b)
        close = a == b
        if rtol or atol:
            close |= np.isfinite(gap) & (gap <= atol + rtol * size)
        if options.equal_nan:
            close |= (a != a) & (b != b)
        if close.all():
            return ""
        ratio = gap.astype(np.float32) / size.astype(np.float32) if integral else gap / size
    if close.ndim == 0:
        return _of_numbers(_plain(a[()]), _plain(b[()]), rtol, atol, options.equal_nan)
    wrong = int(close.size - close.sum())
    lines = [
        f"Tensor-likes are not {'close' if rtol or atol else 'equal'}!\n",
        f"Mismatched elements: {wrong} / {close.size} ({100 * wrong / close.size:.1f}%)",
    ]
    for name, values, allowed in (("absolute", gap, atol), ("relative", ratio, rtol)):
        values = np.where(close, 0, values)
        worst = np.unravel_index(int(np.argmax(values)), values.shape)
        index = "(" + ", ".join(str(int(i)) for i in worst) + ("," if len(worst) == 1 else "") + ")"
        more = f" (up to {allowed} allowed)" if rtol or atol else ""
        lines.append(f"Greatest {name} difference: {values[worst].item()} at index {index}{more}")
    return "\n".join(lines)


def _of_numbers(one: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> str:
    gap = abs(one - other)
    size = abs(other)
    if one == other or (equal_nan and one != one and other != other):
        return ""
    if cmath.isfinite(gap) and gap <= atol + rtol * size and (rtol or atol):
        return ""
    ratio = gap / size if size else float("inf")
    lines = [
        f"Scalars are not {'close' if rtol or atol else 'equal'}!\n",
        f"Expected {other} but got {one}.",
    ]
    for name, value, allowed in (("Absolute", gap, atol), ("Relative", ratio, rtol)):
        lines.append(f"{name} difference: {value}" + (f" (up to {allowed} allowed)" if rtol or atol else ""))
    return "\n".join(lines)


#: Tolerances of ``assert_allclose``, which are not those of ``assert_close``.
_OLD_TOLERANCES = {dtypes.float16: (1e-3, 1e-3), dtypes.float32: (1e-4, 1e-5), dtypes.float64: (1e-5, 1e-8)}


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True,
    msg: str = "",
) -> None:  # fmt: skip
    """``assert_close`` with wider tolerances, for tensors or what becomes one; deprecated.

    Source: https://docs.pytorch.org/docs/stable/testing.html#torch.testing.assert_allclose
    """
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    make = _FUNCTIONS["tensor"]
    one = actual if isinstance(actual, Tensor) else make(actual)
    other = expected if isinstance(expected, Tensor) else make(expected, dtype=one.dtype)
    if rtol is None and atol is None:
        pairs = [_OLD_TOLERANCES.get(side.dtype, (0.0, 0.0)) for side in (one, other)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    assert_close(one, other, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def _limits(dtype: dtypes.dtype, low: Any, high: Any) -> tuple[Any, Any]:
    """The bounds of values to draw: as asked for, within what the dtype holds; ValueError where there are none."""
    real = dtype.is_floating_point or dtype.is_complex
    if dtype is dtypes.bool:
        least, most, usual = 0, 2, (0, 2)
    elif real:
        info = dtypes.finfo(dtype)
        least, most, usual = info.min, info.max, (-9, 9)  # type: ignore[assignment]
    else:
        least, usual = dtypes.iinfo(dtype).min, (-9, 10)
        most = dtypes.iinfo(dtype).max + (dtype is not dtypes.int64)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if any(isinstance(value, float) and math.isnan(value) for value in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and real:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{least}, {most})"
        )
    low, high = min(max(low, least), most), min(max(high, least), most)
    return (low, high) if real else (math.ceil(low), math.ceil(high))


def make_tensor(
    *shape: Any, dtype: dtypes.dtype, device: Any, low: float | None = None, high: float | None = None,
    requires_grad: bool = False, noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of values drawn evenly from ``low`` up to ``high``: by default from -9 on to 9 or 10, bools at random.

    ``noncontiguous`` takes every second element of twice as many; ``exclude_zero`` puts the smallest other value where
    zero came out.  Source: https://docs.pytorch.org/docs/stable/testing.html#torch.testing.make_tensor
    """
    make = _FUNCTIONS
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else tuple(shape)
    real = dtype.is_floating_point or dtype.is_complex
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if requires_grad and not real:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    apart = noncontiguous and math.prod(sizes) > 1
    if apart:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    low, high = _limits(dtype, low, high)
    tensor: Any
    if not real:
        tensor = make["randint"](low, high, sizes, device=device, dtype=dtype)
    else:
        tensor = make["empty"](sizes, device=device, dtype=dtype)
        parts = make["view_as_real"](tensor) if dtype.is_complex else tensor
        if high - low >= dtypes.finfo(parts.dtype).max:
            parts.uniform_(low / 2, high / 2).mul_(2)
        else:
            parts.uniform_(low, high)
    if apart:
        tensor = tensor[..., 1::2]
    elif memory_format is not None:
        tensor = tensor.clone(memory_format=memory_format)
    if exclude_zero:
        tensor[tensor == 0] = dtypes.finfo(dtype).tiny if real else 1
    if real:
        tensor.requires_grad = requires_grad
    return tensor  # type: ignore[no-any-return]


__all__ = ["assert_allclose", "assert_close", "make_tensor"]
