"""The ``torch.xpu`` namespace as PyTorch has it on a machine without Intel's GPU."""

from __future__ import annotations

from typing import Any

from .ground.absent import refusal

_NOT_COMPILED = "Torch not compiled with XPU enabled"


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


is_initialized = is_bf16_supported = is_tf32_supported = is_available


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Accepted without effect."""
    int(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Accepted without effect."""


seed = seed_all = empty_cache


def _no_memory(device: Any = None) -> int:
    """0: no memory of a GPU is in use."""
    return 0


memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _no_memory


_REFUSED = (
    "current_device", "current_stream", "get_device_capability", "get_device_name", "get_device_properties",
    "get_rng_state", "init", "initial_seed", "mem_get_info", "set_device", "set_rng_state", "synchronize",
)  # fmt: skip
for _name in _REFUSED:
    globals()[_name] = refusal(_name, AssertionError, _NOT_COMPILED)

__all__ = [
    "device_count", "empty_cache", "is_available", "is_bf16_supported", "is_initialized", "is_tf32_supported",
    "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "memory_allocated",
    "memory_reserved", "seed", "seed_all", *_REFUSED,
]  # fmt: skip
