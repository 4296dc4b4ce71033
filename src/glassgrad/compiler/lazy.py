"""Lazy tensors, what deferred operations will give: shape and dtype are known, who wants more runs what is pending."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..families.shape import rows
from ..ground import dtypes
from ..ground.device import device
from ..ground.size import Size, unchecked
from .program import is_leaf

_SLOTS = ("_array", "_edge", "_counter")
_set_array, _set_edge, _set_counter = (vars(Tensor)[name].__set__ for name in _SLOTS)
_set_class = vars(object)["__class__"].__set__
runs: list[Any] = []  # the calls that may owe lazy tensors their data


class Meta:
    """What is known of a tensor before it is computed."""

    __slots__ = ("shape", "dtype", "requires_grad", "size", "numpy", "strides", "is_leaf", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.shape: tuple[int, ...] = tensor._array.shape
        self.numpy, self.strides = tensor._array.dtype, tensor._array.strides
        self.dtype = tensor.dtype
        self.requires_grad = tensor.requires_grad
        self.version = 0 if tensor._counter is None else tensor._counter.version
        self.is_leaf = is_leaf(tensor._edge)
        self.size = unchecked(self.shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Meta) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]


class _Named(type(Tensor)):  # type: ignore[misc]
    """The class of :class:`Lazy`, which is equal to Tensor."""

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is Tensor

    def __hash__(cls) -> int:
        return hash(Tensor)


class Lazy(Tensor, metaclass=_Named):
    """A tensor whose operation is pending: without array, place in the graph and version, until one is asked for."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:
            demand(self)
            return getattr(self, name)
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SLOTS:
            demand(self)
        object.__setattr__(self, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        return Tensor

    @__class__.setter
    def __class__(self, value: type) -> None:
        demand(self)
        self.__class__ = value  # by now it is a Tensor

    @property
    def shape(self) -> Size:
        """The sizes of all dimensions."""
        return _meta(self).size

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return _meta(self).dtype

    @property
    def device(self) -> device:
        """Where the data will live."""
        return device("cpu")

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(_meta(self).shape)

    @property
    def T(self) -> Tensor:
        """The view with the dimensions in reverse order; deferred for matrices."""
        if self.ndim == 2:
            return rows.permute(self, (1, 0))  # type: ignore[no-any-return]
        demand(self)
        return self.T

    @property
    def mT(self) -> Tensor:  # noqa: N802  PyTorch's name
        """The view with the last two dimensions exchanged."""
        if self.ndim >= 2:
            return rows.transpose(self, -2, -1)  # type: ignore[no-any-return]
        demand(self)
        return self.mT

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded."""
        return _meta(self).requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        demand(self)
        self.requires_grad = value

    def __reduce_ex__(self, protocol: Any) -> Any:
        demand(self)
        return self.__reduce_ex__(protocol)


Lazy.__name__ = Lazy.__qualname__ = Tensor.__name__
Lazy.__module__ = Tensor.__module__


def _owing(tensor: Any) -> tuple[Any, int]:
    """The run that owes a tensor its data, and the tensor's number there; None where nobody does."""
    for run in [*runs]:
        with run.lock:
            number = run.numbers.get(id(tensor))
            if number is not None and run.things[number] is tensor:
                return run, number
    return None, 0


def _meta(tensor: Lazy) -> Meta:
    run, number = _owing(tensor)
    if run is not None:
        with run.lock:
            if number < len(run.things) and run.things[number] is tensor:
                return run.metas[number]  # type: ignore[no-any-return]
    return Meta(tensor)  # another thread has made it a Tensor meanwhile


def demand(tensor: Any) -> None:
    """Have a lazy tensor computed: everything that is pending in its run is.

    While that is at work, for a signal handler, say, and after an error that ended it, the tensor is computed alone.
    """
    run, number = _owing(tensor)
    again = tensor.__dict__.get("_again")
    if run is not None:
        with run.lock:
            if run.making is not None:
                again = run.apart(number)
            elif type(tensor).__mro__[0] is Lazy:  # another thread may have asked too
                run.flush("its value is asked for")
    if type(tensor).__mro__[0] is Lazy and again is not None:
        settle(tensor, again())
        tensor.__dict__.pop("_again", None)
    if type(tensor).__mro__[0] is Lazy:
        raise RuntimeError("an operation that was deferred by compile() failed, and this is its result")


def settle(tensor: Any, real: Any) -> None:
    """Make a lazy tensor what ``real``, which nobody else holds, is."""
    _set_array(tensor, real._array)
    _set_edge(tensor, real._edge)
    _set_counter(tensor, real._counter)
    _set_class(tensor, Tensor)
