"""The ``torch.functional`` namespace: where PyTorch keeps some functions of its own besides the package itself."""

from __future__ import annotations

from typing import Any

_NAMES = {
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod",
    "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank",
    "tensordot", "unique", "unique_consecutive", "unravel_index",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        from .ops.catalogue import FUNCTIONS

        if name in FUNCTIONS:
            return FUNCTIONS[name]
    raise AttributeError(f"module 'torch.functional' has no attribute '{name}'")
