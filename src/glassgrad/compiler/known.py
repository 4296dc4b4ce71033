"""What a capture knows: which tensor and which array holds which value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from ..core.tensor import Tensor
from ..tensor.parameter import Parameter
from ..tensor.writable import is_conjugate
from .program import NotCapturable, Step, Value

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
        known = self._held.get(id(thing))
        return known[1] if known is not None and known[0]() is thing else None

    def note(self, thing: Any, value: Value) -> None:
        """``thing`` holds ``value`` from now on."""
        if type(thing) is np.bool_:  # of which there are two in all
            return
        try:
            self._held[id(thing)] = ref(thing), value
        except TypeError:  # NumPy's scalars, which are small, and what vmap hides, know no weak references
            self._held[id(thing)] = (lambda: thing), value

    def forget(self, gone: set[int]) -> None:
        """Drop the values with these numbers."""
        for key in [key for key, (_, value) in self._held.items() if value.number in gone]:
            del self._held[key]


class Known:
    """The values of a capture, and the tensors and arrays that hold them.

    given   the tensors that a program is called with
    inputs  the values of these, and of tensors from outside
    """

    def __init__(self, arguments: Sequence[Tensor], stays: Callable[[Any], bool], gradients: dict[int, Any]) -> None:
        self.steps: list[Step] = []
        self.given, self.inputs = arguments, list[Value]()
        self.stays = stays  # whether a tensor was there before the call
        self.gradients: list[Tensor] = []  # those that are read
        self._gradients = gradients  # the leaves that had a gradient, by the identity of that
        self._by_array, self._by_tensor = Identities(), Identities()
        self.has_halves = False  # whether a value is of half precision
        self._made_at: list[int] = []  # the step that makes each value; -1 for none
        self._numbers: set[Any] = set()  # Python numbers that operations were given: they reach rules as tensors
        for place, tensor in enumerate(arguments):
            known = None if isinstance(tensor._array, np.generic) else self._by_array.get(tensor._array)
            self._by_tensor.note(tensor, known or self.new(tensor, "argument", place))

    def let_go(self) -> None:
        """Hold no array any more."""
        self._by_array, self._by_tensor = Identities(), Identities()

    def new(self, tensor: Any, source: str, held: Any = None) -> Value:
        """A new value, which a tensor or an array holds."""
        array = tensor._array if isinstance(tensor, Tensor) else tensor
        value = Value(len(self._made_at), array, source, held)
        self.has_halves = self.has_halves or value.dtype.itemsize == 2 and value.dtype.kind in "fV"
        self._made_at.append(len(self.steps) if source == "made" else -1)
        if source == "gradient":
            value.holder = f"g{value.number}"
        self._by_array.note(array, value)
        if isinstance(tensor, Tensor):
            self._by_tensor.note(tensor, value)
        if source in ("argument", "outside"):
            self.inputs.append(value)
        return value

    def find(self, tensor: Tensor) -> Value | None:
        """The value that a tensor holds; None where nobody knows.

        Several tensors may hold one of NumPy's scalars, and each is written to alone.
        """
        array = tensor._array
        value = self._by_tensor.get(tensor) if isinstance(array, np.generic) else None
        if value is None and isinstance(array, np.generic) and self._was_there(tensor):
            return self._met(tensor)
        value = value or self._by_array.get(array)
        if value is not None:
            return value
        value = self._by_tensor.get(tensor)
        if value is not None:
            if array.shape == () == value.shape:  # the scalar became an array, for an alias to look at
                self._by_array.note(array, value)
                return value
            return None
        if type(tensor) in PLAIN and array.dtype.metadata is None:
            if self._was_there(tensor):
                return self._met(tensor)
            if array.ndim == 0 and tensor._counter is None and (array.dtype, array.item()) in self._numbers:
                return self.new(tensor, "constant", array)
        return None

    def _met(self, tensor: Tensor) -> Value:
        """The value of a tensor that was there before the call: read as the gradient of a leaf, if it is one."""
        leaf = self._leaf_of(tensor)
        if leaf is None:
            return self.new(tensor, "outside", tensor)
        self.gradients.append(tensor)
        return self.new(tensor, "gradient", leaf)

    def _leaf_of(self, tensor: Tensor) -> Any:
        """The leaf whose gradient a tensor was when the call began, and still is."""
        leaf = self._gradients.get(id(tensor))
        if leaf is None or leaf._grad is not tensor:
            return None
        if any(leaf is argument for argument in self.given):
            raise NotCapturable("it reads the gradient of an argument")
        return leaf

    def _was_there(self, tensor: Tensor) -> bool:
        return self.stays(tensor) or self._leaf_of(tensor) is not None

    def same(self, tensor: Tensor, other: Tensor) -> None:
        """``tensor`` holds what ``other`` holds, and lies as that does."""
        value = self.operand(other)
        alike = tensor._array.strides == other._array.strides and tensor._array.dtype == other._array.dtype
        if not alike or tensor._array.tobytes() != other._array.tobytes():
            raise NotCapturable("gradients are others where tensors are walked over")
        self._by_tensor.note(tensor, value)
        self._by_array.note(tensor._array, value)

    def holds(self, array: Any) -> bool:
        """Whether an array is that of a value."""
        return self._by_array.get(array) is not None

    def knows(self, kind: np.dtype[Any], number: Any) -> None:
        """A number was given to an operation on a dtype: rules may be given it as a tensor."""
        self._numbers.add((kind, np.asarray(number).astype(kind).item()))

    def tensor(self, value: Value) -> Any:
        """The tensor that a value from outside is of."""
        return value.held if value.source == "outside" else self.given[value.held]

    def itself(self, tensor: Tensor) -> Value:
        """The value of a tensor from outside of which more than memory counts: its gradient, say."""
        value = self.find(tensor)
        if value is None or value.source not in ("outside", "argument"):
            raise NotCapturable("a leaf or a parameter whose making was not seen")
        if self.tensor(value) is not tensor:
            raise NotCapturable("it uses two tensors on the same memory, and the gradients of one")
        return value

    def operand(self, piece: Any) -> Any:
        """What a step is given for an argument of a call."""
        if isinstance(piece, Tensor):
            value = self.find(piece)
            if value is None:
                raise NotCapturable("a tensor whose making was not seen")
            if piece._array.dtype.kind == "c" and is_conjugate(piece):
                raise NotCapturable("a conjugate, which follows what is written to the tensor that it was made of")
            return value
        if hasattr(piece, "__array__"):
            raise NotCapturable("a NumPy array among the arguments of an operation")
        return piece

    def forget_since(self, start: int) -> None:
        """Drop the steps from ``start`` on, and the values they made."""
        if start < len(self.steps):
            del self.steps[start:]
            gone = {number for number, place in enumerate(self._made_at) if place >= start}
            self._by_array.forget(gone)
            self._by_tensor.forget(gone)
