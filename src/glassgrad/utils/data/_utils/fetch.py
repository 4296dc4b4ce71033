"""How the samples of a batch are taken from a dataset, in the main process as in workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....core.tensor import Tensor, wrap
from ....ground import modes
from ..dataset import Subset, TensorDataset
from .collate import default_collate


class _BaseDatasetFetcher:
    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch, or the sample, of an index."""
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Takes the next samples of a stream."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """As many samples as there are indices; StopIteration at the end of the stream."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        samples = []
        for _ in possibly_batched_index:
            try:
                samples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not samples or self.drop_last and len(samples) < len(possibly_batched_index):
            raise StopIteration
        return self.collate_fn(samples)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Takes the samples that indices name."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch of a list of indices, or the sample of one."""
        dataset = self.dataset
        if not self.auto_collation:
            return self.collate_fn(dataset[possibly_batched_index])
        if self.collate_fn is default_collate and type(dataset) in (TensorDataset, Subset):
            batch = _rows(dataset, possibly_batched_index)
            if batch is not None:
                return batch
        if getattr(dataset, "__getitems__", None):
            samples = dataset.__getitems__(possibly_batched_index)
        else:
            samples = [dataset[index] for index in possibly_batched_index]
        return self.collate_fn(samples)


def _rows(dataset: Any, indices: Any) -> list[Tensor] | None:
    """What stacking parts of plain tensors would give, in one step for each; None where it must be done one by one."""
    while type(dataset) is Subset:
        chosen = dataset.indices
        if type(chosen) not in (list, range):
            return None
        try:
            indices, dataset = [chosen[index] for index in indices], dataset.dataset
        except (IndexError, TypeError):
            return None
    if modes.unusual or type(dataset) is not TensorDataset or set(map(type, indices)) != {int}:
        return None
    batch = []
    for tensor in dataset.tensors:
        data = tensor._array
        if type(tensor) is not Tensor or tensor._edge is not None or data.dtype.metadata is not None:
            return None
        try:
            batch.append(wrap(data.take(indices, 0)))
        except IndexError:
            return None
    return batch
