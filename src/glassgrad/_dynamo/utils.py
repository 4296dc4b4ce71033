"""The ``torch._dynamo.utils`` names that packages ask for."""

from __future__ import annotations

from typing import Any

counters: dict[str, Any] = {}


def is_compile_supported(device_type: Any) -> bool:
    """Whether ``torch.compile`` takes programs on a device: on the CPU."""
    return str(device_type) in ("cpu", "CPU")
