"""The ``torch.version`` namespace: which PyTorch this behaves as."""

from __future__ import annotations

#: The version of PyTorch whose behaviour is the specification.
TORCH = "2.13.0"
__version__ = f"{TORCH}+glassgrad"
debug = False
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
git_version = "unknown"
