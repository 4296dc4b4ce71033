"""The ``torch.backends`` namespace: flags of libraries that PyTorch may use, kept for the scripts that set them."""

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, nnpack, openmp, opt_einsum, quantized

__all__ = [
    "cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp", "opt_einsum", "quantized",
]  # fmt: skip
