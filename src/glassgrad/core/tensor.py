"""The Tensor: an array, its version, its place in the graph.  No operation lives here; methods arrive from the table.

``_array``    the data: a NumPy array, or the scalar that NumPy gives for 0-d results while nobody aliases it
``_edge``     the place in the graph: None, LEAF, the record that made it, a View, or the leaf that it stands for
``_counter``  the version counter, shared by all aliases; None until the first alias or in-place write
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..ground import dtypes, errors
from ..ground.device import device
from ..ground.handle import RemovableHandle
from ..ground.listening import audible
from ..ground.size import Size, unchecked
from ..ground.window import has_strides, vacant
from . import leaf
from .node import Node, node_of, pair_of
from .record import OUTPUT, Record, VersionCounter, about

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


def edge_of(tensor: Tensor) -> Any:
    """The edge that gradients of ``tensor`` take: None, a record, or the leaf itself."""
    edge = tensor._edge
    if edge is LEAF:
        return tensor
    if type(edge) is not View:
        return edge
    version = share(tensor).version
    if edge.seen != version and edge.edge is not LEAF:
        if edge.edge is not None or edge_of(edge.base) is not None:
            edge.edge = reread(tensor, edge)
        edge.seen = version
    return tensor if edge.edge is LEAF else edge.edge


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
        elif not array.size and array.dtype.metadata is None and not has_strides(array):
            array = vacant(array)
        tensor._counter, tensor._array = version, array  # with no call between them, before which Ctrl-C could come
        if record is not None:
            record.counter = version
    return version


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
    is_number = type(value) is Tensor and not value._array.ndim and value._edge is None
    return value._array.item() if is_number else value


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
    _about: Any = None
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
    def device(self) -> device:
        """Where the data lives: ``cpu``, or ``meta`` for shapes only."""
        return device("meta" if self._array.dtype.metadata else "cpu")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    @property
    def itemsize(self) -> int:
        """The size of one element in bytes."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
        return self._array.size * self._array.itemsize

    @property
    def layout(self) -> Any:
        """How elements are stored: always ``strided``."""
        return dtypes.strided

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
    def output_nr(self) -> int:
        """Which output of its ``grad_fn`` this tensor is."""
        edge = edge_of(self)
        return pair_of(edge)[1] if isinstance(edge, Record) and edge.kind is OUTPUT else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated so far; None until a backward call reaches this leaf."""
        total = self._grad
        if total is None and self._edge is not None and not self.is_leaf and not self.retains_grad:
            warnings.warn(errors.NON_LEAF_GRAD, UserWarning, stacklevel=2)
        return total

    @grad.setter
    @audible
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            _check_grad(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether this tensor is not a leaf and keeps its gradient."""
        edge = edge_of(self)
        if edge is None or edge is self:
            return False
        extras = getattr(edge, "_about", None)
        return extras is not None and extras.is_retained_for(self)

    @property
    def _version(self) -> int:
        if self._inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._counter is None else self._counter.version

    @property
    def _base(self) -> Tensor | None:
        return self._edge.base if type(self._edge) is View else None

    @property
    def _backward_hooks(self) -> dict[int, Any] | None:
        edge = edge_of(self)
        extras = getattr(self if edge is None else edge, "_about", None)
        return None if extras is None else extras.tensor_hooks

    @_backward_hooks.setter
    def _backward_hooks(self, value: dict[int, Any] | None) -> None:
        edge = edge_of(self)
        owner = self if edge is None else edge  # a leaf keeps them for the time when it wants gradients
        extras = about(owner)
        extras.tensor_hooks = value
        if value is not None:
            extras.let_engine_see(self, owner)

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _grad_fn(self) -> Node | None:
        return self.grad_fn

    def _is_view(self) -> bool:
        return type(self._edge) is View

    @property
    @audible
    def data(self) -> Tensor:
        """The same memory without history, and with a version of its own: writes through it go unnoticed."""
        share(self)
        out = new(Tensor)
        out._array, out._edge, out._counter = self._array, None, VersionCounter()
        return out

    @data.setter
    @audible
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.requires_grad and not carries_gradients(value._array.dtype):
            raise RuntimeError(errors.DATA_DTYPE)
        if value._lifted:
            raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")
        share(value)
        self._array = value._array
        if self._counter is None:
            self._counter = VersionCounter()

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``.grad``."""
        edge = edge_of(self)
        if edge is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if edge is not self and not self.retains_grad:
            about(edge).retain_for(self, edge)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever a gradient of this tensor is computed; what it returns replaces it."""
        edge = edge_of(self)
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return about(edge).add_to_tensor(self, edge, hook)  # type: ignore[no-any-return]

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` after a gradient was added into this leaf's ``.grad``."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if edge_of(self) is not self:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return about(self).add_after_accumulation(self, hook)  # type: ignore[no-any-return]

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` in place."""
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        require_grad(self, requires_grad, errors.ONLY_FLOATS_IN_PLACE)
        return self

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from ..ground import format as formatting  # not every program prints

        try:
            edge = edge_of(self)
            node = type(node_of(edge)).__name__ if isinstance(edge, Record) else None
        except RuntimeError:  # a view that must not be read again
            edge, node = self._edge, "Invalid"
        return formatting.tensor_repr(
            self._array,
            dtype=self.dtype,
            device=self.device.type,
            requires_grad=edge is not None or self.requires_grad,
            grad_fn_name=node,
            tensor_contents=tensor_contents,
            name=self._printed_as,
        )

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update(state)


def carries_gradients(dtype: np.dtype[Any]) -> bool:
    """Whether tensors of this dtype can carry gradients: floating point (bfloat16 is NumPy's kind V) and complex."""
    return dtype.kind in "fcV"


def require_grad(tensor: Tensor, value: bool, refusal: str = errors.ONLY_FLOATS) -> None:
    """Set ``requires_grad`` of a leaf, or raise as PyTorch does."""
    edge = edge_of(tensor)
    if edge is not None and edge is not tensor:
        if not value:
            raise RuntimeError(errors.NON_LEAF_REQUIRES_GRAD)
        return
    if value and not carries_gradients(tensor._array.dtype):
        raise RuntimeError(refusal)
    if type(tensor._edge) is View:
        tensor._edge.edge = LEAF if value else None
    else:
        tensor._edge = LEAF if value else None


def _check_grad(tensor: Tensor, value: Any) -> None:
    """Raise PyTorch's error unless ``value`` can be the gradient of ``tensor``."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.dtype is not tensor.dtype:
        got, wanted = dtypes.c_name(value.dtype), tensor.dtype.scalar_name
        raise RuntimeError(errors.GRAD_DTYPE.format(given=got, wanted=wanted))
    if value._array.shape != tensor._array.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value._array.shape)}' to a tensor of size "
            f"'{list(tensor._array.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )


def read_only(name: str, getter: property) -> property:
    """A property of tensors that refuses to be set and deleted in PyTorch's words."""

    def refuse(self: Any, value: Any = None) -> NoReturn:
        raise AttributeError(f"attribute '{name}' of 'torch._C.TensorBase' objects is not writable")

    return property(getter.fget, refuse, refuse, getter.__doc__)


for _name, _member in [*vars(Tensor).items()]:
    if isinstance(_member, property) and _member.fset is None:
        setattr(Tensor, _name, read_only(_name, _member))
leaf.Tensor, leaf.wrap = Tensor, wrap
