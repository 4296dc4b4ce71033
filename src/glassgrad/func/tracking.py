"""Reverse mode as a level: tensors with a place in a graph of the level's own, and gradients down that graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core import engine, history, promotion, write
from ..core.plan import gradients_lifted
from ..core.record import Bundle, Record, output_of
from ..core.row import TABLE, Row
from ..core.tensor import LEAF, Tensor, carries_gradients, new
from ..ground import errors, modes
from ..tensor import writable
from ..tensor.lifted import Kept, Lifted, derives
from . import levels
from .levels import Level, call_row, like, several


def captured(name: str) -> str:
    """PyTorch's words where an operation is to write into a tensor that the function did not get or make."""
    form = ".Tensor" if name in ("add", "sub", "mul", "div", "fill", "masked_fill") else ""
    return (
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
        f"(aten::{name}_{form}) that would mutate a captured Tensor. This is not supported; please rewrite the "
        "function being transformed to explicitly accept the mutated Tensor(s) as inputs."
    )


class GradTracking(Lifted):
    """A tensor at a level of reverse mode: its place in the level's graph is here, other levels' are in ``value``."""

    __slots__ = ("place", "views", "base", "seen")

    place: Any  #: None, LEAF, or the record that made it
    views: int  #: of a base: how often it, or a view of it, was written at this level
    base: Any  #: of a tensor with views, and of each of those: what they are views of, and how this one came about
    seen: int  #: of a view: the base's ``views`` when its place was last right

    @property  # type: ignore[override]
    def _edge(self) -> Any:
        place = place_of(self)
        return LEAF if place is None and self.value._edge is not None else place

    @_edge.setter
    def _edge(self, edge: Any) -> None:
        self.place = edge

    def is_tracked(self) -> bool:
        return place_of(self) is not None

    def become(self, other: Lifted) -> None:
        """Be what another tensor of the level is; a leaf stays one, where nothing is recorded."""
        if place_of(self) is not LEAF:
            super().become(other)
            return
        if self.level.records():
            raise RuntimeError(errors.LEAF_INPLACE)
        self.value = other.value

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return levels.shown("GradTrackingTensor", self.level.number if self.level.is_alive else -2, self.value)


def place_of(tensor: GradTracking) -> Any:
    """The place of a tensor in its level's graph; of a view whose base was written since, read again."""
    if tensor.base is not None and tensor.seen != tensor.base[0].views:
        tensor.level.reread(tensor)
    return tensor.place


def edge_at(level: Level, operand: Any) -> Any:
    """The edge of an operand in a level's graph."""
    if not isinstance(operand, GradTracking) or operand.level is not level:
        return None
    place = place_of(operand)
    return operand if place is LEAF else place


class Reverse(Level):
    """One call of ``grad`` or ``vjp``: a graph of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.records_below = modes.local.grad  # who calls ``grad`` under no_grad has levels below record nothing

    def records(self) -> bool:
        """Whether what is computed now is written down."""
        return modes.local.grad

    def track(self, value: Any, place: Any = None) -> GradTracking:
        """A tensor at this level that stands for ``value``."""
        tensor = new(GradTracking)
        tensor.value, tensor.level, tensor.place = value, self, place
        tensor.views, tensor.base, tensor.seen = 0, None, 0
        return tensor

    def strip(self, tensor: Any, value: Any) -> Any:
        return self.track(value)

    def is_view(self, tensor: Any) -> bool:
        return tensor.base is not None and bool(tensor.base[1])

    def raised(self, value: Any) -> Any:
        return self.track(value)

    def born(self, tensor: Tensor) -> Tensor:
        return self.track(tensor)

    def again(self, tensor: Any, value: Any) -> Any:
        return self.track(value, tensor if place_of(tensor) is LEAF else tensor.place)

    @contextmanager
    def outside(self) -> Iterator[None]:
        """A block in which gradient mode is that of levels below: on where it is here and was outside."""
        recording = modes.local.grad
        try:
            modes.set_grad(recording and self.records_below)
            yield
        finally:
            modes.off |= modes.local.me
            modes.local.grad = recording
            modes.settle()

    def call(self, row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
        values = [self.lower(operand) for operand in flat]
        if self.records_below or not modes.local.grad:
            answer = call_row(row, values, settings)
        else:
            with self.outside():
                answer = call_row(row, values, settings)
        outs = [self.track(value) for value in several(answer)]
        if row.view or row.name == "conj":  # which follows what it was made of, as a view does
            self._relate(row, flat[0], settings, outs)
        if self.records():
            self.record(row, flat, settings, outs, isinstance(answer, (tuple, list)))
        return like(answer, outs)

    def record(
        self, row: Row, flat: Sequence[Any], settings: Sequence[Any], outs: Sequence[GradTracking], is_several: bool
    ) -> None:
        """Write down a call in this level's graph."""
        plan = row.plan
        positions = range(len(flat)) if row.listed else plan.ruled_inputs
        edges = tuple([edge_at(self, flat[position]) for position in positions]) if plan.ruled_inputs else ()
        if not any(edge is not None for edge in edges):
            return
        record = describe(row, edges, flat, settings)
        if row.view:
            for number, out in enumerate(outs):
                out.place = output_of(record, number, len(outs)) if is_several else record
            return
        for number in plan.carry:
            if carries_gradients(outs[number]._array.dtype):
                outs[number].place = record if len(plan.carry) == 1 else output_of(record, number, len(outs))
        for _, number in plan.saved_results:
            record.saved += Kept(outs[number]), 0

    # -- writes and views ---------------------------------------------------------------------------------------------

    def _relate(self, row: Row, source: Any, settings: Sequence[Any], outs: Sequence[GradTracking]) -> None:
        """Note of views what they are views of."""
        if source.base is None and place_of(source) is not LEAF:  # a leaf is the base itself: its place is
            source.base = self.track(source.value, source.place), ()  # whose sizes stay, whatever becomes of the source
        base, chain = source.base or (source, ())
        for number, out in enumerate(outs):
            out.base, out.seen = (base, (*chain, (row, settings, number))), base.views

    def reread(self, view: GradTracking) -> None:
        """Read a view's place again from its base, which was written."""
        base, chain = view.base
        view.seen = base.views
        again = base
        for row, settings, number in chain:
            again = several(self.call(row, (again,), settings))[number]
        view.place = again.place

    def write(self, row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> None:
        if not isinstance(target, GradTracking) or target.level is not self:
            raise RuntimeError(captured(levels.written_name(row)))
        recording = self.records() and not row.constant
        if place_of(target) is LEAF and recording:
            raise RuntimeError(errors.LEAF_INPLACE)
        levels.check_apart(row, target, others)
        old = target
        wanted = recording or derives(target.value, *others)
        if wanted and any(position == 0 for _, position, _ in row.plan.saved_inputs):
            old = self.track(TABLE["clone"].caller(target.value), place_of(target))  # what a rule reads is written over
        result = call_row(row, (old, *others), settings)
        writable.check_fits(target, result._array.shape)
        writable.check_cast(result._array.dtype, target)
        if not recording:  # nobody's place is another one then
            levels.put(row, target.value, self.lower(result))
            return
        copy = TABLE["copy"]
        written = self.call(copy, (target, result), ())
        base, chain = target.base or (None, ())
        place_of_base = self._scattered(target, written) if chain else written.place
        write.in_place(copy, target.value, (self.lower(result),), ())
        target.place = written.place
        if base is not None:
            base.views += 1
            base.place, target.seen = place_of_base, base.views

    def _scattered(self, view: GradTracking, written: GradTracking) -> Any:
        """The place of a view's base after ``written`` was put where the view looks."""
        base, chain = view.base
        if place_of(base) is None and written.place is None:
            return None
        if base.place is LEAF and self.records():
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        sources = [base]
        for row, settings, number in chain:
            sources.append(several(self.call(row, (sources[-1],), settings))[number])
        is_complex = written._array.dtype.kind == "c"
        ones = TABLE["fill_number"].caller(written, 1 + 1j if is_complex else 1)
        mask, values = ones, written
        for source, (row, settings, number) in zip(reversed(sources[:-1]), reversed(chain), strict=True):
            mask = back_through(row, source, settings, number, mask)
            values = back_through(row, source, settings, number, values)
        if base._array.dtype.kind != "c":
            return TABLE["where"].caller(TABLE["ne"].caller(mask, 0), values, base).place
        # of a complex number a view may see one part
        mask, values, old = (TABLE["view_as_real"].caller(each) for each in (mask, values, base))
        return TABLE["view_as_complex"].caller(TABLE["where"].caller(TABLE["ne"].caller(mask, 0), values, old)).place


class Linear(Reverse):
    """One call of ``linearize``, whose derivatives are those of forward mode: ``no_grad`` does not stop them."""

    def records(self) -> bool:
        return not modes.local.inference


@contextmanager
def recording(kind: type[Reverse] = Reverse) -> Iterator[Reverse]:
    """A block at a level of its own in whose graph all is recorded, whatever is recorded outside."""
    with levels.entered(kind()) as level:
        modes.local.grad = True
        modes.settle()
        yield level


def describe(row: Row, edges: tuple[Any, ...], flat: Sequence[Any], settings: Sequence[Any]) -> Record:
    """A record of a call on any tensors, with its inputs saved; results are for the caller to keep."""
    arrays = promotion.arrays_of(row, flat)
    cast = promotion.common_dtype(row, flat) if row.typed is not None else None
    return history.make_record(row, edges, flat, arrays, settings, cast)


def back_through(row: Row, source: Any, settings: Sequence[Any], number: int, grad: Any) -> Any:
    """The gradient of a view's source, where that of its output ``number`` is ``grad``, by recorded operations."""
    record = describe(row, (LEAF,), (source,), settings)
    if row.plan.kind.outputs > 1:
        count = len(several(call_row(row, (source,), settings)))
        grads = [None] * count
        grads[number] = grad
        grad = Bundle(grads)
    return gradients_lifted(record, grad, True)[0]


def gradients(
    level: Reverse, outs: Sequence[Any], seeds: Sequence[Any], inputs: Sequence[Any], retain_graph: bool = False
) -> list[Any]:
    """The gradients of ``outs``, weighed with ``seeds``, by leaves of a level that has ended; None where there is none.

    What the graph saved stands for values of lower levels by now: that is where the gradients are computed.
    """
    roots = []
    for out, seed in zip(outs, seeds, strict=True):
        edge = edge_at(level, out)
        if edge is not None:
            roots.append((edge, seed))
    if not roots:
        return [None] * len(inputs)
    answers = engine.general(roots, retain_graph=retain_graph, lifted=True, inputs=list(inputs), accumulate=False)
    return [None if answer is None else levels.alive(answer) for answer in answers]
