"""Members of Tensor that ``x * z; y.backward()`` has no use for: they come into the class when one is first wanted."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..core.record import OUTPUT, Record, VersionCounter
from ..core.tensor import Tensor, View, carries_gradients, edge_of, last_edge, new, read_only, require_grad, share
from ..ground import dtypes, errors
from ..ground.device import device
from ..ground.handle import RemovableHandle
from ..ground.listening import audible
from .hooks import fit_gradients, hooks_of
from .lifted import beneath
from .node import Node, node_of, pair_of


def may_be_data(tensor: Any, value: Any) -> bool:
    """Whether a tensor can take the data of another: of the same layout, and on the same device."""
    return value.layout is tensor.layout and dtypes.on_one_device(value._array.dtype, tensor._array.dtype)


class Members:
    """What of a Tensor stands here; ``self`` is one."""

    @property
    def device(self: Any) -> device:
        """Where the data lives: ``cpu``, or ``meta`` for shapes only."""
        return device("meta" if self._array.dtype.metadata else "cpu")

    @property
    def itemsize(self: Any) -> int:
        """The size of one element in bytes."""
        return self._array.itemsize

    @property
    def nbytes(self: Any) -> int:
        """The size of all elements in bytes."""
        return self._array.size * self._array.itemsize

    @property
    def layout(self: Any) -> Any:
        """How elements are stored: always ``strided``."""
        return dtypes.strided

    # -- its place in the graph -----------------------------------------------------------------------------------

    @property
    def output_nr(self: Any) -> int:
        """Which output of its ``grad_fn`` this tensor is."""
        edge = edge_of(self)
        return pair_of(edge)[1] if isinstance(edge, Record) and edge.kind is OUTPUT else 0

    @property
    def retains_grad(self: Any) -> bool:
        """Whether this tensor is not a leaf and keeps its gradient."""
        hooks = getattr(last_edge(self), "_hooks", None)
        return hooks is not None and hooks.is_retained_for(self)

    @property
    def _version(self: Any) -> int:
        if self._inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self._counter is None else self._counter.version

    @property
    def _base(self: Any) -> Tensor | None:
        return self._edge.base if type(self._edge) is View else None

    @property
    def _backward_hooks(self: Any) -> dict[int, Any] | None:
        edge = edge_of(self)
        hooks = getattr(self if edge is None else edge, "_hooks", None)
        return None if hooks is None else hooks.tensor_hooks

    @_backward_hooks.setter
    def _backward_hooks(self: Any, value: dict[int, Any] | None) -> None:
        edge = edge_of(self)
        owner = self if edge is None else edge  # a leaf keeps them for the time when it wants gradients
        hooks = hooks_of(owner)
        hooks.tensor_hooks = value
        if value is not None:
            hooks.let_engine_see(self, owner)

    @_backward_hooks.deleter
    def _backward_hooks(self: Any) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    @property
    def _grad_fn(self: Any) -> Node | None:
        return self.grad_fn

    def _is_view(self: Any) -> bool:
        return type(self._edge) is View

    @property
    @audible
    def data(self: Any) -> Tensor:
        """The same memory without history, and with a version of its own: writes through it go unnoticed."""
        if self._lifted:
            self = beneath(self)
            if self._lifted:  # levels below differentiate on
                return self.level.strip(self, self.value)
        share(self)
        out = new(Tensor)
        out._array, out._edge, out._counter = self._array, None, VersionCounter()
        return out

    @data.setter
    @audible
    def data(self: Any, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self.requires_grad and not carries_gradients(value._array.dtype):
            raise RuntimeError(errors.DATA_DTYPE)
        if not may_be_data(self, value):
            raise RuntimeError(errors.DATA_KIND)
        self, value = beneath(self), beneath(value)
        if value._lifted:
            place = value.level.setting_data  # type: ignore[attr-defined]
            raise RuntimeError(f"mutating directly with `.data` {place} transform is not allowed.")
        share(value)
        if self._array.shape != value._array.shape or self._array.dtype != value._array.dtype:
            fit_gradients(self, self._array)
        self._array = value._array
        if self._counter is None:
            self._counter = VersionCounter()

    @data.deleter
    def data(self: Any) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")

    def retain_grad(self: Any) -> None:
        """Keep the gradient of this non-leaf in ``.grad``."""
        edge = edge_of(self)
        if edge is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if edge is not self and not self.retains_grad:
            hooks_of(edge).retain_for(self, edge)

    def register_hook(self: Any, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever a gradient of this tensor is computed; what it returns replaces it."""
        edge = edge_of(self)
        if edge is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return hooks_of(edge).add_to_tensor(self, edge, hook)  # type: ignore[no-any-return]

    def register_post_accumulate_grad_hook(self: Any, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` after a gradient was added into this leaf's ``.grad``."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if edge_of(self) is not self:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return hooks_of(self).add_after_accumulation(self, hook)  # type: ignore[no-any-return]

    def requires_grad_(self: Any, requires_grad: bool = True) -> Tensor:
        """Set ``requires_grad`` in place."""
        dtypes.need_bool("requires_grad_", "requires_grad", 1, requires_grad)
        require_grad(self, requires_grad, errors.ONLY_FLOATS_IN_PLACE)
        return self

    @audible
    def __repr__(self: Any, *, tensor_contents: str | None = None) -> str:
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

    def __setstate__(self: Any, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update(state)


def check_grad(tensor: Tensor, value: Any) -> None:
    """Raise PyTorch's error unless ``value`` can be the gradient of ``tensor``."""
    if not isinstance(value, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if value.dtype is not tensor.dtype:
        got, wanted = dtypes.c_name(value.dtype), tensor.dtype.scalar_name
        raise RuntimeError(errors.GRAD_DTYPE.format(given=got, wanted=wanted))
    if not dtypes.on_one_device(value._array.dtype, tensor._array.dtype):
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{value.device}' to a tensor with device type "
            f"'{tensor.device}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if value._array.shape != tensor._array.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(value._array.shape)}' to a tensor of size "
            f"'{list(tensor._array.shape)}'. Please ensure that the gradient and the tensor are the same size"
        )


def _finished(name: str, member: Any) -> Any:
    """A member as it stands in the class."""
    if isinstance(member, FunctionType):
        member.__module__, member.__qualname__ = Tensor.__module__, f"{Tensor.__name__}.{name}"  # where pickles find it
    return read_only(name, member) if isinstance(member, property) and member.fset is None else member


#: What stands here, by name.
MEMBERS = {
    name: _finished(name, member)
    for name, member in vars(Members).items()
    if isinstance(member, (FunctionType, property))
}
