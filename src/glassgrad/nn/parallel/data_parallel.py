"""DataParallel and its parts: several GPUs for one process; without a GPU, the module itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..modules.module import Module
from .scatter_gather import gpu_index

__all__ = ["DataParallel", "data_parallel", "parallel_apply", "replicate"]


class DataParallel(Module):
    """``module`` on several GPUs, each with a part of the batch; where there is none, ``module`` itself.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.DataParallel.html
    """

    def __init__(
        self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What ``module`` gives."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """``module(*inputs)`` on several GPUs: refused, since there is none."""
    raise RuntimeError("device type could not be determined")


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """Copies of a module on several GPUs: refused, since there is none."""
    for target in devices:
        gpu_index(target)
    raise AssertionError("Torch not compiled with CUDA enabled")


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """The outputs of modules that run at the same time on several GPUs: refused, since there is none."""
    sentence = f"The number of modules {len(modules)} is not equal to the number of "
    for name, values in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if values is not None and len(values) != len(modules):
            raise AssertionError(f"{sentence}{name} {len(values)}")
    for target in devices or ():
        gpu_index(target)
    raise RuntimeError("Cannot access accelerator device when none is available.")
