"""One module on several devices or in several processes.

Source: https://docs.pytorch.org/docs/stable/nn.html#dataparallel-layers-multi-gpu-distributed
"""

from __future__ import annotations

import warnings
from typing import Any

from ...ground.paths import show_all
from .data_parallel import DataParallel, data_parallel, gather, parallel_apply, replicate, scatter
from .distributed import DistributedDataParallel

__all__ = [
    "DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter",
]  # fmt: skip
show_all(__name__, {"data_parallel": {"scatter_gather": "gather scatter scatter_kwargs"}})


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
