"""The way back of one operation: its rules are called with what was saved, and their answers made to fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground import modes
from ..ground.meta import in_single
from . import saved
from .fit import fit, fit_dtype, fit_lifted
from .record import Bundle, Fitting, Record, freed
from .row import TABLE, Row


def gradients_of(
    record: Record, grad: Any, retain_graph: bool, lifted: bool, wanted: Sequence[bool] | None
) -> Sequence[Any]:
    """The gradients of a record's inputs, as arrays; ``lifted``: as Tensors, computed by recorded operations.

    wanted  which inputs want one; where it is None, all that have an edge do
    """
    if record.run is freed:
        freed(record, grad, retain_graph)
    row: Row = record.kind.row
    fit_ = record.fit
    conjugate = type(fit_) is Fitting and fit_.conjugate
    grads: Any = None
    if type(grad) is Bundle:
        grads = [_conjugated(g, lifted) if conjugate and g is not None else g for g in grad.grads]
        grad = grads[row.differentiable[0]] if row.outputs else None
    elif conjugate:
        grad = _conjugated(grad, lifted)
    edges = record.edges
    arriving = grad if grads is None else grads
    masked = modes.local.masked if modes.unusual else None
    outgoing: list[Any] = [None] * len(edges)
    kept = [] if row.listed else [where for where in row.plan.saves.values() if where[0] != "constant"]
    opened = {slot: saved.read(record, source, slot) for source, slot in kept}  # all of it, and once: hooks may count
    arrived = {"grad": grad, "grads": grads}
    for numbers, reads, on_arrays, rule in row.plan.rules:
        if row.listed:
            numbers = tuple(range(len(edges)))
        needs = tuple([edges[number] is not None and (wanted is None or wanted[number]) for number in numbers])
        if not any(needs):
            continue
        arrived["needs"] = needs
        values = [
            arrived[source] if source in arrived
            else record.constants[slot] if source == "constant"
            else read_saved(record, row, source, slot, promoted, lifted, opened)
            for source, slot, promoted in reads
        ]  # fmt: skip
        if row.widens and not lifted:
            values = [*map(in_single, values)]
        answer = (rule if lifted else on_arrays)(*values)
        if not row.listed and len(numbers) == 1:
            answer = (answer,)
        for number, needed, gradient in zip(numbers, needs, answer, strict=True):
            if gradient is not None and needed:
                if masked is not None:  # before fitting, which sums what broadcasting spread
                    gradient = masked(row, arriving, gradient)
                outgoing[number] = gradient if fit_ is None else _fitted(gradient, fit_, number, conjugate, lifted)
    if not retain_graph:
        record.release()
    return outgoing


def read_saved(
    record: Record, row: Row, source: str, slot: int, promoted: bool, lifted: bool, opened: dict[int, Any]
) -> Any:
    """A saved value as a rule reads it: a Tensor if the rule is lifted, else its array."""
    if row.listed and source == "tensor":
        tensors = saved.read_list(record, slot)
        return tensors if lifted else [tensor._array for tensor in tensors]
    tensor = opened[slot] if slot in opened else saved.read(record, source, slot)
    dtype = record.fit.common if promoted and type(record.fit) is Fitting else None
    if dtype is None or tensor is None or tensor._array.dtype == dtype:
        return tensor if lifted or tensor is None else tensor._array
    array = tensor._array
    if not array.ndim and row.single and dtype.itemsize <= 2:  # one number counts in float32
        return tensor if lifted else array
    if lifted:  # whole numbers would wrap around, truth values are refused; others meet as operations have them meet
        return TABLE["to_copy"].caller(tensor, dtype, array.dtype) if array.dtype.kind in "biu" else tensor
    return array.astype(dtype)


def _fitted(gradient: Any, fit_: Any, number: int, conjugate: bool, lifted: bool) -> Any:
    """A gradient made to match the input behind its edge."""
    if type(fit_) is not Fitting:
        return fit_lifted(gradient, fit_[number], None) if lifted else fit(gradient, fit_[number])
    if conjugate:
        gradient = _conjugated(gradient, lifted)
    sizes, dtype = fit_.sizes[number], fit_.dtypes[number]
    if lifted:
        return fit_lifted(gradient, sizes, dtype)
    if not hasattr(gradient, "dtype"):
        gradient = np.asarray(gradient)
    return fit_dtype(fit(gradient, sizes), dtype)


def _conjugated(gradient: Any, lifted: bool) -> Any:
    return TABLE["conj_physical"].caller(gradient) if lifted else np.conj(gradient)
