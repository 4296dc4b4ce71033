"""DataLoader: batches of a dataset, fetched in this process or by workers, in the order PyTorch takes them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from ...ground.generator import default_generator
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_T_co = TypeVar("_T_co", covariant=True)
_FIXED = frozenset(("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"))


class _DatasetKind:
    """Whether samples are indexed or come as a stream."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Any, drop_last: bool) -> Any:
        """What takes samples from a dataset of that kind."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


class _InfiniteConstantSampler(Sampler[None]):
    """None for ever: a stream has no indices."""

    def __iter__(self) -> Any:
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """An iterable of the batches of a dataset.

    dataset             what is indexed by a sampler, or an IterableDataset, which is just iterated
    batch_size          samples in a batch; None gives single samples, not collated
    shuffle             a new random order for each epoch
    sampler             an iterable of indices instead; ``batch_sampler`` one of lists of indices
    num_workers         processes that fetch; 0: this process does
    collate_fn          makes a batch of a list of samples; else ``default_collate``, or without batches
                        ``default_convert``
    pin_memory          accepted with a warning: there is no accelerator to pin memory for
    drop_last           leave an incomplete last batch out
    timeout             seconds to wait for a batch of a worker; 0: for ever
    worker_init_fn      called with the worker's number in each worker, after seeding
    multiprocessing_context   a start method's name, or a context of ``multiprocessing``
    generator           where the order, and the seed of the workers, are drawn from
    prefetch_factor     batches that each worker has in work ahead; 2 unless given
    persistent_workers  keep the workers for the next epoch
    in_order            whether batches come in the sampler's order, or as they are ready

    ``len(loader)`` is the number of batches. ValueError for arguments that exclude each other; an error in a worker is
    raised here, with the worker's traceback in its text.
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    dataset: Any
    batch_size: int | None
    num_workers: int
    pin_memory: bool
    drop_last: bool
    timeout: float
    sampler: Any
    pin_memory_device: str
    prefetch_factor: int | None
    _iterator: Any = None
    __initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        elif prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")

        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order

        if isinstance(dataset, IterableDataset):
            self._dataset_kind = _DatasetKind.Iterable
            _check_stream(shuffle, sampler, batch_sampler)
        else:
            self._dataset_kind = _DatasetKind.Map
            shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)

        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_collate if self._auto_collation else default_convert
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self.__initialized = True
        self._IterableDataset_len_called: int | None = None
        self._iterator = None
        self.check_worker_number_rationality()

    def _get_iterator(self) -> _BaseDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        generator: Any = self.generator or default_generator
        state = generator.get_state()
        try:
            from .parallel import _MultiProcessingDataLoaderIter

            return _MultiProcessingDataLoaderIter(self)
        except (ImportError, OSError, RuntimeError, AttributeError) as error:
            if not _is_of_the_system(error):
                raise
            warnings.warn(
                f"DataLoader cannot start its {self.num_workers} workers here ({type(error).__name__}: {error}): "
                "it loads in this process.",
                stacklevel=3,
            )
        generator.set_state(state)
        return _SingleProcessDataLoaderIter(self)

    @property
    def multiprocessing_context(self) -> Any:
        """The context that workers are started with; None: the default one."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: Any) -> None:
        if context is not None:
            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            context = _context(context)
        self.__multiprocessing_context = context

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    def __iter__(self) -> Any:
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        count = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn where there are to be more workers than cores."""
        if not self.num_workers:
            return
        counts_allowed = hasattr(os, "sched_getaffinity")
        cores = len(os.sched_getaffinity(0)) if counts_allowed else os.cpu_count()
        if cores is not None and self.num_workers <= cores:
            return
        advice = "DataLoader is not able to compute a suggested max number of worker in current system."
        if cores is not None:
            advice = (
                f"Our suggested max number of worker in current system is {cores}"
                f"{'' if counts_allowed else ' (`cpuset` is not taken into account)'}, which is smaller than what this "
                "DataLoader is going to create."
            )
        warnings.warn(
            f"This DataLoader will create {self.num_workers} worker processes in total. {advice} Please be aware that "
            "excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to "
            "avoid potential slowness/freeze if necessary.",
            stacklevel=2,
        )


def _check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """Refuse what makes no sense for a stream."""
    if shuffle not in (False, None):
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
        )
    for name, argument in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if argument is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={argument}"
            )


def _is_of_the_system(error: Exception) -> bool:
    """Whether it says that the system starts no processes or threads, or has none."""
    if isinstance(error, RuntimeError):
        return "start new thread" in str(error)
    return not isinstance(error, AttributeError) or not hasattr(os, "fork")


def _context(context: Any) -> Any:
    """The context of ``multiprocessing`` that was given, or named."""
    import multiprocessing

    if isinstance(context, str):
        methods = multiprocessing.get_all_start_methods()
        if context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in {methods!r}, but got "
                f"multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string specifying the start method, "
            f"but got multiprocessing_context={context}"
        )
    return context


class _BaseDataLoaderIter:
    """One epoch of a loader."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._IterableDataset_len_called = loader._IterableDataset_len_called
        self._auto_collation = loader._auto_collation
        self._drop_last = loader.drop_last
        self._index_sampler = loader._index_sampler
        self._num_workers = loader.num_workers
        if loader.pin_memory:
            _warn_of_pinning(loader.pin_memory_device)
        self._pin_memory = False
        self._timeout = loader.timeout
        self._collate_fn = loader.collate_fn
        self._sampler_iter = iter(self._index_sampler)
        self._base_seed = draw_seed(loader.generator)  # drawn without workers too: what is drawn later depends on it
        self._persistent_workers = loader.persistent_workers
        self._num_yielded = 0

    def __iter__(self) -> Any:
        return self

    def _reset(self, loader: DataLoader[Any], first_iter: bool = False) -> None:
        self._sampler_iter = iter(self._index_sampler)
        self._num_yielded = 0
        self._IterableDataset_len_called = loader._IterableDataset_len_called

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        if self._IterableDataset_len_called is not None and self._num_yielded > self._IterableDataset_len_called:
            self._warn_of_length()
        return data

    def _warn_of_length(self) -> None:
        if self._dataset_kind != _DatasetKind.Iterable:
            return
        message = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._IterableDataset_len_called}"
            f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. "
        )
        if self._num_workers > 0:
            message += (
                "For multiprocessing data-loading, this could be caused by not properly configuring the "
                "IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
            )
        warnings.warn(message, stacklevel=3)

    def __len__(self) -> int:
        return len(self._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


def _warn_of_pinning(device: str) -> None:
    if device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{device}'.",
            stacklevel=5,
        )
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used.",
        stacklevel=5,
    )


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Fetches each batch when it is asked for."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if self._timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._dataset_fetcher = _DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_data(self) -> Any:
        return self._dataset_fetcher.fetch(next(self._sampler_iter))


def __getattr__(name: str) -> Any:
    if name == "_MultiProcessingDataLoaderIter":
        from .parallel import _MultiProcessingDataLoaderIter

        return _MultiProcessingDataLoaderIter
    raise AttributeError(f"module 'torch.utils.data.dataloader' has no attribute '{name}'")
