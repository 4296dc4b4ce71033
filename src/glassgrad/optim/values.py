"""Arrays under the names that tensors have for their arithmetic: a rule written for tensors runs on them, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

add, divide, multiply, subtract = np.add, np.divide, np.multiply, np.subtract


BLOCK = 1 << 16  # elements worked on at a time: all that a step touches stays in the cache


class Room:
    """Memory for what a rule computes on its way: the same at each run, as fresh memory costs more than arithmetic."""

    __slots__ = ("arrays", "taken")

    def __init__(self) -> None:
        self.arrays: list[Any] = []
        self.taken = 0

    def take(self, like: Any) -> Any:
        """An array like another, of no particular values."""
        if like.ndim != 1 or like.size > BLOCK:
            return np.empty_like(like)
        index = self.taken
        self.taken += 1
        if index == len(self.arrays):
            self.arrays.append(np.empty(BLOCK, like.dtype))
        elif self.arrays[index].dtype is not like.dtype:
            self.arrays[index] = np.empty(BLOCK, like.dtype)
        return self.arrays[index][: like.size]

    def give_back(self) -> None:
        """What was taken last is no longer needed."""
        self.taken = max(self.taken - 1, 0)


class Values:
    """An array that a rule may change (``add_``, ``mul_`` ...) and compute with.

    What ``+``, ``sqrt`` and the like give is memory of the rule's own, and further arithmetic on it is done in place: a
    rule uses such a result as the left side of one operation only. ``writes`` counts the in-place operations.
    """

    __slots__ = ("array", "room", "own", "writes")

    def __init__(self, array: Any, room: Room, own: bool = False) -> None:
        self.array = array
        self.room = room
        self.own = own
        self.writes = 0

    def _owned(self, array: Any) -> Values:
        return Values(array, self.room, True)

    def _wrote(self) -> Values:
        self.writes += 1
        return self

    def _one(self, function: Any) -> Values:
        array = self.array
        if self.own:
            function(array, array)
            return self._wrote()
        return self._owned(function(array, self.room.take(array)))

    def _two(self, function: Any, other: Any) -> Values:
        array = self.array
        if isinstance(other, Values):
            other = other.array
        if self.own:
            function(array, other, array)
            return self._wrote()
        return self._owned(function(array, other, self.room.take(array)))

    def __add__(self, other: Any) -> Values:
        return self._two(add, other)

    def __sub__(self, other: Any) -> Values:
        return self._two(subtract, other)

    def __mul__(self, other: Any) -> Values:
        return self._two(multiply, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Values:
        return self._two(divide, other)

    def __rtruediv__(self, number: float) -> Values:
        return self._one(lambda array, out: divide(number, array, out))

    def __neg__(self) -> Values:
        return self._one(np.negative)

    def sqrt(self) -> Values:
        """The square root."""
        return self._one(np.sqrt)

    def abs(self) -> Values:
        """The absolute value."""
        return self._one(np.absolute)

    def sign(self) -> Values:
        """-1, 0 or 1; zero of NaN."""
        signs = self._one(np.sign)
        np.copyto(signs.array, 0, where=np.isnan(signs.array))
        return signs

    def maximum(self, other: Values) -> Values:
        """The larger of two."""
        return self._two(lambda one, two, out: np.maximum(one, two, out=out), other)

    def add(self, other: Values, alpha: float) -> Values:
        """``self + alpha * other``."""
        spare = multiply(other.array, alpha, self.room.take(self.array))
        return self._owned(add(self.array, spare, spare))

    def addcmul(self, one: Values, other: Values, value: float) -> Values:
        """``self + value * one * other``."""
        spare = multiply(one.array, other.array, self.room.take(self.array))
        multiply(spare, value, spare)
        return self._owned(add(self.array, spare, spare))

    def detach(self) -> Values:
        """The same: arrays have no history."""
        return self

    def clone(self) -> Values:
        """A copy."""
        copy = self.room.take(self.array)
        copy[...] = self.array
        return self._owned(copy)

    def eq(self, number: float) -> Any:
        """Where it equals a number: a mask."""
        return self.array == number

    def gt(self, number: float) -> Any:
        """Where it is greater than a number: a mask."""
        return self.array > number

    def lt(self, number: float) -> Any:
        """Where it is less than a number: a mask."""
        return self.array < number

    # -- in place -------------------------------------------------------------------------------------------------

    def copy_(self, other: Values) -> Values:
        """Become ``other``."""
        self.array[...] = other.array
        return self._wrote()

    def add_(self, other: Values, alpha: float = 1) -> Values:
        """Add ``alpha * other``."""
        array = self.array
        if alpha == 1:
            add(array, other.array, array)
        else:
            spare = self.room.take(array)
            add(array, multiply(other.array, alpha, spare), array)
            self.room.give_back()
        return self._wrote()

    def mul_(self, factor: Any) -> Values:
        """Multiply by a number or by others."""
        multiply(self.array, factor.array if isinstance(factor, Values) else factor, self.array)
        return self._wrote()

    def lerp_(self, end: Values, weight: float) -> Values:
        """Go the part ``weight`` of the way to ``end``."""
        array = self.array
        way = subtract(end.array, array, self.room.take(array))
        if weight < 0.5:
            add(array, multiply(way, weight, way), array)
        else:
            subtract(end.array, multiply(way, 1 - weight, way), array)
        self.room.give_back()
        return self._wrote()

    def addcmul_(self, one: Values, other: Values, value: float = 1) -> Values:
        """Add ``value * one * other``."""
        return self._add_scaled(multiply, one, other, value)

    def addcdiv_(self, one: Values, other: Values, value: float = 1) -> Values:
        """Add ``value * one / other``."""
        return self._add_scaled(divide, one, other, value)

    def _add_scaled(self, function: Any, one: Values, other: Values, value: float) -> Values:
        array = self.array
        spare = function(one.array, other.array, self.room.take(array))
        if value != 1:
            multiply(spare, value, spare)
        add(array, spare, array)
        self.room.give_back()
        return self._wrote()

    def clamp_(self, least: float, most: float) -> Values:
        """Bring into a range."""
        np.clip(self.array, least, most, out=self.array)
        return self._wrote()

    def masked_fill_(self, mask: Any, number: float) -> Values:
        """Put a number where a mask is true."""
        self.array[mask] = number
        return self._wrote()


class Narrow(Values):
    """Values of float16 or bfloat16: held in float32, and rounded to their type after each operation, as by PyTorch."""

    __slots__ = ("kind",)

    def __init__(self, array: Any, room: Room, kind: np.dtype[Any]) -> None:
        super().__init__(array, room)
        self.kind = kind

    def _owned(self, array: Any) -> Narrow:
        array[...] = array.astype(self.kind)
        values = Narrow(array, self.room, self.kind)
        values.own = True
        return values

    def _wrote(self) -> Narrow:
        self.array[...] = self.array.astype(self.kind)
        self.writes += 1
        return self

    def _rounded(self, number: float) -> float:
        return float(np.array(number).astype(self.kind))

    def __add__(self, other: Any) -> Values:  # terms and their factors are rounded as well, other numbers are not
        return super().__add__(other if isinstance(other, Values) else self._rounded(other))

    def add(self, other: Values, alpha: float) -> Values:
        """``self + alpha * other``."""
        return super().add(other, self._rounded(alpha))

    def add_(self, other: Values, alpha: float = 1) -> Values:
        """Add ``alpha * other``."""
        return super().add_(other, self._rounded(alpha))
