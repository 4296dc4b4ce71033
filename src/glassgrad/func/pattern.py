"""Which outputs of a function depend on which inputs: read off the graph of one call, record by record, generously.

For each place of the graph a set of pairs is kept, of an output and an element there on which it depends.  Rows that
work element by element, move elements or add them up along dimensions hand the pairs on one by one; of any other row,
each element of the result may depend on every element of each input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..core import engine
from ..core.record import OUTPUT, Bundle, Record
from ..core.tensor import edge_of
from ..ground import modes
from ..tensor.lifted import Lifted
from .per_sample import MOVES, POINTWISE

#: Rows that join tensors, move their elements or add them up: each goes to one place of the result, or to none.
JOINS = MOVES | {"cat", "stack", "flip", "roll", "slice_backward", "select_backward", "sum_dim", "sum"}
#: Rows that work element by element, on tensors that are broadcast.
BROADCAST = POINTWISE | frozenset(
    """expand pow where add_number sub_number rsub_number mul_number div_number sgn sign sigmoid_backward tanh_backward
    softplus_backward gelu_backward silu_backward leaky_relu_backward elu_backward threshold_backward""".split()
)


class Pairs(NamedTuple):
    """Which outputs depend on which elements of a tensor of ``shape``."""

    outputs: Any
    elements: Any
    shape: tuple[int, ...]


def pattern_of(func: Callable[..., Any], x: Any, of_gradient: bool = False) -> tuple[Any, Any]:
    """Rows and columns of the entries of the Jacobian of ``func``, or of its gradient, that may differ from nought."""
    from ..autograd.api import grad

    if isinstance(x, Lifted):
        raise RuntimeError("the pattern of a sparse matrix cannot be read off while a function is transformed: give it")
    before = modes.local.grad
    try:
        modes.set_grad(True)
        leaf = x.detach().requires_grad_()
        output = func(leaf)
        if of_gradient:
            (output,) = grad(output, leaf, create_graph=True, allow_unused=True, materialize_grads=True)
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()
    edge = edge_of(output)
    if edge is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    numbers = np.arange(output._array.size)
    pairs = _walk(edge, Pairs(numbers, numbers, output._array.shape), leaf, output._array.dtype)
    return pairs.outputs.astype(np.int64), pairs.elements.astype(np.int64)


def _walk(root: Any, start: Pairs, leaf: Any, kind: Any) -> Pairs:
    owed = engine.dependencies([root])
    inbox: dict[Any, list[Any]] = {root: [start]}
    order = count()
    ready: list[tuple[float, int, Any]] = [(0.0, next(order), root)]
    while ready:
        edge = heappop(ready)[2]
        arrived = inbox.pop(edge, [])
        if edge is leaf:
            return _joined(arrived) if arrived else Pairs(np.zeros(0, int), np.zeros(0, int), leaf._array.shape)
        if not isinstance(edge, Record):
            continue
        outgoing = _through(edge, arrived, kind) if arrived else [None] * len(edge.edges)
        for onward, pairs in zip(edge.edges, outgoing, strict=True):
            if onward is not None:
                if pairs is not None:
                    inbox.setdefault(onward, []).append(pairs)
                owed[onward] -= 1
                if not owed[onward]:
                    first = -onward.sequence if isinstance(onward, Record) else float("-inf")
                    heappush(ready, (first, next(order), onward))
    return Pairs(np.zeros(0, int), np.zeros(0, int), leaf._array.shape)


def _joined(arrived: Sequence[Pairs]) -> Pairs:
    """All pairs, each once."""
    shape = arrived[0].shape
    size = max(int(np.prod(shape)), 1)
    keys = np.unique(np.concatenate([pairs.outputs * size + pairs.elements for pairs in arrived]))
    return Pairs(keys // size, keys % size, shape)


def _through(record: Record, arrived: Sequence[Any], kind: Any) -> list[Any]:
    """The pairs at each input of a record."""
    if record.kind is OUTPUT:
        number, total = record.constants
        return [(number, total, _joined(arrived))]
    if type(arrived[0]) is tuple:  # results of a record with several
        total = arrived[0][1]
        by_number: list[Any] = [None] * total
        for number, _, pairs in arrived:
            by_number[number] = pairs
        grads: list[Any] = [None if pairs is None else np.ones(pairs.shape, kind) for pairs in by_number]
        outputs = np.unique(np.concatenate([pairs.outputs for pairs in by_number if pairs is not None]))
        shapes = _shapes(record, Bundle(grads))
        return [None if shape is None else _all(outputs, shape) for shape in shapes]
    pairs = _joined(arrived)
    row = record.kind.row
    shapes = _shapes(record, np.ones(pairs.shape, kind))
    if row is not None and (row.ufunc is not None or row.batched == "point" or row.name in BROADCAST):
        return [None if shape is None else _spread(pairs, shape) for shape in shapes]
    if row is not None and row.name in JOINS:
        numbers = np.arange(1.0, 1 + max(int(np.prod(pairs.shape)), 1)).reshape(pairs.shape)
        if numbers.size < 2**24:  # which float32 tells apart
            moved = engine.bare(record, numbers, True, False)
            return [None if shape is None else _moved(pairs, m) for shape, m in zip(shapes, moved, strict=True)]
    return [None if shape is None else _all(np.unique(pairs.outputs), shape) for shape in shapes]


def _shapes(record: Record, grad: Any) -> list[Any]:
    """The sizes of a record's inputs, as its rules tell; None where no gradient goes on."""
    outgoing = engine.bare(record, grad, True, False)
    return [
        None if edge is None or part is None else np.shape(part)
        for edge, part in zip(record.edges, outgoing, strict=True)
    ]


def _all(outputs: Any, shape: tuple[int, ...]) -> Pairs:
    """Each output with every element."""
    size = int(np.prod(shape))
    return Pairs(np.repeat(outputs, size), np.tile(np.arange(size), len(outputs)), shape)


def _spread(pairs: Pairs, shape: tuple[int, ...]) -> Pairs:
    """Through a row whose results have the elements that broadcasting puts there."""
    used = np.broadcast_to(np.arange(int(np.prod(shape))).reshape(shape), pairs.shape).reshape(-1)
    return Pairs(pairs.outputs, used[pairs.elements], shape)


def _moved(pairs: Pairs, moved: Any) -> Pairs:
    """Through a row that moved the elements whose numbers, from one, came back."""
    numbers = np.asarray(moved).reshape(-1).astype(np.int64)
    order = np.argsort(pairs.elements, kind="stable")
    elements = pairs.elements[order]
    first, last = np.searchsorted(elements, numbers - 1), np.searchsorted(elements, numbers - 1, side="right")
    lengths = last - first
    total = int(lengths.sum())
    at = np.repeat(first - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(total)
    return Pairs(pairs.outputs[order][at], np.repeat(np.arange(len(numbers)), lengths), np.shape(moved))
