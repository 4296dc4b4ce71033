"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.tensor import Tensor
from ...ops.catalogue import FUNCTIONS
from ...tensor.typename import typename


def parameters_to_vector(parameters: Iterable[Any]) -> Tensor:
    """The elements of all parameters, one after the other."""
    return FUNCTIONS["cat"]([parameter.view(-1) for parameter in parameters])  # type: ignore[no-any-return]


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give the parameters the elements of ``vec``, whose memory they then share."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        end = start + parameter._array.size
        parameter.data = vec[start:end].view_as(parameter).data  # type: ignore[index]
        start = end
