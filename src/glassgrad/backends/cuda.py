"""The ``torch.backends.cuda`` flags: those of attention have their effect, the others none, as there is no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..ops.composite.attention import allowed as _kernels  # what attention itself asks


def is_built() -> bool:
    """False."""
    return False


class _Matmul:
    """``torch.backends.cuda.matmul``: how matrix products would be rounded."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False
    fp32_precision = "none"


class _PlanCache:
    """``torch.backends.cuda.cufft_plan_cache``: an empty cache."""

    size = 0
    max_size = 0

    def clear(self) -> None:
        """Accepted without effect."""

    def __getitem__(self, device: Any) -> _PlanCache:
        return self


matmul = _Matmul()
cufft_plan_cache = _PlanCache()


def flash_sdp_enabled() -> bool:
    """Whether the flag is set."""
    return _kernels["flash"]


def mem_efficient_sdp_enabled() -> bool:
    """Whether the flag is set."""
    return _kernels["mem_efficient"]


def math_sdp_enabled() -> bool:
    """Whether the flag is set."""
    return _kernels["math"]


def cudnn_sdp_enabled() -> bool:
    """Whether the flag is set."""
    return _kernels["cudnn"]


def enable_flash_sdp(enabled: bool) -> None:
    """Set the flag."""
    _kernels["flash"] = bool(enabled)


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Set the flag."""
    _kernels["mem_efficient"] = bool(enabled)


def enable_math_sdp(enabled: bool) -> None:
    """Set the flag."""
    _kernels["math"] = bool(enabled)


def enable_cudnn_sdp(enabled: bool) -> None:
    """Set the flag."""
    _kernels["cudnn"] = bool(enabled)


def is_flash_attention_available() -> bool:
    """False."""
    return False


@contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> Iterator[None]:
    """A block with other flags of attention."""
    before = dict(_kernels)
    _kernels.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _kernels.update(before)


def preferred_linalg_library(backend: Any = None) -> str:
    """``"default"``: the choice between libraries of a GPU has no effect."""
    return "default"


preferred_blas_library = preferred_linalg_library
