"""Several processes that compute together: groups, collectives, messages.

Source: https://docs.pytorch.org/docs/stable/distributed.html
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ..ground.importing import load as _load
from ..multiprocessing.failures import QueueEmptyError
from ..multiprocessing.reduce_op import ReduceOp, reduce_op
from ..multiprocessing.stores import *  # noqa: F403
from ..multiprocessing.stores import __all__ as _stores
from . import collectives, distributed_c10d, messages
from .collectives import *  # noqa: F403
from .device_mesh import DeviceMesh, init_device_mesh
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import _get_default_group as _get_default_group
from .distributed_c10d import _rank_not_in_group as _rank_not_in_group
from .messages import *  # noqa: F403

__all__ = [
    *collectives.__all__, *distributed_c10d.__all__, *messages.__all__, *_stores, "DeviceMesh", "QueueEmptyError",
    "ReduceOp", "distributed_c10d", "init_device_mesh", "is_available", "reduce_op",
]  # fmt: skip


def is_available() -> bool:
    """True: process groups are here."""
    return True


_PAGE = "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed."
for _name, _thing in [(_name, globals()[_name]) for _name in __all__]:
    if issubclass(type(_thing), (type, FunctionType)) and "Source:" not in _thing.__doc__:
        _thing.__doc__ = f"{_thing.__doc__}\n\nSource: {_PAGE}{_name}"

#: Modules of the table of answers, ``absent_distributed.py``, which PyTorch imports with this one; others are imported.
_ANSWERED = {"algorithms", "constants", "device_mesh", "rpc", "utils"}


def __getattr__(name: str) -> Any:
    if name in _ANSWERED:
        return _load(f"{__package__}.{name}")
    if hint := _load("..absent_names", __package__).hint(f"torch.distributed.{name}"):
        raise AttributeError(f"torch.distributed.{name} is not in glassgrad{hint}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
