"""DistributedSampler: the part of the indices that one of several training processes takes."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import Any, TypeVar

from ...families.random.functions import randperm
from ...ground.generator import Generator
from .sampler import Sampler

__all__ = ["DistributedSampler"]

_T_co = TypeVar("_T_co", covariant=True)


class DistributedSampler(Sampler[_T_co]):
    """Every ``num_replicas``-th index of a permutation that all processes share, starting at ``rank``.

    num_replicas, rank  of the process group where not given
    shuffle, seed       the permutation is drawn from ``seed`` plus the epoch, which :meth:`set_epoch` sets
    drop_last           cut the indices to a multiple of ``num_replicas``; otherwise the first ones are repeated
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
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
            raise AssertionError(
                f"Number of indices ({len(indices)}) does not match total_size ({self.total_size})"
            )
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
