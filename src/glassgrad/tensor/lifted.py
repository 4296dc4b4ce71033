"""Tensors that stand for others while a function is transformed: what operations know of ``grad``, ``jvp``, ``vmap``.

A transform is a *level*.  At it, a tensor stands for a ``value``, a tensor of a lower level (in the end a plain one),
and carries what the transform is about: a place in the level's own graph, a tangent, or a batch dimension.  What a call
of a row means for such a tensor is its level's affair: ``func/`` hands it in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import saved
from ..core.tensor import Tensor, View, new, version_of
from ..ground import modes
from ..ground.layout import dense_like

if TYPE_CHECKING:
    from ..core.row import Row


class Lifted(Tensor):
    """A tensor at a level of a transform, which stands for ``value``."""

    __slots__ = ("value", "level")

    value: Any
    level: Any
    _lifted = True

    @property  # type: ignore[override]
    def _array(self) -> Any:
        return self.value._array

    @_array.setter
    def _array(self, array: Any) -> None:
        self.value._array = array

    @property  # type: ignore[override]
    def _counter(self) -> Any:
        return self.value._counter

    @_counter.setter
    def _counter(self, counter: Any) -> None:
        self.value._counter = counter

    def is_tracked(self) -> bool:
        """Whether gradients are recorded of what is computed from this tensor."""
        return self.value.requires_grad  # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        return self.is_tracked()

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.level.require(self, value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Refused at a level of a transform, as in PyTorch."""
        self.level.require(self, requires_grad)
        return self

    def retain_grad(self) -> None:
        """Refused at a level of a transform, as in PyTorch."""
        raise RuntimeError(
            "You are attempting to call Tensor.retain_grad() inside of a function being transformed by a functorch "
            "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, "
            "jacfwd, hessian) or call retain_grad() outside of a function being transformed instead."
        )

    def __copy__(self) -> Any:
        return self.level.memory(self).__copy__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.level.memory(self).__deepcopy__(memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.level.memory(self).__reduce_ex__(protocol)

    def become(self, other: Lifted) -> None:
        """Be what another tensor of the same level is, such as a view of this one."""
        keep_origin(self.value, other.value)
        for kind in type(self).__mro__[: type(self).__mro__.index(Lifted) + 1]:
            for name in kind.__slots__:  # type: ignore[attr-defined]
                setattr(self, name, getattr(other, name))


def beneath(tensor: Any) -> Any:
    """What a tensor stands for below a block of forward mode, which transforms no function."""
    while tensor._lifted and not tensor.level.has_function:
        tensor = tensor.value
    return tensor


def plain(tensor: Any) -> Any:
    """What a tensor stands for in the end."""
    while tensor._lifted:
        tensor = tensor.value
    return tensor


def keep_origin(old: Any, now: Any) -> None:
    """Let what a tensor becomes that is rearranged in place be written where that could: a user has no view."""
    old, now = plain(old), plain(now)
    if now is not old and type(now._edge) is View:
        now._edge.origin = old._edge.origin if type(old._edge) is View else None


def of_class(cls: Any, source: Tensor) -> Any:
    """A tensor of a subclass on the memory and with the history of another; at a level, one that stands for such."""
    if isinstance(source, Lifted) and source.level.is_alive:
        return source.level.again(source, of_class(cls, source.value))
    out = new(cls)
    out._array, out._edge, out._counter = source._array, source._edge, source._counter
    return out


class Kept(saved.Packed):
    """A result as its own record at a level keeps it: what it stands for; its place is the record, by ``edge``."""

    __slots__ = ("level", "value", "version")

    def __init__(self, tensor: Lifted, edge: Any = None) -> None:
        self.level, self.value, self.is_result, self.edge = tensor.level, tensor.value, True, edge
        self.version = version_of(tensor)

    def open(self, edge: Any) -> Any:
        now = version_of(self.value)
        if now != self.version:
            from .overwritten import stale_error  # a module that only errors need

            raise RuntimeError(stale_error(self.value._array, edge, now, self.version))
        return self.level.track(self.value, edge)


#: What a call of a row means where an input is lifted, and a write into its first input.
call: Callable[[Row, Sequence[Any], Sequence[Any], Any], Any] = NotImplemented
write: Callable[[Row, Any, Sequence[Any], Sequence[Any]], Any] = NotImplemented
#: A tensor on the memory of a lifted one that takes no part in any derivative.
strip: Callable[[Any], Any] = NotImplemented
#: ``beside(tensor, others)``: a tensor at the highest level among others.
beside: Callable[[Any, Sequence[Any]], Any] = NotImplemented
#: ``check_captured(name, tensor)``: RuntimeError where a function being differentiated would write what it captured.
check_captured: Callable[[str, Any], None] = NotImplemented
#: ``drawn(draw, sizes)``: what ``draw`` makes of sizes, once, or for each example of ``vmap``.
drawn: Callable[[Callable[[tuple[int, ...]], Any], tuple[int, ...]], Any] = NotImplemented
#: ``chances(tensor, written=False)``: a tensor of which draws are made, or over which they are written.
chances: Callable[..., Any] = NotImplemented
#: Whether a function is being transformed: a block of dual tensors transforms none.
has_function: Callable[[], bool] = NotImplemented
#: A new tensor as the function sees it that is being transformed.
born: Callable[[Any], Any] = NotImplemented
#: ``born_like(tensor, source)``: a new tensor at the levels of a lifted one, which can be written into there.
born_like: Callable[[Any, Any], Any] = NotImplemented


def is_lifted(values: Sequence[Any]) -> bool:
    """Whether a tensor among ``values`` stands for another at a level."""
    return any([isinstance(value, Lifted) for value in values])


def all_values(tensor: Any) -> Any:
    """The array of what a tensor stands for in the end: of all examples, where it is a batch."""
    while isinstance(tensor, Lifted):
        tensor = tensor.value
    return tensor._array


def drawn_like(draw: Callable[[Any], Any], tensor: Any) -> Any:
    """The same of what ``draw`` makes over an array, which lies as a tensor does, or as all examples of a batch do."""
    example, everything = tensor._array, all_values(tensor)

    def over(sizes: tuple[int, ...]) -> Any:
        laid = next((array for array in (example, everything) if array.shape == sizes), None)
        return draw(np.empty(sizes, example.dtype) if laid is None else dense_like(laid, example.dtype))

    return drawn(over, example.shape)


def derives(*tensors: Any) -> bool:
    """Whether a derivative may be wanted of what is computed from ``tensors``, so that it must be computed by rows."""
    for tensor in tensors:
        if isinstance(tensor, Lifted) or (isinstance(tensor, Tensor) and tensor.requires_grad and modes.grad_enabled()):
            return True
    return False


def no_slope(function: str, **tensors: Any) -> None:
    """Raise PyTorch's error where a gradient is wanted of what it gives none for, or a tangent would be lost."""
    for name, tensor in tensors.items():
        if tensor is not None:
            no_gradient(function, name, tensor)
            no_tangent(function, name, tensor)


def no_gradient(function: str, name: str, tensor: Any) -> None:
    """Raise PyTorch's error where a gradient is wanted of what it gives none for."""
    if tensor.requires_grad and modes.grad_enabled():
        raise RuntimeError(
            f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
            "have requires_grad True."
        )


def no_tangent(function: str, name: str, tensor: Any) -> None:
    """Raise an error where a tangent would be lost: PyTorch refuses some of them, and takes others for zero."""
    while isinstance(tensor, Lifted):
        if getattr(tensor, "tangent", None) is not None:
            raise RuntimeError(f"{function} is not differentiable wrt {name}, it cannot have a forward grad defined")
        tensor = tensor.value
