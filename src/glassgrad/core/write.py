"""In-place writes and ``out=``: refusals first, then the write, the version, and the rebased history."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ground import dtypes, errors, listening, modes
from ..ground.runtime import warn
from ..ops import override
from ..ops.constant import F32, F64, I64, number
from ..tensor.parameter import Parameter
from .record import Record
from .row import Row
from .tensor import LEAF, Tensor, View, edge_of, share, view_error, wrap

ndarray = np.ndarray
rebase_view: Callable[[Tensor, Record], None] = (
    NotImplemented  # history of a write through a view, handed in by primitive/window.py
)


def check_fits(target: Tensor, shape: tuple[int, ...]) -> None:
    """Raise PyTorch's error where a result of ``shape`` would not fit into ``target``."""
    if shape != target._array.shape:
        raise RuntimeError(
            f"output with shape {list(target._array.shape)} doesn't match the broadcast shape {list(shape)}"
        )


def _check_shape(row: Row, arrays: Sequence[Any], target: Tensor) -> None:
    """Raise PyTorch's error where the operands do not broadcast to the shape of ``target``."""
    try:
        shape = np.broadcast_shapes(*(a.shape for a in arrays if a is not None))
    except ValueError as error:
        override.shape_error(row, arrays, error)
    check_fits(target, shape)


def memory(target: Any) -> Any:
    """The array of a tensor that may be written without a further question; None where the careful path must ask."""
    kind = type(target)
    if (kind is not Tensor and kind is not Parameter) or modes.unusual:
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


def _short(row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> bool:
    """Write over plain memory, all of one everyday dtype and without history; whether that was possible."""
    data = memory(target)
    if data is None:
        return False
    dtype, silent = data.dtype, modes.off and not modes.grad_enabled()
    arrays = [data]
    for name, other in zip(row.inputs[1:], others, strict=False):
        kind = type(other)
        if name in row.apart:
            if (kind is not Tensor and kind is not Parameter) or other._array.dtype.metadata is not None:
                return False
            if other._counter is not None and other._counter is target._counter:
                return False
            arrays.append(other._array)
            continue
        if kind is not Tensor and kind is not Parameter:
            if row.typed is None or row.strict or (kind is not float and kind is not int):
                return False
            other = number(other, data)
            if other is None:
                return False
        elif other is not target and other._counter is not None and other._counter is target._counter:
            return False  # they may overlap
        if other._array.dtype is not dtype or (other._edge is not None and not silent):
            return False
        arrays.append(other._array)
    try:
        result = row.kernel(*arrays, *settings)
    except ValueError:
        return False
    if result.dtype is not dtype or result.shape != data.shape:
        return False
    data[...] = result
    version = target._counter
    if version is None:
        version = share(target)
    version.version += 1
    return True


def in_place(row: Row, target: Tensor, others: Sequence[Any], settings: Sequence[Any], asked: bool = False) -> Tensor:
    """Compute a row and write its result into ``target``; gives ``target``.

    Nothing is changed unless everything succeeds.  Listeners are asked first, unless they were ``asked``.
    """
    if modes.watch and listening.listeners and not asked:
        write = functools.partial(in_place, asked=True)
        return listening.heard(in_place, write, (row, target, others, settings), {})  # type: ignore[no-any-return]
    if not modes.unusual and _short(row, target, others, settings):
        return target
    from . import call

    if not isinstance(target, Tensor):
        raise TypeError(f"{row.name}_(): argument 'self' (position 1) must be Tensor, not {type(target).__name__}")
    flat = (target, *(t.item() if isinstance(t, np.generic) else t for t in others))
    if row.check is not None:
        row.check(*flat)
    arrays = call._arrays(row, flat, True)
    cast = None
    if row.typed is not None:
        cast = call.common_dtype(row, flat)
        if not dtypes.can_cast(dtypes.of(cast), target.dtype):
            _check_shape(row, arrays, target)  # PyTorch looks at the shapes first
            check_cast(cast, target)
        single = None
        if row.single_numbers and cast.itemsize == 2 and not target._array.dtype.metadata:
            single = call.beside_half(arrays, cast)
        arrays = single or [
            a if a is None or a.dtype is cast or row.inputs[i] in row.apart else override.cast_to(a, cast)
            for i, a in enumerate(arrays)
        ]
    edges = call.edges_of(row, flat)
    check_writable(target, bool(edges), row.one_value)
    for other in others:
        if isinstance(other, Tensor):
            check_partial_overlap(target, other)
            if other._array.dtype.metadata and not target._array.dtype.metadata:
                raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    kernel = override.shapes_only if target._array.dtype.metadata else None
    try:
        result = row.kernel(*arrays, *settings) if kernel is None else kernel(row, arrays, settings)
    except ValueError as error:
        override.shape_error(row, arrays, error)
    check_fits(target, result.shape)
    record = None
    if edges:
        record = call.make_record(row, edges, flat, arrays, settings, cast)
        _freeze(row, record, target)
    store(target, result)
    if record is not None:
        finish(target, record, lambda: call.note_results(row, record, [target]))
    return target


def _freeze(row: Row, record: Record, target: Tensor) -> None:
    """Keep a copy of the old value where a rule reads it; the write would spoil the original."""
    for name, (how, slot) in row.saves.items():
        if how == "tensor" and name == row.inputs[0] and getattr(record, f"p{slot}") is target:
            copy = wrap(np.array(target._array))
            copy._edge = edge_of(target)
            if isinstance(copy._edge, Tensor):
                copy._edge = None
            setattr(record, f"p{slot}", copy)
            setattr(record, f"v{slot}", 0)


def finish(target: Tensor, record: Record, note: Callable[[], None]) -> None:
    """Give the memory just written its new history."""
    share(target).writer = weakref.ref(record)
    if modes.local.anomaly:
        from . import anomaly

        anomaly.mark(record)
    if type(target._edge) is View:
        rebase_view(target, record)
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
    if target._counter is None and type(target._array) is not ndarray:
        share(target)
    version = share(target)
    if target._array.dtype.metadata is not None:  # on meta there is nothing to write
        version.version += 1
        return
    if type(result) is ndarray and np.may_share_memory(result, target._array):
        result = result.copy()
    np.copyto(target._array, result, casting="unsafe")
    version.version += 1


def touched(target: Tensor) -> None:
    """Count a write that was made by other means."""
    share(target).version += 1


def check_cast(cast: np.dtype[Any], target: Tensor) -> None:
    """Raise PyTorch's error where a result cannot be stored in ``target``'s dtype."""
    kind = dtypes.of(cast)
    if not dtypes.can_cast(kind, target.dtype):
        raise RuntimeError(
            f"result type {kind.scalar_name} can't be cast to the desired output type {target.dtype.scalar_name}"
        )


def check_writable(target: Tensor, recorded: bool, overlapping: bool = False) -> None:
    """Raise PyTorch's error where ``target`` must not be written in place; its elements may be ``overlapping``."""
    place = target._edge
    if modes.grad_enabled() or recorded:
        if place is LEAF:
            raise RuntimeError(errors.LEAF_INPLACE)
        if type(place) is View:
            _check_view(target, place, recorded)
    if target._inference and not modes.local.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
            "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    if not overlapping:
        check_overlap(target)


def _check_view(target: Tensor, place: View, recorded: bool) -> None:
    edge = edge_of(target)
    if edge is target and place.made is None:
        raise RuntimeError(errors.LEAF_INPLACE)
    if edge is None and not recorded and edge_of(place.base) is None:
        return
    base_edge = edge_of(place.base)
    if base_edge is place.base and isinstance(base_edge, Tensor) and place.made is None:
        raise RuntimeError(errors.LEAF_VIEW_INPLACE)
    if place.made in errors.VIEW_MADE:
        raise RuntimeError(view_error(place, edge, "is being"))


def check_overlap(target: Tensor) -> None:
    """Raise PyTorch's error where several elements of ``target`` are one place in memory."""
    data = target._array
    if type(data) is ndarray and 0 in data.strides and data.size and data.dtype.metadata is None:
        for size, stride in zip(data.shape, data.strides, strict=True):
            if stride == 0 and size > 1:
                raise RuntimeError(errors.OVERLAP)


def check_partial_overlap(target: Tensor, other: Tensor) -> None:
    """Raise PyTorch's error where a tensor that is read lies partly on the one that is written."""
    if target is other or target._counter is None or target._counter is not other._counter:
        return
    a, b = target._array, other._array
    if a.size == 0 or b.size == 0 or not (_is_dense(a) and _is_dense(b)):
        return
    start, first = a.ctypes.data, b.ctypes.data
    same = start == first and a.strides == b.strides and a.shape == b.shape
    if not same and start < first + b.nbytes and first < start + a.nbytes:
        raise RuntimeError(errors.PARTIAL_OVERLAP)


def _is_dense(array: Any) -> bool:
    span = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)) + array.itemsize
    return span == array.nbytes


def into(row: Row, flat: Sequence[Any], out: Any, answer: Any) -> Any:
    """Put the answer of a call into ``out=``, resized if need be; gives ``out``."""
    outs = out if isinstance(out, (tuple, list)) else (out,)
    answers = answer if isinstance(answer, tuple) else (answer,)
    if len(outs) != len(answers):
        raise TypeError(f"{row.name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    for piece in outs:
        if not isinstance(piece, Tensor):
            raise TypeError(f"{row.name}(): argument 'out' must be Tensor, not {type(piece).__name__}")
    if modes.grad_enabled() and any(isinstance(t, Tensor) and t.requires_grad for t in (*flat, *outs)):
        raise RuntimeError(
            f"{row.name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    for piece, source in zip(outs, answers, strict=True):
        check_cast(source._array.dtype, piece)
    for piece in outs:
        for t in flat:
            if isinstance(t, Tensor):
                check_partial_overlap(piece, t)
    for piece, source in zip(outs, answers, strict=True):
        if piece._array.shape != source._array.shape:
            resize(piece, source._array.shape)
        store(piece, source._array)
    return out


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
