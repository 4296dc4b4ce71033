"""Discrete Fourier transforms: knows NumPy's, which keep single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import silent
from ..linalg.rows import real_part

_fft, _fftn, _ifft, _ifftn, _irfft, _rfft, _rfftn = silent.of(np.fft, "fft fftn ifft ifftn irfft rfft rfftn")
#: PyTorch's numbers for how a transform is scaled, as NumPy's words: not at all, by the root of n, by n.
_FORWARD = ("backward", "ortho", "forward")
_INVERSE = ("forward", "ortho", "backward")


@op(node="FftC2CBackward0", holomorphic=False, public=False, forward="linear", batched="dims")
def fft_c2c(self: Any, /, dim: Any, normalization: int, forward: bool) -> Any:
    """The transforms of complex numbers along several dimensions."""
    if not dim:
        return np.array(self)
    if len(dim) == 1:
        fft = _fft if forward else _ifft
        return fft(self, None, dim[0], (_FORWARD if forward else _INVERSE)[normalization])
    if forward:
        return _fftn(self, axes=dim, norm=_FORWARD[normalization])
    return _ifftn(self, axes=dim, norm=_INVERSE[normalization])


fft_c2c.derivative(self=lambda grad, dim, normalization, forward: fft_c2c(grad, dim, normalization, not forward))


@op(node="FftR2CBackward0", holomorphic=False, public=False, hidden=("self_sizes",), forward="linear", batched="dims")
def fft_r2c(self: Any, /, dim: Any, normalization: int, onesided: bool) -> Any:
    """The transforms of real numbers; ``onesided``: the first half of the last one, which the second mirrors."""
    if len(dim) == 1:
        fft = _rfft if onesided else _fft
        return fft(self, None, dim[0], _FORWARD[normalization])
    transform = _rfftn if onesided else _fftn
    return transform(self, axes=dim, norm=_FORWARD[normalization])


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
    if len(dim) > 1:
        self = _ifftn(self, axes=dim[:-1], norm=_INVERSE[normalization])
    return _irfft(self, last_dim_size, dim[-1], _INVERSE[normalization])


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
