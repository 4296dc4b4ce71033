"""The Parameter: a leaf that a Module counts as its own."""

from __future__ import annotations

from typing import Any

from ..core import tensor as tensors
from ..core.call import ORDINARY
from ..core.tensor import Tensor, new, share
from ..ground import errors


class Parameter(Tensor):
    """A tensor that a Module registers when it is assigned as an attribute; requires gradients by default.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    __slots__ = ()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = tensors.construct(Tensor)
        elif not isinstance(data, Tensor):
            data = data.detach()
        if type(data._array) in tensors.carried_by:
            raise NotImplementedError(
                "a sparse tensor cannot be a Parameter: use x.to_dense(), x.requires_grad_(), or register_buffer"
            )
        share(data)
        out = new(cls)
        out._array, out._edge, out._counter = data._array, None, data._counter
        if requires_grad and out._array.dtype.kind not in "fc" and not out.dtype.is_floating_point:
            if type(data) not in (Tensor, Parameter):  # of which PyTorch asks it by ``requires_grad_``
                raise RuntimeError(errors.ONLY_FLOATS_IN_PLACE)
            raise RuntimeError("O" + errors.ONLY_FLOATS[1:])  # here PyTorch writes it with a capital
        tensors.require_grad(out, requires_grad)
        return out

    def __init__(self, *args: Any, **more: Any) -> None:
        """Nothing: a subclass may take arguments of its own in ``__new__`` alone."""

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


ORDINARY.add(Parameter)
__all__ = ["Parameter"]
