"""Fourier transforms and windows beside the samples: words of errors, sizes, a signal there and back."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.counts import generated
from tests.laws import array
from tests.torch_reference import torch

pytestmark = pytest.mark.torch
ENGINES = (glassgrad, torch)
WORDS = """
F.fft(o(4).half()) | F.fft(o(4), 0) | F.fft(o(0)) | F.fft(o(())) | F.fft(o(4), dim=2) | F.fft(o(4), norm='x')
F.rfft(c) | F.irfft(c, 0) | F.irfft(c[:, :1]) | F.ihfft(c) | F.rfftn(c) | F.fftn(o(3, 4), (2,), (0, 1))
F.fftn(o(3, 4), (2,)) | F.fftn(o(3, 4), (2, 2, 2)) | F.fftn(o(3, 4), dim=(0, 0)) | F.fftn(o(3, 4), dim=(0, 3))
F.fftn(o(3, 4), (0, 2)) | F.fftn(o(())) | F.irfftn(o(())) | F.rfftn(o(())) | F.hfftn(o(())) | F.ihfftn(c)
F.fft2(o(4)) | F.fft2(o(3, 4), dim=(0,)) | F.fftfreq(5) | F.fftfreq(4, 0.5) | F.fftfreq(0)
F.rfftfreq(5, dtype=torch.float64) | F.fftshift(o(4), 2) | F.fftshift(torch.arange(4))
F.ifftshift(torch.arange(5)) | F.fft(o(4), out=torch.empty(4)) | F.fft(1) | torch.stft(o(10), 4, window=h(4))
torch.stft(o(10), 20, return_complex=True) | torch.stft(o(10), 0, return_complex=True)
torch.stft(o(10), 4, 0, return_complex=True) | torch.stft(o(10), 4, 1, 5, return_complex=True)
torch.stft(o(10), 4, window=o(3), return_complex=True) | torch.stft(o(2, 3, 10), 4, return_complex=True)
torch.stft(o(10).long(), 4, return_complex=True) | torch.stft(o(10).cfloat(), 4, onesided=True)
torch.stft(o(10), 4, align_to_window=True) | o(10).stft(4, return_complex=True) | torch.istft(o(3, 5), 4)
torch.istft(c[:, :3], 4, 2) | torch.istft(c, 4, 5) | torch.istft(c, 4, 2, 5) | torch.istft(c, 4, 2, window=o(3))
torch.istft(c, 4, 2, window=h(4), center=False) | torch.istft(c, 4, 2, length=20)
torch.istft(c, 4, 2, onesided=False) | torch.istft(c, 4, 2, return_complex=True)
torch.istft(c, 4, 2, window=o(4).cfloat()) | torch.istft(c[0], 4, 2) | torch.hann_window(4) | torch.hann_window(0)
torch.hann_window(1) | torch.hann_window(-1) | torch.hann_window(2.5) | torch.hann_window(4, dtype=torch.long)
torch.hann_window(4, dtype=torch.half) | torch.hann_window(4, dtype=torch.cfloat)
torch.hamming_window(5, False, 0.5, 0.25) | torch.hann_window(4, requires_grad=True) | torch.kaiser_window(1)
W.hann(0) | W.hann(1) | W.hann(-1) | W.hann(4, dtype=torch.long) | W.gaussian(5, std=0)
W.exponential(5, center=2) | W.exponential(5, tau=-1) | W.kaiser(5, beta=-1) | W.general_cosine(5, a=[])
W.general_cosine(5, a=3) | W.blackman(-1)
"""


def outcome(engine, expression):
    """The text of a result or of an error."""
    names = {
        "torch": engine, "F": engine.fft, "W": engine.signal.windows, "o": engine.ones, "h": engine.hann_window,
        "c": engine.ones(3, 4, dtype=engine.cfloat),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = repr(eval(expression, names))
        except Exception as error:
            found = f"{type(error).__name__}: {error}".split("\nException raised")[0]
    return found.replace("-0.", "0.")


@pytest.mark.parametrize("expression", [e.strip() for line in WORDS.strip().split("\n") for e in line.split(" | ")])
def test_words_are_torchs(expression):
    """Results print, and errors read, as torch's."""
    assert outcome(glassgrad, expression) == outcome(torch, expression)


NAMES = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@generated(60)
@given(
    st.sampled_from(NAMES), st.sampled_from(["", "n"]), st.lists(st.integers(2, 5), min_size=1, max_size=3),
    st.sampled_from([None, "forward", "ortho", "backward"]), st.integers(1, 7), st.booleans(), st.data(),
)  # fmt: skip
def test_any_sizes_and_scales(name, many, sizes, norm, length, single, data):
    """Values and gradients of any transform, size and scale are torch's, in the precision of the input."""
    rng = np.random.default_rng(len(sizes) + length)
    given = rng.standard_normal(sizes)
    if name in ("irfft", "hfft") or (name in ("fft", "ifft") and data.draw(st.booleans())):
        given = given + 1j * rng.standard_normal(sizes)
    given = given.astype({"f": "float32", "c": "complex64"}[given.dtype.kind] if single else given.dtype)
    axis = data.draw(st.integers(-len(sizes), len(sizes) - 1))
    how = {"s": (length,), "dim": (axis,)} if many else {"n": length, "dim": axis}
    if data.draw(st.booleans()):
        how.pop("s" if many else "n")
    found = []
    for engine in ENGINES:
        leaf = engine.from_numpy(given.copy()).requires_grad_()
        out = getattr(engine.fft, name + many)(leaf, norm=norm, **how)
        weights = np.cos(np.arange(int(np.prod(out.shape)))).reshape(tuple(out.shape))
        (grad,) = engine.autograd.grad(out, leaf, engine.from_numpy(weights).to(out.dtype))
        found.append((array(out), array(grad)))
    tolerance = 3e-6 if single else 1e-12
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(b).max())))


@generated(25)
@given(st.sampled_from([4, 5, 8]), st.integers(1, 4), st.integers(12, 40), st.booleans(), st.booleans())
def test_a_signal_there_and_back(n_fft, hop, length, normalized, onesided):
    """``istft`` undoes ``stft``; both are torch's."""
    signal = np.random.default_rng(length).standard_normal((2, length))
    found = []
    for engine in ENGINES:
        window = engine.hamming_window(n_fft, dtype=engine.float64)
        there = engine.from_numpy(signal).stft(
            n_fft, hop, window=window, normalized=normalized, onesided=onesided, return_complex=True
        )
        frames = there.shape[-1]
        last = min(length, (frames - 1) * hop + 1)  # beyond the middle of the last frame not all is covered
        back = there.istft(n_fft, hop, window=window, normalized=normalized, onesided=onesided, length=last)
        found.append((array(there), array(back)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
    np.testing.assert_allclose(found[0][1], signal[:, :last], atol=1e-9)


WINDOWS = ["hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"]
SIGNAL = ["bartlett", "blackman", "cosine", "exponential", "gaussian", "hamming", "hann", "kaiser", "nuttall"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [1, 2, 3, 6, 7, 50])
@pytest.mark.parametrize("flag", [True, False])
def test_windows(length, flag, dtype):
    """Every window is torch's to rounding: periodic or symmetric, even and odd."""
    tolerance = 4e-7 if dtype == "float32" else 1e-15

    def same(function):
        ours, theirs = (array(function(engine, getattr(engine, dtype))) for engine in ENGINES)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=4 * tolerance, atol=tolerance)

    for name in WINDOWS:
        same(lambda t, kind, name=name: getattr(t, name)(length, flag, dtype=kind))
    for name in SIGNAL:
        same(lambda t, kind, name=name: getattr(t.signal.windows, name)(length, sym=flag, dtype=kind))
    same(lambda t, kind: t.signal.windows.general_cosine(length, a=[0.4, 0.3, 0.2, 0.1], sym=flag, dtype=kind))
    same(lambda t, kind: t.signal.windows.general_hamming(length, alpha=0.6, sym=flag, dtype=kind))
    same(lambda t, kind: t.kaiser_window(length, flag, 3.5, dtype=kind))


@pytest.mark.parametrize("part", ["x[:, 3:]", "x[:, ::2]", "x[1:, 2:15]", "x.t().contiguous().t()", "x[0, 4:]"])
@pytest.mark.parametrize("is_leaf", [True, False])
def test_frames_of_a_signal_that_lies_within_another(part, is_leaf):
    found = []
    for engine in (torch, glassgrad):
        x = engine.arange(40.0).view(2, 20).sin().requires_grad_(not is_leaf)
        signal = eval(part, {"x": x})  # noqa: S307  the tests' own
        leaf = signal.requires_grad_() if is_leaf else x
        frames = engine.stft(signal, 4, 2, window=engine.hann_window(4), center=False, return_complex=True)
        frames.abs().square().sum().backward()
        found.append([frames.detach().resolve_conj().numpy(), leaf.grad.numpy()])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)
