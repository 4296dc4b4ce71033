"""Views: tensors on the memory of others, and how a write through one becomes part of its base's history.

A view remembers its *base* (never itself a view) and its history as it was when last read.  A write through it gives
the base a new history, ``CopySlices``: take the view's window of the gradient, run the written operation's rules on it,
put what they give for the old value back.  The view finds its version outdated when its history is next wanted, and
reads it again from the base, as ``AsStridedBackward0``.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from ..ground import errors, modes
from ..ground.window import laid_out, look, window_of
from . import anomaly, history, tensor
from .node import Node, node_of
from .record import Kind, Record, about, freed, output_number, output_of
from .row import TABLE, Row
from .tensor import Tensor, View, edge_of, new, share

# -- making one -------------------------------------------------------------------------------------------------------


def view(row: Row, source: Tensor, settings: Sequence[Any]) -> Any:
    """Call a row that gives a view of ``source``, or several."""
    counter = share(source)
    result = row.kernel(source._array, *settings)
    several = isinstance(result, (tuple, list))
    edges = history.edges_of(row, (source,))
    record = history.make_record(row, edges, (source,), (source._array,), settings, None) if edges else None
    if record is not None and modes.local.anomaly:
        anomaly.mark(record)
    outs = []
    for number, array in enumerate(result if several else (result,)):
        out = new(Tensor)
        out._array, out._counter = array, counter
        out._edge = place_view(source, "multi" if several else None)
        if record is not None:
            out._edge.edge = output_of(record, number, len(result)) if several else record
        if source._inference:
            out._inference = True
        outs.append(out)
    return tuple(outs) if several else outs[0]


def place_view(source: Tensor, origin: str | None) -> View:
    """The place in the graph of a view of ``source``, still without history; ``origin`` tells how it comes about."""
    place = View()
    place.seen, place.edge = share(source).version, None
    place.base, before = (source._edge.base, source._edge.origin) if type(source._edge) is View else (source, None)
    if before == "inference" or modes.local.inference:
        place.origin = "inference"
    elif not modes.grad_enabled():
        place.origin = "no_grad"
    else:
        place.origin = origin or before
    return place


# -- refusals ---------------------------------------------------------------------------------------------------------


def check_writable(target: Tensor, place: View, recorded: bool) -> None:
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
    """How messages call the operation of an edge: ``Split`` for SplitBackward0."""
    return type(node_of(edge)).__name__.rstrip("0123456789").removesuffix("Backward")


# -- a view's history, read again from its base -----------------------------------------------------------------------


def reread(view: Tensor, place: View) -> Record:
    """The history of a view whose base was written in place: its window of the base's history."""
    base = place.base
    base_edge = edge_of(base)
    if place.origin is not None:
        raise RuntimeError(refusal(place, place.edge, "its base or another view of its base has been"))
    window = window_of(view._array, base._array)
    return Record.of(AS_STRIDED, (base_edge,), (window, base._array.shape, window_of(base._array, base._array)[1]))


def _as_strided(record: Record, grad: Any, keep: bool) -> tuple[Any]:
    window, sizes, strides = record.settings
    return (TABLE["embed_window"].kernel(grad, window, sizes, strides),)


def _as_strided_lifted(record: Record, grad: Any, keep: bool) -> tuple[Any]:
    window, sizes, strides = record.settings
    return (TABLE["embed_window"].caller(grad, window, sizes, strides),)


AS_STRIDED = Kind("AsStridedBackward0", _as_strided, _as_strided_lifted)


# -- a write through a view, as its base sees it ----------------------------------------------------------------------


def rebase(view: Tensor, inner: Record) -> None:
    """After a write through ``view``, described by ``inner``: give the base its new history."""
    base = view._edge.base
    strides = window_of(base._array, base._array)[1]
    window = window_of(view._array, base._array)
    record = Record.of(COPY_SLICES, (edge_of(base), *inner.edges[1:]), (inner, window, base._array.shape, strides))
    record.saved = (inner, 0)  # freed with the record
    base._edge = record
    if base._counter is not None:
        record.counter = base._counter
    about(inner).home = Home(record)


def _copy_slices(record: Record, grad: Any, keep: bool) -> tuple[Any, ...]:
    inner, window, _, strides = record.settings
    if record.run is freed:
        freed(record, grad, keep)
    first, *others = inner.run(inner, look(laid_out(grad, grad.shape, strides), window).copy(), keep)
    out = laid_out(grad, grad.shape, strides)
    look(out, window)[...] = 0 if first is None else first
    if not keep:
        record.release()
    return out, *others


def _copy_slices_lifted(record: Record, grad: Any, keep: bool) -> tuple[Any, ...]:
    inner, window, _, strides = record.settings
    part = TABLE["take_window"].caller(grad, window, strides)
    first, *others = inner.kind.lifted(inner, part, keep)
    if first is None:
        first = part * 0
    if not keep:
        record.release()
    return TABLE["put_window"].caller(grad, first, window, strides), *others


class CopySlices(Node):
    """A write through a view, as its base sees it; written by hand in PyTorch, which shows in its name."""

    def name(self) -> str:
        return "torch::autograd::CopySlices"


COPY_SLICES = Kind("CopySlices", _copy_slices, _copy_slices_lifted, frees=True)
COPY_SLICES.face = CopySlices


class Home:
    """Where the saved result of a write through a view has its history: at the view, reread from the base."""

    __slots__ = ("_record",)

    def __init__(self, record: Record) -> None:
        self._record = weakref.ref(record)  # the record holds the one that saved: no cycle

    def __call__(self) -> Record | None:
        record = self._record()
        if record is None:
            return None
        _, window, sizes, strides = record.settings
        return Record.of(AS_STRIDED, (record,), (window, sizes, strides))


tensor.reread = reread
