"""What goes wrong between processes: the exceptions of networks and backends."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError"]


class DistError(RuntimeError):
    """Something went wrong between processes."""


class DistBackendError(DistError):
    """A collective failed: ranks disagree about what they do, or the group failed before."""


class DistNetworkError(DistError):
    """A process cannot be reached, went away, or is silent for longer than the timeout; ``missing``: which ranks."""

    def __init__(self, message: str = "", missing: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.missing = list(missing)


class DistStoreError(DistError):
    """Raised by PyTorch's stores; here for scripts that catch it."""


class QueueEmptyError(DistStoreError):
    """Raised by PyTorch's stores; here for scripts that catch it."""


for _kind in (DistError, DistBackendError, DistNetworkError, DistStoreError, QueueEmptyError):
    _kind.__module__ = "torch.distributed"
