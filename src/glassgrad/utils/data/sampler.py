"""Samplers: in which order the examples of a dataset are taken, by one process or by several."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ...core.tensor import Tensor
from ...families.create.functions import empty
from ...families.create.shared import as_tensor
from ...families.random.functions import multinomial, randint, randperm
from ...ground import dtypes
from ...ground.generator import Generator

_T_co = TypeVar("_T_co", covariant=True)
_CHUNK = 32  # how many indices PyTorch draws at once with replacement: it decides what is drawn after them


def draw_seed(generator: Generator | None = None) -> int:
    """A seed of 63 bits, drawn from ``generator`` or the default one as ``random_()`` draws an int64."""
    return int(empty((), dtype=dtypes.int64).random_(generator=generator).item())


class Sampler(Generic[_T_co]):
    """An iterable of indices, or of lists of indices; subclasses define ``__iter__`` and may define ``__len__``.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Sampler
    """

    def __iter__(self) -> Iterator[_T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """0, 1, 2 ... to the length of ``data_source``."""

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A permutation of the indices of ``data_source``, or independent draws.

    replacement  draw independently
    num_samples  how many indices; without replacement, beyond the length, further permutations follow
    generator    where they are drawn from; without one, each epoch's own generator starts from a seed that is drawn
                 from the default generator when the first index is wanted
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.RandomSampler
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """How many indices there are; follows the length of the data where none was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(draw_seed())
        if self.replacement:
            whole, rest = divmod(self.num_samples, _CHUNK)
            for size in itertools.chain(itertools.repeat(_CHUNK, whole), [rest]):
                yield from randint(high=n, size=(size,), dtype=dtypes.int64, generator=generator).tolist()
        else:
            whole, rest = divmod(self.num_samples, n)
            for _ in range(whole):
                yield from randperm(n, generator=generator).tolist()
            yield from randperm(n, generator=generator).tolist()[:rest]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.SubsetRandomSampler
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for index in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[index]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """``num_samples`` indices of ``weights``, each drawn with a probability in proportion to its weight.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.WeightedRandomSampler
    """

    weights: Tensor
    num_samples: int
    replacement: bool

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _check_positive("num_samples", num_samples)
        _check_bool("replacement", replacement)
        tensor = as_tensor(weights, dtype=dtypes.double)
        if tensor.ndim != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(tensor.shape)}")
        self.weights = tensor
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of ``batch_size`` indices of another sampler, the last one shorter, or dropped with ``drop_last``.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.BatchSampler
    """

    def __init__(self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool) -> None:
        _check_positive("batch_size", batch_size)
        _check_bool("drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else (count + self.batch_size - 1) // self.batch_size


def _check_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _check_bool(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")


class DistributedSampler(Sampler[_T_co]):
    """Every ``num_replicas``-th index of a permutation that all processes share, starting at ``rank``.

    num_replicas, rank  of the process group where not given
    shuffle, seed       the permutation is drawn from ``seed`` plus the epoch, which :meth:`set_epoch` sets
    drop_last           cut the indices to a multiple of ``num_replicas``; otherwise the first ones are repeated
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
        seed: int = 0, drop_last: bool = False,
    ) -> None:  # fmt: skip
        if num_replicas is None:
            num_replicas = _process_group().get_world_size()
        if rank is None:
            rank = _process_group().get_rank()
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas: int = num_replicas
        self.rank: int = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)
        if drop_last and count % num_replicas:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[_T_co]:
        indices: list[Any] = list(range(len(self.dataset)))
        if self.shuffle:
            drawn = Generator().manual_seed(self.seed + self.epoch)
            indices = randperm(len(self.dataset), generator=drawn).tolist()
        if self.drop_last:
            indices = indices[: self.total_size]
        else:
            missing = self.total_size - len(indices)
            indices += (indices * math.ceil(missing / len(indices)))[:missing] if missing else []
        if len(indices) != self.total_size:
            raise AssertionError(f"Number of indices ({len(indices)}) does not match total_size ({self.total_size})")
        indices = indices[self.rank : self.total_size : self.num_replicas]
        if len(indices) != self.num_samples:
            raise AssertionError(
                f"Number of subsampled indices ({len(indices)}) does not match num_samples ({self.num_samples})"
            )
        return iter(indices)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, so that its permutation differs from those of other epochs."""
        self.epoch = epoch


def _process_group() -> Any:
    """The module that knows the process group, where there is one."""
    try:  # by name: it lies above this floor, and is wanted only where a program trains in several processes
        group = importlib.import_module("glassgrad.distributed")
    except ModuleNotFoundError:
        group = None
    if group is None or not group.is_available():
        raise RuntimeError("Requires distributed package to be available")
    return group
