"""The ``torch.functional`` namespace: where PyTorch keeps some functions of its own besides the package itself."""

from .ground.later import later

__getattr__, __dir__ = later(globals(), "torch.functional", {
    ".": """atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist
    chain_matmul einsum istft lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive
    unravel_index""",
})  # fmt: skip
