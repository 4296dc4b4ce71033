"""The levels of transforms at work in a thread, and the tensors that stand for others at them.

A level is one call of ``grad``, ``jvp`` or ``vmap``.  A call of a row is first the affair of the highest level among
its inputs: it lowers them, has the row called on what they stand for (which may be another level's affair), and raises
the results.  Thus transforms nest in any order, and each knows of itself alone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core import write
from ..core.row import TABLE, Row
from ..core.tensor import Tensor, alias
from ..ground import modes
from ..tensor import lifted
from ..tensor.lifted import Lifted
from ..tensor.writable import check_overlap_with, check_target, first_along, is_aligned, is_doubled, shared_axes


class Level:
    """One transform at work."""

    sees_through = True  #: whether a fused row is what it stands for here
    has_function = True  #: whether it calls a function, which it alone differentiates, and is no block in a program
    setting_data = "inside functorch"  #: where PyTorch says that nothing can be set as ``.data``
    implementation = "TensorWrapper"  #: what PyTorch calls its tensors where they have no memory

    def __init__(self) -> None:
        self.number = 0  # how many levels lie below, and this one: PyTorch's ``lvl``
        self.is_alive = False

    def call(self, row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
        """Call a row where the highest level among its inputs is this one."""
        raise NotImplementedError

    def write(self, row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> None:
        """Write the result of a row into its first input, where the highest level among the inputs is this one."""
        raise NotImplementedError

    def lower(self, operand: Any) -> Any:
        """What an operand stands for below this level."""
        return operand.value if isinstance(operand, Lifted) and operand.level is self else operand

    def ended(self, tensor: Any) -> Any:
        """What a tensor of this level stands for once the level has ended."""
        return tensor.value

    def raised(self, value: Any) -> Any:
        """A tensor of a lower level as one of this level."""
        raise NotImplementedError

    def below(self, settings: Sequence[Any]) -> Sequence[Any]:
        """The settings of a row that is indexed with tensors, as they are below this level."""
        return [
            type(setting)([self.lower(alive(part)) for part in setting]) if hasattr(setting, "parts") else setting
            for setting in settings
        ]

    def strip(self, tensor: Any, value: Any) -> Any:
        """A tensor of this level that stands for ``value``, and takes no part in derivatives."""
        raise NotImplementedError

    def is_view(self, tensor: Any) -> bool:
        """Whether a tensor of this level is a view of another, so that it cannot be detached in place."""
        return True

    def born(self, tensor: Tensor) -> Tensor:
        """A tensor made from nothing, as functions at this level see it."""
        return tensor

    def writable(self, tensor: Any) -> Any:
        """A tensor of a lower level as one of this level, which can be written into here."""
        return self.raised(tensor)

    def require(self, tensor: Any, value: bool) -> None:
        """Set ``requires_grad`` of a tensor of this level; RuntimeError where that cannot be."""
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) "
            "inside of a function being transformed by a functorch transform. This is unsupported, please attempt to "
            "use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside "
            "of a function being transformed instead."
        )

    def says(self, tensor: Any) -> str:
        """What a tensor of this level is, for whoever reads its graph."""
        return "grad: the graph is this transform's own"

    def into(self, row: Row, flat: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
        """Have a row write its result into ``out=``, where the highest level among its inputs is this one."""
        raise RuntimeError(
            f"{row.name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )

    def memory(self, tensor: Any) -> Any:
        """What those have of a tensor of this level who copy or keep its memory; NotImplementedError: nothing."""
        raise NotImplementedError(f"Cannot access storage of {self.implementation}")

    def again(self, tensor: Any, value: Any) -> Any:
        """A tensor of this level once more, that stands for another ``value`` of the same meaning."""
        return self.strip(tensor, value)

    def lower_levels(self) -> list[Level]:
        """The levels at work below this one, outermost first."""
        return _thread.levels[: self.number - 1]


class _Thread(threading.local):
    def __init__(self) -> None:
        self.levels: list[Level] = []


_thread = _Thread()


def levels() -> list[Level]:
    """The levels at work in this thread, outermost first."""
    return _thread.levels


def begin(level: Level) -> None:
    """Have a level at work, on top of those that are."""
    _thread.levels.append(level)
    level.number, level.is_alive = len(_thread.levels), True
    modes.transforming.update(modes.local.me)


def end(level: Level) -> None:
    """Have a level at work no longer, nor any that began after it."""
    level.is_alive = False
    stack = _thread.levels
    if level in stack:
        for other in stack[stack.index(level) :]:
            other.is_alive = False
        del stack[stack.index(level) :]
    if not stack:
        modes.transforming.difference_update(modes.local.me)


@contextmanager
def entered(level: Level) -> Iterator[Any]:
    """A block in which ``level`` is at work; gradient mode is as it was before, after it."""
    before = modes.local.grad
    try:
        begin(level)
        yield level
    finally:
        end(level)
        modes.off |= modes.local.me
        modes.local.grad = before
        modes.settle()


@contextmanager
def aside() -> Iterator[None]:
    """A block in which no level is at work."""
    stack = list(_thread.levels)
    try:
        _thread.levels.clear()
        modes.transforming.difference_update(modes.local.me)
        yield
    finally:
        _thread.levels[:] = stack
        modes.transforming.update(modes.local.me)


def alive(operand: Any) -> Any:
    """An operand without the wrappers of levels that have ended."""
    while isinstance(operand, Lifted) and not operand.level.is_alive:
        operand = operand.level.ended(operand)
    return operand


def level_of(operand: Any) -> int:
    """The number of an operand's level; 0 for a plain one."""
    return operand.level.number if isinstance(operand, Lifted) else 0


def highest(operands: Sequence[Any]) -> Any:
    """The highest level among operands."""
    number = max(map(level_of, operands), default=0)
    return _thread.levels[number - 1] if number else None


INDEXED = {"index", "index_backward", "index_put"}  #: rows that have tensors among their settings


def beside(tensor: Any, others: Sequence[Any]) -> Any:
    """A tensor at the highest level among ``others``."""
    level = highest([alive(other) for other in others])
    return tensor if level is None or level_of(alive(tensor)) >= level.number else level.raised(alive(tensor))


def _beside_indices(flat: Sequence[Any], settings: Sequence[Any]) -> Sequence[Any]:
    indices = next(setting for setting in settings if hasattr(setting, "parts"))
    return (beside(flat[0], indices), *flat[1:])


def call_row(row: Row, flat: Sequence[Any], settings: Sequence[Any]) -> Any:
    """Call a row on operands in a flat row."""
    if row.name in INDEXED:
        flat = _beside_indices(flat, settings)
    return row.caller(list(flat), *settings) if row.listed else row.caller(*flat, *settings)


def _call(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
    """What a call of a row means where an input is lifted."""
    if row.precision is not None and modes.local.autocast is not None:
        tensors = modes.local.autocast.cast(row.precision, tensors)
    flat = [alive(operand) for operand in (tensors[0] if row.listed else tensors)]
    level = highest(flat)
    if level is None:
        return call_row(row, flat, settings) if out is None else row.caller(*flat, *settings, out=out)
    if out is not None:
        return level.into(row, flat, settings, out)
    as_form = getattr(row.unfold, "as_form", None)
    if level.sees_through and as_form is not None:  # a fused row's rules are for plain tensors
        return as_form(row, flat, settings)
    return level.call(row, flat, level.below(settings) if row.name in INDEXED else settings)


def _write(row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> Any:
    """What a write into the first input of a row means where an input is lifted."""
    flat = [alive(operand) for operand in (target, *others)]
    level = highest(flat)
    if level is None:
        write.in_place(row, flat[0], flat[1:], settings)
    else:
        level.write(row, flat[0], flat[1:], settings)
    return target


def check_apart(row: Row, target: Any, others: Sequence[Any]) -> None:
    """Refuse a write where what tensors stand for lies partly, or at all, on what is written."""
    written = lifted.plain(target)
    for name, other in zip(row.inputs[1:], others, strict=False):
        if isinstance(other, Tensor) and (is_aligned(row) or name in row.disjoint):
            check_overlap_with(written, lifted.plain(other), name in row.disjoint)


def put(row: Row, target: Any, value: Any) -> None:
    """Write what a row gave into the tensor that its target stands for; elements that share memory get one value."""
    if row.constant:  # what has no gradient asks for no history, and leaves those of all levels as they are
        while isinstance(target, Lifted):
            target, value = target.value, target.level.lower(value)
        check_target(row, target, (), False)
        write.store(target, value._array)
        return
    if row.one_value and is_doubled(target._array):
        axes = shared_axes(target._array)
        target, value = first_along(target, axes), first_along(value, axes)
    write.in_place(TABLE["copy"], target, (value,), ())


def _strip(tensor: Any) -> Any:
    """A tensor on the same memory that takes no part in any derivative."""
    tensor = alive(tensor)
    return tensor.level.strip(tensor, _strip(tensor.value)) if isinstance(tensor, Lifted) else alias(tensor)


def written_name(row: Row) -> str:
    """What PyTorch calls the operation that a row is, without the name of a form of it."""
    return re.sub("_((with_)?(number|tensors?)|written)$", "", row.name)


def raised_to(tensor: Any, below: Sequence[Level]) -> Any:
    """A tensor as one of each of the lowest levels, ``below``: tensors of any of them can be written into it."""
    if not below:
        return tensor
    level, lower = below[-1], below[:-1]
    if isinstance(tensor, Lifted) and tensor.level is level:
        value = raised_to(tensor.value, lower)
        return tensor if value is tensor.value else level.again(tensor, value)
    return level.writable(raised_to(tensor, lower))


def several(answer: Any) -> tuple[Any, ...]:
    """The results of a row, one or several, in a tuple."""
    return tuple(answer) if isinstance(answer, (tuple, list)) else (answer,)


def like(answer: Any, outs: Sequence[Any]) -> Any:
    """Results in the form of a row's ``answer``."""
    return tuple(outs) if isinstance(answer, (tuple, list)) else outs[0]


def born(tensor: Any) -> Any:
    """A tensor made from nothing, as the function that is being transformed sees it: at every level in turn."""
    for level in _thread.levels:
        tensor = level.born(tensor)
    return tensor


def levels_in(tensor: Any) -> list[Level]:
    """The levels that a tensor belongs to, highest first."""
    nested, tensor = [], alive(tensor)
    while isinstance(tensor, Lifted):
        nested.append(tensor.level)
        tensor = alive(tensor.value)
    return nested


def born_like(tensor: Any, source: Any) -> Any:
    """A tensor made from nothing at the levels of ``source``, so that tensors of these can be written into it."""
    below, at = tensor, levels_in(source)
    while isinstance(below, Lifted):
        below = below.value
    for level in _thread.levels:
        below = level.writable(below) if level in at else level.born(below)
    return below


lifted.call, lifted.write, lifted.strip, lifted.beside = _call, _write, _strip, beside
lifted.born, lifted.born_like = born, born_like
lifted.has_function = lambda: any(level.has_function for level in levels())


def shown(name: str, level: Any, value: Any, more: str = "") -> str:
    """How a tensor of a level prints, as in PyTorch: the level's number, and what it stands for."""
    inner = repr(value).replace("\n", "\n    ")
    return f"{name}(lvl={level}{more}, value=\n    {inner}\n)"


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """What a tensor of a transform stands for: a plain tensor, or with ``recurse=False`` that of the next level.

    For looking at values while debugging; what is computed from it takes no part in the transform.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.debug_unwrap.html
    """
    if recurse:
        return lifted.plain(tensor)
    return tensor.value if isinstance(tensor, Lifted) else tensor
