"""Several processes that compute together: groups, collectives, messages.

Source: https://docs.pytorch.org/docs/stable/distributed.html
"""

from __future__ import annotations

from typing import Any

from ..ground.importing import load as _load
from . import distributed_c10d
from .absent import ABSENT, hint
from .collectives import *  # noqa: F403
from .collectives import __all__ as _collectives
from .device_mesh import DeviceMesh, init_device_mesh
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import __all__ as _groups
from .distributed_c10d import _get_default_group as _get_default_group
from .distributed_c10d import _rank_not_in_group as _rank_not_in_group
from .errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError
from .messages import P2POp, batch_isend_irecv, irecv, isend, recv, send
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .reduce_op import ReduceOp, reduce_op
from .stores import FileStore, HashStore, PrefixStore, Store, TCPStore

__all__ = [
    *_collectives, *_groups, "DeviceMesh", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError",
    "FileStore", "HashStore", "P2POp", "PrefixStore", "QueueEmptyError", "ReduceOp", "Store", "TCPStore",
    "all_gather_object", "batch_isend_irecv", "broadcast_object_list", "distributed_c10d", "gather_object",
    "init_device_mesh", "irecv", "is_available", "isend", "recv", "recv_object_list", "reduce_op",
    "scatter_object_list", "send", "send_object_list",
]  # fmt: skip


def is_available() -> bool:
    """True: process groups are here."""
    return True


#: Modules of the table of answers, ``absent_distributed.py``, which PyTorch imports with this one; others are imported.
_ANSWERED = {"algorithms", "constants", "device_mesh", "rpc", "utils"}
_PART_OF = {"DeviceMesh": "device_mesh", "init_device_mesh": "device_mesh"}


def __getattr__(name: str) -> Any:
    if name in _ANSWERED:
        return _load(f"{__package__}.{name}")
    if name in _PART_OF:
        return getattr(_load(f"{__package__}.{_PART_OF[name]}"), name)
    if name in ABSENT:
        raise AttributeError(f"torch.distributed.{name} is not in glassgrad{hint(name)}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
