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
from ..ground.window import Window, laid_out, look, window_of
from . import history, tensor
from .node import Node, node_of
from .record import Kind, Record, freed, output_number, output_of
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
        modes.local.anomaly.mark(record)
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
    return _shown(base_edge, *_seen(view._array, base._array))


def _seen(array: Any, base: Any) -> tuple[str | None, Window, tuple[int, ...], tuple[int, ...]]:
    """How a view lies in its base: which of both must be taken as pairs, the window, the base's sizes and strides.

    Real numbers that are parts of complex ones, or the other way round, are both counted in real ones.
    """
    pairs = None
    if (array.dtype.kind == "c") != (base.dtype.kind == "c"):
        pairs = "base" if base.dtype.kind == "c" else "view"
        array, base = (array, _turned(base, True)) if pairs == "base" else (_turned(array, True), base)
    return pairs, window_of(array, base), base.shape, window_of(base, base)[1]


def _turned(array: Any, to_pairs: bool) -> Any:
    """Complex numbers as pairs of real ones, or pairs as complex numbers: the same memory."""
    return TABLE["view_as_real" if to_pairs else "view_as_complex"].kernel(array)


def _shown(edge: Any, pairs: str | None, window: Window, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Record:
    """The history of what a window shows of a base whose history is ``edge``."""
    if pairs == "base":
        edge = Record.of(TABLE["view_as_real"].plan.kind, (edge,))
    if pairs is None or window != (sizes, strides, 0):
        edge = Record.of(AS_STRIDED, (edge,), (window, sizes, strides))
    return Record.of(TABLE["view_as_complex"].plan.kind, (edge,)) if pairs == "view" else edge


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
    seen = _seen(view._array, base._array)
    record = Record.of(COPY_SLICES, (edge_of(base), *inner.edges[1:]), (inner, *seen))
    record.saved = (inner, 0)  # freed with the record
    base._edge = record
    if base._counter is not None:
        record.counter = base._counter
    inner._home = Home(record)


def _copy_slices(record: Record, grad: Any, keep: bool) -> tuple[Any, ...]:
    inner, pairs, window, _, strides = record.settings
    if record.run is freed:
        freed(record, grad, keep)
    if pairs == "base":
        grad = _turned(grad, True)
    out = laid_out(grad, grad.shape, strides)
    part = look(out, window).copy()
    first, *others = inner.run(inner, _turned(part, False) if pairs == "view" else part, keep)
    if first is not None and pairs == "view":
        first = _turned(first, True)
    look(out, window)[...] = 0 if first is None else first
    if not keep:
        record.release()
    return _turned(out, False) if pairs == "base" else out, *others


def _copy_slices_lifted(record: Record, grad: Any, keep: bool) -> tuple[Any, ...]:
    inner, pairs, window, _, strides = record.settings
    to_pairs, to_complex = TABLE["view_as_real"].caller, TABLE["view_as_complex"].caller
    if pairs == "base":
        grad = to_pairs(grad)
    part = TABLE["take_window"].caller(grad, window, strides)
    first, *others = inner.kind.lifted(inner, to_complex(part) if pairs == "view" else part, keep)
    if first is None:
        first = part * 0
    elif pairs == "view":
        first = to_pairs(first)
    if not keep:
        record.release()
    grad = TABLE["put_window"].caller(grad, first, window, strides)
    return to_complex(grad) if pairs == "base" else grad, *others


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
        return _shown(record, *record.settings[1:])


tensor.reread = reread
