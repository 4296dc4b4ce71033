"""A segment: what a call has deferred since data were last wanted, and what its operations are compared by."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ..core.row import Row
from ..core.tensor import Tensor, View
from ..ground.exposed import is_exposed
from ..ground.window import owner_of
from ..optim.optimizer import _after_all, _before_all
from ..tensor.parameter import Parameter
from .lazy import Lazy, Meta
from .program import is_leaf
from .tape import Node, Unknown, note_atom, signature


class Segment:
    """The tensors of a segment, and the keys of its operations; a key is all that a deferred call hangs on.

    things   the tensors by number, those from outside and those that it made
    metas    what is known of those it made
    """

    def __init__(self, state: Any, arguments: set[int], node: Node) -> None:
        self.state = state
        self.arguments = arguments  # the identities of the tensors that the call was given
        self.begin(node)

    def begin(self, node: Node) -> None:
        """Begin a segment."""
        self.node = self.start = node
        self.things: list[Any] = []
        self.metas: list[Any] = []
        self.numbers: dict[int, int] = {}  # the tensors' numbers, by identity
        self.outside: list[tuple[Any, ...]] = []  # tensors from outside, as they were when they were met
        self.arrays: dict[int, int] = {}  # the first of them on an array or its owner, by the identity of these
        self.given: list[Any] = []  # those of them that are others in each call
        self.count = 0  # so many of those are operands of what is pending
        self.pending: list[tuple[Any, ...]] = []
        self.noting: Any = None  # what notes the calls that are carried out, to make a program of them
        self.drawn: Any = None  # where the random stream was when the first draw was deferred
        self.graded: list[tuple[Any, int]] = []  # leaves, and the numbers of the gradients they are owed
        self.stepped: set[int] = set()  # the identities of these, and of parameters that pending steps are of

    def _note(self, value: Any, key: list[Any], uses: list[int]) -> Any:
        """Add a value to a key; gives the value, or a copy of a container that may change."""
        kind = type(value)
        if kind is Tensor or kind is Parameter or kind is Lazy:
            number = self.numbers.get(id(value))
            if number is None:
                number = self._met(value, key)
            key.append(number)
            uses.append(number)
            return value
        if kind is tuple:
            key += (tuple, len(value))
            return self._note_tuple(value, key, uses)
        if kind is list:
            key += (list, len(value))
            return [self._note(piece, key, uses) for piece in value]
        if kind is dict:
            key.append(len(value))
            return self._note_dict(value, key, uses)
        if kind is slice:
            key.append(slice)
            for piece in (value.start, value.stop, value.step):
                note_atom(piece, key)
            return value
        if kind is Row:
            key += (Row, value)
            return value
        note_atom(value, key)
        return value

    def _note_tuple(self, args: Any, key: list[Any], uses: list[int]) -> Any:
        return tuple([self._note(piece, key, uses) for piece in args])

    def _note_dict(self, kwargs: Any, key: list[Any], uses: list[int]) -> Any:
        copy = {}
        for name, value in kwargs.items():
            note_atom(name, key)
            copy[name] = self._note(value, key, uses)
        return copy

    def _met(self, tensor: Any, key: list[Any]) -> int:
        """Note a tensor from outside, met for the first time in this segment."""
        if type(tensor) is Lazy:
            raise Unknown("it is given a tensor of another thread")
        about: Any = signature(tensor)
        counter = tensor._counter
        if is_exposed(tensor._array):
            raise Unknown("NumPy sees the memory of a tensor it is given")
        number = len(self.things)
        if type(array := tensor._array) is ndarray:
            owner = array if array.base is None else owner_of(array)
            alike = self.arrays.setdefault(id(array), number), self.arrays.setdefault(id(owner), number)
            if alike != (number, number):  # writes to one may reach the other, which they do not elsewhere
                about = about, alike
        if id(tensor) not in self.arguments and self.state.lasts(tensor):
            key += ("held", id(tensor), about)
        else:
            key += ("given", about)
            self.given.append(tensor)
        self.outside.append((tensor, tensor._array, tensor._edge, counter, 0 if counter is None else counter.version))
        self._add(tensor, None)
        return number

    def _add(self, tensor: Any, meta: Meta | None) -> None:
        self.numbers[id(tensor)] = len(self.things)
        self.things.append(tensor)
        self.metas.append(meta)

    def unmeet(self, count: int, given: int) -> None:
        """Take back the tensors met since there were so many: what a call tells is no entry, whose key would tell."""
        if len(self.things) > count:
            del self.outside[count - len(self.things) :], self.things[count:], self.metas[count:], self.given[given:]
            self.numbers = {key: number for key, number in self.numbers.items() if number < count}
            self.arrays = {key: number for key, number in self.arrays.items() if number < count}

    def makes(self, tensor: Any) -> bool:
        """Whether a tensor is made in this segment: then it has no data where its operations are deferred."""
        number = self.numbers.get(id(tensor))
        return number is not None and self.metas[number] is not None

    def _note_leaves(self, key: list[Any]) -> None:
        """Add to the key of a backward pass what it finds at the leaves."""
        for tensor, _, edge, _, _ in self.outside:
            if edge is None:
                continue
            if not is_leaf(edge):
                if type(edge) is View and not tensor.requires_grad:
                    continue
                raise Unknown("its graph goes on outside of the function")
            if tensor._hooks is not None or "_post_accumulate" in tensor.__dict__:
                raise Unknown("a hook waits for a gradient")
            grad = tensor._grad
            key.append(None if grad is None else self.numbers.get(id(grad), "there"))
        for meta, tensor in zip(self.metas, self.things, strict=True):
            if meta is not None and meta.is_leaf:
                raise Unknown("its graph has a leaf that the function made")

    def _note_optimizer(self, args: Any, kwargs: Any, key: list[Any]) -> None:
        """Add to the key of an optimizer's step the optimizer, its parameters and their gradients."""
        if len(args) != 1 or kwargs:
            raise Unknown("it is given a closure")
        optimizer = args[0]
        key.append(id(optimizer))
        self.state.keep(optimizer)
        if _before_all or _after_all or optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
            raise Unknown("a hook waits for a step of the optimizer")
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self._note(parameter, key, [])
                grad = parameter._grad
                if grad is None:
                    key.append(None)
                else:
                    self._note(grad, key, [])
