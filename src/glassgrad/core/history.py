"""What a call remembers: which edges its gradients go to, and the record, made by the row's Plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground import modes
from .plan import F32, Plan, gradients
from .record import Fitting, Record, output_of
from .row import Row
from .tensor import Tensor, carries_gradients, edge_of, number_of, share, version_of, wrap


def edges_of(row: Row, flat: Sequence[Any]) -> tuple[Any, ...]:
    """The edges of the inputs that have rules; none where nothing is recorded."""
    if not row.plan.ruled_inputs or (modes.off and not modes.grad_enabled()):
        return ()
    edges = []
    recorded = False
    for position in row.plan.edge_positions(flat):
        operand = flat[position]
        edge = edge_of(operand) if isinstance(operand, Tensor) else None
        recorded = recorded or edge is not None
        edges.append(edge)
    return tuple(edges) if recorded else ()


def make_record(
    row: Row,
    edges: tuple[Any, ...],
    flat: Sequence[Any],
    arrays: Sequence[Any],
    settings: Sequence[Any],
    common: Any,
    keeps_dtypes: bool = False,
) -> Record:
    """A record of one call, with its inputs, sizes and settings saved; results are noted when they exist.

    ``keeps_dtypes`` says that no gradient can have another dtype than its input.
    """
    plan = row.plan
    record = Record.of(plan.kind, edges, _constants(row, arrays, settings))
    record.run = gradients  # not the kind's, which may be printed, and knows neither a Fitting nor packed values
    if not keeps_dtypes:
        conjugate = row.holomorphic and any(array is not None and array.dtype.kind == "c" for array in arrays)
        positions = plan.edge_positions(flat)
        sizes = [None if arrays[index] is None else arrays[index].shape for index in positions]
        dtypes = [flat[index]._array.dtype if isinstance(flat[index], Tensor) else None for index in positions]
        record.fit = Fitting(sizes, dtypes, common, conjugate)
    if row.listed and plan.saved_inputs:
        record.saved = tuple(flat), tuple(map(version_of, flat))
    else:
        for _, position, readers in plan.saved_inputs:
            is_wanted = any([edges[reader] is not None for reader in readers])
            record.saved += _kept(row, edges, position, flat[position], common) if is_wanted else (None, 0)
    return record


def _constants(row: Row, arrays: Sequence[Any], settings: Sequence[Any]) -> tuple[Any, ...]:
    """The sizes and settings that the rules name."""
    if not row.plan.constants:
        return ()
    if row.lenient:
        settings = [number_of(setting) for setting in settings]
    return tuple([
        settings[at] if fact is None
        else [None if array is None else getattr(array, fact) for array in arrays] if row.listed
        else None if arrays[at] is None else getattr(arrays[at], fact)
        for fact, at in row.plan.constants
    ])  # fmt: skip


def _kept(row: Row, edges: Sequence[Any], position: int, operand: Any, common: Any) -> tuple[Any, int]:
    """An input (a Tensor, a number, or None) as a record saves it: the value, and the version it has.

    Of a result that nobody has written the array will do: the tensor can be made again of it and of its history.
    """
    if operand is None:
        return None, 0
    if not isinstance(operand, Tensor):
        dtype = F32 if row.single and common.itemsize == 2 and common.kind in "fV" else common
        return wrap(np.asarray(operand).astype(dtype)[()]), 0  # which the hooks of saved tensors do not see
    if modes.watch and modes.local.saved_hooks:
        return modes.local.saved_hooks[-1](operand, edge_of(operand), False), 0
    if type(operand) is Tensor and operand._counter is None and type(operand._edge) is Record:
        ruled = row.plan.ruled_inputs
        if position in ruled and edges[ruled.index(position)] is operand._edge:
            return operand._array, -1
    return operand, version_of(operand)


def sizes_to_fit(plan: Plan, arrays: Sequence[Any], result: Any) -> tuple[Any, ...] | None:
    """The sizes that gradients must be fitted to; None where all are the result's."""
    if type(result) is not np.ndarray:  # one number: of numbers, or of a loss that sums up, whose rule spreads it
        return None
    sizes = tuple([None if arrays[at] is None else arrays[at].shape for at in plan.edge_positions(arrays)])
    return None if all([size is None or size == result.shape for size in sizes]) else sizes


def attach(plan: Plan, record: Record, outs: Sequence[Tensor]) -> None:
    """Let the outputs that carry gradients point at their record, or at its outputs."""
    for number in plan.carry:
        if carries_gradients(outs[number]._array.dtype):  # not where a result became whole numbers
            outs[number]._edge = record if len(plan.carry) == 1 else output_of(record, number, len(outs))


def note_results(row: Row, record: Record, outs: Sequence[Tensor]) -> None:
    """Save the results that the rules read."""
    for _, number in row.plan.saved_results:
        record.saved += _kept_result(record, outs[number], row.plan.carry == (number,))


def _kept_result(record: Record, out: Tensor, alone: bool) -> tuple[Any, Any]:
    """An output as its own record saves it: the bare array, as the record is its history, and the version.

    ``alone`` says that no other output carries gradients: then the record knows its version counter, once there is
    one.  Else the counter, which is new, is made and saved in the place of the version.
    """
    if modes.watch and modes.local.saved_hooks:
        return modes.local.saved_hooks[-1](out, None, True), 0
    if not alone:
        counter = share(out)
        return out._array, counter
    record.counter = out._counter
    return out._array, version_of(out)
