"""A script as PyTorch's users write it: a small network trained by several processes, rank 0 writing what it saw."""

import json
import os
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = nn.Linear(3, 2), nn.Linear(3, 2), nn.Linear(3, 2)

    def forward(self, x, which):
        return [self.one(x), {"two": self.two(x)}] if which else [self.one(x)]


@record
def main(path):
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(1 + rank)  # rank 0's parameters are everybody's
    net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 3))
    model = DDP(net, bucket_cap_mb=0.0001)
    step = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(36, 4), torch.randint(0, 3, (36,)))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 6, sampler=sampler)
    seen = []
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            step.zero_grad()
            loss.backward()
            step.step()
            total = loss.detach().clone()
            dist.all_reduce(total)
            seen.append(total.item())
    step.zero_grad()
    with model.no_sync():
        F.cross_entropy(model(x), y).backward()
    F.cross_entropy(model(x), y).backward()
    seen += [p.grad.abs().sum().item() for p in model.parameters()] + [b.float().sum().item() for b in model.buffers()]
    torch.manual_seed(2)
    branches = DDP(Branches(), find_unused_parameters=True)
    for turn in range(3):
        branches.zero_grad()
        out = branches(torch.ones(2, 3) * (rank + 1), rank == turn)
        loss = out[0].sum() + (out[1]["two"].sum() if rank == turn == 1 else 0)
        loss.backward()
        seen += [-1.0 if p.grad is None else p.grad.sum().item() for p in branches.parameters()]
    torch.manual_seed(3)
    uneven = DDP(nn.Sequential(nn.Linear(3, 2, bias=False), nn.BatchNorm1d(2)))
    step = torch.optim.SGD(uneven.parameters(), 0.1)
    with uneven.join(divide_by_initial_world_size=False):
        for turn in range(2 + 2 * rank):
            step.zero_grad()
            x = torch.randn(4, 3) + turn
            F.mse_loss(uneven(x), x[:, :2]).backward()
            step.step()
    seen += [t.double().sum().item() for t in [*uneven.parameters(), *uneven.buffers()]]
    names = [None] * dist.get_world_size()
    dist.all_gather_object(names, (rank, torch.__name__, [*model.state_dict()]))
    if rank == 0:
        with open(path, "w") as file:
            json.dump([seen, names], file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[-1])
