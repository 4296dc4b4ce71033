"""Differentiation as users call it: ``backward``, ``grad``, custom Functions, checks and hooks."""

from __future__ import annotations

import importlib
from typing import Any

from .api import backward, grad
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled

_HOMES = {
    "Function": "function", "detect_anomaly": "anomaly_mode", "set_detect_anomaly": "anomaly_mode",
    "gradcheck": "gradcheck", "gradgradcheck": "gradcheck",
}  # fmt: skip
_MODULES = {"function", "functional", "graph", "grad_mode", "anomaly_mode", "forward_ad", "variable", "profiler", "gradcheck"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "Variable":
        from ..tensor.tensor import Tensor

        return Tensor
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")


__all__ = ["backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]
