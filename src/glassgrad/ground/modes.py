"""The switches of the house: gradient mode, inference mode, and who is listening; knows no Tensor.

Each thread has its own switches.  The hot path reads two plain sets and asks the thread only when one is not empty:
``off`` has the threads that may be recording no gradients now, ``watch`` those with unusual modes and all who listen
to calls; ``unusual`` has no listeners, as who is only listened to computes in the everyday way.  ``transforming`` has
the threads that are calling a function on behalf of ``grad``, ``jvp`` or ``vmap``.

Ctrl-C may come at any call, also at that of a function which would put a switch back.  So a switch is put back by a
plain store, ``modes.local.grad = before``, where recording was on inside after ``modes.off |= modes.local.me``, and
``settle`` is called then.  The sets may name a thread too many, never one too few.
"""

from __future__ import annotations

import threading
from threading import get_ident
from typing import Any

off: set[int] = set()
watch: set[Any] = set()
unusual: set[Any] = set()
transforming: set[Any] = set()


class _Switches(threading.local):
    """One thread's switches, at their defaults."""

    grad = True
    inference = False
    anomaly: Any = None  # while anomalies are detected: who marks records and checks gradients, autograd/anomaly.py
    anomaly_check_nan = True
    autocast: Any = None  # the policy of the innermost autocast block
    saved_hooks: tuple[Any, ...] = ()  # what packs a tensor that is saved, the innermost block's last
    device: Any = None  # where new tensors live; None: on the cpu
    masked: Any = None  # while gradients are masked: what cleans those that a rule gives, of autograd/masked_mode.py

    def __init__(self) -> None:
        self.me = {get_ident()}


local = _Switches()


def grad_enabled() -> bool:
    """Whether this thread records what is computed."""
    if local.grad:
        off.difference_update(local.me)  # an interrupted block may have left it there
        return True
    return False


def set_grad(enabled: bool) -> None:
    """Switch recording on or off in this thread; ``local.grad = before`` puts it back."""
    global off
    if not enabled:
        off |= local.me
    local.grad = enabled


def set_anomaly(detector: Any, check_nan: bool) -> None:
    """Switch anomaly detection in this thread on, or off by None."""
    if detector is not None:
        expect_unusual()
    local.anomaly, local.anomaly_check_nan = detector, check_nan
    if detector is None:  # a block that begins makes no call after this: Ctrl-C would come before ``__exit__`` counts
        settle()


def expect_unusual() -> None:
    """Have calls of this thread ask for its modes, one of which is about to be an unusual one."""
    watch.update(local.me)
    unusual.update(local.me)


def settle() -> None:
    """Have this thread's calls be everyday ones again, as far as its switches are."""
    if local.grad:
        off.difference_update(local.me)
    unusual_here = local.inference or local.anomaly or local.autocast is not None or local.saved_hooks or local.masked
    if watch and not unusual_here:
        unusual.difference_update(local.me)
        watch.difference_update(local.me)
