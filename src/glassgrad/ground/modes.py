"""The switches of the house: gradient mode, inference mode, and who is listening; knows no Tensor.

Each thread has its own switches.  The hot path reads two plain counters and asks the thread only when one is not zero:
``off`` says how many threads record no gradients now, ``watch`` how many unusual modes are active and how many listen
to calls; ``unusual`` counts the modes alone, as who is only listened to computes in the everyday way.
"""

from __future__ import annotations

import threading
from typing import Any

off = 0
watch = 0
unusual = 0
_lock = threading.Lock()


class _Switches(threading.local):
    """One thread's switches, at their defaults."""

    grad = True
    inference = False
    anomaly = False
    anomaly_check_nan = True
    autocast: Any = None  # the policy of the innermost autocast block

    def __init__(self) -> None:
        self.saved_hooks: list[tuple[Any, Any]] = []
        self.function_modes: list[Any] = []


local = _Switches()


def grad_enabled() -> bool:
    """Whether this thread records what is computed."""
    return local.grad


def set_grad(enabled: bool) -> bool:
    """Switch recording on or off in this thread; gives the setting before."""
    global off
    before = local.grad
    if before != enabled:
        local.grad = enabled
        with _lock:
            off += -1 if enabled else 1
    return before


def watching(change: int, listening: bool = False) -> None:
    """Count one more (or one fewer) unusual mode, for which calls are not everyday; or one that is listening."""
    global watch, unusual
    with _lock:
        watch += change
        unusual += 0 if listening else change


def set_inference(enabled: bool) -> bool:
    """Switch inference mode in this thread; gives the setting before."""
    before = local.inference
    if before != enabled:
        local.inference = enabled
        watching(1 if enabled else -1)
    return before


def set_autocast(policy: Any) -> None:
    """Set this thread's autocast policy; None switches it off."""
    before = local.autocast
    local.autocast = policy
    if (before is None) != (policy is None):
        watching(-1 if policy is None else 1)


def set_anomaly(enabled: bool, check_nan: bool = True) -> tuple[bool, bool]:
    """Switch anomaly detection in this thread; gives the settings before."""
    before = local.anomaly, local.anomaly_check_nan
    if before[0] != enabled:
        local.anomaly = enabled
        watching(1 if enabled else -1)
    local.anomaly_check_nan = check_nan
    return before
