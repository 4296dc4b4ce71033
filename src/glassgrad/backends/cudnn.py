"""The ``torch.backends.cudnn`` flags: kept, and without effect, as there is no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

enabled = True
benchmark = False
benchmark_limit: int | None = None
deterministic = False
allow_tf32 = True
fp32_precision = "none"
CUDNN_TENSOR_DTYPES: dict[Any, Any] = {}


def is_available() -> bool:
    """False."""
    return False


def version() -> int | None:
    """None: cuDNN is not there."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """False."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple[Any, ...]:
    """Set the flags that are given; the tuple of what all of them were before."""
    space = globals()
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32", "fp32_precision")
    before = tuple(space[name] for name in names)
    given = (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32, _fp32_precision)
    for name, value in zip(names, given, strict=True):
        if value is not None:
            space[name] = value
    return before


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """A block with other flags."""
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision)
    try:
        yield
    finally:
        set_flags(*before)


class _Rnn:
    """``torch.backends.cudnn.rnn``: a flag."""

    fp32_precision = "none"


class _Conv(_Rnn):
    """``torch.backends.cudnn.conv``: a flag."""


rnn, conv = _Rnn(), _Conv()
