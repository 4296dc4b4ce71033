"""What a capture notes of a call: a row by its kernel and arrays, anything else as a call of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import call
from ..core.row import Row
from ..core.tensor import Tensor
from ..families.index.rows import Indices
from ..ground import modes
from ..ground.meta import cast_to
from .heard import ABOUT_SHAPES, BY_SHAPE, ELSEWHERE, LOOKING, bound, sized, tensors_in
from .known import PLAIN, Known
from .program import NotCapturable, Step, Value, mapped


class Calls(Known):
    """The steps that calls of the table's functions become."""

    def __init__(self, outside: Callable[[Tensor], bool]) -> None:
        super().__init__(outside)
        self._muted = 0
        self.reason: str | None = None  # why it ended early
        self._unseen: str | None = None  # what an inner call could not note: the one around it may be noted whole

    def give_up(self, reason: str) -> None:
        """Note no more; the first reason counts."""
        if self.reason is None:
            self.reason = reason

    def _row(self, row: Row, args: Any, kwargs: Any, result: Any, start: int, draws: bool) -> None:
        made = list(tensors_in(result))
        if modes.local.autocast is not None and row.precision is not None:
            args, kwargs = self._lowered(row, args, kwargs, start)
        elif len(self.steps) > start:  # the row was put together from others, which were heard
            if all(self.find(t) is not None for t in made):
                return
            raise NotCapturable("part of it was not seen")
        if made and all(self._by_array.get(t._array) is not None for t in made):
            return  # it gave one of its inputs
        inputs, settings, out = bound(row, args, kwargs)
        if sized(row.name, (*inputs, *(tuple(p) if type(p) is Indices else p for p in settings)), {}):
            self._sized(row.name)
        if out is not None:
            raise NotCapturable("out= is given")
        if modes.local.saved_hooks:
            raise NotCapturable("hooks of saved tensors are on")
        for t in made:
            if type(t) is not Tensor or t._array.dtype.metadata is not None:
                raise NotCapturable(f"it gives a {type(t).__name__}")
        operands = self._operands(row, inputs)
        settings = [tuple(piece) if type(piece) is Indices else piece for piece in settings]
        settings = mapped(settings, self._operand)
        if operands is None:  # promotion by rules of its own: the call itself becomes the step
            operands = mapped(tuple(inputs), self._operand)
            step = Step("tensors", row.name, row.caller, (*operands, *settings), draws=draws)
        else:
            given = (operands,) if row.listed else tuple(operands)
            step = Step("view" if row.view else "kernel", row.name, row, (*given, *settings), draws=draws)
        step.several = isinstance(result, (tuple, list))
        step.results = tuple(self._value(t, "made") for t in made)
        self._add(step)

    def _lowered(self, row: Row, args: Any, kwargs: Any, start: int) -> tuple[Any, Any]:
        """The arguments of a row as it takes them in a block of autocast; the casts were heard."""
        if any(step.name != "to_copy" for step in self.steps[start:]):
            raise NotCapturable("part of it was not seen, as autocast is on")
        inputs, settings, out = bound(row, args, kwargs)
        flat = list(inputs[0]) if row.listed else list(inputs)
        self._muted += 1  # these casts are not the function's
        try:
            cast = list(modes.local.autocast.cast(row.precision, flat))
        finally:
            self._muted -= 1
        for place, (t, c) in enumerate(zip(flat, cast, strict=True)):
            if c is t or not isinstance(t, Tensor):
                continue
            value = self.find(t)
            for step in reversed(self.steps):
                if step.name == "to_copy" and step.operands[0] is value and step.results[0].dtype == c._array.dtype:
                    self._by_array.note(c._array, step.results[0])
                    break
            else:
                raise NotCapturable("a cast of autocast was not seen")
            flat[place] = c
        named = {} if out is None else {"out": out}
        return ((flat, *settings) if row.listed else (*flat, *settings)), named

    def _operands(self, row: Row, inputs: Sequence[Any]) -> list[Any] | None:
        """The arrays that the kernel is given, made to agree as in a call; None where that is more than casts."""
        flat = list(inputs[0]) if row.listed else list(inputs)
        for t in flat:
            if isinstance(t, Tensor) and type(t) not in PLAIN:
                raise NotCapturable(f"a {type(t).__name__}")
        found: list[Any] = [self._operand(t) if isinstance(t, Tensor) else t for t in flat]
        if row.typed is None:
            return found
        cast = call.common_dtype(row, flat)
        if cast.itemsize == 2 and row.single:
            return None
        for place, t in enumerate(flat):
            if t is None or (not row.listed and row.inputs[place] in row.auxiliary):
                continue
            if not isinstance(t, Tensor):
                number = np.asarray(t).astype(cast)[()]
                self._numbers.add((number.dtype, number.item()))
                found[place] = self._value(number, "constant", number)
            elif t._array.dtype != cast:
                array = cast_to(t._array, cast)
                value = self._value(array, "made")
                self._add(Step("kernel", "cast", cast_to, (found[place], cast), (value,)))
                found[place] = value
        return found

    def _function(
        self, function: Any, name: str | None, args: Any, kwargs: Any, given: dict[int, Value | None], result: Any,
        start: int, wrote: bool, draws: bool,
    ) -> None:  # fmt: skip
        """A function over rows, an in-place variant, or one that works on arrays by itself."""
        name = name if isinstance(name, str) else getattr(function, "__name__", "a function")
        inner = self.steps[start:]
        made = list(tensors_in(result))
        if name in ABOUT_SHAPES:
            return
        if name in ELSEWHERE:
            raise NotCapturable("the state of the random numbers is read or set")
        if sized(name, args, kwargs):
            self._sized(name)
        unseen, self._unseen = self._unseen, None
        if unseen is not None and any(step.acts for step in inner):
            raise NotCapturable(unseen)
        if unseen is not None or wrote and not any(step.acts for step in inner):
            self._forget_since(start)
            self._call(function, name, args, kwargs, given, result, made, wrote, draws)
            return
        if name in LOOKING or self._left_out(name, given, inner, made) or any(self.find(t) is None for t in made):
            self._forget_since(start)
            self._call(function, name, args, kwargs, given, result, made, False, draws)
            return
        if not made and not wrote and (not inner or _tells(result)):
            tensors = tensors_in((args, kwargs))
            if tensors and not (result is None and name.startswith("_")):
                self._gives_away(name)

    def _sized(self, name: str) -> None:
        self.give_up(f"the sizes of what {name}() gives hang on the values of a tensor")

    def _left_out(self, name: str, given: dict[int, Value | None], inner: Sequence[Step], made: list[Tensor]) -> bool:
        """Whether a tensor was given that no step of the call reads: the call looked at its values itself."""
        if not made or name in BY_SHAPE:
            return False
        read = {value.number for step in inner for value in step.inputs}
        read.update(value.number for value in map(self.find, made) if value is not None)
        return any(value is not None and value.number not in read for value in given.values())

    def _call(
        self, function: Any, name: str, args: Any, kwargs: Any, given: dict[int, Value | None], result: Any,
        made: list[Tensor], acts: bool, draws: bool,
    ) -> None:  # fmt: skip
        """Note a whole call of a function of tensors."""
        if "out" in kwargs and kwargs["out"] is not None:
            raise NotCapturable("out= is given")
        if modes.local.autocast is not None:
            raise NotCapturable("autocast is on")

        def operand(piece: Any) -> Any:
            if name == "tensor" and type(piece) is np.ndarray and piece.size <= 4096 and not piece.dtype.hasobject:
                return piece.copy()  # what it holds now; that it still does is guarded
            return given.get(id(piece)) or self._operand(piece)

        for number in (*args, *kwargs.values()):
            if type(number) in (int, float):
                for t in tensors_in((args, kwargs)):
                    self._numbers.add((t._array.dtype, np.asarray(number).astype(t._array.dtype).item()))
        step = Step("tensors", name, function, mapped(args, operand), (), mapped(kwargs, operand), acts, draws)
        new = []
        for t in made:
            if type(t) is not Tensor and t._array is not None and self.find(t) is None:
                raise NotCapturable(f"it gives a {type(t).__name__}")
            new.append(self.find(t) or self._value(t, "made"))
        if made and not isinstance(result, Tensor) and not (
            isinstance(result, (tuple, list)) and all(isinstance(piece, Tensor) for piece in result)
        ):
            raise NotCapturable(f"it gives a {type(result).__name__}")
        if not made and result is not None and not acts:
            raise NotCapturable(f"it gives a {type(result).__name__}")
        step.several = isinstance(result, (tuple, list))
        step.results = tuple(new)
        self._add(step)

    def _gives_away(self, name: str) -> None:
        """A tensor's value leaves for Python."""
        raise NotCapturable(f"{name}() hands a tensor's values to Python, where they may decide what runs next")


def _tells(result: Any) -> bool:
    """Whether a result holds numbers or texts: what a tensor's values may have decided."""
    if isinstance(result, (tuple, list)):
        return any(map(_tells, result))
    return isinstance(result, (bool, int, float, complex, str, bytes, np.ndarray, np.generic))
