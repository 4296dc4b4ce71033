"""A script of several ranks, timed in glassgrad and in PyTorch: sums of 40 MB, and steps of an MLP and a GPT.

    glassgrad launch -n 2 benchmarks/ranks.py
    torchrun --nproc-per-node 2 benchmarks/ranks.py
    mpiexec -n 2 python benchmarks/ranks.py mpi

Of steps: milliseconds for each with the batch of one process on every rank (weak) and shared out (strong), without sums
(alone), and of the gradients' sum by itself (sum). What of it backward hides is 1 - (weak - alone) / sum.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any


def best(step: Callable[[], Any], meet: Callable[[], Any], rounds: int) -> float:
    """The least milliseconds of several rounds, which all ranks begin together."""
    times = []
    for _ in range(rounds):
        meet()
        began = time.perf_counter()
        step()
        meet()
        times.append(time.perf_counter() - began)
    return round(1000 * min(times), 2)


def raw() -> dict[str, float]:
    """Five sums of 40 MB by MPI itself."""
    import numpy as np
    from mpi4py import MPI

    world, x = MPI.COMM_WORLD, np.ones(10_000_000, np.float32)

    def five() -> None:
        for _ in range(5):
            world.Allreduce(MPI.IN_PLACE, x)

    return {"sums": best(five, world.Barrier, 8)}


def sums() -> dict[str, float]:
    """The same by torch.distributed."""
    import torch
    import torch.distributed as dist

    x = torch.ones(10_000_000)
    return {"sums": best(lambda: [dist.all_reduce(x) for _ in range(5)], dist.barrier, 8)}


def steps(name: str) -> dict[str, float]:
    """Training steps of a network."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    nn = torch.nn
    torch.manual_seed(0)
    if name == "mlp":
        net: Any = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
        data = torch.randn(512, 512)
    else:
        layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True, norm_first=True)
        net, data = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), torch.randn(16, 64, 128)
    count = dist.get_world_size()
    model = DistributedDataParallel(net) if count > 1 else net
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)

    def step(batch: Any) -> None:
        optimizer.zero_grad()
        model(batch).pow(2).mean().backward()
        optimizer.step()

    def alone() -> None:
        with model.no_sync():
            step(data)

    part = data[: len(data) // count]
    flat = torch.zeros(sum(parameter.numel() for parameter in net.parameters()))
    rounds = 12
    results = {f"{name} weak": best(lambda: step(data), dist.barrier, rounds)}
    if count > 1:
        results[f"{name} strong"] = best(lambda: step(part), dist.barrier, rounds)
        results[f"{name} alone"] = best(alone, dist.barrier, rounds)
        results[f"{name} sum"] = best(lambda: dist.all_reduce(flat), dist.barrier, rounds)
    return results


def main() -> None:
    """Measure, and print what rank 0 saw as JSON."""
    if sys.argv[1:] == ["mpi"]:
        results, rank = raw(), int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
    else:
        import torch
        import torch.distributed as dist

        torch.set_num_threads(1)
        dist.init_process_group("gloo")
        results, rank = {**sums(), **steps("mlp"), **steps("gpt")}, dist.get_rank()
        dist.destroy_process_group()
    if rank == 0:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
