"""What a call remembers, and the way back: makes records by a row's Plan, and computes gradients from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground import modes
from . import plan as plans
from . import saved
from .fit import fit, fit_dtype, fit_lifted
from .plan import F32, Plan
from .record import Bundle, Fitting, Record, freed, output_of
from .row import TABLE, Row
from .tensor import Tensor, carries_gradients, edge_of, number_of, wrap

# -- the record -------------------------------------------------------------------------------------------------------


def edges_of(row: Row, flat: Sequence[Any]) -> tuple[Any, ...]:
    """The edges of the inputs that have rules; none where nothing is recorded."""
    if not row.plan.edges or (modes.off and not modes.grad_enabled()):
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
    cast: Any,
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
        record.fit = Fitting(sizes, dtypes, cast, conjugate)
    if row.listed and plan.saved_inputs:
        record.saved = tuple(flat), tuple(map(saved.version_of, flat))
    else:
        for _, position, readers in plan.saved_inputs:
            is_wanted = any([edges[reader] is not None for reader in readers])
            record.saved += _kept(row, flat[position], cast) if is_wanted else (None, 0)
    return record


def _constants(row: Row, arrays: Sequence[Any], settings: Sequence[Any]) -> tuple[Any, ...]:
    """The sizes and settings that the rules name."""
    if not row.plan.constants:
        return ()
    if row.lenient:
        settings = [number_of(setting) for setting in settings]
    return tuple([
        settings[at] if not is_size
        else [None if array is None else array.shape for array in arrays] if row.listed
        else None if arrays[at] is None else arrays[at].shape
        for is_size, at in row.plan.constants
    ])  # fmt: skip


def _kept(row: Row, operand: Any, cast: Any) -> tuple[Any, int]:
    """An input as a record saves it, with its version."""
    if operand is None or isinstance(operand, Tensor):
        return saved.keep(operand)
    dtype = F32 if row.single and cast.itemsize == 2 and cast.kind in "fV" else cast
    return wrap(np.asarray(operand).astype(dtype)[()]), 0  # a number: the hooks of saved tensors do not see it


def sizes_to_fit(plan: Plan, arrays: Sequence[Any], result: Any) -> tuple[Any, ...] | None:
    """The sizes that gradients must be fitted to; None where all are the result's."""
    if type(result) is not np.ndarray:  # one number: of numbers, or of a loss that sums up, whose rule spreads it
        return None
    shape, sizes = result.shape, []
    fits = True
    for position in plan.edge_positions(arrays):
        size = None if arrays[position] is None else arrays[position].shape
        fits = fits and (size is None or size == shape)
        sizes.append(size)
    return None if fits else tuple(sizes)


def attach(plan: Plan, record: Record, outs: Sequence[Tensor]) -> None:
    """Let the outputs that carry gradients point at their record, or at its outputs."""
    for number in plan.carry:
        if carries_gradients(outs[number]._array.dtype):  # not where a result became whole numbers
            outs[number]._edge = record if len(plan.carry) == 1 else output_of(record, number, len(outs))


def note_results(row: Row, record: Record, outs: Sequence[Tensor]) -> None:
    """Save the results that the rules read."""
    for _, number in row.plan.saved_results:
        record.saved += saved.keep_result(record, outs[number], row.plan.carry == (number,))


# -- the way back -----------------------------------------------------------------------------------------------------


def gradients(
    record: Record, grad: Any, keep: bool, lifted: bool = False, wanted: Sequence[bool] | None = None
) -> Sequence[Any]:
    """The gradients of a record's inputs, as arrays; ``lifted``: as Tensors, computed by recorded operations.

    wanted  the inputs that want one; where it is not given, all that have an edge do
    """
    if record.run is freed:
        freed(record, grad, keep)
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
    opened: dict[int, Any] = {}  # what a hook unpacks, it unpacks once, however many rules read it
    arrived = {"grad": grad, "grads": grads}
    for targets, reads, on_arrays, rule in row.plan.rules:
        if row.listed:
            targets = tuple(range(len(edges)))
        needs = tuple([edges[target] is not None and (wanted is None or wanted[target]) for target in targets])
        if True not in needs:
            continue
        arrived["needs"] = needs
        values = [
            arrived[source] if source in arrived
            else record.constants[slot] if source == "constant"
            else _saved(record, row, source, slot, cast, lifted, opened)
            for source, slot, cast in reads
        ]  # fmt: skip
        answer = (rule if lifted else on_arrays)(*values)
        if not row.listed and len(targets) == 1:
            answer = (answer,)
        for target, needed, gradient in zip(targets, needs, answer, strict=True):
            if gradient is not None and needed:
                if masked is not None:  # before fitting, which sums what broadcasting spread
                    gradient = masked(row, arriving, gradient)
                outgoing[target] = gradient if fit_ is None else _fitted(gradient, fit_, target, conjugate, lifted)
    if not keep:
        record.release()
    return outgoing


def gradients_lifted(record: Record, grad: Any, keep: bool) -> Sequence[Any]:
    """The same as Tensors."""
    return gradients(record, grad, keep, True)


plans.gradients, plans.gradients_lifted = gradients, gradients_lifted


def _saved(record: Record, row: Row, source: str, slot: int, cast: bool, lifted: bool, opened: dict[int, Any]) -> Any:
    """A saved value as a rule reads it: a Tensor if the rule is lifted, else its array."""
    if row.listed and source == "tensor":
        tensors = saved.read_list(record, slot)
        return tensors if lifted else [tensor._array for tensor in tensors]
    if slot not in opened:
        opened[slot] = saved.read(record, source, slot)
    tensor = opened[slot]
    if lifted or tensor is None:
        return tensor
    array = tensor._array
    dtype = record.fit.cast if cast and type(record.fit) is Fitting else None
    if dtype is not None and array.dtype is not dtype:
        if array.ndim or not row.single or dtype.itemsize > 2:
            array = array.astype(dtype)
    return array


def _fitted(gradient: Any, fit_: Any, target: int, conjugate: bool, lifted: bool) -> Any:
    """A gradient made to match the input behind its edge."""
    if type(fit_) is not Fitting:
        return fit_lifted(gradient, fit_[target], None) if lifted else fit(gradient, fit_[target])
    if conjugate:
        gradient = _conjugated(gradient, lifted)
    sizes, dtype = fit_.sizes[target], fit_.dtypes[target]
    if lifted:
        return fit_lifted(gradient, sizes, dtype)
    if not hasattr(gradient, "dtype"):
        gradient = np.asarray(gradient)
    return fit_dtype(fit(gradient, sizes), dtype)


def _conjugated(gradient: Any, lifted: bool) -> Any:
    return TABLE["conj_physical"].caller(gradient) if lifted else np.conj(gradient)
