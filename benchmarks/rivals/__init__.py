"""The same workloads in the words of the rivals that do not have PyTorch's interface, from the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engines import UNWRITTEN, Absent, Engine, Step
from ..workloads import WORKLOADS
from . import autograd, jax, micrograd, mygrad, tinygrad

__all__ = ["make"]

_FAMILIES: dict[str, Mapping[str, Any]] = {
    "torch": WORKLOADS,
    "jax": jax.WORKLOADS,
    "autograd": autograd.WORKLOADS,
    "mygrad": mygrad.WORKLOADS,
    "micrograd": micrograd.WORKLOADS,
    "tinygrad": tinygrad.WORKLOADS,
}


def make(engine: Engine, workload: str, **sizes: object) -> Step:
    """A step of the workload for the engine; raises ``Absent`` where its maker is not written."""
    makers = _FAMILIES[engine.family]
    if workload not in makers:
        raise Absent(UNWRITTEN)
    step: Step = makers[workload](engine, **sizes)
    return step
