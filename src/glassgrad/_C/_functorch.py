"""The names under ``torch._C._functorch`` by which packages ask whether a tensor is of a transform, and of what."""

from __future__ import annotations

from typing import Any, NoReturn

from ..func.batching import Batched
from ..func.tracking import GradTracking
from ..tensor.lifted import Lifted


def is_batchedtensor(tensor: Any) -> bool:
    """Whether a tensor stands for a batch, within ``vmap``."""
    return isinstance(tensor, Batched)


def is_gradtrackingtensor(tensor: Any) -> bool:
    """Whether a tensor is one whose gradient ``torch.func`` is taking."""
    return isinstance(tensor, GradTracking)


def is_functorch_wrapped_tensor(tensor: Any) -> bool:
    """Whether a tensor is of any transform."""
    return isinstance(tensor, Lifted)


def get_unwrapped(tensor: Any) -> Any:
    """What a tensor of a transform stands for."""
    return tensor.value


def _add_batch_dim(*args: Any, **kwargs: Any) -> NoReturn:
    """RuntimeError: levels of batches are begun by ``torch.vmap`` alone."""
    raise RuntimeError("batches are made within torch.vmap alone: call it on tensors, and not on what holds them")


_remove_batch_dim = _add_batch_dim
