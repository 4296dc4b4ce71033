"""What holds the parameters of modules: one vector for all, memory that nobody has filled, memory in another order."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, TypeVar

from ...core.tensor import Tensor
from ...ops.catalogue import FUNCTIONS
from ...tensor.typename import typename
from ..modules.module import Module


def _placed(parameters: Iterable[Any]) -> list[Any]:
    """The parameters, each asked for its device first: so what is none is refused in PyTorch's words."""
    return [parameter for parameter in parameters if parameter.device]


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """The elements of all parameters, one after the other."""
    return FUNCTIONS["cat"]([parameter.view(-1) for parameter in _placed(parameters)])  # type: ignore[no-any-return]


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give the parameters the elements of ``vec``, whose memory they then share."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in _placed(parameters):
        end = start + parameter._array.size
        parameter.data = vec[start:end].view_as(parameter).data  # type: ignore[index]
        start = end


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``module_cls(*args, **kwargs)`` with memory for its parameters, but nothing drawn into it.

    The class must take a ``device``. Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.skip_init.html
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)


T = TypeVar("T", bound=Module)


def _convert(module: Any, memory_format: Any, kinds: tuple[str, ...]) -> None:
    for part in module.modules():
        if any(cls.__name__ in kinds for cls in type(part).__mro__):
            part.weight.data = part.weight.detach().clone(memory_format=memory_format)


def convert_conv2d_weight_memory_format(module: T, memory_format: Any) -> T:
    """Lay the weights of all 2-d convolutions out in ``memory_format``; gives ``module``."""
    _convert(module, memory_format, ("Conv2d", "ConvTranspose2d"))
    return module


def convert_conv3d_weight_memory_format(module: T, memory_format: Any) -> T:
    """Lay the weights of all 3-d convolutions out in ``memory_format``; gives ``module``."""
    _convert(module, memory_format, ("Conv3d", "ConvTranspose3d"))
    return module
