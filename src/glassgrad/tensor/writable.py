"""Whether a tensor may be written in place: PyTorch's refusals, in its words and order."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import call, write
from ..core.plan import F32, F64, I64
from ..core.record import Record, output_number
from ..core.row import TABLE, Row
from ..core.tensor import LEAF, Tensor, View, edge_of, share
from ..ground import dtypes, errors, modes
from ..ground.exposed import is_exposed
from ..ground.hidden import Hidden
from .node import node_of
from .refusals import check_broadcast, is_elementwise

ndarray = np.ndarray


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


def check_target(row: Row, target: Tensor, others: Sequence[Any], recorded: bool) -> None:
    """Refuse a write of a row: first histories are asked, then memory, as in PyTorch."""
    check_writable(target, recorded, row.constant)
    if row.refuses is not None:
        row.refuses(target, *others)
    if not row.one_value:
        check_overlap(target)
    for name, other in zip(row.inputs[1:], others, strict=False):
        if isinstance(other, Tensor):
            if is_aligned(row) and name not in row.disjoint:
                check_overlap_with(target, other)
            if other._array.dtype.metadata and not target._array.dtype.metadata:
                raise NotImplementedError("Cannot copy out of meta tensor; no data!")


def is_aligned(row: Row) -> bool:
    """Whether what a row reads must not lie partly on what it writes."""
    return row.aligned or not row.out


def check_result(row: Row, arrays: Sequence[Any], common: Any, target: Tensor) -> None:
    """Refuse a result of the dtype ``common`` that cannot be stored in ``target``: first shapes are asked."""
    if not (common is None or row.truth or dtypes.can_cast(dtypes.of(common), target.dtype)):
        if is_elementwise(row):
            check_fits(target, check_broadcast(row, arrays))
        check_cast(common, target)


def check_parts(row: Row, target: Tensor, result: Any) -> None:
    """Refuse the real result of an operation on complex numbers: it would leave them without their other part."""
    if not row.holomorphic and target._array.dtype.kind == "c" != result.dtype.kind:
        raise RuntimeError(f"In-place {row.name} is not supported for complex tensors.")


def check_disjoint(row: Row, target: Tensor, others: Sequence[Any]) -> None:
    """Refuse inputs that may share no memory with what is written."""
    for name, other in zip(row.inputs[1:], others, strict=False):
        if name in row.disjoint and isinstance(other, Tensor):
            check_overlap_with(target, other, True)


def check_failed(row: Row, target: Tensor, others: Sequence[Any], arrays: Sequence[Any], error: Exception) -> None:
    """Raise what PyTorch tells of before what a kernel found: leaves, memory ahead of values of indices, sizes."""
    if target.requires_grad and modes.grad_enabled():
        check_writable(target, True)
    if "out of bounds" in str(error):
        check_disjoint(row, target, others)
    if is_elementwise(row):
        check_fits(target, check_broadcast(row, arrays))


def check_fits(target: Tensor, shape: tuple[int, ...]) -> None:
    """Raise PyTorch's error where a result of ``shape`` would not fit into ``target``."""
    if shape != target._array.shape:
        raise RuntimeError(
            f"output with shape {list(target._array.shape)} doesn't match the broadcast shape {list(shape)}"
        )


def check_sum(total: Tensor, grad: Any) -> None:
    """Raise PyTorch's error where a gradient cannot be added into that of a tensor whose data was replaced."""
    shape = check_broadcast(TABLE["add"], (total._array, grad))
    check_cast(grad.dtype, total)
    check_fits(total, shape)


def check_cast(common: np.dtype[Any], target: Tensor) -> None:
    """Raise PyTorch's error where a result cannot be stored in ``target``'s dtype."""
    dtype = dtypes.of(common)
    if not dtypes.can_cast(dtype, target.dtype):
        raise RuntimeError(
            f"result type {dtype.scalar_name} can't be cast to the desired output type {target.dtype.scalar_name}"
        )


def check_number(number: Tensor, target: Tensor) -> None:
    """Raise PyTorch's error where the one element of a tensor does not fit into those of ``target``."""
    array, kind = number._array, target._array.dtype
    if array.dtype != kind and array.dtype.metadata is None and not number._lifted:
        dtypes.check_number(array.item(), kind)


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
            check_view(target, edge, recorded)
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
    if type(data) not in (ndarray, Hidden) or 0 not in data.strides or not data.size or data.dtype.metadata is not None:
        return False
    return any(not stride and size > 1 for size, stride in zip(data.shape, data.strides, strict=True))


def shared_axes(data: Any) -> tuple[int, ...]:
    """The dimensions along which the elements of an array are one place in memory."""
    return tuple([axis for axis, step in enumerate(data.strides) if not step])


def first_along(tensor: Any, axes: Sequence[int]) -> Any:
    """The view of the first elements along some dimensions, which keep the size 1."""
    for axis in axes:
        tensor = TABLE["slice"].caller(tensor, axis, 0, 1, 1)
    return tensor


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
    """Whether two arrays see the same places of one memory, by the same steps, also along dimensions of one element."""
    if type(a) is not ndarray or type(b) is not ndarray:
        return False
    return (a.ctypes.data, a.shape, a.strides, a.dtype) == (b.ctypes.data, b.shape, b.strides, b.dtype)


def lie_alike(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape take the same steps through memory."""
    steps = zip(a.shape, a.strides, b.strides, strict=True)
    return all(first == second for size, first, second in steps if size > 1)


def _is_dense(array: Any) -> bool:
    span = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True)) + array.itemsize
    return span == array.nbytes


# -- views -------------------------------------------------------------------------------------------------------------


def check_view(target: Tensor, place: View, recorded: bool) -> None:
    """Raise PyTorch's error where a view must not be written in place, by an operation that is ``recorded`` or not."""
    check_origin(place, recorded)
    edge, base_edge = edge_of(target), edge_of(place.base)
    base_is_leaf = base_edge is None or base_edge is place.base
    if base_is_leaf and (edge is not None or base_edge is not None):
        raise RuntimeError(errors.LEAF_VIEW_INPLACE)


def check_origin(place: View, recorded: bool = False) -> None:
    """Raise PyTorch's error where a view came about so that it must not be written in place; reads no history."""
    if place.origin in errors.VIEW_ORIGIN and (recorded or place.edge is not None or edge_of(place.base) is not None):
        raise RuntimeError(refusal(place, place.edge, "is being"))


def refusal(place: View, edge: Any, modified: str) -> str:
    """PyTorch's sentences for a write through, or below, a view whose making forbids it."""
    recorded = isinstance(edge, Record)
    which = f"Output {output_number(edge)} of {view_name(edge)}" if recorded else ""
    if recorded and place.origin not in ("no_grad", "inference"):
        sentence = errors.RECORDED_VIEW.format(which=which, modified=modified)
    else:
        what = f"{which} is a view of a view which was" if recorded else "A view was"
        mode = place.origin if place.origin == "inference" else "no_grad"
        now = "in normal mode" if mode == "inference" else "with grad mode enabled"
        sentence = errors.UNRECORDED_VIEW.format(what=what, mode=mode, modified=modified, now=now)
    return sentence + errors.VIEW_ORIGIN[place.origin or "no_grad"]


def view_name(edge: Any) -> str:
    """How messages call the operation of an edge: ``Split`` for SplitBackward0, ``Squeeze1`` for SqueezeBackward1."""
    return type(node_of(edge)).__name__.removesuffix("Backward0").replace("Backward", "")


write.refusals = sys.modules[__name__]
