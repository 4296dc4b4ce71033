"""A script in the manner of PyTorch's tutorial: it starts its processes itself, and they meet at localhost."""

import json
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.optim as optim
from torch.nn.parallel import DistributedDataParallel as DDP


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = sys.argv[1]
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1 = nn.Linear(10, 10)
        self.relu = nn.ReLU()
        self.net2 = nn.Linear(10, 5)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def demo_basic(rank, world_size, path):
    setup(rank, world_size)
    torch.manual_seed(0)
    ddp_model = DDP(ToyModel())
    loss_fn = nn.MSELoss()
    optimizer = optim.SGD(ddp_model.parameters(), lr=0.1)
    torch.manual_seed(1)
    inputs, labels = torch.randn(20, 10), torch.randn(20, 5)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = loss_fn(ddp_model(inputs[rank::world_size]), labels[rank::world_size])
        loss.backward()
        optimizer.step()
        mean = loss.detach() / world_size
        dist.all_reduce(mean)
        losses.append(mean.item())
    kept = tempfile.gettempdir() + f"/model-{sys.argv[1]}.checkpoint"
    if rank == 0:
        torch.save(ddp_model.state_dict(), kept)
    dist.barrier()
    again = DDP(ToyModel())
    again.load_state_dict(torch.load(kept, map_location="cpu"))
    with torch.no_grad():
        losses.append(loss_fn(again(inputs), labels).item())
    dist.barrier()
    if rank == 0:
        os.remove(kept)
        with open(path, "w") as file:
            json.dump(losses, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[2])
    mp.spawn(demo_basic, args=(count, sys.argv[3]), nprocs=count, join=True)
