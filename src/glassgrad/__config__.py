"""Roof: the ``torch.__config__`` namespace: what this package computes with."""

from __future__ import annotations

import platform

import numpy as np

from .ground.runtime import get_num_interop_threads, get_num_threads


def show() -> str:
    """A text that says with what operations are computed."""
    lines = [
        f"Python {platform.python_version()}", f"NumPy {np.__version__}, with its own linear algebra library",
        f"CPU capability usage: {platform.machine()}", "Build settings: BUILD_TYPE=Release, USE_CUDA=0, USE_MKL=OFF",
    ]  # fmt: skip
    return "\n".join(["PyTorch built with:", *(f"  - {line}" for line in lines), ""])


def parallel_info() -> str:
    """A text that says how many threads there are."""
    lines = [
        f"at::get_num_threads() : {get_num_threads()}",
        f"at::get_num_interop_threads() : {get_num_interop_threads()}",
    ]
    return "\n".join(["ATen/Parallel:", *(f"\t{line}" for line in lines), ""])


def _cxx_flags() -> str:
    """Empty: nothing is compiled ahead."""
    return ""
