"""What the older names of mixed precision share, which ``torch.cpu.amp`` and ``torch.cuda.amp`` hold: their warning."""

from __future__ import annotations

import warnings
from typing import ClassVar

from .grad_scaler import GradScaler


def warn_of_name(device: str, name: str) -> None:
    """Tell who made an object by an older name of the newer one."""
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. "
        f"Please use `torch.amp.{name}('{device}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class FormerScaler(GradScaler):
    """A GradScaler whose class, not an argument, names the device."""

    _former: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warn_of_name(self._former, "GradScaler")
        super().__init__(self._former, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
