"""The names of PyTorch's data pipes, which it has retired: they say what to use instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..dataset import Dataset, IterableDataset


def _refuse(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"torch.utils.data.{name}: data pipes are not in glassgrad; use {instead} instead")


class IterDataPipe(IterableDataset[Any]):
    """Refused when made: an IterableDataset does the same."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        _refuse("IterDataPipe", "torch.utils.data.IterableDataset")


class DFIterDataPipe(IterDataPipe):
    """Refused when made, as IterDataPipe is."""


class MapDataPipe(Dataset[Any]):
    """Refused when made: a Dataset does the same."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        _refuse("MapDataPipe", "torch.utils.data.Dataset")


def functional_datapipe(name: str, enable_df_api_tracing: bool = False) -> Callable[[type], type]:
    """A decorator that gives the class as it is: packages mark theirs on import, and no pipe is ever made."""
    return lambda cls: cls


__all__ = ["DFIterDataPipe", "IterDataPipe", "MapDataPipe", "functional_datapipe"]
