"""Floor 6: what surrounds training: checkpointing of activations, data."""

from __future__ import annotations

from typing import Any

from ..ground.importing import load as _load

_MODULES = {
    "_pytree", "benchmark", "checkpoint", "cpp_extension", "data", "hooks", "model_zoo", "serialization", "tensorboard",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _load(f"{__name__}.{name}")
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
