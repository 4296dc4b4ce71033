"""Listens while a function runs, and notes the steps that it takes: kernels on arrays, rules, writes.

The calls are real ones: they give the caller what the function gives. Only their backward passes go another way to the
same bits: on tensors instead of arrays, so that the rules are heard too. Whatever cannot be followed ends the capture
with a reason, and the calls go on as they are written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from operator import is_not
from types import GeneratorType
from typing import Any

import numpy as np

from ..core import promotion
from ..core.row import Row
from ..core.tensor import LEAF, Tensor, View
from ..families.index.rows import Indices
from ..ground import dtypes, listening, modes
from ..ground.generator import Generator, default_generator
from ..ground.meta import cast_to
from ..ground.nested import frozen, mapped
from .known import PLAIN
from .operations import OWNERS, TELLING, kind_of, parameters, parts, sized_by_values
from .passes import Passes
from .program import ATOMS, NotCapturable, Step, Value, tensors_in, version


class Capture(Passes):
    """What is noted of a call of a function; ``reason`` says why it ended early, if it did."""

    def __init__(self, arguments: Sequence[Tensor], stays: Callable[[Any], bool], gradients: dict[int, Any]) -> None:
        super().__init__(arguments, stays, gradients)
        self._thread = threading.get_ident()
        self._unseen: str | None = None  # what an inner call could not note: the one around it may be noted whole
        self._default = dtypes._default
        default_generator.mark()  # which makes the twister, if none was: that is nothing of the function's
        self._look()

    def listening(self) -> Any:
        """The block in which calls are noted."""
        return listening.listening(self._hear)

    def _hear(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self.reason is not None or self._muted or threading.get_ident() != self._thread:
            return proceed(*args, **kwargs)
        if self._depth:
            return self._noted(function, proceed, args, kwargs)
        try:
            self._check()
            self._depth += 1
            return self._begun(function, proceed, args, kwargs)
        finally:
            self._depth = 0
            self._look()

    def _begun(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make and note a call that no other is around."""
        kind = kind_of(function)
        special = {"backward": self._backward, "grad": self._grad, "optimizer": self._optimizer, "clear": self._clear}
        try:
            if kind in special:
                return special[kind](function, proceed, args, kwargs)
            if function.__name__ in TELLING:
                return proceed(*args, **kwargs)
            if sized_by_values(function, args, kwargs):
                raise NotCapturable(f"values say how many elements {function.__name__}() gives")
            if kind in ("other", "through"):
                return self._opaque(function, proceed, args, kwargs)
        except NotCapturable as reason:
            self.give_up(str(reason))
            return proceed(*args, **kwargs)
        return self._noted(function, proceed, args, kwargs)

    def _opaque(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Note a call of which nothing is known: it is made again as it stands, where it takes no part in a graph."""
        heard = Heard(self, "other", function.__name__, function, args, kwargs)
        if modes.grad_enabled() and any(t.requires_grad for t in heard.tensors):
            raise NotCapturable(f"{function.__name__}() is given a tensor that requires gradients")
        mapped((args, kwargs), partial(self._plain, function))
        params = [parameter for owner in args for parameter in parameters(owner)]
        if any(parameter.ndim == 0 and parameter._grad is not None for parameter in params):
            raise NotCapturable(f"{function.__name__}() may write to a gradient that is a single number")
        result = self._really(proceed, args, kwargs)
        try:
            heard.note_whole(result)
        except NotCapturable as reason:
            self.give_up(f"{function.__name__}(): {reason}")
        return result

    def _plain(self, function: Any, piece: Any) -> None:
        """Refuse an argument that may be another one in the next call."""
        stays = isinstance(piece, Tensor) or isinstance(piece, OWNERS) and self.stays(piece)
        if not stays and type(piece) not in (float, complex, *ATOMS):
            raise NotCapturable(f"{function.__name__}() is given a {type(piece).__name__}")

    def _noted(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call, and note it by its own steps or whole."""
        kind, what = parts().get(function) or (kind_of(function), function.__name__)
        if kind == "write" and self._depth > 1:
            return proceed(*args, **kwargs)
        args = tuple([list(piece) if isinstance(piece, GeneratorType) else piece for piece in args])
        heard = Heard(self, kind, what, function, args, kwargs)
        outer, self._unseen = self._unseen, None
        self._depth += 1
        try:
            result = proceed(*args, **kwargs)
        except Exception as error:  # whoever catches it may not meet it again
            self.give_up(f"{function.__name__}() raised {type(error).__name__}")
            raise
        finally:
            self._depth -= 1
            unseen, self._unseen = self._unseen, outer
        if self.reason is None and result is not NotImplemented:
            try:
                heard.note(result, unseen)
            except NotCapturable as reason:
                self._unseen = f"{function.__name__}: {reason}"
                if self._depth == 1:
                    self.give_up(self._unseen)
            except Exception as error:  # noqa: BLE001  a mistake of the compiler's is not the function's
                self.give_up(f"{function.__name__}: {type(error).__name__}: {error}")
        return result

    # -- what is not heard ----------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Note what the tensors from outside are now."""
        self._seen = [(t, t._array, t._edge, version(t), _place(t)) for t in map(self.tensor, self.inputs)]

    def outline(self) -> Any:
        """What was noted, to compare with another capture's; at the end of the function."""
        self._check()
        if self.reason is not None:
            return self.reason

        def token(piece: Any) -> Any:
            if not isinstance(piece, Value):
                return type(piece), id(piece) if isinstance(piece, OWNERS) else repr(piece)
            held = id(piece.held) if piece.source in ("outside", "gradient") else repr(piece.held)
            return piece.number, piece.source, piece.shape, piece.dtype, held

        return [(step.kind, step.name, frozen((step.operands, step.named, step.results), token)) for step in self.steps]

    def began(self, outline: Any, wrong: list[Any]) -> str:
        """The operation that is another one than when ``outline`` was traced, or else makes the first that is wrong."""
        now = self.outline()
        if self.reason is not None:
            return ""
        for place, (before, after) in enumerate(zip_longest(outline, now, fillvalue=("", "the end")), 1):
            if before != after:
                why = "given something else than" if before[:2] == after[:2] else f"which was {before[1]}"
                return f", from operation {place} on: {after[1]}, {why} when it was traced"
        made = [self._by_array.get(thing._array) for thing in wrong if isinstance(thing, Tensor)]
        made += [step.operands[1] for step in self.steps if step.kind == "gradient" and made_by(step, made)]
        for place, step in enumerate(self.steps, 1):
            if made_by(step, made) or step.kind == "optimizer" and any(step.function is thing for thing in wrong):
                return f", from operation {place} on: {step.name}"
        return ""

    def _check(self) -> None:
        """Refuse where one of them was changed since, or another mode is on."""
        is_usual = not modes.unusual and not modes.transforming and modes.local.device is None
        if not is_usual or dtypes._default is not self._default:
            self.give_up("it is in another mode")
        for tensor, array, edge, count, place in self._seen:
            same_memory = tensor._array is array or type(array) is not np.ndarray  # numbers get memory when shared
            is_same = same_memory and tensor._edge is edge and version(tensor) == count
            if not is_same or any(map(is_not, _place(tensor), place)):
                self.give_up("a tensor was changed in a way that is not heard")


def made_by(step: Step, values: Sequence[Value | None]) -> bool:
    """Whether a step makes one of some values, or may write to it."""
    written = step.operands[2:] if step.kind == "gradient" else step.inputs if step.acts else ()
    return any(value in values for value in (*step.results, *written))


def _place(tensor: Tensor) -> tuple[Any, Any]:
    """What may change about a tensor's place in the graph: where a view is, and the hooks there."""
    edge = tensor._edge.edge if type(tensor._edge) is View else tensor._edge
    return edge, getattr(tensor if edge is LEAF else edge, "_hooks", None)


class Heard:
    """A call that is being made, and what it was given; then its result is noted: by its own steps, or whole."""

    def __init__(self, capture: Capture, kind: str, what: Any, function: Any, args: Any, kwargs: Any) -> None:
        self.capture, self.kind, self.what, self.function = capture, kind, what, function
        self.args, self.kwargs = args, kwargs
        self.start, self.drawn = len(capture.steps), default_generator.mark()
        self.tensors = tensors_in((args, kwargs))
        self.versions = [version(t) for t in self.tensors]
        self.given = {id(t): capture.find(t) for t in self.tensors}  # some calls give a tensor other sizes

    def note(self, result: Any, unseen: str | None) -> None:
        """Note the call; ``unseen`` tells what of it could not be noted."""
        capture, inner = self.capture, self.capture.steps[self.start :]
        outputs = tensors_in(result)
        given = any(isinstance(piece, Generator) for piece in (*self.args, *self.kwargs.values()))
        draws = given or default_generator.mark() != self.drawn
        written = [t for t, before in zip(self.tensors, self.versions, strict=True) if version(t) > before]
        for t in written if modes.grad_enabled() else ():
            value = self.given[id(t)]
            if t._edge is not None and value is not None and value.source in ("outside", "argument"):
                raise NotCapturable("it writes to a tensor from outside that carries gradients")
        if self.kind == "row" and unseen is None:
            self._row(self.what, result, outputs, inner, draws)
            return
        acts = any(step.acts for step in inner)
        if unseen is not None and acts:
            raise NotCapturable(unseen)
        known = unseen is None and self.kind != "unit" and (acts or not written)
        if not known or any(capture.find(t) is None for t in outputs):
            capture.forget_since(self.start)
            name = self.what if isinstance(self.what, str) else self.function.__name__
            self._call(name, result, outputs, bool(written) or self.kind == "unit" and result is None, draws)

    def note_whole(self, result: Any) -> None:
        """Note a call of which nothing is known: nothing is left out or moved."""
        outputs = tensors_in(result)
        if any(t.requires_grad for t in outputs):
            raise NotCapturable("it gives a tensor that requires gradients")
        if not outputs and result is not None:
            raise NotCapturable("it hands numbers to Python, which may decide by them what comes next")
        self._call(self.what, result, outputs, True, True)

    def _call(self, name: str, result: Any, outputs: list[Tensor], acts: bool, draws: bool) -> None:
        """Note a whole call of a function of tensors."""
        capture = self.capture
        every = isinstance(result, (tuple, list)) and all(isinstance(piece, Tensor) for piece in result)
        if outputs and not isinstance(result, Tensor) and not every or not outputs and result is not None and not acts:
            raise NotCapturable(f"it gives a {type(result).__name__}")
        for t in outputs:
            if type(t) is not Tensor and capture.find(t) is None:
                raise NotCapturable(f"it gives a {type(t).__name__}")
        for number in (*self.args, *self.kwargs.values()):
            if type(number) in (int, float):
                for t in self.tensors:
                    capture.knows(t._array.dtype, number)

        def operand(piece: Any) -> Any:
            return self.given.get(id(piece)) or capture.operand(piece)

        operands, named = mapped(self.args, operand), mapped(self.kwargs, operand)
        results = tuple([capture.find(t) or capture.new(t, "made") for t in outputs])
        several = isinstance(result, (tuple, list))
        capture.steps.append(Step("tensors", name, self.function, operands, results, named, acts, draws, several))

    # -- rows -----------------------------------------------------------------------------------------------------

    def _row(self, row: Row, result: Any, outputs: list[Tensor], inner: Sequence[Step], draws: bool) -> None:
        """Note a row by its kernel and arrays."""
        capture = self.capture
        if inner:  # the row was put together from others, which were heard
            if all(capture.find(t) is not None for t in outputs):
                return
            raise NotCapturable("part of it was not seen")
        if outputs and all(type(t._array) is np.ndarray and capture.holds(t._array) for t in outputs):
            return  # it gave one of its inputs
        inputs, settings = bound(row, self.args, self.kwargs)
        for t in outputs:
            if type(t) is not Tensor or t._array.dtype.metadata is not None:
                raise NotCapturable(f"it gives a {type(t).__name__}")
        arrays = self._arrays(row, inputs)
        settings = mapped([tuple(piece) if type(piece) is Indices else piece for piece in settings], capture.operand)
        if arrays is None:  # promotion by rules of its own: the call itself becomes the step
            operands = (*mapped(tuple(inputs), capture.operand), *settings)
            step = Step("tensors", row.name, row.caller, operands, draws=draws)
        else:
            operands = ((arrays,) if row.listed else tuple(arrays)) + tuple(settings)
            step = Step("view" if row.view else "kernel", row.name, row, operands, draws=draws)
        step.several = isinstance(result, (tuple, list))
        step.results = tuple([capture.new(t, "made") for t in outputs])
        capture.steps.append(step)

    def _arrays(self, row: Row, inputs: Sequence[Any]) -> list[Any] | None:
        """The arrays that the kernel is given, made to agree as in a call; None where that is more than casts."""
        capture, flat = self.capture, list(inputs[0]) if row.listed else list(inputs)
        for t in flat:
            if isinstance(t, Tensor) and type(t) not in PLAIN:
                raise NotCapturable(f"a {type(t).__name__}")
        operands: list[Any] = [capture.operand(t) if isinstance(t, Tensor) else t for t in flat]
        if row.typed is None:
            return operands
        cast = promotion.common_dtype(row, flat)
        if cast.itemsize == 2 and row.single:
            return None
        for place, t in enumerate(flat):
            if t is None or not row.listed and row.inputs[place] in row.auxiliary:
                continue
            if not isinstance(t, Tensor):
                capture.knows(cast, t)
                operands[place] = capture.new(number := np.asarray(t).astype(cast)[()], "constant", number)
            elif t._array.dtype != cast:
                value = capture.new(cast_to(t._array, cast), "made")
                capture.steps.append(Step("kernel", "cast", cast_to, (operands[place], cast), (value,)))
                operands[place] = value
        return operands


def bound(row: Row, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """The inputs and settings of a call of a row, by position."""
    kwargs = dict(kwargs)
    if kwargs.pop("out", None) is not None:
        raise NotCapturable("out= is given")
    names = (*("input" if name == "self" else name for name in row.inputs), *row.settings)
    values = list(args)
    for name in names[len(values) :]:
        if name in kwargs:
            values.append(kwargs.pop(name))
        elif name in row.defaults or name in row.optional:
            values.append(row.defaults.get(name))
        else:
            raise NotCapturable(f"the argument {name!r} is missing")
    if kwargs:
        raise NotCapturable(f"the argument {next(iter(kwargs))!r} is unknown")
    return values[: len(row.inputs)], values[len(row.inputs) :]
