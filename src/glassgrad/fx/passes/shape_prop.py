"""Runs a graph once and notes the shape and dtype of every value."""

from __future__ import annotations

import traceback
from typing import Any, NamedTuple

from ...core.tensor import Tensor
from ...ground import dtypes
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

_FORMATS = {dtypes.contiguous_format: None, dtypes.channels_last: 4, dtypes.channels_last_3d: 5}


class TensorMetadata(NamedTuple):
    """What is noted of a tensor."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Any, include_contiguity: bool = True) -> TensorMetadata:
    fitting = (
        kind for kind, dim in _FORMATS.items()
        if dim in (None, result.dim()) and result.is_contiguous(memory_format=kind)
    )  # fmt: skip
    kind = next(fitting, None) if include_contiguity else None
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), kind, False, {})


class ShapeProp(Interpreter):
    """Notes in ``node.meta["tensor_meta"]`` what each node gives, and its type in ``node.meta["type"]``.

    Source: https://docs.pytorch.org/docs/stable/fx.html
    """

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        """The value of a node."""
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        tensors = []

        def note(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            tensors.append(value)
            return _extract_tensor_metadata(value)

        noted = map_aggregate(result, note)
        if tensors:
            n.meta["tensor_meta"] = noted
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph with these arguments; gives the result."""
        return super().run(*args)
