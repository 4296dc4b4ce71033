"""The ``torch._dynamo._trace_wrapped_higher_order_op`` namespace: indexing by batches of numbers, as it is anyway."""

from __future__ import annotations


class TransformGetItemToIndex:
    """A block in which ``x[index]`` takes an index that stands for a batch; it does so everywhere."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None
