"""``torch.fft``: sorts out sizes, dimensions and scales, pads or trims, and calls the transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from ...core.tensor import Tensor
from ...ground import dtypes, errors
from ...ground.listening import audible
from ...ops.declare import COMPOSITES, named
from ..cast.rows import to_copy
from ..index.rows import slice as cut
from ..join.rows import roll
from ..matrix.functions import demand, into
from ..pad.rows import constant_pad_nd
from ..pointwise.limit import conj
from ..shape.rows import axis_of
from .rows import fft_c2c, fft_c2r, fft_r2c

_SCALES = {None: (0, 2), "backward": (0, 2), "ortho": (1, 1), "forward": (2, 0)}


# -- what is asked of the arguments -----------------------------------------------------------------------------------


def _scale(norm: Any, forward: bool) -> int:
    """PyTorch's number for the scale of a transform."""
    if norm not in _SCALES:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return _SCALES[norm][0 if forward else 1]


def _promoted(function: str, input: Any, to_complex: bool) -> Any:
    """The input as a floating or complex tensor."""
    demand(function, input=input)
    kind = input.dtype
    if input._array.dtype.kind in "bui":
        kind = dtypes.get_default_dtype()
    elif kind in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"Unsupported dtype {kind.scalar_name}")
    if to_complex and not kind.is_complex:
        kind = dtypes.complex128 if kind is dtypes.float64 else dtypes.complex64
    return input if kind is input.dtype else to_copy(input, kind.numpy, input._array.dtype)


def _axis(input: Tensor, dim: int) -> int:
    if not input._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return axis_of(dim, input._array.ndim)


def _resized(input: Any, axes: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """The input trimmed, or with zeros at the end, along the axes; a size of -1 leaves one as it is."""
    had = input._array.shape
    widths = [0] * (2 * len(had))
    for axis, size in zip(axes, sizes, strict=True):
        if size == -1:
            continue
        if had[axis] > size:
            input = cut(input, axis, 0, size, 1)
        widths[2 * (len(had) - 1 - axis) + 1] = max(size - had[axis], 0)
    return constant_pad_nd(input, tuple(widths), 0.0) if any(widths) else input


def _points(size: int) -> int:
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return size


def _plan(input: Tensor, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes and sizes of a transform of several dimensions."""
    had = input._array.shape
    dims = None if dim is None else (dim,) if hasattr(dim, "__index__") else tuple(dim)
    sizes = None if s is None else (s,) if hasattr(s, "__index__") else tuple(s)
    if dims is not None:
        axes = tuple(_axis(input, d) for d in dims)
        if len(set(axes)) < len(axes):
            raise RuntimeError("FFT dims must be unique")
    if sizes is not None:
        if dims is not None and len(sizes) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(sizes) > len(had):
            raise RuntimeError(f"Got shape with {len(sizes)} values but input tensor only has {len(had)} dimensions.")
        if dims is None:
            axes = tuple(range(len(had) - len(sizes), len(had)))
        sizes = tuple(had[axis] if size == -1 else size for axis, size in zip(axes, sizes, strict=True))
    else:
        if dims is None:
            axes = tuple(range(len(had)))
        sizes = tuple(had[axis] for axis in axes)
    for size in sizes:
        _points(size)
    return axes, sizes


def _into_out(function: str, input: Any, out: Any, result: Tensor) -> Tensor:
    """The result, put into ``out=`` where that is given."""
    if out is None:
        return result
    kind = "complex" if result.dtype.is_complex else "floating point"
    told = "fftn" if function == "ifftn" else function
    refusal = f"{told} expects a {kind} output tensor, but got {{Found}}"
    if isinstance(out, Tensor) and not (out.dtype.is_complex if kind == "complex" else out.dtype.is_floating_point):
        raise RuntimeError(refusal.format(Found=out.dtype.scalar_name))
    kernel = "c2r" if kind != "complex" else "c2c" if input.dtype.is_complex or function in ("fftn", "ifftn") else "r2c"
    return into(f"_fft_{kernel}", (input,), out, result, refusal, True)  # type: ignore[no-any-return]


# -- one dimension ----------------------------------------------------------------------------------------------------


def _along(function: str, input: Any, n: Any, dim: int, norm: Any, forward: bool, out: Any) -> Tensor:
    values = _promoted(f"fft_{function}", input, False)
    axis = _axis(values, dim)
    size = _points(values._array.shape[axis] if n is None else n)
    if n is not None:
        values = _resized(values, (axis,), (size,))
    scale = _scale(norm, forward)
    if values.dtype.is_complex:
        values = fft_c2c(values, (axis,), scale, forward)
    else:
        values = fft_r2c(values, (axis,), scale, False)
        values = values if forward else conj(values)
    return _into_out(function, input, out, values)


def _half(function: str, input: Any, n: Any, dim: int, norm: Any, forward: bool, out: Any) -> Tensor:
    demand(f"fft_{function}", input=input)
    if input.dtype.is_complex:
        raise RuntimeError(f"{function} expects a real input tensor, but got {input.dtype.scalar_name}")
    values = _promoted(f"fft_{function}", input, False)
    axis = _axis(values, dim)
    size = _points(values._array.shape[axis] if n is None else n)
    if n is not None:
        values = _resized(values, (axis,), (size,))
    values = fft_r2c(values, (axis,), _scale(norm, forward), True)
    return _into_out(function, input, out, values if forward else conj(values))


def _real(function: str, input: Any, n: Any, dim: int, norm: Any, forward: bool, out: Any) -> Tensor:
    values = _promoted(f"fft_{function}", input, True)
    axis = _axis(values, dim)
    size = _points(2 * (values._array.shape[axis] - 1) if n is None else n)
    if n is not None:
        values = _resized(values, (axis,), (size // 2 + 1,))
    if forward:
        values = conj(values)
    return _into_out(function, input, out, fft_c2r(values, (axis,), _scale(norm, forward), size))


def _of_line(name: str, transform: Callable[..., Tensor], forward: bool, says: str) -> Any:
    @audible
    @named(name, says=says)
    def function(
        input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Any = None
    ) -> Tensor:
        """{says}"""
        return transform(name, input, n, dim, norm, forward, out)

    return function


fft = _of_line(
    "fft", _along, True, """The Fourier transform along ``dim``, trimmed or filled with zeros to ``n`` elements.

norm  "forward" (scaled by 1/n), "backward" (not scaled, as is None) or "ortho" (by 1/sqrt(n))""",
)  # fmt: skip
ifft = _of_line("ifft", _along, False, "The inverse Fourier transform along ``dim``.")
rfft = _of_line("rfft", _half, True, "The first half of the Fourier transform of real numbers; the rest mirrors it.")
ihfft = _of_line("ihfft", _half, False, "The first half of the inverse Fourier transform of real numbers.")
irfft = _of_line(
    "irfft", _real, False, "The real numbers, ``n`` of them, of whose Fourier transform this is the first half."
)
hfft = _of_line(
    "hfft", _real, True, "The real Fourier transform of a signal of which this is the first half; the rest mirrors it."
)


# -- several dimensions -----------------------------------------------------------------------------------------------


def _whole(function: str, input: Any, s: Any, dim: Any, norm: Any, forward: bool, out: Any) -> Tensor:
    demand(f"fft_{function}", input=input)
    axes, sizes = _plan(input, s, dim)
    values = _resized(_promoted(f"fft_{function}", input, True), axes, sizes)
    return _into_out(function, input, out, fft_c2c(values, axes, _scale(norm, forward), forward))


@audible
def fftn(
    input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] | None = None,
    norm: str | None = None, *, out: Any = None,
) -> Tensor:  # fmt: skip
    """The Fourier transform along several dimensions (all, unless told), trimmed or filled to sizes ``s``."""
    return _whole("fftn", input, s, dim, norm, True, out)


@audible
def ifftn(
    input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] | None = None,
    norm: str | None = None, *, out: Any = None,
) -> Tensor:  # fmt: skip
    """The inverse Fourier transform along several dimensions."""
    return _whole("ifftn", input, s, dim, norm, False, out)


def _at_least_one(function: str, axes: tuple[int, ...]) -> None:
    if not axes:
        raise RuntimeError(f"{function} must transform at least one axis")


@audible
def rfftn(
    input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] | None = None,
    norm: str | None = None, *, out: Any = None,
) -> Tensor:  # fmt: skip
    """The Fourier transform of real numbers along several dimensions: the first half of the last one."""
    demand("fft_rfftn", input=input)
    if input.dtype.is_complex:
        raise RuntimeError(f"rfftn expects a real-valued input tensor, but got {input.dtype.scalar_name}")
    axes, sizes = _plan(input, s, dim)
    _at_least_one("rfftn", axes)
    values = _resized(_promoted("fft_rfftn", input, False), axes, sizes)
    return _into_out("rfftn", input, out, fft_r2c(values, axes, _scale(norm, True), True))


def _mirrored(function: str, input: Any, s: Any, dim: Any) -> tuple[Any, tuple[int, ...], int]:
    """A complex input trimmed or filled to the halves of ``s``, its axes, and the size of the last one's result."""
    demand(f"fft_{function}", input=input)
    values = _promoted(f"fft_{function}", input, True)
    last = (s,) if hasattr(s, "__index__") else s
    dims = (dim,) if hasattr(dim, "__index__") else dim
    if last is not None and dims is not None and len(last) != len(dims):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    if not values._array.ndim and last is not None and dims is None and len(last):
        raise RuntimeError(f"Got shape with {len(last)} values but input tensor only has 0 dimensions.")
    if not values._array.ndim and dims is not None and len(dims):
        raise IndexError(f"Dimension specified as {dims[0]} but tensor has no dimensions")
    if not values._array.ndim or last is not None and not len(last) or dims is not None and not len(dims):
        _at_least_one(function, ())
    axes, sizes = _plan(values, last, dims)
    if last is None or last[-1] == -1:
        size = _points(2 * (values._array.shape[axes[-1]] - 1))
    else:
        size = _points(last[-1])
    sizes = (*sizes[:-1], size // 2 + 1)
    return _resized(values, axes, sizes), axes, size


@audible
def irfftn(
    input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] | None = None,
    norm: str | None = None, *, out: Any = None,
) -> Tensor:  # fmt: skip
    """The real numbers of whose Fourier transform along several dimensions this is the first half of the last one."""
    values, axes, size = _mirrored("irfftn", input, s, dim)
    return _into_out("irfftn", input, out, fft_c2r(values, axes, _scale(norm, False), size))


@audible
def hfftn(
    input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] | None = None,
    norm: str | None = None, *, out: Any = None,
) -> Tensor:  # fmt: skip
    """The real Fourier transform of a signal of whose last dimension this is the first half; the rest mirrors it."""
    values, axes, size = _mirrored("hfftn", input, s, dim)
    scale = _scale(norm, True)
    if len(axes) > 1:
        values = fft_c2c(values, axes[:-1], scale, True)
    return _into_out("hfftn", input, out, fft_c2r(conj(values), axes[-1:], scale, size))


@audible
def ihfftn(
    input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] | None = None,
    norm: str | None = None, *, out: Any = None,
) -> Tensor:  # fmt: skip
    """The inverse Fourier transform of real numbers along several dimensions: the first half of the last one."""
    demand("fft_ihfftn", input=input)
    if input.dtype.is_complex:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input.dtype.scalar_name}")
    axes, sizes = _plan(input, s, dim)
    _at_least_one("ihfftn", axes)
    scale = _scale(norm, False)
    values = fft_r2c(_resized(_promoted("fft_ihfftn", input, False), axes, sizes), axes[-1:], scale, True)
    if len(axes) == 1:
        if isinstance(out, Tensor) and not out.dtype.is_complex:  # which PyTorch writes by another kernel
            raise RuntimeError(errors.OUT_FOUND.format(Found=values.dtype.scalar_name, Wanted=out.dtype.scalar_name))
        return _into_out("ihfftn", input, out, conj(values))
    values = values.conj_physical()
    return _into_out("ihfftn", input, out, fft_c2c(values, axes[:-1], scale, False))


def _of_two(several: Any) -> Any:
    @audible
    @named(f"{several.__name__[:-1]}2", several=several.__name__)
    def function(
        input: Tensor, s: int | Sequence[int] | None = None, dim: int | Sequence[int] = (-2, -1),
        norm: str | None = None, *, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """``{several}`` along two dimensions."""
        return several(input, s, dim, norm, out=out)  # type: ignore[no-any-return]

    return function


fft2, ifft2, rfft2 = map(_of_two, (fftn, ifftn, rfftn))
irfft2, hfft2, ihfft2 = map(_of_two, (irfftn, hfftn, ihfftn))


# -- frequencies ------------------------------------------------------------------------------------------------------


def _frequencies(function: str, n: int, d: float, out: Any, options: dict[str, Any]) -> Tensor:
    kind = options.get("dtype") or (dtypes.get_default_dtype() if out is None else out.dtype)
    if not kind.is_floating_point and not kind.is_complex:
        raise RuntimeError(f"{function} requires a floating point or complex dtype, but got {kind.scalar_name}")
    requires_grad = options.pop("requires_grad", False)
    if n < 0 and function == "fftfreq":
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    count = n if function == "fftfreq" else int(n / 2) + 1
    frequencies = COMPOSITES["arange"].function(count, **{**options, "dtype": kind})
    if function == "fftfreq":
        frequencies[(n + 1) // 2 :] -= n
    frequencies = frequencies * (1.0 / (n * d) if n * d else inf)
    if requires_grad:
        frequencies.requires_grad_()
    return frequencies if out is None else into(f"fft_{function}", (), out, frequencies)  # type: ignore[no-any-return]


@audible
def fftfreq(n: int, d: float = 1.0, *, out: Any = None, **options: Any) -> Tensor:
    """The frequencies of the transform of ``n`` samples, ``d`` apart: zero, positive, negative."""
    return _frequencies("fftfreq", n, d, out, options)


@audible
def rfftfreq(n: int, d: float = 1.0, *, out: Any = None, **options: Any) -> Tensor:
    """The frequencies of the first half of the transform of ``n`` samples, ``d`` apart."""
    return _frequencies("rfftfreq", n, d, out, options)


def _shifted(function: str, input: Any, dim: Any, extra: int) -> Tensor:
    demand(function, input=input)
    sizes = input._array.shape
    dims = range(len(sizes)) if dim is None else [dim] if hasattr(dim, "__index__") else dim
    dims = tuple(_axis(input, d) for d in dims)
    return roll(input, tuple((sizes[d] + extra) // 2 for d in dims), dims)  # type: ignore[no-any-return]


@audible
def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """The frequencies in rising order: zero moves from the front to the middle."""
    return _shifted("fft_fftshift", input, dim, 0)


@audible
def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """What undoes ``fftshift``."""
    return _shifted("fft_ifftshift", input, dim, 1)
