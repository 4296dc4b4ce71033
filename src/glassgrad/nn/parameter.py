"""What ``torch.nn.parameter`` holds: Parameter, Buffer; both are tensors that a Module registers on assignment."""

from __future__ import annotations

from typing import Any

from ..tensor import tensor as tensors
from ..tensor.parameter import Parameter
from ..tensor.tensor import LEAF, Tensor, alias, new


class _BufferMeta(type):
    """Lets ``isinstance(x, Buffer)`` hold for every tensor that was made a buffer, whatever its class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False):
            return True
        return super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a Module registers as a buffer when it is assigned: state that is no parameter.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Buffer.html
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = tensors.construct(Tensor)
        out: Any = alias(data)
        if type(data) is not Tensor:  # a subclass stays what it is
            out = new(type(data))
            out._d, out._e, out._v = data._d, None, data._v
        out._e = LEAF if data.requires_grad else None
        out.persistent = persistent
        out._is_buffer = True
        return out

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass


def is_lazy(param: Any) -> bool:
    """Whether a parameter waits for its shape: none does here."""
    return False


__all__ = ["Buffer", "Parameter", "is_lazy"]
