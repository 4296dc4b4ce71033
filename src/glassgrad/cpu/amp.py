"""The ``torch.cpu.amp`` namespace: the older names of automatic mixed precision on the CPU."""

from __future__ import annotations

from typing import Any

from ..amp import autocast_mode
from ..amp.former import FormerScaler, warn_of_name
from ..ground import dtypes


class autocast(autocast_mode.autocast):  # noqa: N801  PyTorch's name
    """``torch.amp.autocast("cpu", ...)`` by its deprecated name."""

    def __init__(self, enabled: bool = True, dtype: Any = dtypes.bfloat16, cache_enabled: bool = True) -> None:
        warn_of_name("cpu", "autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(FormerScaler):
    """``torch.amp.GradScaler("cpu", ...)`` by its deprecated name."""

    _former = "cpu"


__all__ = ["GradScaler", "autocast"]
