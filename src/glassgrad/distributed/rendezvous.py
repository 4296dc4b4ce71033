"""How processes find each other: from the environment, a TCP address or a file to a store, a rank and a size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlparse

from .store import FileStore, Store
from .tcp_store import TCPStore

__all__ = ["register_rendezvous_handler", "rendezvous"]

_handlers: dict[str, Callable[..., Iterator[tuple[Store, int, int]]]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Iterator[tuple[Store, int, int]]]) -> None:
    """Have addresses ``scheme://...`` handled by ``handler(url, timeout=...)``, which yields (store, rank, size)."""
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(
    url: str, rank: int = -1, world_size: int = -1, timeout: timedelta = timedelta(minutes=30), **kwargs: Any
) -> Iterator[tuple[Store, int, int]]:
    """An iterator over (store, rank, number of processes) for an address such as ``env://``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#initialization
    """
    if not isinstance(url, str):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    if not isinstance(rank, int):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, int):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    parts = urlparse(url)
    if parts.scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    query = dict(parse_qsl(parts.query))
    if rank != -1:
        query["rank"] = str(rank)
    if world_size != -1:
        query["world_size"] = str(world_size)
    full = parts._replace(query="&".join(f"{name}={value}" for name, value in query.items()))
    return _handlers[parts.scheme](full.geturl(), timeout=timeout, **kwargs)


def _refuse(scheme: str, words: str) -> ValueError:
    return ValueError(f"Error initializing torch.distributed using {scheme}:// rendezvous: {words}")


def _query(url: str, scheme: str) -> tuple[int, int]:
    query = dict(parse_qsl(urlparse(url).query))
    for name, told in (("rank", "rank"), ("world_size", "world size")):
        if name not in query:
            raise _refuse(scheme, f"{told} parameter missing")
    return int(query["rank"]), int(query["world_size"])


def _tcp(url: str, timeout: timedelta, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    parts = urlparse(url)
    if parts.port is None:
        raise _refuse("tcp", "port number missing")
    rank, size = _query(url, "tcp")
    yield _served(parts.hostname or "", parts.port, rank, size, timeout), rank, size


def _file(url: str, timeout: timedelta, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    parts = urlparse(url)
    path = parts.netloc + parts.path
    if not path:
        raise _refuse("file", "path missing")
    rank, size = _query(url, "file")
    store = FileStore(path, size)
    store.set_timeout(timeout)
    yield store, rank, size


def _env(url: str, timeout: timedelta, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    query = dict(parse_qsl(urlparse(url).query))

    def read(name: str) -> str:
        found = os.environ.get(name)
        if found is None:
            raise _refuse("env", f"environment variable {name} expected, but not set")
        return found

    rank = int(query["rank"] if "rank" in query else read("RANK"))
    size = int(query["world_size"] if "world_size" in query else read("WORLD_SIZE"))
    host, port = read("MASTER_ADDR"), int(read("MASTER_PORT"))
    yield _served(host, port, rank, size, timeout), rank, size


def _served(host: str, port: int, rank: int, size: int, timeout: timedelta) -> Store:
    return TCPStore(host, port, size, is_master=rank == 0, timeout=timeout, wait_for_workers=False, multi_tenant=True)


register_rendezvous_handler("tcp", _tcp)
register_rendezvous_handler("file", _file)
register_rendezvous_handler("env", _env)
