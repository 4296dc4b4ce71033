"""The ``torch.cuda.nccl`` namespace where there is no NCCL: asking for it is refused."""

from __future__ import annotations

from typing import Any, NoReturn


def version() -> NoReturn:
    """Refused: GPUs' own communication library is not there."""
    raise RuntimeError("NCCL is not available: there is no CUDA support; use the 'gloo' backend")


def is_available(tensors: Any) -> bool:
    """False."""
    return False
