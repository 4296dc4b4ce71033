"""The ``torch.backends.mkldnn`` flags: kept, and without effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
deterministic = False
allow_tf32 = False
fp32_precision = "none"


def is_available() -> bool:
    """False: oneDNN is not there."""
    return False


@contextmanager
def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> Iterator[None]:
    """A block with other flags."""
    space = globals()
    names = ("enabled", "deterministic", "allow_tf32", "fp32_precision")
    before = {name: space[name] for name in names}
    space.update(enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32, fp32_precision=fp32_precision)
    try:
        yield
    finally:
        space.update(before)
