"""Views: tensors on the memory of others, and how a write through one becomes part of its base's history.

A view remembers its *base* (never itself a view) and its history as it was when last read.  A write through it gives
the base a new history, ``CopySlices``: take the view's window of the gradient, run the written operation's rules on it,
put what they give for the old value back.  The view finds its version outdated when its history is next wanted, and
reads it again from the base, as ``AsStridedBackward0``.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..ground import modes
from ..ground.window import Window, laid_out, look, window_of
from . import call, history, saved, tensor, write
from .record import Kind, Record, freed, output_of
from .row import TABLE, Row
from .tensor import Tensor, View, edge_of, new, share

# -- making one -------------------------------------------------------------------------------------------------------


def view(row: Row, source: Tensor, settings: Sequence[Any]) -> Any:
    """Call a row that gives a view of ``source``, or several."""
    counter = share(source)
    try:
        result = row.kernel(source._array, *settings)
    except Exception as error:
        call.refusals.sooner(row, (source._array, *settings), error)
        raise
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


# -- a view's history, read again from its base -----------------------------------------------------------------------


def reread(view: Tensor, place: View) -> Record:
    """The history of a view whose base was written in place: its window of the base's history."""
    base = place.base
    base_edge = edge_of(base)
    if place.origin is not None:
        raise RuntimeError(write.refusals.refusal(place, place.edge, "its base or another view of its base has been"))
    try:
        placing = _placing_of(view._array, base._array)
    except RuntimeError as elsewhere:
        return Record.of(AS_STRIDED_LOST, (base_edge,), (elsewhere.args[0],))
    return _seen_through(base_edge, *placing)


def lose(view: Tensor, words: str) -> None:
    """Refuse gradients of a view in these words, as it now shows other memory than its base's."""
    place = view._edge
    place.edge, place.seen = Record.of(AS_STRIDED_LOST, (edge_of(place.base),), (words,)), share(view).version


def _placing_of(array: Any, base: Any) -> tuple[str | None, Window, tuple[int, ...], tuple[int, ...]]:
    """How a view lies in its base: which of both must be taken as pairs, the window, the base's sizes and strides.

    Real numbers that are parts of complex ones, or the other way round, are both counted in real ones.
    """
    pairs = None
    if (array.dtype.kind == "c") != (base.dtype.kind == "c"):
        pairs = "base" if base.dtype.kind == "c" else "view"
        array, base = (array, _turned(base, True)) if pairs == "base" else (_turned(array, True), base)
    return pairs, window_of(array, base), base.shape, window_of(base, base)[1]


def _turned(value: Any, to_pairs: bool, lifted: bool = False) -> Any:
    """Complex numbers as pairs of real ones, or pairs as complex numbers: the same memory."""
    row = TABLE["view_as_real" if to_pairs else "view_as_complex"]
    return (row.caller if lifted else row.kernel)(value)


def _seen_through(
    edge: Any, pairs: str | None, window: Window, sizes: tuple[int, ...], strides: tuple[int, ...]
) -> Record:
    """The history of what a window shows of a base whose history is ``edge``."""
    if pairs == "base":
        edge = Record.of(TABLE["view_as_real"].plan.kind, (edge,))
    if pairs is None or window != (sizes, strides, 0):
        edge = Record.of(AS_STRIDED, (edge,), (window, sizes, strides))
    return Record.of(TABLE["view_as_complex"].plan.kind, (edge,)) if pairs == "view" else edge


def _as_strided(record: Record, grad: Any, retain_graph: bool, lifted: bool = False) -> tuple[Any]:
    row = TABLE["embed_window"]
    return ((row.caller if lifted else row.kernel)(grad, *record.constants),)


def _refuse(record: Record, grad: Any, retain_graph: bool) -> Any:
    raise RuntimeError(record.constants[0])


AS_STRIDED = Kind("AsStridedBackward0", _as_strided, partial(_as_strided, lifted=True))
#: The same of views that were given memory in which their bases are not: through them there is no way back.
AS_STRIDED_LOST, COPY_SLICES_LOST = (Kind(name, _refuse, _refuse) for name in ("AsStridedBackward0", "CopySlices"))


# -- a write through a view, as its base sees it ----------------------------------------------------------------------


def rebase(view: Tensor, inner: Record) -> None:
    """After a write through ``view``, described by ``inner``: give the base its new history."""
    base = view._edge.base
    old = edge_of(base)
    edges = (old, *inner.edges[1:])
    try:
        record = Record.of(COPY_SLICES, edges, (inner, *_placing_of(view._array, base._array)))
        record.saved = (inner, 0)  # freed with the record
        inner._home = weakref.ref(record)  # the record holds the one that saved: no cycle
    except RuntimeError as elsewhere:
        record = Record.of(COPY_SLICES_LOST, edges, (elsewhere.args[0],))
    base._edge, view._edge.seen = record, -1  # to be read anew, though a Function may have asked since the write
    if base._counter is not None:
        record.counter = base._counter
    tensor.move_retained(base, old)


def _copy_slices(record: Record, grad: Any, retain_graph: bool, lifted: bool = False) -> tuple[Any, ...]:
    inner, pairs, window, _, strides = record.constants
    if record.run is freed:
        freed(record, grad, retain_graph)
    if pairs == "base":
        grad = _turned(grad, True, lifted)
    if lifted:
        part = TABLE["take_window"].caller(grad, window, strides)
    else:
        grad = laid_out(grad, grad.shape, strides)
        part = look(grad, window).copy()
    run = inner.kind.lifted if lifted else inner.run
    first, *others = run(inner, _turned(part, False, lifted) if pairs == "view" else part, retain_graph)
    if first is None:
        first = part * 0 if lifted else 0
    elif pairs == "view":
        first = _turned(first, True, lifted)
    if lifted:
        grad = TABLE["put_window"].caller(grad, first, window, strides)
    else:
        look(grad, window)[...] = first
    if not retain_graph:
        record.release()
    return _turned(grad, False, lifted) if pairs == "base" else grad, *others


COPY_SLICES = Kind("CopySlices", _copy_slices, partial(_copy_slices, lifted=True), frees=True)


def _written(record: Record | None) -> Record | None:
    """The history of what a write through a view left there: what its window shows of ``record``, the base's."""
    return None if record is None else _seen_through(record, *record.constants[1:])


tensor.reread, saved.written = reread, _written
call.views = sys.modules[__name__]
