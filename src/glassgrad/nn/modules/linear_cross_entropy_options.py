"""How PyTorch may split ``linear_cross_entropy`` into pieces: settings that are checked and kept."""

from __future__ import annotations

from dataclasses import dataclass

from ...ground import dtypes


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """Settings of the piecewise ``linear_cross_entropy``, which trades time for memory; results are the same.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.LinearCrossEntropyOptions.html
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtypes.dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in {"auto", "accurate", "balanced", "compact"}:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        method = self.chunking_method
        if method is not None and method != "auto":
            name, colon, factor = method.partition(":")
            factor = factor if colon else "1"
            if name != "aspect_ratio" or not factor.isdigit() or int(factor) <= 0:
                raise ValueError(f"invalid chunking_method: {method!r}")
        size = self.batch_chunk_size
        if size is not None and (not isinstance(size, int) or size <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        kinds = (None, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
        if self.acc_dtype not in kinds:
            raise ValueError(
                "acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, torch.float64}, got "
                f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )


__all__ = ["LinearCrossEntropyOptions"]
