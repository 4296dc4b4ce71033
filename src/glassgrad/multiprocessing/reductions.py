"""How tensors are sent to other processes: shared memory as such, other memory as its content."""

from __future__ import annotations

from importlib import import_module
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from ..core.tensor import Tensor
from ..families.storage.interchange import rebuild, share_memory_, warn_of_hooks
from ..ground import dtypes
from ..ground.names import home_of, is_own
from ..ground.shared import Shared, register
from ..ground.window import owner_of
from ..tensor.parameter import Parameter

_NOT_A_LEAF = (
    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
    "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
    "(e.g., putting it on the queue)."
)


def reduce_tensor(tensor: Any) -> tuple[Any, ...]:
    """What ``multiprocessing`` sends of a tensor; what starts a process moves its memory to where both see it."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(_NOT_A_LEAF)
    if tensor._edge is not None:
        warn_of_hooks(tensor)
    kind: Any = type(tensor)
    if is_own(kind):  # by its own name: where it goes, ``torch`` may mean something else than here
        kind = home_of(kind), kind.__qualname__
    about = tensor.dtype.name, tensor.requires_grad
    if tensor._array.dtype.metadata is not None:
        return rebuild_tensor, (kind, None, 0, tensor._array.shape, (), *about)
    if get_spawning_popen() is not None:
        share_memory_(tensor)
    data = np.asarray(tensor._array)
    owner = owner_of(data)
    if type(owner) is Shared:
        offset = data.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return rebuild_tensor, (kind, owner, int(offset), data.shape, data.strides, *about)
    dense = data if data.flags.forc else np.array(data)  # gaps, and what lies beside a view, stay here
    content = dense.ravel(order="K").view(np.uint8) if dense.size else np.empty(0, np.uint8)
    return rebuild_tensor, (kind, content, 0, dense.shape, dense.strides, *about)


def rebuild_tensor(
    kind: Any, memory: Any, offset: int, sizes: tuple[int, ...], strides: tuple[int, ...], dtype_name: str,
    requires_grad: bool,
) -> Any:  # fmt: skip
    """The tensor that was sent, on memory that came with it or is shared; ``memory`` None: one without data."""
    cls = getattr(import_module(kind[0]), kind[1]) if isinstance(kind, tuple) else kind
    return rebuild(cls, memory, offset, sizes, strides, getattr(dtypes, dtype_name), requires_grad, None)


def init_reductions() -> None:
    """Have ``multiprocessing`` send tensors so."""
    register()
    for kind in (Tensor, Parameter):
        ForkingPickler.register(kind, reduce_tensor)
