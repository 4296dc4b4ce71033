"""What goes wrong between processes: the exceptions of stores, networks and backends."""

from __future__ import annotations

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError"]


class DistError(RuntimeError):
    """Something went wrong between processes."""


class DistBackendError(DistError):
    """A collective failed: ranks disagree about what they do, or the group failed before."""


class DistNetworkError(DistError):
    """A process cannot be reached, went away, or is silent for longer than the timeout."""


class DistStoreError(DistError):
    """A store did not answer, or a key did not appear in time."""


class QueueEmptyError(DistStoreError):
    """A queue of a store holds nothing."""


for _kind in (DistError, DistBackendError, DistNetworkError, DistStoreError, QueueEmptyError):
    _kind.__module__ = "torch.distributed"
