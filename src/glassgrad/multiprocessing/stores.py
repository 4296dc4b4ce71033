"""Stores, by which processes meet: a place to be handed to ``init_process_group``; they keep nothing themselves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]

_KEPT = "processes meet by init_method or MPI; broadcast_object_list and all_gather_object carry what a store would"


class Store:
    """A place to meet, ``meeting``, as ``init_method`` writes it; RuntimeError of one that has none."""

    meeting: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"there is no {type(self).__name__}: {_KEPT}")

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"a {type(self).__name__} keeps no values here: {_KEPT}")

    set = get = add = wait = check = append = compare_set = delete_key = num_keys = multi_get = multi_set = _refuse


class FileStore(Store):
    """A file beside which processes meet, which they leave as it is."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path, self.world_size, self.meeting = file_name, world_size, f"file://{file_name}.meeting"


class TCPStore(Store):
    """An address at which processes meet."""

    def __init__(
        self, host_name: str, port: int, world_size: int | None = None, is_master: bool = False,
        timeout: timedelta | None = None, wait_for_workers: bool = True, **_: Any,
    ) -> None:  # fmt: skip
        self.host, self.port, self.world_size = host_name, port, world_size
        self.is_master, self.timeout, self.meeting = is_master, timeout, f"tcp://{host_name}:{port}"


class HashStore(Store):
    """Refused: other processes cannot see it."""


class PrefixStore(Store):
    """A store of which a part is used: all meet where it does."""

    def __init__(self, prefix: str, store: Any) -> None:
        self.prefix, self.underlying_store, self.meeting = prefix, store, store.meeting
