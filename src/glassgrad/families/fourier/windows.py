"""Windows for short pieces of signals, under their older names and those of ``torch.signal.windows``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground import dtypes
from ...ops.declare import COMPOSITES, composite
from ..create.functions import number_of
from ..special.rows import i0

# -- periodic unless told, of any floating dtype ----------------------------------------------------------------------


def _kind(function: str, length: Any, dtype: Any, layout: Any) -> Any:
    """The dtype of a window; PyTorch's errors for wrong arguments."""
    length = dtypes.need_int(function, "window_length", 1, length)
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    options = (
        "TensorOptions(dtype={}, device=cpu, layout={}, requires_grad=false (default), "
        "pinned_memory=false, memory_format=(nullopt))"
    )
    if layout is not None and layout is not dtypes.strided:
        raise RuntimeError(
            f"{function} is not implemented for sparse types, got: "
            + options.format(_c_name(kind, dtype), "Sparse" if "sparse_coo" in str(layout) else str(layout))
        )
    if not kind.is_floating_point and not kind.is_complex:
        raise RuntimeError(
            f"{function} expects floating point dtypes, got: "
            + options.format(_c_name(kind, dtype), "Strided (default)")
        )
    if length < 0:
        raise RuntimeError(f"{function} requires non-negative window_length, got window_length={length}")
    if kind.is_complex:
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{kind.scalar_name}'")
    return kind


def _c_name(kind: Any, dtype: Any) -> str:
    return dtypes.c_name(kind) + (" (default)" if dtype is None else "")


def _window(values: Any, length: int, kind: Any, options: dict[str, Any]) -> Tensor:
    """``values`` of the positions, as the tensor that is asked for; a window of one position holds a one."""
    requires_grad = options.pop("requires_grad", False)
    options.pop("layout", None)
    if length < 2:
        window = COMPOSITES["ones"].function(length, dtype=kind, **options)
    else:
        wide = np.float64 if kind is dtypes.float64 else np.float32
        window = COMPOSITES["empty"].function(length, dtype=kind, **options)
        if not window._array.dtype.metadata:
            window._array[...] = values(np.arange(length, dtype=wide)).astype(window._array.dtype)
    if requires_grad:
        window.requires_grad_()
    return window  # type: ignore[no-any-return]


def _waves(length: int, periodic: bool, kind: Any, alpha: float, beta: float) -> Any:
    """``alpha - beta cos``, each step rounded to the dtype as PyTorch's are."""
    turn = 2 * math.pi / max(length if periodic else length - 1, 1)
    own = kind.numpy

    def values(positions: Any) -> Any:
        number, waves = positions.dtype.type, positions
        for step in (lambda x: x * number(turn), np.cos, lambda x: x * number(-beta), lambda x: x + number(alpha)):
            waves = step(waves).astype(own).astype(positions.dtype)
        return waves

    return values


@composite(method=False, page="torch")
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, **options: Any
) -> Tensor:
    """The window ``0.5 - 0.5 cos``: one bell, zero at its foot.

    periodic  whether the end of one window is the beginning of the next
    """
    kind = _kind("hann_window", window_length, dtype, layout)
    return _window(_waves(window_length, periodic, kind, 0.5, 0.5), window_length, kind, options)


@composite(method=False, page="torch")
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None,
    layout: Any = None, **options: Any,
) -> Tensor:  # fmt: skip
    """The window ``alpha - beta cos``."""
    kind = _kind("hamming_window", window_length, dtype, layout)
    return _window(_waves(window_length, periodic, kind, alpha, beta), window_length, kind, options)


@composite(method=False, page="torch")
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, **options: Any
) -> Tensor:
    """The window ``0.42 - 0.5 cos + 0.08 cos`` of one turn and of two."""
    kind = _kind("blackman_window", window_length, dtype, layout)

    def values(positions: Any) -> Any:
        number = positions.dtype.type
        half = positions * number(math.pi / (window_length if periodic else window_length - 1))
        waves = np.cos(half * number(4)) * number(0.08) - np.cos(half * number(2)) * number(0.5)
        return waves + number(0.42)

    return _window(values, window_length, kind, options)


@composite(method=False, page="torch")
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, **options: Any
) -> Tensor:
    """The triangle from zero to one and back."""
    kind = _kind("bartlett_window", window_length, dtype, layout)

    def values(positions: Any) -> Any:
        last = window_length if periodic else window_length - 1
        rising = positions * positions.dtype.type(2.0 / last)
        middle = ((window_length + 1 if periodic else window_length) - 1) >> 1
        return np.where(np.arange(window_length) <= middle, rising, 2 - rising)

    return _window(values, window_length, kind, options)


@composite(method=False, page="torch")
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None,
    **options: Any,
) -> Tensor:  # fmt: skip
    """The window by the modified Bessel function of a half circle of height ``beta``."""
    kind = _kind("kaiser_window", window_length, dtype, layout)
    number_of("kaiser_window", "beta", 3, beta)

    def values(positions: Any) -> Any:
        last = window_length if periodic else window_length - 1
        wide = positions.astype(np.float64) * (2 / last) - 1
        return np.i0(beta * np.sqrt(np.maximum(1 - wide * wide, 0))) / np.i0(beta)

    return _window(values, window_length, kind, options)


# -- torch.signal.windows: symmetric unless told, float32 and float64 -------------------------------------------------


def _checked(function: str, M: Any, dtype: Any, layout: Any) -> Any:  # noqa: N803  PyTorch's name
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{function} requires non-negative window length, got M={M}")
    if layout is not dtypes.strided:
        raise ValueError(f"{function} is implemented for strided tensors only, got: {layout}")
    if kind not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"{function} expects float32 or float64 dtypes, got: {kind}")
    return kind


def _line(start: Any, end: Any, steps: int, **how: Any) -> Any:
    return COMPOSITES["linspace"].function(start, end, steps, **how)


def _few(M: int, **how: Any) -> Any:  # noqa: N803
    """Windows of no element, or of a single one."""
    return COMPOSITES["ones"].function((M,), **how)


def exponential(
    M: int, *, center: float | None = None, tau: float = 1.0, sym: bool = True, dtype: Any = None,  # noqa: N803
    layout: Any = dtypes.strided, device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The window that falls by ``exp(-distance / tau)`` from ``center``."""
    kind = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    how = {"dtype": kind, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return _few(0, **how)  # type: ignore[no-any-return]
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    k = _line(-center * (1 / tau), (M - 1 - center) * (1 / tau), M, **how)
    return (-k.abs()).exp()  # type: ignore[no-any-return]


def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,  # noqa: N803
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The window of half a turn of the sine."""
    kind = _checked("cosine", M, dtype, layout)
    how = {"dtype": kind, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return _few(0, **how)  # type: ignore[no-any-return]
    step = math.pi / (M + 1 if not sym and M > 1 else M)
    return _line(0.5 * step, (0.5 + M - 1) * step, M, **how).sin()  # type: ignore[no-any-return]


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided,  # noqa: N803
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The window of a normal density with deviation ``std``, one at its top."""
    kind = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    how = {"dtype": kind, "device": device, "requires_grad": requires_grad}
    if M == 0:
        return _few(0, **how)  # type: ignore[no-any-return]
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    scale = 1 / (std * math.sqrt(2))
    k = _line(start * scale, (start + M - 1) * scale, M, **how)
    return (-(k**2)).exp()  # type: ignore[no-any-return]


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided,  # noqa: N803
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The window by the modified Bessel function of a half circle of height ``beta``."""
    kind = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    how = {"dtype": kind, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return _few(M, **how)  # type: ignore[no-any-return]
    height = kind.numpy.type(beta)
    step = 2.0 * height / (M if not sym else M - 1)
    k = _line(float(-height), float(min(height, -height + (M - 1) * step)), M, **how)
    top = COMPOSITES["tensor"].function(beta, dtype=kind)
    return i0((top * top - k**2).sqrt()) / i0(top)  # type: ignore[no-any-return]


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided,  # noqa: N803
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The sum of cosines of no, one, two... turns, with weights ``a`` of changing sign."""
    kind = _checked("general_cosine", M, dtype, layout)
    how = {"dtype": kind, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return _few(M, **how)  # type: ignore[no-any-return]
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    step = 2 * math.pi / (M if not sym else M - 1)
    k = _line(0, (M - 1) * step, M, **how)
    weights = COMPOSITES["tensor"].function([(-1) ** i * w for i, w in enumerate(a)], **how)
    turns = COMPOSITES["arange"].function(weights._array.shape[0], **how)
    return (weights.unsqueeze(-1) * (turns.unsqueeze(-1) * k).cos()).sum(0)  # type: ignore[no-any-return]


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided,  # noqa: N803
    device: Any = None, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The window ``alpha - (1 - alpha) cos``."""
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def _bell(name: str, weights: list[float], says: str) -> Any:
    """A window of cosines with fixed weights, published as ``torch.signal.windows.<name>``."""

    def window(
        M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,  # noqa: N803
        requires_grad: bool = False,
    ) -> Tensor:  # fmt: skip
        if name == "blackman":
            _checked(name, M, dtype, layout)
        return general_cosine(
            M, a=weights, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
        )

    window.__name__ = window.__qualname__ = name
    window.__doc__ = says
    return window


blackman = _bell("blackman", [0.42, 0.5, 0.08], "The window ``0.42 - 0.5 cos + 0.08 cos`` of one turn and of two.")
hamming = _bell("hamming", [0.54, 0.46], "The window ``0.54 - 0.46 cos``.")
hann = _bell("hann", [0.5, 0.5], "The window ``0.5 - 0.5 cos``: one bell, zero at its foot.")
nuttall = _bell(
    "nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411], "The window of four cosines with the lowest side lobes."
)


def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, layout: Any = dtypes.strided, device: Any = None,  # noqa: N803
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """The triangle from zero to one and back."""
    kind = _checked("bartlett", M, dtype, layout)
    how = {"dtype": kind, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return _few(M, **how)  # type: ignore[no-any-return]
    step = 2 / (M if not sym else M - 1)
    return 1 - _line(-1, -1 + (M - 1) * step, M, **how).abs()  # type: ignore[no-any-return]
