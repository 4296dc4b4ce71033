"""The ``torch.mps`` namespace as PyTorch has it on a machine without Apple's GPU."""

from __future__ import annotations

from .ground.absent import refusal


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Accepted without effect."""
    int(seed)


_REFUSED = {
    "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory",
    "empty_cache": "emptyCache",
    "get_rng_state": "getDefaultGenerator",
    "recommended_max_memory": "getRecommendedMaxMemory",
    "seed": "getDefaultGenerator",
    "set_per_process_memory_fraction": "setMemoryFraction",
    "set_rng_state": "getDefaultGenerator",
    "synchronize": "deviceSynchronize",
}
for _name, _inner in _REFUSED.items():
    globals()[_name] = refusal(_name, RuntimeError, f"Cannot execute {_inner}() without MPS backend.")

__all__ = ["device_count", "is_available", "manual_seed", *_REFUSED]
