"""The ``torch.random`` namespace: seeds and states of the default generator, and blocks that leave it as it was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .families.random.functions import get_rng_state, set_rng_state
from .ground.generator import Generator, default_generator, initial_seed, manual_seed, seed


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A block after which the default generator stands where it stood before."""
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def thread_safe_generator() -> Generator | None:
    """None: there are no worker threads with generators of their own."""
    return None


__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
    "thread_safe_generator",
]  # fmt: skip
