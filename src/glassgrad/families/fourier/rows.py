"""Discrete Fourier transforms: knows NumPy's, which keep single precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.row import op
from ...ground.window import strides_of
from ...kernels import silent
from ..linalg.rows import real_part

_fft, _fftn, _ifft, _ifftn, _irfft, _rfft, _rfftn = silent.of(np.fft, "fft fftn ifft ifftn irfft rfft rfftn")
#: PyTorch's numbers for how a transform is scaled, as NumPy's words: not at all, by the root of n, by n.
_FORWARD = ("backward", "ortho", "forward")
_INVERSE = ("forward", "ortho", "backward")


def _in_lines(self: Any, dim: tuple[int, ...], last: int, transform: Callable[[Any, tuple[int, ...]], Any]) -> Any:
    """``transform(array, axes)`` along ``dim``, those before the ``last`` in any order.

    The result lies in memory as PyTorch's: the transformed dimensions innermost, the others as in ``self``.
    """
    if len(dim) == 1 and dim[0] == self.ndim - 1 and self.flags.c_contiguous:
        return transform(self, dim)
    others = [axis for axis in range(self.ndim) if axis not in dim]
    first, inner = dim[: len(dim) - last], dim[len(dim) - last :]
    if self.flags.c_contiguous:
        order = (*others, *sorted(first), *inner)
        if order == tuple(range(self.ndim)):
            return transform(self, order[len(others) :])
    else:
        axes = [*others, *first]
        axes.sort(key=strides_of(self).__getitem__, reverse=True)
        order = (*[axis for axis in axes if axis in others], *[axis for axis in axes if axis in first], *inner)
    lines = np.ascontiguousarray(self.transpose(order))
    result = np.ascontiguousarray(transform(lines, tuple(range(len(others), self.ndim))))
    return result.transpose([order.index(axis) for axis in range(self.ndim)])


@op(node="FftC2CBackward0", holomorphic=False, public=False, forward="linear", batched="dims")
def fft_c2c(self: Any, /, dim: Any, normalization: int, forward: bool) -> Any:
    """The transforms of complex numbers along several dimensions."""
    if not dim:
        return np.array(self)
    norm = (_FORWARD if forward else _INVERSE)[normalization]
    if len(dim) == 1:
        fft = _fft if forward else _ifft
        return _in_lines(self, dim, 0, lambda lines, axes: fft(lines, None, axes[0], norm))
    fftn = _fftn if forward else _ifftn
    return _in_lines(self, dim, 0, lambda lines, axes: fftn(lines, axes=axes, norm=norm))


fft_c2c.derivative(self=lambda grad, dim, normalization, forward: fft_c2c(grad, dim, normalization, not forward))


@op(node="FftR2CBackward0", holomorphic=False, public=False, hidden=("self_sizes",), forward="linear", batched="dims")
def fft_r2c(self: Any, /, dim: Any, normalization: int, onesided: bool) -> Any:
    """The transforms of real numbers; ``onesided``: the first half of the last one, which the second mirrors."""
    norm = _FORWARD[normalization]
    if len(dim) == 1:
        fft = _rfft if onesided else _fft
        return _in_lines(self, dim, 1, lambda lines, axes: fft(lines, None, axes[0], norm))
    fftn = _rfftn if onesided else _fftn
    return _in_lines(self, dim, 1, lambda lines, axes: fftn(lines, axes=axes, norm=norm))


@fft_r2c.derivative("self")
def _slope_of_r2c(grad: Any, self_sizes: Any, dim: Any, normalization: Any, onesided: Any) -> Any:
    """The inverse transform; each element of the middle was counted once, and would be read twice."""
    if not onesided:
        return real_part(fft_c2c(grad, dim, normalization, False))
    last = dim[-1]
    size = self_sizes[last]
    return fft_c2r(grad * middle(grad, last, size, 0.5), dim, normalization, size)


@op(
    node="FftC2RBackward0", holomorphic=False, public=False, hidden=("last_dim_size",), forward="linear", batched="dims"
)
def fft_c2r(self: Any, /, dim: Any, normalization: int, last_dim_size: int) -> Any:
    """The inverse transforms, real, of what has only the first half of the last dimension."""
    norm = _INVERSE[normalization]
    if len(dim) > 1:
        self = _in_lines(self, dim[:-1], 0, lambda lines, axes: _ifftn(lines, axes=axes, norm=norm))
    return _in_lines(self, dim[-1:], 1, lambda lines, axes: _irfft(lines, last_dim_size, axes[0], norm))


@fft_c2r.derivative("self")
def _slope_of_c2r(grad: Any, dim: Any, normalization: Any, last_dim_size: Any) -> Any:
    """The transform; each element of the middle was read twice."""
    spectrum = fft_r2c(grad, dim, normalization, True)
    return spectrum * middle(spectrum, dim[-1], last_dim_size, 2.0)


@op(constant=True, holomorphic=False, public=False)
def middle(self: Any, /, dim: int, size: int, factor: float) -> Any:
    """``factor`` along a half of ``size`` where the other half mirrors it; one where an element is its own mirror."""
    count = size // 2 + 1
    factors = np.full(count, factor, self.real.dtype)
    factors[0] = 1
    if size % 2 == 0:
        factors[-1] = 1
    return factors.reshape(count, *(1,) * (self.ndim - 1 - dim))
