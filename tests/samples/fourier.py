"""Samples of Fourier transforms."""

from __future__ import annotations

from . import sample, t


def c(*shape: int):
    """A complex tensor."""
    return t(*shape, kind="complex")


SAMPLES = [
    sample("fft.fft", t(3, 5)),
    sample("fft.fft", t(3, 5), 4, 0),
    sample("fft.fft", c(3, 4), norm="ortho"),
    sample("fft.fft", c(3, 4), 2, norm="forward"),
    sample("fft.ifft", t(3, 5)),
    sample("fft.ifft", c(3, 4), 6, 1),
    sample("fft.rfft", t(3, 5)),
    sample("fft.rfft", t(3, 6), dim=0, norm="ortho"),
    sample("fft.irfft", t(3, 5)),
    sample("fft.irfft", c(3, 4), 7),
    sample("fft.irfft", c(3, 4), 4, 0, "forward"),
    sample("fft.hfft", t(3, 4)),
    sample("fft.hfft", c(3, 4), 5, norm="ortho"),
    sample("fft.ihfft", t(3, 5)),
    sample("fft.ihfft", t(4, 3), 6, 0),
    sample("fft.fft2", t(3, 4)),
    sample("fft.fft2", c(2, 3, 4), (4, 2)),
    sample("fft.ifft2", c(3, 4), norm="ortho"),
    sample("fft.rfft2", t(3, 4)),
    sample("fft.rfft2", t(2, 3, 5), dim=(0, 1)),
    sample("fft.irfft2", c(3, 4)),
    sample("fft.irfft2", c(3, 4), (2, 5), norm="forward"),
    sample("fft.hfft2", c(3, 4)),
    sample("fft.hfft2", t(3, 3), (4, 3)),
    sample("fft.ihfft2", t(3, 4)),
    sample("fft.ihfft2", t(3, 4), (2, 5), norm="ortho"),
    sample("fft.fftn", t(2, 3, 4)),
    sample("fft.fftn", c(2, 3), (-1, 4)),
    sample("fft.ifftn", c(2, 3, 4), dim=(0, 2)),
    sample("fft.rfftn", t(2, 3, 4), (3, 4)),
    sample("fft.irfftn", c(2, 3, 4)),
    sample("fft.irfftn", c(2, 3), (3, -1)),
    sample("fft.hfftn", c(2, 3, 4)),
    sample("fft.hfftn", t(4)),
    sample("fft.ihfftn", t(2, 3, 4)),
    sample("fft.ihfftn", t(4)),
    sample("fft.fftshift", t(3, 4)),
    sample("fft.ifftshift", t(3, 5), 1),
    sample("fft.fftshift", t(3, 4), (0,)),
]
