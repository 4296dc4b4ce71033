"""In-place writes and ``out=``: refusals first, then the write, the version, and the new history."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..ground import dtypes, errors, listening, modes
from ..ground.exposed import is_exposed
from ..ground.runtime import warn
from . import anomaly, call, history, lifted, views
from .plan import F32, F64, I64
from .record import Record, VersionCounter
from .row import Row
from .tensor import LEAF, Tensor, View, edge_of, share, wrap

ndarray = np.ndarray
#: A quicker write for the everyday call, if there is one: ``quick_write(row, target, others, settings)`` tells whether
#: it served.
quick_write: Callable[..., bool] | None = None
#: What the name of a row that is not public has behind the name of the function that users call.
_FORM = re.compile("_(dim|all|numbers?|tensors?|decimals|rounded|parts|from|of|value|stable)$")


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
        call.heed((target, *others))
    if modes.transforming and lifted.is_lifted((target, *others)):
        return lifted.write(row, target, others, settings)  # type: ignore[no-any-return]
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
        numbers = call.read_numbers(row, arrays, settings, error)
        if numbers is None:
            raise
        return in_place(row, target, others, numbers, asked)
    check_fits(target, result.shape)
    for name, other in zip(row.inputs[1:], others, strict=False):
        if name in row.disjoint and isinstance(other, Tensor):
            check_overlap_with(target, other, True)
    record = None
    if edges:
        before = (_old_value(row, edges, target), *flat[1:])
        record = history.make_record(row, edges, before, arrays, settings, cast)
    store(target, result)
    if record is not None:
        finish(target, record, lambda: history.note_results(row, record, [target]))
    return target


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
        anomaly.mark(record)
    if type(target._edge) is View:
        views.rebase(target, record)
        note()
    else:
        old = edge_of(target)
        extras = getattr(old, "_about", None)
        target._edge = record
        note()
        if extras is not None and extras.retain is not None and extras.retain() is target:
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
    if modes.transforming and isinstance(target, lifted.Lifted):
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
    if modes.transforming and lifted.is_lifted((target, other)):
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


class Composed(NamedTuple):
    """What ``out=`` asks of a row, of a function of several: see ``Columns.out``."""

    name: str
    out: str = errors.OUT_DTYPE
    castable: bool = False  #: whether ``out`` may have any dtype that the result can be cast to
    copied: bool = False  #: whether PyTorch copies the result into ``out``, which may have a history
    inputs: tuple[str, ...] = ()
    disjoint: frozenset[str] = frozenset()
    aligned: bool = False
    inplace: bool = False
    constant: bool = False
    ruleless: bool = False
    public: bool = True
    outputs: tuple[str, ...] = ()
    differentiable: tuple[int, ...] = (0,)


def called(row: Row | Composed) -> str:
    """The name that users call a row by: several rows may stand behind one function."""
    return row.name if row.public else _FORM.sub("", row.name)


def check_outs(name: str, out: Any, count: int, position: int) -> None:
    """Raise PyTorch's error unless ``out``, its argument of that position, names ``count`` tensors."""
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {dtypes.called(out)}")
    if len(out) != count:
        raise TypeError(f"expected tuple of {count} elements but got {len(out)}")
    for element, target in enumerate(out):
        if not isinstance(target, Tensor):
            raise TypeError(
                f"expected Tensor as element {element} in argument {position}, but got {dtypes.called(target)}"
            )


def check_gradients(row: Row | Composed, flat: Sequence[Any], out: Any) -> bool:
    """Whether what is put into ``out=`` would be recorded; PyTorch's error where that cannot be."""
    outs = out if isinstance(out, (tuple, list)) else (out,)
    if not modes.grad_enabled() or (row.constant and not row.ruleless):
        return False
    carriers = [target for position, target in enumerate(outs) if not row.outputs or position in row.differentiable]
    recorded = any(isinstance(tensor, Tensor) and tensor.requires_grad for tensor in (*flat, *carriers))
    if recorded and not row.copied:
        name = called(row)
        shown = f"aten::{name}" if row.ruleless else errors.COMPUTED_BY.get(name, name)
        raise RuntimeError(errors.OUT_GRADIENT.format(name=shown))
    return recorded


def into(row: Row | Composed, flat: Sequence[Any], out: Any, answer: Any) -> Any:
    """Put the answer of a call into ``out=``, resized if need be; gives ``out``."""
    name = called(row)
    if isinstance(answer, tuple):
        settings = row.settings if isinstance(row, Row) else ()
        check_outs(name, out, len(answer), len(flat) + len(settings))
        outs, answers = out, answer
    elif isinstance(out, Tensor):
        outs, answers = (out,), (answer,)
    else:
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {dtypes.called(out)}")
    recorded = check_gradients(row, flat, outs)
    checks_kinds_first = row.out not in ("", errors.OUT_FOUND)  # PyTorch's elementwise iterator looks at memory first
    for target, source in zip(outs, answers, strict=True):
        if checks_kinds_first:
            _check_out(row, target, source)
        _check_memory(row, flat, target)
        if not checks_kinds_first:
            if isinstance(row, Row) and call.is_elementwise(row) and any(operand is target for operand in flat):
                check_fits(target, source._array.shape)
            _check_out(row, target, source)
    for target, source in zip(outs, answers, strict=True):
        if target._array.shape != source._array.shape:
            resize(target, source._array.shape)
        if recorded:
            target.copy_(source)  # type: ignore[attr-defined]  # as every method of the table
        else:
            store(target, source._array)
    return out


def _check_memory(row: Row | Composed, flat: Sequence[Any], out: Tensor) -> None:
    """Raise PyTorch's error where ``out`` lies on itself, or on an input that it must not lie on."""
    check_overlap(out)
    names = row.inputs if len(row.inputs) == len(flat) else (row.inputs[:1] or ("",)) * len(flat)
    for name, operand in zip(names, flat, strict=True):
        if isinstance(operand, Tensor) and (name in row.disjoint or row.aligned or row.inplace or not row.out):
            if len(row.inputs) != len(flat) and not operand._array.size:
                continue  # of what is joined, PyTorch leaves out what is empty
            check_overlap_with(out, operand, name in row.disjoint)


def _check_out(row: Row | Composed, out: Tensor, result: Tensor) -> None:
    """Raise PyTorch's error where a result is not of the dtype or on the device of ``out``."""
    kind, wanted = out.dtype, result.dtype
    if not row.out:
        check_cast(result._array.dtype, out)
    elif kind is not wanted and not (row.castable and dtypes.can_cast(wanted, kind)):
        shown = {"wanted": dtypes.c_name(wanted), "found": dtypes.c_name(kind), "name": row.name}
        raise RuntimeError(row.out.format(**shown, Wanted=wanted.scalar_name, Found=kind.scalar_name))
    if (result._array.dtype.metadata is None) is not (out._array.dtype.metadata is None):
        raise RuntimeError(errors.OUT_DEVICE.format(source=result.device, target=out.device))


def resize(out: Tensor, shape: tuple[int, ...]) -> None:
    """Give an ``out=`` tensor another shape, with PyTorch's warning unless it was empty."""
    if out._array.size:
        warn(
            f"An output with one or more elements was resized since it had shape {list(out._array.shape)}, "
            f"which does not "
            f"match the required output shape {list(shape)}. This behavior is deprecated, and in a future PyTorch "
            "release outputs will not be resized unless they have zero elements. You can explicitly reuse an out "
            "tensor t by resizing it, inplace, to zero elements with t.resize_(0).",
        )
    share(out)
    out._array = np.empty(shape, out._array.dtype)


call.into, call.refuse_gradients = into, check_gradients
