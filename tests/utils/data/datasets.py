"""Datasets in a module of their own: workers that start afresh find them here by name."""

import random

import numpy as np
import torch  # of whoever imports this: under the alias, glassgrad


class Squares(torch.utils.data.Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.tensor(index * index), torch.__name__, torch.utils.data.get_worker_info().id


class Draws(torch.utils.data.Dataset):
    """What each of the random streams gives in a worker."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        info = torch.utils.data.get_worker_info()
        return (
            torch.randint(2**40, (2,)), torch.rand(2), random.random(), np.random.rand(), info.seed, info.id,
            torch.initial_seed(),
        )  # fmt: skip


class Fresh(torch.utils.data.Dataset):
    """Batches of a model's output: what workers compute themselves."""

    def __init__(self):
        self.table = torch.arange(12.0).view(4, 3)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {"row": self.table[index], "shared": self.table.is_shared()}
