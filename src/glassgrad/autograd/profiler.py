"""The ``torch.autograd.profiler`` namespace; what it names is in a package above, and is looked up when asked for."""

from __future__ import annotations

from typing import Any

_NAMES = {
    "EventList", "FunctionEvent", "FunctionEventAvg", "emit_itt", "emit_nvtx", "profile", "record_function",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        from ..profiler import legacy  # the profiler listens to modules and optimizers, so it stands above them

        return getattr(legacy, name)
    raise AttributeError(f"module 'torch.autograd.profiler' has no attribute '{name}'")
