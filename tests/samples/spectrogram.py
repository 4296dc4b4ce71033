"""Samples of transforms of short frames."""

from __future__ import annotations

from . import positive, sample, t

W = positive(4)

SAMPLES = [
    sample("stft", t(2, 10), 4, window=W, return_complex=True),
    sample("stft", t(10), 4, 2, window=W, return_complex=True),
    sample("stft", t(10), 4, 2, 3, positive(3), normalized=True, return_complex=True),
    sample("stft", t(2, 10), 4, 2, window=W, center=False, onesided=False, return_complex=True),
    sample("stft", t(2, 10), 4, window=W, pad_mode="constant", return_complex=False),
    sample("stft", t(10, kind="complex"), 4, 3, window=W, return_complex=True),
    sample("stft", t(9), 4, 1, 2, positive(2), False, return_complex=True, align_to_window=True),
    sample("istft", t(3, 5, kind="complex"), 4, 2, window=W),
    sample("istft", t(2, 3, 5, kind="complex"), 4, 2, window=W, length=9),
    sample("istft", t(3, 5, kind="complex"), 4, 2, 3, positive(3), normalized=True),
    sample("istft", t(4, 5, kind="complex"), 4, 2, window=W, center=False, onesided=False),
    sample("istft", t(2, 4, 5, kind="complex"), 4, 2, window=W, onesided=False, return_complex=True),
]
