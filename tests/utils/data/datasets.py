"""A dataset in a module of its own: workers that start afresh find it here by name."""

import torch  # of whoever imports this: under the alias, glassgrad


class Squares(torch.utils.data.Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.tensor(index * index), torch.__name__, torch.utils.data.get_worker_info().id
