"""The ``torch.cuda.amp`` namespace: the older names of automatic mixed precision, disabled where there is no GPU."""

from __future__ import annotations

from typing import Any

from ..amp import autocast_mode
from ..amp.autocast_mode import custom_bwd as _custom_bwd
from ..amp.autocast_mode import custom_fwd as _custom_fwd
from ..amp.former import FormerScaler, warn_of_name
from ..ground import dtypes


class autocast(autocast_mode.autocast):  # noqa: N801  PyTorch's name
    """``torch.amp.autocast("cuda", ...)`` by its deprecated name.

    Source: https://docs.pytorch.org/docs/stable/amp.html
    """

    def __init__(self, enabled: bool = True, dtype: Any = dtypes.float16, cache_enabled: bool = True) -> None:
        warn_of_name("cuda", "autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(FormerScaler):
    """``torch.amp.GradScaler("cuda", ...)`` by its deprecated name."""

    _former = "cuda"


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """``torch.amp.custom_fwd`` for ``device_type="cuda"``."""
    return _custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """``torch.amp.custom_bwd`` for ``device_type="cuda"``."""
    return _custom_bwd(bwd, device_type="cuda")


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
