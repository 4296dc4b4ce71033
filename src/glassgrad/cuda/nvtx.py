"""The ``torch.cuda.nvtx`` namespace where there is no NVTX: marks for a GPU's profiler are refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

_MISSING = "NVTX functions not installed. Are you sure you have a CUDA build?"


def mark(msg: str) -> NoReturn:
    """Refused, as in a PyTorch without CUDA."""
    raise RuntimeError(_MISSING)


def range_push(msg: str) -> NoReturn:
    """Refused, as in a PyTorch without CUDA."""
    raise RuntimeError(_MISSING)


def range_pop() -> NoReturn:
    """Refused, as in a PyTorch without CUDA."""
    raise RuntimeError(_MISSING)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Refused when entered, as in a PyTorch without CUDA."""
    range_push(msg)
    yield
