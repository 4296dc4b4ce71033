"""What a call of an operation means: the interpreter of a row's Plan.

A call makes the inputs agree on a dtype, runs the kernel, and writes a record of what the rules will need
(``history.py``).  There is no other meaning: what is printed for speed says the same, for the everyday call, in fewer
steps.

What is not for the table alone goes through doors that are handed in: ``strangers`` (subclasses, transforms, autocast)
and ``shapes_only`` (meta tensors), both in ``ops/override.py``; ``into`` (``out=``), ``heard`` (listeners) and
``refusals``, in ``tensor/``.  Inputs that are not of one everyday dtype are made to agree in ``promotion.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ground import listening, modes
from ..ground.synonyms import in_pytorchs_words
from . import history
from . import row as rows
from .plan import Plan
from .record import OUTPUT, Record
from .row import Row
from .tensor import Tensor, wrap

#: Types of operands that are the table's own affair; classes of tensors that behave like Tensor add themselves.
ORDINARY: set[type] = {Tensor, float, int, bool, complex, type(None)}
NOT_TAKEN = listening.NOT_TAKEN
#: Arrays, the dtype they agreed on (None where they are of one everyday dtype already), and the dtype to which the
#: result must be rounded, if it is computed in a wider one.
Agreed = tuple[list[Any], Any, Any]
#: ``strangers(row, tensors, settings, out)`` gives an answer, or NOT_TAKEN, and the tensors to go on with.
strangers: Callable[..., tuple[Any, Sequence[Any]]] = NotImplemented
#: ``agree(row, flat)``: the arrays of any inputs, made to agree: from ``promotion.py``.
agree: Callable[..., Agreed] = NotImplemented
#: ``into(row, flat, out, answer)`` puts an answer into ``out=``: from ``tensor/out.py``.
into: Callable[..., Any] = NotImplemented
#: ``refuse_gradients(row, flat, out)`` raises where gradients would be wanted of what goes into ``out=``.
refuse_gradients: Callable[..., Any] = NotImplemented
#: ``shapes_only(row, given, settings)``: what a kernel gives for meta tensors.
shapes_only: Callable[..., Any] = NotImplemented
#: ``heard(function, meaning, row, tensors, settings, out)``: a call while somebody may be listening.
heard: Callable[..., Any] = NotImplemented
views: Any = NotImplemented  #: the file ``views.py``, imported when somebody asks for a view
refusals: Any = NotImplemented  #: PyTorch's errors, and its other readings of a call: the file ``tensor/refusals.py``


def call(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any = None) -> Any:
    """Call a row on whatever it was given: tensors in the order of its inputs, one list of them if it is listed."""
    flat = tensors[0] if row.listed else tensors
    if modes.unusual or not ORDINARY.issuperset(map(type, flat)):
        answer, tensors = strangers(row, tensors, settings, out)
        if answer is not NOT_TAKEN:
            return answer
        flat = tensors[0] if row.listed else tensors
    plan = row.plan
    if row.view:
        if not isinstance(flat[0], Tensor):
            raise refusals.wrong_type(row, flat)
        return views.view(row, flat[0], settings)
    if out is not None:
        refuse_gradients(row, flat, out)
    agreed = everyday_arrays(plan, flat)
    if agreed is None:
        if row.formerly and any([isinstance(setting, Tensor) for setting in settings]):
            tensors, settings = refusals.former(row, (*tensors, *settings))
            return call(row, tensors, settings, out)
        if row.fallback is not None:
            return row.fallback(*tensors, *settings)
    arrays, common, rounded = agreed or agree(row, flat)
    try:
        result = compute(row, arrays, settings)
    except Exception as error:
        numbers = refusals.read_numbers(row, arrays, settings, error)
        if numbers is None:
            raise
        return call(row, tensors, numbers, out)
    if rounded is not None:
        result = result.astype(rounded)
    outs = [wrap(array) for array in result] if row.outputs else [wrap(result)]
    edges = history.edges_of(row, flat)
    if edges:
        keeps_dtypes = not plan.retypes and (agreed is not None or _is_everyday(plan, flat, common, rounded))
        record = history.make_record(row, edges, flat, arrays, settings, common, keeps_dtypes)
        if record.fit is None and plan.broadcasts:
            record.fit = history.sizes_to_fit(plan, arrays, result)
        history.attach(plan, record, outs)
        if plan.saved_results:
            history.note_results(row, record, outs)
    if modes.unusual:
        _mark(outs)
    answer = tuple(outs) if row.outputs else outs[0]
    return answer if out is None else into(row, flat, out, answer)


def _mark(outs: Sequence[Tensor]) -> None:
    """Note what anomaly detection and inference mode want to know of results."""
    for out in outs:
        if modes.local.anomaly and isinstance(out._edge, Record):
            modes.local.anomaly.mark(out._edge.edges[0] if out._edge.kind is OUTPUT else out._edge)
        if modes.local.inference:
            out._inference = True


# -- what the kernel is given -----------------------------------------------------------------------------------------

def everyday_arrays(plan: Plan, flat: Sequence[Any]) -> Agreed | None:
    """The arrays of tensors that are all of one dtype that needs no promotion; None for any others."""
    arrays: list[Any] = []
    dtype = None
    for position, tensor in enumerate(flat):
        if not isinstance(tensor, Tensor):
            if tensor is not None or position not in plan.optional:
                return None
            arrays.append(None)
            continue
        array = tensor._array
        arrays.append(array)
        if position in plan.auxiliary:
            if array.dtype.metadata is not None:
                return None
        elif dtype is None:
            dtype = array.dtype  # that of a meta array equals a true one's
            if dtype not in plan.everyday_dtypes or dtype.metadata is not None:
                return None
        elif array.dtype is not dtype:
            return None
    return None if dtype is None else (arrays, None, None)


def _is_everyday(plan: Plan, flat: Sequence[Any], common: Any, rounded: Any) -> bool:
    """Whether inputs, numbers among them, agreed on an everyday dtype that all tensors have already."""
    return rounded is None and common in plan.everyday_dtypes and all(
        not isinstance(operand, Tensor) or operand._array.dtype is common or position in plan.auxiliary
        for position, operand in enumerate(flat)
    )  # fmt: skip


def compute(row: Row, arrays: Sequence[Any], settings: Sequence[Any]) -> Any:
    """What the kernel gives; of meta tensors, what is known of it."""
    operands = [arrays] if row.listed else arrays
    for array in arrays:
        if array is not None and array.dtype.metadata is not None:
            return shapes_only(row, operands, settings)
    try:
        result = row.kernel(*operands, *settings)
        return result if row.laid is None else row.laid(result, *operands)
    except (ValueError, NotImplementedError) as error:
        raise refusals.failed(row, arrays, error)  # noqa: B904


# -- the function that users call -------------------------------------------------------------------------------------


def caller_of(row: Row) -> Any:
    """The plain function that calls ``row``, with its inputs and settings by position or name."""
    return _function_of(row, call)


def operator_of(row: Row) -> Any:
    """What stands behind the row's Python operator: its caller, but strangers are left to the other operand."""
    return _function_of(row, call_operator)


def _function_of(row: Row, meaning: Callable[..., Any]) -> Any:
    def function(*args: Any, **named: Any) -> Any:
        call_ = partial(heard, function, meaning) if modes.watch else meaning
        return call_(row, *arguments(row, args, named))

    function.unheard = unheard_of(row, meaning)  # type: ignore[attr-defined]
    return function


def unheard_of(row: Row, meaning: Callable[..., Any]) -> Any:
    """The same function, which asks no listeners."""

    def function(*args: Any, **named: Any) -> Any:
        return meaning(row, *arguments(row, args, named))

    return function


def call_operator(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any = None) -> Any:
    """Call a row as a Python operator: NotImplemented where an operand is a stranger, who may answer himself."""
    for operand in tensors:
        if (operand is None or type(operand) not in ORDINARY) and not is_operand(operand):
            return NotImplemented
    try:
        return call(row, tensors, settings, out)
    except TypeError as error:
        if hasattr(error, "nobody_answered"):
            return NotImplemented
        raise


def is_operand(value: Any) -> bool:
    """Whether a value may stand beside a tensor at an operator."""
    return isinstance(value, (int, float, complex, np.generic)) or is_like_tensor(value)


def is_like_tensor(value: Any) -> bool:
    """Whether a value is a tensor, or of a type that may answer as one."""
    return isinstance(value, Tensor) or hasattr(type(value), "__torch_function__")


def arguments(row: Row, args: Sequence[Any], named: Mapping[str, Any] = {}) -> tuple[Any, Any, Any]:
    """The inputs, settings and ``out`` of a call; TypeError, in Python's words, where they do not fit."""
    plan, count = row.plan, len(row.inputs)
    if not named and len(args) == count and plan.usual is not None:
        return args, plan.usual, None
    left = in_pytorchs_words(named, plan.synonyms) if plan.synonyms else dict(named)
    out = None if row.out is None else left.pop("out", None)
    values = list(args)
    for name in plan.parameters[len(args) :]:
        if name in left or name in plan.defaults:
            values.append(left.pop(name) if name in left else plan.defaults[name])
    if left or len(values) != len(plan.parameters):
        raise refusals.misfit(row, args, named)
    return values[:count], values[count:], out


rows.make_caller, rows.make_operator = caller_of, operator_of
listening.between.add(__name__)
