"""One module on several devices or in several processes.

Source: https://docs.pytorch.org/docs/stable/nn.html#dataparallel-layers-multi-gpu-distributed
"""

from __future__ import annotations

import warnings
from typing import Any

from .data_parallel import DataParallel, data_parallel, parallel_apply, replicate
from .distributed import DistributedDataParallel
from .scatter_gather import gather, scatter

__all__ = [
    "DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter",
]  # fmt: skip



class DistributedDataParallelCPU(DistributedDataParallel):
    """The old name of :class:`DistributedDataParallel`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`torch.nn.parallel.DistributedDataParallelCPU` is deprecated, please use "
            "`torch.nn.parallel.DistributedDataParallel` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)
