"""One module on several GPUs, and what is scattered over them: there is none, so the module is called itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ground.device import device as _device
from ..modules.module import Module


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
    module: Module, inputs: Any, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0,
    module_kwargs: Any = None,
) -> Any:  # fmt: skip
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


def gpu_index(target: Any) -> int:
    """The number of a GPU; ValueError for the CPU, AssertionError since there is no GPU."""
    device = target if isinstance(target, _device) else _device(target) if isinstance(target, str) else None
    if device is not None and device.type == "cpu":
        raise ValueError(f"Expected a non cpu device, but got: {device}")
    raise AssertionError("Torch not compiled with CUDA enabled")


def _named(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """One ``inputs`` for each of some GPUs, tensors cut along ``dim``; a tensor is refused, since there is no GPU."""
    if isinstance(inputs, Tensor):
        for target in target_gpus:
            gpu_index(target)
        raise AssertionError("Torch not compiled with CUDA enabled")
    if isinstance(inputs, (tuple, list)) and inputs:
        columns = zip(*(scatter(each, target_gpus, dim) for each in inputs), strict=False)
        if _named(inputs):
            return [type(inputs)(*column) for column in columns]
        return [tuple(column) if isinstance(inputs, tuple) else list(column) for column in columns]
    if isinstance(inputs, dict) and inputs:
        columns = zip(*(scatter(item, target_gpus, dim) for item in inputs.items()), strict=False)
        return [type(inputs)(column) for column in columns]
    return [inputs for _ in target_gpus]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """:func:`scatter` of positional and named arguments together."""
    positional = list(scatter(inputs, target_gpus, dim)) if inputs else []
    named = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    positional += [()] * (len(named) - len(positional))
    named += [{} for _ in range(len(positional) - len(named))]
    return tuple(positional), tuple(named)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """The outputs of several GPUs as one; tensors are refused, since there is no GPU."""
    first = outputs[0]
    if isinstance(first, Tensor):
        raise AssertionError("Gather function not implemented for CPU tensors")
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(each) != len(first) for each in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([each[key] for each in outputs], target_device, dim)) for key in first)
    parts = [gather(each, target_device, dim) for each in zip(*outputs, strict=True)]
    return type(first)(*parts) if _named(first) else type(first)(parts)
