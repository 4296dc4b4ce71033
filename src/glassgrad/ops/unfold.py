"""What a fused row owes to the operations it stands for: derivatives of its way back, and the nodes PyTorch shows.

A *form* says the same as the row in ordinary operations on Tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import engine, saved
from ..core.record import Record, freed, tick
from ..core.row import TABLE, Row
from ..core.tensor import LEAF, Tensor, edge_of, wrap
from ..families.shape.rows import on_arrays
from ..ground import modes
from ..tensor.node import UNFOLDED
from ..tensor.packed import lend


class Form:
    """A function of Tensors that gives what a row gives, and how many tensors of the way back are none of its own."""

    def __init__(self, function: Callable[..., Any], kept: int) -> None:
        self.function, self.kept = function, kept


FORMS: dict[str, Form] = {}


# -- the derivative of a way back --------------------------------------------------------------------------------------


def _on_arrays(
    name: str, cotangents: Sequence[Any], arrays: Sequence[Any], with_grad: Sequence[bool], needs: Sequence[bool],
    settings: tuple[Any, ...],
) -> list[Any]:  # fmt: skip
    before = modes.local.grad
    try:
        modes.set_grad(True)
        return _twice(name, cotangents, [wrap(array) for array in arrays], with_grad, needs, settings, False)
    finally:
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()


@on_arrays(_on_arrays)
def differentiated(
    name: str, cotangents: Sequence[Any], tensors: Sequence[Any], with_grad: Sequence[bool], needs: Sequence[bool],
    settings: tuple[Any, ...],
) -> list[Any]:  # fmt: skip
    """The gradients of ``tensors``, from which a way back made gradients that have the ``cotangents``.

    The tensors are the gradients of those results of the form that have one (``with_grad``), the form's inputs, and
    what the row kept.  The form is differentiated once to have what the way back gives, then that is differentiated.
    """
    alias = TABLE["alias"].caller
    variables = [
        alias(tensor) if needed else wrap(tensor._array) for tensor, needed in zip(tensors, needs, strict=True)
    ]  # each with an edge of its own, though one tensor may come twice
    return _twice(name, cotangents, variables, with_grad, needs, settings, True)


def _twice(
    name: str, cotangents: Sequence[Any], variables: Sequence[Any], with_grad: Sequence[bool], needs: Sequence[bool],
    settings: tuple[Any, ...], lifted: bool,
) -> list[Any]:  # fmt: skip
    form = FORMS[name]
    first_input = sum(with_grad)
    for place, tensor in enumerate(variables):  # a gradient of an input that needs none depends on those that do
        if tensor._edge is None and (needs[place] or first_input <= place < first_input + len(cotangents)):
            tensor._edge = LEAF
    arrived = iter(variables[:first_input])
    inputs = variables[first_input : len(variables) - form.kept]
    results = form.function(*inputs, *settings)
    roots = [(edge_of(out), next(arrived)) for out, has_grad in zip(results, with_grad, strict=False) if has_grad]
    roots = [(edge, grad) for edge, grad in roots if edge is not None]
    pairs = [(edge_of(tensor), c) for tensor, c in zip(inputs, cotangents, strict=False) if c is not None]
    pairs = [(edge, c) for edge, c in pairs if edge is not None]
    edges = [edge_of(tensor) if needed else None for tensor, needed in zip(variables, needs, strict=True)]
    wanted = [edge for edge in edges if edge is not None]
    firsts = engine.general(roots, retain_graph=True, lifted=True, inputs=[edge for edge, _ in pairs], accumulate=False)
    seeds = [(edge_of(first), c) for first, (_, c) in zip(firsts, pairs, strict=True) if first is not None]
    seeds = [(edge, c) for edge, c in seeds if edge is not None]
    if not seeds or not wanted:
        return [None] * len(variables)
    answers = engine.general(seeds, retain_graph=lifted, lifted=lifted, inputs=wanted, accumulate=False)
    by_edge = dict(zip(wanted, answers, strict=True))
    return [None if edge is None else by_edge[edge] for edge in edges]


# -- the nodes ---------------------------------------------------------------------------------------------------------


def unfolding(name: str, settings: tuple[str, ...] = ()) -> Callable[[Record], None]:
    """What turns a record into those of its form, whose ``settings`` are settings of the row."""

    def unfold(record: Record) -> None:
        row = record.kind.row
        positions = {key: position for key, (how, position) in row.plan.saves.items() if how == "constant"}
        is_freed = record.run is freed
        leaves: dict[Tensor, Tensor] = {}
        inputs = _stand_ins(record, leaves) if is_freed else _inputs(record)
        start = tick()
        before = modes.local.grad
        try:
            modes.set_grad(True)
            results = FORMS[name].function(*inputs, *[record.constants[positions[key]] for key in settings])
        finally:
            modes.off |= modes.local.me
            modes.local.grad = before
            modes.settle()
        edges = tuple(edge_of(out) for out in results)
        for inner in _renumbered(edges, start, record.sequence):
            if is_freed:
                _lead_to(inner, leaves)
                inner.release()
        record.edges, record.saved, record.kind, record.run = edges, (), UNFOLDED, UNFOLDED.run
        hooks = getattr(record, "_hooks", None)
        if hooks is not None and hooks.inner is not None:
            hooks.inner = UNFOLDED.run

    def as_form(row: Row, inputs: Sequence[Any], values: Sequence[Any]) -> Any:
        by_name = dict(zip(row.settings, values, strict=True))
        results = tuple(FORMS[name].function(*inputs, *[by_name[key] for key in settings]))
        return results + (None,) * (len(row.outputs) - len(results))  # a form has no reserve

    unfold.as_form = as_form  # type: ignore[attr-defined]  # what the row means while a function is transformed
    return unfold


def _inputs(record: Record) -> list[Tensor]:
    """The tensors that a record was made from, with their histories."""
    row = record.kind.row
    if not row.listed:
        return [saved.read(record, *row.plan.saves[name]) for name in row.inputs]  # type: ignore[misc]
    tensors = record.saved[2 * row.plan.saves["tensors"][1]]
    return [lend(tensor, edge) for tensor, edge in zip(tensors, record.edges, strict=True)]


def _stand_ins(record: Record, leaves: dict[Tensor, Tensor]) -> list[Tensor]:
    """Noughts in the place of the tensors that a freed record was made from; ``leaves`` are filled: whom for whom."""
    row = record.kind.row
    if row.listed:
        sizes = record.constants[row.plan.saves["tensors_sizes"][1]]
    else:
        sizes = [record.constants[row.plan.saves[f"{name}_sizes"][1]] for name in row.inputs]
    stand_ins: list[Tensor] = []
    for shape, edge in zip(sizes, record.edges, strict=True):
        tensor = wrap(np.zeros(shape, np.float32))
        if not stand_ins and "dense" in row.settings and not record.constants[row.plan.saves["dense"][1]]:
            tensor._array = np.zeros((shape[1], shape[0], *shape[2:]), np.float32).swapaxes(0, 1)
        if isinstance(edge, Tensor):
            tensor._edge = LEAF
            leaves[tensor] = edge
        else:
            tensor._edge = edge
        stand_ins.append(tensor)
    return stand_ins


def _renumbered(edges: Sequence[Any], start: int, end: float) -> list[Record]:
    """The records made since ``start``, each at its place in the order just before ``end``."""
    stack = [edge for edge in edges if isinstance(edge, Record)]
    reached = set(stack)
    while stack:
        for edge in stack.pop().edges:
            if isinstance(edge, Record) and edge.sequence > start and edge not in reached:
                reached.add(edge)
                stack.append(edge)
    order = sorted(reached, key=lambda record: record.sequence)
    for rank, record in enumerate(order):
        record.sequence = end - 0.25 + 0.25 * rank / len(order)
    return order


def _lead_to(record: Record, leaves: dict[Tensor, Tensor]) -> None:
    """Let a record's edges end at the true leaves."""
    record.edges = tuple(leaves.get(edge, edge) for edge in record.edges)
