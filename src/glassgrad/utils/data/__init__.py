"""Floor 6: data: datasets, samplers, and loaders that make batches of them, in worker processes if wanted."""

from ...ground.paths import show_all
from .dataloader import DataLoader, _DatasetKind, default_collate, default_convert, get_worker_info
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    DFIterDataPipe,
    IterableDataset,
    IterDataPipe,
    MapDataPipe,
    StackDataset,
    Subset,
    TensorDataset,
    functional_datapipe,
    random_split,
)
from .sampler import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DFIterDataPipe", "DataLoader", "Dataset", "DistributedSampler",
    "IterDataPipe", "IterableDataset", "MapDataPipe", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset",
    "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "_DatasetKind", "default_collate",
    "default_convert", "functional_datapipe", "get_worker_info", "random_split",
]  # fmt: skip
show_all(__name__, {
    "dataset": {"datapipes": "DFIterDataPipe IterDataPipe MapDataPipe functional_datapipe"},
    "sampler": {"distributed": "DistributedSampler"},
})  # fmt: skip
