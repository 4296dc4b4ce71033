"""Differentiation as users call it: ``backward``, ``grad``, custom Functions, checks and hooks."""

from __future__ import annotations

from sys import modules

from ..ground import listening
from ..ground.later import later
from .api import backward, grad
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck

__getattr__, __dir__ = later(globals(), "torch.autograd", {
    ".function": "Function",
    ".anomaly_mode": "detect_anomaly set_detect_anomaly",
    ".variable": "Variable",
    ".graph": "SavedTensor",
    ".grad_mode": "is_multithreading_enabled is_view_replay_enabled",
    ".masked_mode": "set_masked_gradients is_masked_gradients_enabled",
}, modules="anomaly_mode forward_ad functional graph masked_mode profiler variable")  # fmt: skip


def _profiler_enabled() -> bool:
    """Whether a profiler listens."""
    recorder = modules.get(f"{__name__.partition('.')[0]}.profiler.recorder")
    return recorder is not None and any(type(ear.listener.__self__) is recorder.Recorder for ear in listening.listeners
                                        if hasattr(ear.listener, "__self__"))  # fmt: skip


def _disable_profiler() -> None:
    """Nothing is left to stop: a profiler stops at the end of its block."""


__all__ = [
    "Function", "backward", "enable_grad", "grad", "gradcheck", "gradgradcheck", "inference_mode", "no_grad",
    "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip
