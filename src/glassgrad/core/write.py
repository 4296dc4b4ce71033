"""In-place writes: refusals first, then the write, the version, and the new history."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ground import dtypes, errors, listening, modes
from ..ground.exposed import is_exposed
from . import call, history, views
from .plan import F32, F64, I64
from .record import Record, VersionCounter
from .row import Row
from .tensor import LEAF, Tensor, View, edge_of, share, wrap

ndarray = np.ndarray
#: A quicker write for the everyday call, if there is one: ``quick_write(row, target, others, settings)`` tells whether
#: it served.
quick_write: Callable[..., bool] | None = None
#: ``strangers(row, target, others, settings)`` gives what is written where others have a say, or NOT_TAKEN; it is in
#: ``ops/override.py``, as the door of that name in ``call.py``.
strangers: Callable[..., Any] = NotImplemented


def check_fits(target: Tensor, shape: tuple[int, ...]) -> None:
    """Raise PyTorch's error where a result of ``shape`` would not fit into ``target``."""
    if shape != target._array.shape:
        raise RuntimeError(
            f"output with shape {list(target._array.shape)} doesn't match the broadcast shape {list(shape)}"
        )


def _check_shape(row: Row, arrays: Sequence[Any], target: Tensor) -> None:
    """Raise PyTorch's error where the operands do not broadcast to the shape of ``target``."""
    check_fits(target, call.check_broadcast(row, arrays))


def memory(target: Any) -> Any:
    """The array of a tensor that may be written without a further question; None where more must be asked."""
    if not isinstance(target, Tensor) or type(target) not in call.ORDINARY or modes.unusual:
        return None
    if target._edge is not None and not (modes.off and not modes.grad_enabled()):
        return None
    data = target._array
    if type(data) is not ndarray:
        if type(data) is not np.float32:
            return None
        share(target)
        data = target._array
    dtype = data.dtype
    if (dtype is not F32 and dtype is not F64 and dtype is not I64) or target._inference or 0 in data.strides:
        return None
    return data


def in_place(row: Row, target: Tensor, others: Sequence[Any], settings: Sequence[Any], asked: bool = False) -> Tensor:
    """Compute a row and write its result into ``target``; gives ``target``.

    Nothing is changed unless everything succeeds.  Listeners are asked first, unless they were ``asked``.
    """
    if modes.watch and listening.listeners and not asked:
        write = partial(in_place, asked=True)
        return listening.heard(in_place, write, (row, target, others, settings), {})  # type: ignore[no-any-return]
    if quick_write is not None and not modes.unusual and quick_write(row, target, others, settings):
        return target
    if not call.ORDINARY.issuperset(map(type, (target, *others))):
        answer = strangers(row, target, others, settings)
        if answer is not call.NOT_TAKEN:
            return answer  # type: ignore[no-any-return]
    if not isinstance(target, Tensor):
        raise TypeError(f"{row.name}_(): argument 'self' (position 1) must be Tensor, not {type(target).__name__}")
    if type(target._edge) is View and modes.grad_enabled():
        views.check_origin(target._edge)
    flat = (target, *(operand.item() if isinstance(operand, np.generic) else operand for operand in others))
    edges = history.edges_of(row, flat)
    check_writable(target, bool(edges), row.constant)  # first histories, then memory, shapes, dtypes, as in PyTorch
    if not row.one_value:
        check_overlap(target)
    for name, other in zip(row.inputs[1:], others, strict=False):
        if isinstance(other, Tensor):
            if (row.aligned or not row.out) and name not in row.disjoint:
                check_overlap_with(target, other)
            if other._array.dtype.metadata and not target._array.dtype.metadata:
                raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    agreed = call.everyday_arrays(row.plan, flat)
    if agreed is None:
        agreed = call.agree(row, flat, True)
        cast = agreed[1]
        if not (cast is None or row.truth or dtypes.can_cast(dtypes.of(cast), target.dtype)):
            _check_shape(row, agreed[0], target)
            check_cast(cast, target)
    arrays, cast, _ = agreed
    try:
        result = call.compute(row, arrays, settings)
    except Exception as error:
        if target.requires_grad and modes.grad_enabled():  # of which PyTorch tells first, whatever the operation
            check_writable(target, True)
        if "out of bounds" in str(error):  # it looks at memory before the values of indices
            _check_apart(row, target, others)
        if call.is_elementwise(row):
            _check_shape(row, arrays, target)
        numbers = call.read_numbers(row, arrays, settings, error)
        if numbers is None:
            raise
        return in_place(row, target, others, numbers, asked)
    check_fits(target, result.shape)
    _check_apart(row, target, others)
    record = None
    if edges:
        before = (_old_value(row, edges, target), *flat[1:])
        record = history.make_record(row, edges, before, arrays, settings, cast)
    store(target, result)
    if record is not None:
        finish(target, record, lambda: history.note_results(row, record, [target]))
    return target


def _check_apart(row: Row, target: Tensor, others: Sequence[Any]) -> None:
    """Raise PyTorch's error where what is read lies on what is written, though it may not."""
    for name, other in zip(row.inputs[1:], others, strict=False):
        if name in row.disjoint and isinstance(other, Tensor):
            check_overlap_with(target, other, True)


def _old_value(row: Row, edges: Sequence[Any], target: Tensor) -> Tensor:
    """A copy of what will be written over, if a rule will read it; else the target itself."""
    readers = [user for _, position, users in row.plan.inputs if position == 0 for user in users]
    if not any([edges[reader] is not None for reader in readers]):
        return target
    edge = edge_of(target)
    return _copied(target, None if isinstance(edge, Tensor) else edge)


def _copied(tensor: Tensor, edge: Any) -> Tensor:
    """A copy with a history that is another tensor's, whose writes do not concern it."""
    copy = wrap(np.array(tensor._array))
    copy._edge, copy._counter = edge, VersionCounter()
    return copy


def apart(target: Tensor, value: Tensor) -> Tensor:
    """A value of the same history in memory of its own, where it lies on what is written and no rule will read it."""
    if type(value) not in call.ORDINARY or not np.may_share_memory(target._array, value._array):
        return value
    edge = edge_of(value)
    return value if isinstance(edge, Tensor) else _copied(value, edge)


def finish(target: Tensor, record: Record, note: Callable[[], None]) -> None:
    """Give the memory just written its new history."""
    share(target).writer = weakref.ref(record)
    if modes.local.anomaly:
        modes.local.anomaly.mark(record)
    if type(target._edge) is View:
        views.rebase(target, record)
        note()
    else:
        old = edge_of(target)
        extras = getattr(old, "_about", None)
        target._edge = record
        note()
        if extras is not None and extras.is_retained_for(target):
            extras.retain = None
            target.retain_grad()


def store(target: Tensor, result: Any) -> None:
    """Write an array into a tensor's memory and count the version up."""
    version = share(target)
    if target._array.dtype.metadata is not None:  # on meta there is nothing to write
        version.version += 1
        return
    if type(result) is ndarray and np.may_share_memory(result, target._array):
        result = result.copy()
    np.copyto(target._array, result, casting="unsafe")
    version.version += 1


def check_cast(cast: np.dtype[Any], target: Tensor) -> None:
    """Raise PyTorch's error where a result cannot be stored in ``target``'s dtype."""
    dtype = dtypes.of(cast)
    if not dtypes.can_cast(dtype, target.dtype):
        raise RuntimeError(
            f"result type {dtype.scalar_name} can't be cast to the desired output type {target.dtype.scalar_name}"
        )


def check_writable(target: Tensor, recorded: bool, constant: bool = False) -> None:
    """Raise PyTorch's error where the history of ``target`` forbids that it is written in place.

    ``constant`` is an operation that has no gradient.
    """
    if target._lifted:
        return  # its history is its level's, which is asked when it writes
    edge = target._edge
    if recorded or (modes.grad_enabled() and not constant):
        if edge is LEAF:
            raise RuntimeError(errors.LEAF_INPLACE)
        if type(edge) is View:
            views.check_writable(target, edge, recorded)
    if target._array.dtype.kind == "c" and is_conjugate(target):
        raise RuntimeError(errors.CONJUGATE)
    if target._inference and not modes.local.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
            "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def is_conjugate(tensor: Tensor) -> bool:
    """Whether a tensor came from ``conj``, or is a view of one that did: numbers of its own, which PyTorch has not."""
    base = tensor._edge.base if type(tensor._edge) is View else tensor
    return getattr(base, "_conjugate", None) is not None


def check_overlap(target: Tensor) -> None:
    """Raise PyTorch's error where several elements of ``target`` are one place in memory."""
    if is_doubled(target._array):
        raise RuntimeError(errors.OVERLAP)


def is_doubled(data: Any) -> bool:
    """Whether several elements of an array are one place in memory, because it was expanded."""
    if type(data) is not ndarray or 0 not in data.strides or not data.size or data.dtype.metadata is not None:
        return False
    return any(not stride and size > 1 for size, stride in zip(data.shape, data.strides, strict=True))


def check_overlap_with(target: Tensor, other: Tensor, disjoint: bool = False) -> None:
    """Raise PyTorch's error where a tensor that is read lies partly on the one that is written, or at all."""
    if target is other:
        if disjoint:
            raise RuntimeError(errors.PARTIAL_OVERLAP)
        return
    if target._lifted or other._lifted:
        return  # asked of what they stand for, when that is written
    a, b = target._array, other._array
    if (target._counter is None or target._counter is not other._counter) and not np.may_share_memory(a, b):
        return
    if a.size == 0 or b.size == 0 or not (_is_dense(a) and _is_dense(b)):
        return
    if target._counter is not other._counter and is_exposed(a) and is_exposed(b):
        return  # NumPy's memory that was handed in twice is two storages to PyTorch
    start, first = a.ctypes.data, b.ctypes.data
    if (disjoint or not is_same_memory(a, b)) and start < first + b.nbytes and first < start + a.nbytes:
        raise RuntimeError(errors.PARTIAL_OVERLAP)


def is_same_memory(a: Any, b: Any) -> bool:
    """Whether two arrays see the same places of one memory in the same order."""
    if type(a) is not ndarray or type(b) is not ndarray:
        return False
    return a.ctypes.data == b.ctypes.data and a.strides == b.strides and a.shape == b.shape and a.dtype == b.dtype


def _is_dense(array: Any) -> bool:
    span = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)) + array.itemsize
    return span == array.nbytes
