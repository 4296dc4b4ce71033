"""Datasets: examples by their place, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Sequence
from typing import Any, Generic, Iterable, NoReturn, TypeVar  # noqa: UP035  the one of typing goes with Generic as a base

from ...core.tensor import Tensor
from ...families.random.functions import randperm
from ...ground.generator import Generator, default_generator

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class Dataset(Generic[_T_co]):
    """A map from keys, mostly 0 ... len - 1, to samples: subclasses define ``__getitem__`` and mostly ``__len__``.

    A subclass may define ``__getitems__(indices)``, which gives a list of samples at once; ``a + b`` joins two.
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Dataset
    """

    def __getitem__(self, index: Any) -> _T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[_T_co]) -> ConcatDataset[_T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co], Iterable[_T_co]):
    """A stream of samples: subclasses define ``__iter__``.

    Each worker of a DataLoader iterates over a copy of its own; ``get_worker_info()`` tells it which part to take.
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset
    """

    def __add__(self, other: Dataset[_T_co]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors of the same first size; sample ``i`` is the tuple of their parts ``i``.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.TensorDataset
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        sizes = [tensor.size(0) for tensor in tensors]  # type: ignore[attr-defined]
        if any(size != sizes[0] for size in sizes):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])  # type: ignore[index]

    def __len__(self) -> int:
        first: Any = self.tensors[0]
        return first.size(0)  # type: ignore[no-any-return]


class StackDataset(Dataset[Any]):
    """Datasets of equal length side by side: a sample is the tuple (given by keyword: the dict) of their samples.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.StackDataset
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or"
                "``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        parts = args or tuple(kwargs.values())
        self._length = len(parts[0])
        if any(len(dataset) != self._length for dataset in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple([dataset[index] for dataset in self.datasets])

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """The samples of several indices, of each dataset as it gives them best."""
        if isinstance(self.datasets, dict):
            columns = [_several(dataset, indices) for dataset in self.datasets.values()]
            return [dict(zip(self.datasets, row, strict=True)) for row in zip(*columns, strict=True)]
        return list(zip(*[_several(dataset, indices) for dataset in self.datasets], strict=True))

    def __len__(self) -> int:
        return self._length


def _several(dataset: Any, indices: list[Any]) -> Any:
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    items = dataset.__getitems__(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.ConcatDataset
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each dataset ends."""
        return list(itertools.accumulate(len(dataset) for dataset in sequence))

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        dataset_idx = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[dataset_idx][idx - self.cumulative_sizes[dataset_idx - 1] if dataset_idx else idx]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old name of ``cumulative_sizes``."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`", category=FutureWarning, stacklevel=2
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[Any]):
    """Streams one after the other.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.ChainDataset
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _streams(self) -> Any:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Any:
        for dataset in self._streams():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._streams())


class Subset(Dataset[_T_co]):
    """The samples of a dataset at chosen indices.

    A subclass that has a ``__getitem__`` of its own needs a ``__getitems__`` too, else NotImplementedError.
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Subset
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        own = type(self)
        if own.__getitem__ is not Subset.__getitem__ and own.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{own.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding "
                "__getitem__, you must also override __getitems__ to ensure DataLoader works correctly with your "
                "custom logic. A simple implementation:\n\n"
                "def __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> Any:
        """The samples of several indices."""
        chosen = [self.indices[index] for index in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[index] for index in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Parts of a dataset, chosen at random and without overlap.

    lengths    how many samples each part has; or fractions that sum to 1: what rounding down leaves over goes to the
               first parts, one sample each
    generator  where the permutation is drawn from
    ValueError if the lengths do not sum to the dataset's, or a fraction is not in [0, 1]; a warning for empty parts.
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.random_split
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts: list[Any] = []
        for index, fraction in enumerate(lengths):
            if fraction < 0 or fraction > 1:
                raise ValueError(f"Fraction at index {index} is not between 0 and 1")
            counts.append(math.floor(len(dataset) * fraction))
        for index in range(len(dataset) - sum(counts)):
            counts[index % len(counts)] += 1
        lengths = counts
        for index, length in enumerate(lengths):
            if length == 0:
                warnings.warn(
                    f"Length of split at index {index} is 0. This might result in an empty dataset.", stacklevel=2
                )
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, indices[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


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


def functional_datapipe(name: str, enable_df_api_tracing: bool = False) -> NoReturn:
    """Refused: there are no pipes to add a method to."""
    _refuse("functional_datapipe", "a function of an iterable")
