"""Differentiation as users call it: ``backward``, ``grad``, custom Functions, checks and hooks."""

from __future__ import annotations

from sys import modules
from typing import Any

from ..ground import listening
from ..ground.importing import load as _load
from .api import backward, grad
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck

_HOMES = {
    "Function": "function",
    "detect_anomaly": "anomaly_mode", "set_detect_anomaly": "anomaly_mode", "Variable": "variable",
    "SavedTensor": "graph", "is_multithreading_enabled": "grad_mode", "is_view_replay_enabled": "grad_mode",
    "set_masked_gradients": "masked_mode", "is_masked_gradients_enabled": "masked_mode",
}  # fmt: skip
_MODULES = {"anomaly_mode", "forward_ad", "functional", "graph", "masked_mode", "profiler", "variable"}


def _profiler_enabled() -> bool:
    """Whether a profiler listens."""
    recorder = modules.get(f"{__name__.partition('.')[0]}.profiler.recorder")
    return recorder is not None and any(type(ear.listener.__self__) is recorder.Recorder for ear in listening.listeners
                                        if hasattr(ear.listener, "__self__"))  # fmt: skip


def _disable_profiler() -> None:
    """Nothing is left to stop: a profiler stops at the end of its block."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(_load(f"{__package__}.{_HOMES[name]}"), name)
    if name in _MODULES:
        return _load(f"{__package__}.{name}")
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")


__all__ = [
    "Function", "backward", "enable_grad", "grad", "gradcheck", "gradgradcheck", "inference_mode", "no_grad",
    "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip
