"""What a capture knows: which tensor and which array holds which value, what numbers left, what memory was like."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from ..core.tensor import Tensor
from ..ground.generator import Generator
from ..tensor.parameter import Parameter
from .program import NotCapturable, Step, Value

ndarray = np.ndarray
PLAIN = (Tensor, Parameter)


class Identities:
    """Values by the identity of what holds them, which is not kept alive by that.

    An identity is given away again when its owner is gone: what is found by it counts only while the owner is the one
    that was noted.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[int, tuple[Callable[[], Any], Value]] = {}

    def get(self, thing: Any) -> Value | None:
        """The value that ``thing`` holds; None where nobody noted it."""
        found = self._held.get(id(thing))
        return found[1] if found is not None and found[0]() is thing else None

    def note(self, thing: Any, value: Value) -> None:
        """``thing`` holds ``value`` from now on."""
        if type(thing) is np.bool_:  # of which there are two in all
            return
        try:
            self._held[id(thing)] = ref(thing), value
        except TypeError:  # NumPy's scalars know no weak references; they are small
            self._held[id(thing)] = (lambda: thing), value

    def forget(self, gone: set[int]) -> None:
        """Drop the values with these numbers."""
        for key in [key for key, (_, value) in self._held.items() if value.number in gone]:
            del self._held[key]

    def clear(self) -> None:
        """Drop everything."""
        self._held.clear()


class Known:
    """The values of a run, and the tensors and arrays that hold them."""

    def __init__(self, outside: Callable[[Tensor], bool]) -> None:
        self.steps: list[Step] = []
        self.values = 0
        self.inputs: list[Value] = []  # from arguments and from outside
        self.given: list[Any] = []  # the arguments
        self._by_array = Identities()
        self._by_tensor = Identities()
        self._made_at: list[int] = []  # the step that makes each value; -1 for none
        self._is_outside = outside
        self._numbers: set[Any] = set()  # Python numbers that operations were given: they reach rules as tensors
        self._sums: dict[int, tuple[Any, int]] = {}  # of gradients and parameters after the last write heard

    def let_go(self) -> None:
        """Hold no array of the run any more."""
        self._by_array.clear()
        self._by_tensor.clear()
        self._sums.clear()

    def _value(self, tensor: Any, source: str, held: Any = None) -> Value:
        array = tensor._array if isinstance(tensor, Tensor) else tensor
        value = Value(self.values, array, source, held)
        self.values += 1
        self._made_at.append(len(self.steps) if source == "made" else -1)
        self._by_array.note(array, value)
        if isinstance(tensor, Tensor):
            self._by_tensor.note(tensor, value)
        if source in ("argument", "outside"):
            self.inputs.append(value)
        return value

    def find(self, tensor: Tensor) -> Value | None:
        """The value that a tensor holds; None where nobody knows."""
        value = self._by_array.get(tensor._array)
        if value is not None:
            return value
        value = self._by_tensor.get(tensor)
        if value is not None:
            if tensor._array.shape == () == value.shape:  # the scalar became an array, for an alias to look at
                self._by_array.note(tensor._array, value)
                return value
            return None
        if type(tensor) in PLAIN and tensor._array.dtype.metadata is None:
            if self._is_outside(tensor):
                return self._value(tensor, "outside", tensor)
            if (
                tensor._array.ndim == 0
                and tensor._counter is None
                and (tensor._array.dtype, tensor._array.item()) in self._numbers
            ):
                return self._value(tensor, "constant", tensor._array)
        return None

    def same(self, tensor: Tensor, other: Any) -> None:
        """``other`` will be what ``tensor`` is."""
        value = self.find(tensor)
        if value is not None:
            self._by_tensor.note(other, value)

    def _itself(self, tensor: Tensor) -> Any:
        """The value of a tensor of which more than memory counts: its gradient, say."""
        value = self._operand(tensor)
        if value.source in ("outside", "argument"):
            holder = value.held if value.source == "outside" else self.given[value.held]
            if holder is not tensor:
                raise NotCapturable("it uses two tensors on the same memory, and the gradients of one")
        return value

    def _operand(self, tensor: Any) -> Any:
        if isinstance(tensor, Tensor):
            value = self.find(tensor)
            if value is None:
                raise NotCapturable("a tensor whose making was not seen")
            return value
        if isinstance(tensor, slice) and any(isinstance(t, Tensor) for t in (tensor.start, tensor.stop, tensor.step)):
            raise NotCapturable("a slice by a tensor")
        if hasattr(tensor, "__next__"):
            raise NotCapturable(f"an operation is given a {type(tensor).__name__}: make it a list")
        if isinstance(tensor, Generator) or tensor is None or not hasattr(tensor, "__array__"):
            return tensor
        raise NotCapturable("a NumPy array among the arguments of an operation")

    def _add(self, step: Step) -> None:
        self.steps.append(step)

    def _remember(self, tensors: Sequence[Tensor]) -> None:
        """What is in memory that has just been written to."""
        for t in tensors:
            if type(t._array) is ndarray:
                self._sums[id(t._array)] = t._array, checksum(t._array)

    def unheard(self, tensors: Sequence[Tensor] | None = None) -> bool:
        """Whether memory was written to since, in a way that was not heard."""
        ids = self._sums if tensors is None else [id(t._array) for t in tensors if id(t._array) in self._sums]
        return any(checksum(self._sums[place][0]) != self._sums[place][1] for place in ids)

    def _forget_since(self, start: int) -> None:
        """Drop the steps from ``start`` on, and the values they made."""
        if start == len(self.steps):
            return
        del self.steps[start:]
        gone = {number for number, place in enumerate(self._made_at) if place >= start}
        self._by_array.forget(gone)
        self._by_tensor.forget(gone)


def checksum(array: Any) -> int:
    """A checksum of an array's memory."""
    if isinstance(array, np.generic):
        return zlib.crc32(array.tobytes())
    if type(array) is not ndarray or not array.size:
        return 0
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
