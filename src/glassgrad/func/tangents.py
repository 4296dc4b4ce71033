"""Forward mode as a level: tensors with a tangent, and the forward rule of each row.

A row's column ``forward=`` says how the tangent of its result is made:

"linear"       the row itself, on the tangents of all inputs together
"each"         linear in each input alone: the row with one input's tangent in its place, summed over the inputs
"reverse"      the rules of reverse mode with the tangent as gradient, summed: their Jacobian is diagonal or symmetric,
               as that of every row is that works point by point
"transposed",
None           the reverse rule, differentiated by the gradient that it is given (it is linear in it): serves every row

A rule written with ``row.tangent`` goes first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import engine, write
from ..core.gradients import read_saved
from ..core.plan import gradients_lifted
from ..core.record import Bundle
from ..core.row import TABLE, Row
from ..core.tensor import LEAF, Tensor, View, carries_gradients, new
from ..families.cast.conjugates import check_unfollowed
from ..ground import modes
from ..tensor import lifted, writable
from ..tensor.lifted import Kept, Lifted, derives
from . import levels
from .levels import Level, call_row, like, several
from .tracking import GradTracking, Reverse, captured, describe, recording


class Dual(Lifted):
    """A tensor at a level of forward mode: a value, and the tangent along which it is differentiated."""

    __slots__ = ("own", "source")

    own: Any  #: its tangent, a tensor of a lower level; None for zero, or for a view's that nobody has asked for yet
    source: Any  #: what it is a view of, by which row, with which settings, which of the results; None: of nothing

    @property
    def tangent(self) -> Any:
        """The tangent; None for zero.  That of a view is the same view of its base's, which may have come since."""
        if self.own is None and self.source is not None:
            base, views = self._from_base()
            if base.own is not None:
                _share(base.own, views)
        return self.own

    @tangent.setter
    def tangent(self, tangent: Any) -> None:
        self.own = tangent

    def _from_base(self) -> tuple[Dual, list[Dual]]:
        """The nearest that has a tangent, or is no view, and the views of it on the way here, this one first."""
        views, dual = [], self
        while dual.own is None and dual.source is not None:
            views.append(dual)
            dual = dual.source[0]
        return dual, views

    def begin(self) -> None:
        """Zeros for a tangent, in which all views of one base have their part."""
        base, views = self._from_base()
        if base.own is None:
            base.own = levels.raised_to(zeros_of(base.value), self.level.lower_levels())
        _share(base.own, views)

    def become(self, other: Lifted) -> None:
        """Be what another tensor of the level is; what is a view of this one becomes one of what this one was."""
        assert isinstance(other, Dual)
        if other.source is not None and other.source[0] is self:
            other.source = (self.level.dual(self.value, self.own, self.source), *other.source[1:])
        if self.own is not None and other.own is not None:
            lifted.keep_origin(self.own, other.own)
        super().become(other)

    @property  # type: ignore[override]
    def _edge(self) -> Any:  # what is computed from it must be computed by rows
        return LEAF if self.tangent is not None or self.value._edge is not None else None

    @_edge.setter
    def _edge(self, edge: Any) -> None:
        self.value._edge = edge

    @property  # type: ignore[override]
    def grad_fn(self) -> Any:
        return self.value.grad_fn

    @property
    def is_leaf(self) -> bool:
        return self.value.is_leaf  # type: ignore[no-any-return]

    @property  # type: ignore[override]
    def grad(self) -> Any:  # what backward adds up, it adds up for the value
        return self.value.grad

    @grad.setter
    def grad(self, grad: Any) -> None:
        self.value.grad = grad

    def retain_grad(self) -> None:
        """Keep the gradient of the value, if that is no leaf."""
        self.value.retain_grad()

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad)`` whenever a gradient of the value is computed."""
        return self.value.register_hook(hook)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return self.level.shown(self)  # type: ignore[no-any-return]


def _share(tangent: Any, views: Sequence[Dual]) -> None:
    """Give each of several views of one another, the last of what has this tangent, its part of it."""
    for view in reversed(views):
        _, row, settings, place = view.source
        tangent = view.own = several(call_row(row, [tangent], settings))[place]


class Forward(Level):
    """One call of ``jvp``, or one block of ``forward_ad.dual_level``."""

    def __init__(self) -> None:
        super().__init__()
        #: Whether nothing in inference mode has a tangent: as in PyTorch, not of a function that is called there.
        self.ends_at_inference = not (self.has_function and modes.local.inference)

    def dual(self, value: Any, tangent: Any = None, source: Any = None) -> Dual:
        """A tensor at this level."""
        tensor = new(Dual)
        tensor.value, tensor.level, tensor.own, tensor.source = value, self, tangent, source
        return tensor

    def shown(self, dual: Dual) -> str:
        """A dual tensor as it prints."""
        return levels.shown("GradTrackingTensor", self.number if self.is_alive else -2, dual.value)

    def captured(self, row: Row) -> str:
        """What is said where a row is to write a tensor of this level into one that is none."""
        return captured(levels.written_name(row))

    def strip(self, tensor: Any, value: Any) -> Any:
        return self.dual(value)

    def is_view(self, tensor: Any) -> bool:
        return tensor.source is not None or type(lifted.plain(tensor)._edge) is View

    def raised(self, value: Any) -> Any:
        return self.dual(value)

    def born(self, tensor: Tensor) -> Tensor:
        return self.dual(tensor)

    def again(self, tensor: Any, value: Any) -> Any:
        return self.dual(value, tensor.tangent, tensor.source)

    def says(self, tensor: Any) -> str:
        tangent = "no tangent" if tensor.tangent is None else f"a tangent of sizes {list(tensor.tangent._array.shape)}"
        return f"forward mode: it has {tangent}; the graph is that of its value"

    def into(self, row: Row, flat: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
        outs = [levels.alive(each) for each in several(out)]
        if any([self.tangent(operand) is not None for operand in (*flat, *outs)]):
            raise NotImplementedError(
                f"Trying to use forward AD with {row.name}_out that does not support it because it is an out= function"
            )
        values = [self.lower(operand) for operand in flat]
        target = like(out, [self.lower(each) for each in outs])
        row.caller(*([values] if row.listed else values), *settings, out=target)
        return out

    def tangent(self, operand: Any) -> Any:
        """The tangent of an operand at this level; None for zero."""
        return operand.tangent if isinstance(operand, Dual) and operand.level is self else None

    def call(self, row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
        if row.view and isinstance(base := flat[0], Dual):
            if base.tangent is None:
                return self._view(row, base, settings)
            base.tangent = levels.raised_to(base.tangent, self.lower_levels())  # which its views look at
            if row.name == "as_strided" and not writable.lie_alike(base.value._array, base.tangent._array):
                raise RuntimeError(
                    "as_strided of a dual tensor whose tangent lies in memory in another way, as it is not dense: make "
                    "it of clone()"
                )
        values = [self.lower(operand) for operand in flat]
        tangents = [self.tangent(operand) for operand in flat]
        answer = call_row(row, values, settings)
        outs = several(answer)
        moved: Sequence[Any] = (None,) * len(outs)
        positions = range(len(flat)) if row.listed else row.plan.ruled_inputs
        has_tangents = row.plan.ruled_inputs and any([tangents[position] is not None for position in positions])
        if has_tangents and not (modes.local.inference and self.ends_at_inference):
            moved = pushed(row, values, tangents, settings, outs)
        return like(answer, [self.dual(value, tangent) for value, tangent in zip(outs, moved, strict=True)])

    def _view(self, row: Row, base: Dual, settings: Sequence[Any]) -> Any:
        answer = call_row(row, [base.value], settings)
        outs = several(answer)
        return like(answer, [self.dual(out, source=(base, row, settings, place)) for place, out in enumerate(outs)])

    def write(self, row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> None:
        if not isinstance(target, Dual) or target.level is not self:
            has_tangent = any([self.tangent(other) is not None for other in others])
            if self.has_function or (has_tangent and carries_gradients(target._array.dtype)):
                raise RuntimeError(self.captured(row))
            write.in_place(row, target, [self.lower(other) for other in others], settings)
            return
        if target.tangent is not None or any([self.tangent(other) is not None for other in others]):
            check_unfollowed(lifted.plain(target))
        levels.check_apart(row, target, others)
        old = target
        if derives(target.value, target.tangent, *others):  # what the rules of lower levels read is written over
            clone = TABLE["clone"].caller
            old = self.dual(clone(target.value), None if target.tangent is None else clone(target.tangent))
        below = self.below(settings) if row.name in levels.INDEXED else settings
        result = self.call(row, (old, *others), below)
        writable.check_fits(target, result._array.shape)
        writable.check_cast(result._array.dtype, target)
        levels.put(row, target.value, result.value)
        if result.tangent is not None and target.tangent is None:
            target.begin()
        if target.tangent is not None and not row.constant:
            if result.tangent is None:
                write.in_place(TABLE["zero"], target.tangent, (), ())
            elif not set(levels.levels_in(result.tangent)).issubset(levels.levels_in(target.tangent)):
                target.tangent = TABLE["clone"].caller(result.tangent)  # which no view shares yet
            else:
                levels.put(row, target.tangent, result.tangent)


def _check_captured(name: str, tensor: Any) -> None:
    level = levels.levels()[-1] if levels.levels() else None
    if isinstance(level, (Reverse, Forward)) and level.has_function:
        if levels.level_of(levels.alive(tensor)) < level.number:
            raise RuntimeError(captured(name))


lifted.check_captured = _check_captured


def zeros_of(value: Any) -> Any:
    """Zeros like a tensor of any level."""
    return TABLE["fill_number"].caller(value.detach(), 0)


# -- the forward rules ------------------------------------------------------------------------------------------------


def pushed(
    row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any], outs: Sequence[Any]
) -> Sequence[Any]:
    """The tangents of a row's results; None for those that carry none."""
    if row.tangent_rule is not None:
        moved: Sequence[Any] = several(row.tangent_rule(*_named(row, values, tangents, settings, outs)))
    elif row.view or row.forward == "linear":
        moved = several(_together(row, values, tangents, settings))
    elif row.forward == "each":
        moved = several(_each(row, values, tangents, settings))
    elif _is_diagonal(row, values, outs):
        moved = (_by_reverse_rule(row, values, tangents, settings, outs),)
    else:
        moved = twice_transposed(row, values, tangents, settings, outs)
    fitted = [
        _fitted(tangent, out) if tangent is not None and carries_gradients(out._array.dtype) else None
        for tangent, out in zip(moved, outs, strict=True)
    ]
    if row.view:
        return fitted
    pairs = zip(fitted, outs, strict=True)
    return [None if tangent is None else laid(apart(tangent, tangents), out) for tangent, out in pairs]


def apart(tangent: Any, tangents: Sequence[Any]) -> Any:
    """A tangent that is none of ``tangents``, so that nobody writes into the tangent of another tensor."""
    return TABLE["clone"].caller(tangent) if any([tangent is each for each in tangents]) else tangent


def _is_diagonal(row: Row, values: Sequence[Any], outs: Sequence[Any]) -> bool:
    """Whether the rules of reverse mode serve forward mode too."""
    if not row.holomorphic and _is_complex([*values, *outs]):
        return False
    if row.forward is not None or row.batched != "point" or row.outputs:
        return row.forward == "reverse"
    shapes = [value._array.shape for value in values if isinstance(value, Tensor)]
    return outs[0]._array.shape == shapes[0] if len(shapes) == 1 else outs[0]._array.shape == broadcast(*shapes)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of shapes broadcast; None where they cannot be."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _is_complex(values: Sequence[Any]) -> bool:
    return any(isinstance(value, Tensor) and value._array.dtype.kind == "c" for value in values)


def _fitted(tangent: Any, out: Any) -> Any:
    """A tangent in the dtype and of the shape of its result."""
    if tangent._array.dtype != out._array.dtype:
        tangent = TABLE["to_copy"].caller(tangent, out._array.dtype, tangent._array.dtype)
    if tangent._array.shape != out._array.shape:
        tangent = TABLE["expand"].caller(tangent, out._array.shape)
    return tangent


def laid(tangent: Any, out: Any) -> Any:
    """A tangent that lies in memory as its result does, so that views of both are of one kind."""
    strides = out._array.strides
    if tangent._array.strides == strides:
        return tangent
    order = sorted(range(len(strides)), key=lambda dim: -strides[dim])
    back = sorted(range(len(order)), key=order.__getitem__)
    return TABLE["permute"].caller(TABLE["compact"].caller(TABLE["permute"].caller(tangent, tuple(order))), tuple(back))


def _named(
    row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any], outs: Sequence[Any]
) -> list[Any]:
    """What a written rule names: inputs, their tangents as ``<input>_t``, settings, results."""
    known = dict(zip(row.settings, settings, strict=True))
    if row.listed:
        known |= {"tensors": values, "tensors_t": tangents}
    else:
        known |= dict(zip(row.inputs, values, strict=True))
        known |= {f"{name}_t": tangent for name, tangent in zip(row.inputs, tangents, strict=True)}
    known |= dict(zip(row.outputs, outs, strict=True)) if row.outputs else {"result": outs[0]}
    return [known[name] for name in row.tangent_names]


def _together(row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any]) -> Any:
    moved = list(values)
    for position in range(len(values)) if row.listed else row.plan.ruled_inputs:
        value, tangent = values[position], tangents[position]
        if tangent is None and value is not None:
            tangent = zeros_of(value) if isinstance(value, Tensor) else type(value)(0)
        moved[position] = tangent
    return call_row(row, moved, settings)


def _each(row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any]) -> Any:
    total: Any = None
    for position, tangent in enumerate(tangents):
        if tangent is not None:
            part = call_row(row, [*values[:position], tangent, *values[position + 1 :]], settings)
            total = part if total is None else total + part
    return total


def _by_reverse_rule(
    row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any], outs: Sequence[Any]
) -> Any:
    total: Any = None
    record = _constants(row, values, tangents, settings, outs)
    for edges, reads, _, rule in row.plan.rules:
        for edge in edges:
            tangent = tangents[row.plan.ruled_inputs[edge]]
            if tangent is None:
                continue
            arguments: list[Any] = []
            for source, slot, promoted in reads:
                if source == "grad":
                    arguments.append(_fitted(tangent, outs[0]))
                elif source == "needs":
                    arguments.append(tuple(other == edge for other in edges))
                elif source == "constant":
                    arguments.append(record.constants[slot])
                else:
                    arguments.append(read_saved(record, row, source, slot, promoted, True, {}))
            answer = rule(*arguments)
            part = answer[edges.index(edge)] if len(edges) > 1 else answer
            if part is not None:
                total = part if total is None else total + part
    return total


def _constants(
    row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any], outs: Sequence[Any]
) -> Any:
    """A record of a call whose saved values take part in no derivative of the level that asks."""
    positions = range(len(values)) if row.listed else row.plan.ruled_inputs
    edges = tuple(None if tangents[position] is None else LEAF for position in positions)
    record = describe(row, edges, values, settings)
    for _, number in row.plan.saved_results:
        record.saved += Bare(outs[number]), 0
    return record


class Bare(Kept):
    """A result without a place: what stands for a constant."""

    __slots__ = ()

    def __init__(self, value: Any) -> None:
        self.value, self.is_result = value, True

    def open(self, edge: Any) -> Any:
        return self.value


def twice_transposed(
    row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any], outs: Sequence[Any]
) -> list[Any]:
    """The tangents of results by the reverse rule alone: v -> J'v is linear, and J t is the gradient of <J'v, t>."""
    carrying = range(len(outs)) if row.view else row.plan.carry
    numbers = [n for n in carrying if outs[n]._array.size and carries_gradients(outs[n]._array.dtype)]
    answers = dict(zip(numbers, _pulled_twice(row, values, tangents, settings, outs, numbers), strict=False))
    moved: list[Any] = [None] * len(outs)
    for number in carrying:
        answer = answers.get(number)
        moved[number] = zeros_of(outs[number]) if answer is None else levels.alive(answer)
    return moved


def _pulled_twice(
    row: Row, values: Sequence[Any], tangents: Sequence[Any], settings: Sequence[Any], outs: Sequence[Any],
    numbers: Sequence[int],
) -> Sequence[Any]:  # fmt: skip
    """The tangents of the results with these numbers; none of them where nothing is pulled back."""
    if not numbers:
        return ()
    record = _constants(row, values, tangents, settings, outs)
    with recording() as level:
        seeds = {number: level.track(zeros_of(outs[number]), LEAF) for number in numbers}
        bundled = row.plan.kind.outputs > 1
        grad = Bundle([seeds.get(number) for number in range(len(outs))]) if bundled else seeds[numbers[0]]
        pulled = gradients_lifted(record, grad, True)
        roots = []
        positions = range(len(values)) if row.listed else row.plan.ruled_inputs
        for position, gradient in zip(positions, pulled, strict=True):
            if isinstance(gradient, GradTracking) and gradient.level is level and gradient.place is not None:
                edge = gradient if gradient.place is LEAF else gradient.place
                roots.append((edge, _fitted(tangents[position], gradient)))
    targets = list(seeds.values())
    return engine.general(roots, retain_graph=False, lifted=True, inputs=targets, accumulate=False) if roots else ()
