"""Saved tensors as the user's ``saved_tensors_hooks`` packed them."""

from __future__ import annotations

from typing import Any

from ..ground import modes
from .tensor import Tensor, wrap


class Packed:
    """A saved tensor as the user's ``saved_tensors_hooks`` packed it."""

    __slots__ = ("payload", "unpack", "edge", "is_result")

    def __init__(self, tensor: Tensor, edge: Any, is_result: bool, pair: tuple[Any, Any]) -> None:
        pack, self.unpack = pair
        version = 0 if tensor._counter is None else tensor._counter.version
        before = modes.local.grad
        try:
            modes.set_grad(False)
            self.payload = pack(tensor)
        finally:
            modes.local.grad = before
            modes.settle()
        self.edge, self.is_result = edge, is_result
        if is_result and self.payload is tensor:  # whose history is the record that keeps this: a cycle
            self.payload = Bare(tensor)
        if tensor._counter is not None and tensor._counter.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )

    def open(self, edge: Any) -> Tensor:
        """The tensor that the user's unpack hook gives, with ``edge`` as its history."""
        payload = self.payload
        tensor = self.unpack(lend(payload, edge) if type(payload) is Bare else payload)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return lend(tensor, edge)


class Bare:
    """The data and version of a result that a pack hook gave back as it was."""

    __slots__ = ("_array", "_counter")

    def __init__(self, tensor: Tensor) -> None:
        self._array, self._counter = tensor._array, tensor._counter


def lend(tensor: Any, edge: Any) -> Tensor:
    """A tensor on the same data whose history is ``edge``: a record, or the leaf that it stands for."""
    if tensor is edge:
        return edge
    out = wrap(tensor._array)
    out._edge, out._counter = edge, tensor._counter
    return out
