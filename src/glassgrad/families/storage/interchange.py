"""Tensors handed over: to NumPy and back, by DLPack, as pickles and copies.

What is handed over is the memory itself wherever that can be: an array or a capsule sees later writes.
"""

from __future__ import annotations

import copy
import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import LEAF, Tensor, new, share, wrap
from ...ground import dtypes, modes
from ...ground.dtypes import called
from ...ground.exposed import expose
from ...ground.meta import blank
from ...ground.runtime import warn
from ...ground.shared import Shared, allocate
from ...ground.window import owner_of
from ...ops.declare import composite
from ...tensor.parameter import Parameter
from ..create.shared import from_numpy
from ..shape.rows import expand

_NEEDS_DETACH = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
_META_TO_NUMPY = (
    "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)
_DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you "
    "were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)
_CAPSULE = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have "
    "already constructed a tensor from it once."
)
#: What of a tensor's dictionary is ours, not the user's, and no part of pickles.
OWN = ("_gathered", "_grad", "_hooks", "_inference", "_post_accumulate", "_shared", "_conjugate", "_followed")


_OTHERS = 256  # the numbers of types that NumPy has from other libraries


# -- NumPy ------------------------------------------------------------------------------------------------------------


def _memory(self: Tensor) -> Any:
    """The tensor's data as an array that sees its later writes."""
    if self._array.dtype.metadata is not None:
        raise TypeError(_META_TO_NUMPY)
    if self._array.dtype.num >= _OTHERS:
        raise TypeError(f"Got unsupported ScalarType {self.dtype.scalar_name}")
    share(self)
    expose(self._array)
    return self._array.view()


@composite(function=False)
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The tensor as a NumPy array on the same memory; ``force`` does without the history."""
    if self._edge is not None and not force and modes.grad_enabled() and self.requires_grad:
        raise RuntimeError(_NEEDS_DETACH)
    return _memory(self)


@composite(function=False, name="__array__")
def as_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """What ``np.asarray(tensor)`` gives: the same memory, unless another dtype or a copy is asked for."""
    if modes.grad_enabled() and self.requires_grad:
        raise RuntimeError(_NEEDS_DETACH)
    array = _memory(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return array.astype(dtype)
    return array.copy() if copy else array


@composite(function=False, name="__array_wrap__")
def from_ufunc(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What a NumPy function gives for tensors: a tensor; truth values as bytes, as in PyTorch."""
    array = np.asarray(array)
    return from_numpy(array.astype(np.uint8) if array.dtype.kind == "b" else array)  # type: ignore[no-any-return]


# -- DLPack -----------------------------------------------------------------------------------------------------------


@composite(function=False, name="__dlpack__")
def dlpack(
    self: Tensor, *, stream: Any = -1, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
) -> Any:
    """A capsule of the tensor's memory for any library that reads DLPack. Source: https://dmlc.github.io/dlpack"""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    array = _memory(self)
    wishes = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    return array.__dlpack__(**{name: value for name, value in wishes.items() if value is not None})


@composite(function=False, name="__dlpack_device__")
def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The number of the device type, 1 for main memory, and of the device."""
    return 1, 0


class _Capsule:
    """A capsule in the clothes of an object that exports one."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **wishes: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@composite(method=False)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of an object that exports DLPack, or of a capsule."""
    if isinstance(ext_tensor, Tensor):
        if ext_tensor.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        share(ext_tensor)
        return wrap(ext_tensor._array.copy() if copy else ext_tensor._array.view())
    if not hasattr(ext_tensor, "__dlpack__"):
        if type(ext_tensor).__name__ != "PyCapsule":
            raise RuntimeError(_CAPSULE)
        ext_tensor = _Capsule(ext_tensor)
    kind = getattr(ext_tensor, "dtype", None)
    if str(kind) == "torch.bfloat16":  # NumPy's DLPack does not know it: the same bits as integers
        torch = sys.modules["torch"]
        array = np.from_dlpack(ext_tensor.view(torch.int16)).view(dtypes.bfloat16.numpy)
    else:
        try:
            array = np.from_dlpack(ext_tensor)
        except ValueError as error:
            raise RuntimeError(_CAPSULE) from error
    if copy:
        return wrap(array.copy())
    return from_numpy(array if array.flags.writeable else _Writable(array).array())  # type: ignore[no-any-return]


class _Writable:
    """Leave to write into memory that NumPy, not told otherwise by an old capsule, takes for read-only."""

    def __init__(self, array: Any) -> None:
        self.keeper = array
        address = array.__array_interface__["data"][0]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False), "strides": array.strides}

    def array(self) -> Any:
        """The array, writable."""
        return np.asarray(self)


@composite(method=False)
def to_dlpack(tensor: Tensor, /) -> Any:
    """A capsule of the tensor's memory."""
    return dlpack(tensor)


# -- pickles and copies -----------------------------------------------------------------------------------------------


def place_in_memory(array: Any) -> tuple[Any, int]:
    """The owner of an array's memory, and how many bytes of it lie before the array."""
    owner = owner_of(array)
    if not owner.flags.forc or type(owner) not in (np.ndarray, Shared):
        return array.copy(), 0
    return owner, int(array.__array_interface__["data"][0]) - int(owner.__array_interface__["data"][0])


class _Saving(threading.local):
    """Who says what this thread's pickles keep of a tensor, while a checkpoint is being written."""

    reduce: Callable[[Tensor], tuple[Any, ...]] | None = None


saving = _Saving()


def rebuild(
    cls: type, owner: Any, offset: int, sizes: tuple[int, ...], strides: tuple[int, ...], kind: dtypes.dtype,
    requires_grad: bool, state: dict[str, Any] | None,
) -> Tensor:  # fmt: skip
    """The tensor of a pickle: a place in memory that others of the same pickle may share."""
    out: Any = new(cls)
    if owner is None:
        out._array = blank(sizes, kind.numpy)
    elif 0 in sizes:
        out._array = np.empty(sizes, kind.numpy)
    else:
        out._array = np.ndarray(sizes, kind.numpy, owner, offset, strides)
    out._edge = LEAF if requires_grad else None
    out._counter = None
    if owner is not None:
        share(out)
    if state:
        out.__dict__.update(state)
    return out  # type: ignore[no-any-return]


def _own_state(self: Tensor) -> dict[str, Any] | None:
    return {name: value for name, value in self.__dict__.items() if name not in OWN} or None


def reduce_leaf(self: Tensor) -> tuple[Any, ...]:
    """What pickles of leaves and ``copy.copy`` keep: data, strides, ``requires_grad``, attributes; no history."""
    if type(self) is not Parameter:
        warn_of_hooks(self)
    return _parts_of(self)


def _parts_of(self: Tensor) -> tuple[Any, ...]:
    data = self._array
    kind, requires_grad, state = self.dtype, self.requires_grad, _own_state(self)
    if data.dtype.metadata is not None:
        return rebuild, (type(self), None, 0, data.shape, (), kind, requires_grad, state)
    share(self)
    owner, offset = place_in_memory(self._array)
    own = owner_of(self._array) is owner or not offset and owner is self._array
    strides = self._array.strides if own else owner.strides
    return rebuild, (type(self), owner, offset, data.shape, strides, kind, requires_grad, state)


def warn_of_hooks(self: Tensor) -> None:
    warn_of_each(self._backward_hooks)


def warn_of_each(*hooks: dict[int, Any] | None) -> None:
    """Warn of hooks that a pickle leaves behind."""
    for hook in [hook for each in hooks for hook in (each or {}).values()]:
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning"
            )


def copy_leaf(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A copy of a leaf, its memory, gradient and attributes; memory that several tensors share is copied once."""
    if not self.is_leaf:
        raise RuntimeError(_DEEPCOPY)
    if id(self) in memo:
        return memo[id(self)]  # type: ignore[no-any-return]
    if type(self) is Parameter:
        twin = memo[id(self)] = Parameter(wrap(np.array(self._array)), self.requires_grad)
        return twin  # type: ignore[no-any-return]
    _, (cls, owner, offset, sizes, strides, kind, requires_grad, state) = _parts_of(self)
    out = rebuild(cls, copy.deepcopy(owner, memo), offset, sizes, strides, kind, requires_grad, None)
    memo[id(self)] = out
    if state:
        out.__dict__.update(copy.deepcopy(state, memo))
    if self._grad is not None:
        out._grad = copy.deepcopy(self._grad, memo)
    return out


# -- pinned memory ------------------------------------------------------------------------------------------------


@composite(function=False)
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """PyTorch's refusal: there is no accelerator to pin memory for."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@composite(function=False)
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """False: no memory is pinned."""
    return False


# -- Python functions, element by element -----------------------------------------------------------------------------


def _by_element(function: str, self: Tensor, others: tuple[Tensor, ...], callable: Any) -> Tensor:
    for tensor in (self, *others):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{function}(): argument 'tensor' (position 1) must be Tensor, not {called(tensor)}")
        if tensor.requires_grad:
            raise RuntimeError(
                f"Can't call {function}() on Variable that requires grad. Use var.detach().{function}() instead."
            )
    sizes = self._array.shape
    columns = [np.broadcast_to(expand.row.kernel(np.asarray(operand._array), sizes), sizes) for operand in others]
    values = np.empty(sizes, self._array.dtype)
    for index in np.ndindex(sizes):
        values[index] = callable(self._array[index].item(), *(column[index].item() for column in columns))
    write.store(self, values)
    return self


@composite(function=False)
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it; slow."""
    return _by_element("apply_", self, (), callable)


@composite(function=False)
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it and another tensor's element; slow."""
    return _by_element("map_", self, (tensor,), callable)


@composite(function=False)
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by what a Python function makes of it and two other tensors' elements; slow."""
    return _by_element("map2_", self, (x, y), callable)


# -- Tensors in memory that other processes see: moves a tensor's memory there, with all that looks at it.


@composite(function=False, page="torch.Tensor")
def share_memory_(self: Tensor) -> Tensor:
    """The tensor itself, its memory moved to where other processes see it: writes in one are seen in all.

    Views and other tensors on the same memory move with it; arrays of NumPy on it stay behind. Does nothing to a
    tensor that is shared already. RuntimeError for a tensor without data.
    """
    if self._array.dtype.metadata is not None:
        raise RuntimeError("_share_fd_: only available on CPU")
    share(self)
    owner = owner_of(self._array)
    if type(owner) is not Shared:
        # what shares memory may send it to other processes, and it is multiprocessing that knows how
        from ...multiprocessing import reductions

        reductions.init_reductions()
        _move(self, owner)
    return self


@composite(function=False)
def is_shared(self: Tensor) -> bool:
    """Whether other processes can see the tensor's memory."""
    return type(self._array) is np.ndarray and type(owner_of(self._array)) is Shared


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _on(memory: Any, offset: int, array: Any) -> Any:
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def _references(tensor: Any) -> int:
    """How often the memory of a tensor is referred to."""
    owner = owner_of(tensor._array)
    return sys.getrefcount(owner)


def _alone() -> int:
    class _Holder:
        _array: Any = None

    holder = _Holder()
    holder._array = np.empty(3)
    return _references(holder)


_ALONE = _alone()


def _move(tensor: Tensor, owner: Any) -> None:
    """Give a tensor, and every tensor on the same memory, shared memory with the same content."""
    if min(owner.strides, default=0) < 0:
        owner = tensor._array
    if min(owner.strides, default=0) < 0:
        tensor._array = owner = owner.copy()
    size = owner.itemsize + sum((n - 1) * step for n, step in zip(owner.shape, owner.strides, strict=True))
    memory = allocate(size if owner.size else 0)
    _on(memory, 0, owner)[...] = owner
    start = _address(owner)
    del owner  # counted otherwise
    others: list[Any] = [tensor]
    if _references(tensor) > _ALONE:
        root = owner_of(tensor._array)
        others += [
            other
            for other in gc.get_objects()
            if issubclass(type(other), Tensor)
            and other is not tensor
            and type(other._array) is np.ndarray
            and owner_of(other._array) is root
        ]
    for other in others:
        other._array = _on(memory, _address(other._array) - start, other._array)
