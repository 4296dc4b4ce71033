"""``torch.nn.attention``: which ways of computing scaled dot-product attention are allowed."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...families.attention.functions import allowed, priority

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.Enum):
    """A way of computing attention; here are MATH, the plain composition, and FLASH_ATTENTION, the fused row.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.SDPBackend.html
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return int(self.value)


_OF = {
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "mem_efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
    "overrideable": SDPBackend.OVERRIDEABLE,
}


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The ways that are allowed now."""
    backends = [backend for name, backend in _OF.items() if allowed[name]]
    return sorted(backends, key=lambda backend: priority.index(int(backend))) if with_priority else backends


def _allow(backends: list[SDPBackend], set_priority: bool) -> None:
    for name, backend in _OF.items():
        allowed[name] = backend in backends
    if set_priority:
        first = [int(backend) for backend in backends]
        priority[:] = [*first, *(number for number in priority if number not in first)]


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """A block in which attention is computed in these ways only; RuntimeError where none of them serves.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, "
            f"got {type(backends).__name__}"
        )
    wanted = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    before = _cur_sdpa_kernel_backends(with_priority=set_priority)
    try:
        _allow(wanted, set_priority)
        yield {}
    finally:
        _allow(before, set_priority)


__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel"]
