"""The ``torch.signal`` namespace: it holds ``windows``, whose functions are those of the Fourier family."""

from __future__ import annotations

from ..ground.importing import load
from ..ground.later import cite
from ..ground.paths import show

show(
    f"{__name__}.windows",
    f"{__name__.partition('.')[0]}.families.fourier.windows",
    "bartlett blackman cosine exponential gaussian general_cosine general_hamming hamming hann kaiser nuttall",
)
windows = load(f"{__name__}.windows")
for _name in windows.__all__:
    cite(getattr(windows, _name), f"torch.signal.windows.{_name}")

__all__ = ["windows"]
