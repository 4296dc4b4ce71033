"""Memory formats of convolutions' weights; the order of memory changes, no value does."""

from __future__ import annotations

from typing import Any, TypeVar

from ..modules import Module

T = TypeVar("T", bound=Module)


def _convert(module: Any, memory_format: Any, kinds: tuple[str, ...]) -> None:
    for part in module.modules():
        if any(cls.__name__ in kinds for cls in type(part).__mro__):
            part.weight.data = part.weight.detach().clone(memory_format=memory_format)


def convert_conv2d_weight_memory_format(module: T, memory_format: Any) -> T:
    """Lay the weights of all 2-d convolutions out in ``memory_format``; gives ``module``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.convert_conv2d_weight_memory_format.html
    """
    _convert(module, memory_format, ("Conv2d", "ConvTranspose2d"))
    return module


def convert_conv3d_weight_memory_format(module: T, memory_format: Any) -> T:
    """Lay the weights of all 3-d convolutions out in ``memory_format``; gives ``module``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.convert_conv3d_weight_memory_format.html
    """
    _convert(module, memory_format, ("Conv3d", "ConvTranspose3d"))
    return module


__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]
