"""The Tensor: an array, its version, its place in the graph.  No operation lives here: methods arrive from the table,
and what few programs ask for from ``tensor/members.py``.

``_array``    the data: a NumPy array, or the scalar that NumPy gives for 0-d results while nobody aliases it
``_edge``     the place in the graph: None, LEAF, the record that made it, a View, or the leaf that it stands for (as
              a saved leaf does that was packed and unpacked)
``_counter``  the version counter, shared by all aliases; None until the first alias or in-place write
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..ground import dtypes, errors
from ..ground.importing import load
from ..ground.listening import audible
from ..ground.size import Size, unchecked
from .record import Record, VersionCounter

if TYPE_CHECKING:
    from ..tensor.node import Node

ndarray = np.ndarray
new = object.__new__


class _Leaf:
    """The mark of a leaf that requires gradients: the tensor itself is the edge."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "LEAF"

    def __reduce__(self) -> str:
        return "LEAF"


LEAF = _Leaf()


class View:
    """The place in the graph of a view: its base (never itself a view), and its history as last read.

    ``origin`` says how it came about, where that forbids in-place writes: "no_grad", "multi" or "inference".
    """

    __slots__ = ("base", "edge", "seen", "origin")

    base: Tensor
    edge: Any
    seen: int
    origin: str | None


reread: Callable[[Tensor, View], Any] = NotImplemented  # a view's history once its base was written: views.py
#: The class of tensors whose data is no array, by the type of that data (sparse tensors).
carried_by: dict[type, type[Tensor]] = {}
construct: Callable[..., Any] = NotImplemented  # the constructor Tensor(...), from families/storage
#: ``check_grad(tensor, value)`` raises where a value cannot be the gradient of a tensor: tensor/members.py.
check_grad: Callable[[Tensor, Any], None] = NotImplemented
node_of: Callable[[Any], Any] = NotImplemented  # the node of an edge, as ``grad_fn`` shows it: tensor/node.py


def edge_of(tensor: Tensor) -> Any:
    """The edge that gradients of ``tensor`` take: None, a record, or the leaf itself."""
    edge = tensor._edge
    if edge is LEAF:
        return tensor
    if type(edge) is not View:
        return edge
    version = share(tensor).version
    if edge.seen != version and edge.edge is not LEAF:
        old = edge.edge
        if old is not None or edge_of(edge.base) is not None:
            edge.edge = reread(tensor, edge)
        edge.seen = version
        move_retained(tensor, old)
    return tensor if edge.edge is LEAF else edge.edge


def move_retained(tensor: Tensor, old: Any) -> None:
    """Retain the gradient of a tensor's new history where that of the ``old`` one was to be."""
    hooks = getattr(old, "_hooks", None)
    if hooks is not None and hooks.is_retained_for(tensor):
        hooks.retain = None
        tensor.retain_grad()  # type: ignore[attr-defined]


def share(tensor: Tensor) -> VersionCounter:
    """The version of a tensor's buffer; from now on its data is an array that aliases can see."""
    version = tensor._counter
    if version is None:
        record = tensor._edge if isinstance(tensor._edge, Record) else None
        # Another tensor of the same record, read out of what it saved, may have been shared before.
        version = (None if record is None else record.counter) or VersionCounter()
        array = tensor._array
        if type(array) is not ndarray:
            if type(array) not in carried_by:
                array = np.array(array)
        elif not array.size and array.dtype.metadata is None:
            array = load("..ground.window", __package__).with_strides(array)  # few tensors are empty
        tensor._counter, tensor._array = version, array  # with no call between them, before which Ctrl-C could come
        if record is not None:
            record.counter = version
    return version


def version_of(tensor: Tensor) -> int:
    """How often the memory of a tensor has been written in place."""
    return 0 if tensor._counter is None else tensor._counter.version


def wrap(array: Any) -> Tensor:
    """A tensor of ``array``, without history."""
    tensor = new(Tensor if type(array) is ndarray else carried_by.get(type(array), Tensor))
    tensor._array = array
    tensor._edge = tensor._counter = None
    return tensor


def alias(tensor: Tensor) -> Tensor:
    """A tensor on the same memory and version, without history: what ``detach`` gives."""
    version = share(tensor)
    out = wrap(tensor._array)
    out._counter = version
    return out


def number_of(value: Any) -> Any:
    """A value; the number in it, where it is a 0-d tensor without history."""
    if type(value) is not Tensor or value._array.ndim or value._array.dtype.metadata or value.requires_grad:
        return value
    return value._array.item()


class Tensor:
    """An n-dimensional array that remembers how it was computed.

    Source: https://docs.pytorch.org/docs/stable/tensors.html
    """

    __slots__ = ("_array", "_edge", "_counter", "__dict__", "__weakref__")
    __array_priority__ = 1000
    __hash__ = object.__hash__

    _array: Any
    _edge: Any
    _counter: VersionCounter | None
    _gathered: Any = None  # what the engine gathers for a leaf
    _grad: Any = None
    _hooks: Any = None
    _inference = False
    _lifted = False  # whether it stands for another while a function is transformed (``tensor/lifted.py``)
    _printed_as = "tensor"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return construct(cls, *args, **kwargs)

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of all dimensions."""
        return unchecked(self._array.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes.of(self._array.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    # -- its place in the graph -----------------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        edge = self._edge
        if type(edge) is View:  # PyTorch counts a view of what requires gradients, even one made under no_grad
            return edge.edge is not None or edge_of(edge.base) is not None
        return edge is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(errors.REQUIRES_GRAD_BOOL)
        if value and not self.is_leaf:  # which requires_grad_() takes
            raise RuntimeError(errors.ONLY_LEAVES)
        require_grad(self, value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError(errors.REQUIRES_GRAD_BOOL)

    @property
    def is_leaf(self) -> bool:
        """Whether the user made this tensor, rather than a recorded operation."""
        return not isinstance(edge_of(self), Record)

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        edge = edge_of(self)
        return node_of(edge) if isinstance(edge, Record) else None

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated so far; None until a backward call reaches this leaf."""
        total = self._grad
        if total is None and isinstance(last_edge(self), Record) and not self.retains_grad:
            warnings.warn(errors.NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return total

    @grad.setter
    @audible
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None


def last_edge(tensor: Tensor) -> Any:
    """The edge of a tensor as it was last read: asks nobody whether its base was written since."""
    edge = tensor._edge
    return edge.edge if type(edge) is View else edge


def carries_gradients(dtype: np.dtype[Any]) -> bool:
    """Whether tensors of this dtype can carry gradients: floating point (bfloat16 is NumPy's kind V) and complex."""
    return dtype.kind in "fcV"


def require_grad(tensor: Tensor, value: bool, refusal: str = errors.ONLY_FLOATS) -> None:
    """Set ``requires_grad`` of a leaf, or raise as PyTorch does."""
    edge = edge_of(tensor)
    is_result = edge is not None and edge is not tensor
    if is_result and not value:
        raise RuntimeError(errors.NON_LEAF_REQUIRES_GRAD)
    if value and not carries_gradients(tensor._array.dtype):
        raise RuntimeError(refusal)
    if is_result:
        return
    if type(tensor._edge) is View:
        tensor._edge.edge = LEAF if value else None
    else:
        tensor._edge = LEAF if value else None


def read_only(name: str, getter: property) -> property:
    """A property of tensors that refuses to be set and deleted in PyTorch's words."""

    def refuse(self: Any, value: Any = None) -> NoReturn:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return property(getter.fget, refuse, refuse, getter.__doc__)


def is_read_only(member: property) -> bool:
    """Whether a property of tensors is one that :func:`read_only` made."""
    return member.fset is member.fdel


for _name, _member in [*vars(Tensor).items()]:
    if isinstance(_member, property) and _member.fset is None:
        setattr(Tensor, _name, read_only(_name, _member))
