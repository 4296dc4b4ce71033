"""Transforms of short, overlapping frames of a signal, and the signal back from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground import dtypes
from ...ground.runtime import warn_once
from ...ops.declare import COMPOSITES, composite
from ...tensor.lifted import all_values
from ..arithmetic.functions import need_tensor
from ..cast.rows import view_as_complex, view_as_real
from ..index.rows import slice as cut
from ..index.rows import unfold_backward
from ..pad.functions import pad
from ..reduce.extreme import refuse_empty
from ..shape.rows import squeeze_dim, transpose, unsqueeze
from .rows import fft_c2c, fft_c2r, fft_r2c


def _flag(value: Any) -> str:
    return "None" if value is None else str(int(value))


def _shown(window: Any) -> str:
    if window is None:
        return "None"
    return f"{dtypes.type_name(window.dtype)}{{{list(window._array.shape)}}}"


def _complete(window: Any, n_fft: int, win_length: int, input: Any) -> Any:
    """The window in the middle of ``n_fft`` elements, zero around it; ones where there is none."""
    if win_length == n_fft:
        return window
    padded = (input if window is None else window).new_zeros(n_fft)
    middle = padded.narrow(0, (n_fft - win_length) // 2, win_length)
    if window is None:
        middle.fill_(1)
    else:
        middle.copy_(window)
    return padded


@composite(page="torch")
def stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: Any = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of frames of a signal: sizes (batch, frequencies, frames).

    n_fft       elements of a frame
    hop_length  from one frame to the next (a quarter of a frame, unless told)
    window      what frames are multiplied with: ``win_length`` elements, in the middle of the frame
    center      whether frames are centred on their elements, the signal padded by ``pad_mode``
    onesided    only the first half of the frequencies (of real signals, unless told)
    """
    need_tensor("stft", "input", 1, input)
    _check_device("stft", input, window)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        ndim = input._array.ndim
        sizes = input._array.shape
        input = pad(input.view((1,) * (3 - ndim) + tuple(sizes)), [int(n_fft // 2)] * 2, pad_mode)
        input = input.view(input._array.shape[-ndim:])  # of no dimensions: of all
    if window is None:
        warn_once(
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. "
            "Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral "
            "leakage.To suppress this warning and use a rectangular window, explicitly set "
            "`window=torch.ones(n_fft, device=<device>)`."
        )
    else:
        need_tensor("stft", "window", 5, window)
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    given = return_complex
    complex_ = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None:
        if not complex_:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    if not return_complex:
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real on the complex output to recover the old return format."
        )
    _check_stft(input, n_fft, hop, length, window, normalized, onesided, given, align_to_window)
    if onesided and complex_:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    frames = _frames(input, n_fft, hop, length, window, align_to_window)
    if frames.dtype in (dtypes.float16, dtypes.bfloat16):
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {frames.dtype.scalar_name}")
    scale = 1 if normalized else 0
    if frames.dtype.is_complex:
        spectrum = fft_c2c(frames, (2,), scale, True)
    else:
        spectrum = fft_r2c(frames, (2,), scale, onesided is None or onesided)
    spectrum = spectrum.transpose_(1, 2)
    if input._array.ndim == 1:
        spectrum = spectrum.squeeze_(0)
    return spectrum if return_complex else view_as_real(spectrum)


def _frames(input: Any, n_fft: int, hop: int, length: int, window: Any, align: Any) -> Any:
    """The frames as rows, times the window."""
    batched = unsqueeze(input, 0) if input._array.ndim == 1 else input
    batch, size = batched._array.shape
    count = 1 + (size - (length if align else n_fft)) // hop
    if align and length < n_fft:
        before = (n_fft - length) // 2
        batched = pad(batched, (before, n_fft))
    array = batched._array
    first, step = (stride // array.itemsize for stride in array.strides)
    frames = batched.as_strided((batch, count, n_fft), (first, hop * step, step))
    window = _complete(window, n_fft, length, input)
    return frames if window is None else frames * window


def _check_stft(
    input: Any, n_fft: int, hop: int, length: int, window: Any, normalized: bool, onesided: Any, return_complex: Any,
    align: Any,
) -> None:  # fmt: skip
    """Raise PyTorch's errors, each with the whole call."""
    sizes = input._array.shape

    def wrong(what: str) -> RuntimeError:
        return RuntimeError(
            f"stft({dtypes.type_name(input.dtype)}{list(sizes)}, n_fft={n_fft}, hop_length={hop}, win_length={length}, "
            f"window={_shown(window)}, normalized={_flag(normalized)}, onesided={_flag(onesided)}, "
            f"return_complex={_flag(return_complex)}, align_to_window={_flag(align)}) : expected {what}"
        )

    if input._array.dtype.kind in "bui":
        raise wrong("a tensor of floating point or complex values")
    if len(sizes) not in (1, 2):
        raise wrong("a 1D or 2D tensor")
    if not 0 < n_fft <= sizes[-1]:
        raise wrong(f"0 < n_fft < {sizes[-1]}, but got n_fft={length}")
    if hop <= 0:
        raise wrong(f"hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise wrong(f"0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and window._array.shape != (length,):
        raise wrong(
            f"a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window._array.shape)}"
        )


def _check_device(function: str, input: Any, window: Any) -> None:
    if isinstance(window, Tensor) and window.device != input.device:
        raise RuntimeError(
            f"{function} input and window must be on the same device but got self on {input.device} and window on "
            f"{window.device}"
        )


@composite(page="torch")
def istft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal that is nearest to one with these transforms of frames: overlaps are added, windows divided out."""
    if window is None:
        warn_once(
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by "
            "stft to make the inversion lossless.To suppress this warning and use a rectangular window, explicitly "
            "set `window=torch.ones(n_fft, device=<device>)`."
        )
    _check_device("istft", input, window)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    sizes = input._array.shape

    def wrong(what: str) -> RuntimeError:
        return RuntimeError(
            f"istft({dtypes.type_name(input.dtype)}{list(sizes)}, n_fft={n_fft}, hop_length={hop}, "
            f"win_length={width}, window={_shown(window)}, center={_flag(center)}, normalized={_flag(normalized)}, "
            f"onesided={_flag(onesided)}, length={'None' if length is None else length}, "
            f"return_complex={_flag(return_complex)}) {what}"
        )

    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    ndim = len(sizes)
    if ndim < 2:
        limits = f"[{-ndim - 1}, {ndim}]"
        raise IndexError(f"Dimension out of range (expected to be in range of {limits}, but got {-2 - ndim})")
    if not input._array.size:
        raise wrong(": input tensor cannot be empty.")
    if ndim > 3:
        raise wrong(f": expected a tensor with 3 or 4 dimensions, but got {ndim + 1}")
    half = sizes[-2] != n_fft if onesided is None else onesided
    if half and sizes[-2] != n_fft // 2 + 1:
        raise wrong(
            ": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when "
            f"onesided=True, but got {sizes[-2]}"
        )
    if not half and sizes[-2] != n_fft:
        raise wrong(
            ": expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when "
            f"onesided=False, but got {sizes[-2]}"
        )
    if not 0 < hop <= width:
        raise wrong(": expected 0 < hop_length <= win_length")
    if not 0 < width <= n_fft:
        raise wrong(": expected 0 < win_length <= n_fft")
    if window is not None and window._array.shape != (width,):
        raise wrong(": Invalid window shape. window has to be 1D and length of `win_length`")
    if return_complex:
        if half:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
    elif window is not None and window.dtype.is_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    parts = view_as_real(input)
    spectrum = view_as_complex(transpose(parts if ndim == 3 else unsqueeze(parts, 0), 1, 2))
    frames = _back(spectrum, 1 if normalized else 2, half, return_complex, n_fft)
    return _overlapped(frames, n_fft, hop, width, window, center, length, ndim == 2, wrong)


def _back(spectrum: Any, scale: int, half: bool, return_complex: bool, n_fft: int) -> Any:
    """The frames that have these transforms, as rows."""
    if return_complex:
        return fft_c2c(spectrum, (2,), scale, False)
    if not half:
        spectrum = cut(spectrum, 2, 0, n_fft // 2 + 1, 1)
    return fft_c2r(spectrum, (2,), scale, n_fft)


def _overlapped(
    frames: Any, n_fft: int, hop: int, width: int, window: Any, center: bool, length: Any, single: bool, wrong: Any
) -> Any:
    """The sum of the frames, each at its place, over the sum of the squared windows there."""
    kind = frames.dtype
    if window is None:
        window = COMPOSITES["ones"].function(width, dtype=_real_of(kind), device=frames.device)
    if width < n_fft:
        left = (n_fft - width) // 2
        window = pad(window, (left, n_fft - width - left))
    count = frames._array.shape[1]
    total = n_fft + hop * (count - 1)
    weighted = frames * window.view(1, 1, n_fft)
    signal = unfold_backward(weighted, (frames._array.shape[0], total), 1, n_fft, hop)
    squares = window.pow(2).expand(1, count, n_fft)
    envelope = unfold_backward(squares, (1, total), 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    end = min(end, total)
    signal, envelope = cut(signal, 1, start, end, 1), cut(envelope, 1, start, end, 1)
    refuse_empty("min", envelope._array, None)
    heights = np.abs(all_values(envelope))
    if heights.size and heights.min() < 1e-11:  # NaN is not
        raise wrong(f"window overlap add min: {1}\n[ CPUBoolType{{}} ]")
    restored = signal / envelope
    if single:
        restored = squeeze_dim(restored, 0)
    if length is not None and length > restored._array.shape[-1]:
        warn_once(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings."
        )
        restored = pad(restored, (0, length - restored._array.shape[-1]))
    return restored


def _real_of(kind: Any) -> Any:
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(kind, kind)
