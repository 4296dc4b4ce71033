"""The ``torch.accelerator`` namespace as PyTorch has it on a machine without an accelerator."""

from __future__ import annotations

from .ground.absent import refusal
from .ground.device import device

_NONE = "Cannot access accelerator device when none is available."


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def current_accelerator(check_available: bool = False) -> device | None:
    """None."""
    return None


def device_count() -> int:
    """0."""
    return 0


class device_index:  # noqa: N801  PyTorch's name
    """A block with another current accelerator; with None, nothing changes."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device

    def __enter__(self) -> None:
        if self.idx is not None:
            raise RuntimeError(_NONE)

    def __exit__(self, *exception: object) -> None:
        return None


_REFUSED = (
    "current_device_index", "current_device_idx", "set_device_index", "set_device_idx", "current_stream", "set_stream",
    "synchronize", "get_device_capability", "empty_cache", "memory_stats", "memory_allocated", "max_memory_allocated",
    "memory_reserved", "max_memory_reserved", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
    "get_memory_info",
)  # fmt: skip
for _name in _REFUSED:
    globals()[_name] = refusal(_name, RuntimeError, _NONE)

__all__ = ["current_accelerator", "device_count", "device_index", "is_available", *_REFUSED]
