"""Networks: modules, their parameters, and the functions they call. Source: https://docs.pytorch.org/docs/stable/nn.html"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ground.later import later
from ..ops.built import unpublished
from .modules import __all__ as _layers

if TYPE_CHECKING:  # the same for type checkers, which read no strings
    from . import attention, common_types, functional, grad, init, modules, parallel, parameter, utils
    from .modules import *  # noqa: F403
    from .parallel import DataParallel
    from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__getattr__, __dir__ = later(globals(), "torch.nn", {
    ".modules": " ".join(_layers),
    ".parallel": "DataParallel",
    ".parameter": "Buffer Parameter UninitializedBuffer UninitializedParameter",
}, modules="attention common_types functional grad init modules parallel parameter utils",
   hint=unpublished)  # fmt: skip

__all__ = [
    *_layers, "Buffer", "DataParallel", "Parameter", "UninitializedBuffer", "UninitializedParameter", "attention",
    "common_types", "factory_kwargs", "functional", "grad", "init", "modules", "parallel", "parameter", "utils",
]  # fmt: skip


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """What of ``kwargs`` goes to functions that make tensors: device, dtype, memory_format; TypeError for the rest.

    They may also come in a dictionary under the name ``factory_kwargs``.
    """
    if kwargs is None:
        return {}
    accepted = {"device", "dtype", "memory_format"}
    unknown = kwargs.keys() - accepted - {"factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    merged = dict(kwargs.get("factory_kwargs", {}))
    for name in accepted & kwargs.keys():
        if name in merged:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        merged[name] = kwargs[name]
    return merged
