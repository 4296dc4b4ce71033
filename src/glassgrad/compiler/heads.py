"""Attention whose queries, keys and values are parts of one array: their gradients are put where they belong in one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..families.attention.rows import factor
from ..kernels import compiled
from .program import Step, Value


def with_heads_joined(steps: list[Step], wanted: set[int]) -> list[Step]:
    """The steps with gradients of attention that are only put side by side written there at once."""
    makers = {v.number: step for step in steps for v in step.results}
    readers = Counter(value.number for step in steps for value in step.inputs)
    gone: dict[int, Step | None] = {}
    for step in steps:
        found = _parts(step, makers, readers, wanted)
        if found is not None:
            source, between, order = found
            gone.update(dict.fromkeys(map(id, between)))
            gone[id(source)] = Step(
                "kernel", "joined_attention_backward", _joined(order), source.operands, step.results
            )
            gone[id(step)] = None
    return [now for step in steps if (now := gone.get(id(step), step)) is not None]


def _parts(step: Step, makers: dict[int, Step], readers: dict[int, int], wanted: set[int]) -> Any:
    """Of a joining step: the attention's step, what lies between, and which gradient is in which place."""
    if step.kind != "kernel" or step.name != "cat" or len(step.operands) != 2 or step.operands[1] not in (2, -1):
        return None
    pieces = step.operands[0]
    if not isinstance(pieces, (list, tuple)) or len(pieces) != 3:
        return None
    if not step.results[0].dense or not step.results[0].size:
        return None
    between: list[Step] = []
    source: Step | None = None
    order = []
    for piece in pieces:
        flat = makers.get(piece.number) if isinstance(piece, Value) else None
        turned = _before(flat, "view", makers)
        found = _before(turned, "transpose", makers)
        if flat is None or turned is None or found is None or turned.operands[1:] != (1, 2):
            return None
        if source is not None and found is not source:
            return None
        source = found
        (value,) = turned.inputs
        n, heads, rows, width = value.shape if len(value.shape) == 4 else (0, 0, 0, 0)
        if piece.shape != (n, rows, heads * width) or value not in source.results:
            return None
        values = (piece, turned.results[0], value)
        if any(readers[v.number] != 1 or v.number in wanted for v in values):
            return None
        between += [flat, turned]
        order.append(source.results.index(value))
    if source is None or sorted(order) != [0, 1, 2] or source.name != "flash_attention_backward":
        return None
    mask, dropout = source.operands[6:8]
    kind = source.results[0].dtype
    if mask is not None or dropout or kind.str not in ("<f4", "<f8") or len(source.results) != 3:
        return None
    if any(isinstance(piece, Value) and piece.dtype != kind for piece in source.operands):
        return None
    return source, between, tuple(order)


def _before(step: Step | None, name: str, makers: dict[int, Step]) -> Step | None:
    """The step that made what a view of some name looks at."""
    if step is None or step.kind != "view" or step.name != name or not isinstance(step.operands[0], Value):
        return None
    return makers.get(step.operands[0].number)


def _joined(order: Sequence[int]) -> Any:
    def joined(
        grad: Any, query: Any, key: Any, value: Any, output: Any, logs: Any, mask: Any, dropout: Any, causal: Any,
        scale: Any,
    ) -> Any:  # fmt: skip
        kind, like = query.dtype, (query, key, value)
        n, _, _, width = query.shape
        ends = np.cumsum([0, *(like[which].shape[1] * width for which in order)]).tolist()
        whole = np.empty((n, query.shape[2], ends[3]), kind)
        into: list[Any] = [None] * 3
        for which, begin, end in zip(order, ends, ends[1:], strict=False):
            heads = like[which].shape[1]
            into[which] = whole[:, :, begin:end].reshape(n, -1, heads, width).transpose(0, 2, 1, 3)
        times = kind.type(factor(scale, width))
        made = compiled.attention.backward(grad, query, key, value, output, logs, None, causal, times, tuple(into))
        if made is None:
            from ..families.attention.rows import flash_attention_backward

            made = flash_attention_backward.row.kernel(
                grad, query, key, value, output, logs, mask, dropout, causal, scale
            )
            for place, part in zip(into, made, strict=True):
                place[...] = part
        return whole

    return joined
