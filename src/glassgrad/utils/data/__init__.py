"""Floor 6: data: datasets, samplers, and loaders that make batches of them, in worker processes if wanted."""

from .dataloader import DataLoader, _DatasetKind, default_collate, default_convert, get_worker_info
from .datapipes import DFIterDataPipe, IterDataPipe, MapDataPipe, functional_datapipe
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler,
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
