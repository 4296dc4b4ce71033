"""Several ranks, timed in glassgrad and in PyTorch over gloo: sums of 40 MB, and steps of an MLP and a GPT.

    python -m benchmarks.ranks    # jobs of 1, 2 and 4 ranks, and of MPI itself, in turns: a table of milliseconds
    glassgrad launch -n 2 benchmarks/ranks.py
    torchrun --nproc-per-node 2 benchmarks/ranks.py
    mpiexec -n 2 python benchmarks/ranks.py mpi

Of steps: milliseconds for each with the batch of one process on every rank (weak) and shared out (strong), without sums
(alone), and of the gradients' sum by itself (sum). What of it backward hides is 1 - (weak - alone) / sum.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

COLUMNS = ("sums", "mlp weak", "mlp strong", "gpt weak", "gpt strong", "mlp alone", "mlp sum", "gpt alone", "gpt sum")
TURNS = 3  # how often each job runs; of these the median
TRIES = 3  # how often one that fails is begun: gloo's processes abort now and then as they end


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


def measure() -> None:
    """What this rank's job measures; rank 0 prints it as JSON."""
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


def jobs() -> dict[str, list[str]]:
    """The command line of each job."""
    from glassgrad.multiprocessing.launcher import mpiexec

    lines = {}
    for count in map(str, (1, 2, 4)):
        ranks = f"{count} rank{'s' * (count != '1')}"
        lines[f"glassgrad, {ranks}"] = [sys.executable, "-m", "glassgrad", "launch", "-n", count, __file__]
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", count, __file__]
        lines[f"gloo, {ranks}"] = torchrun
        if count != "1":
            lines[f"MPI itself, {ranks}"] = [mpiexec(), "-n", count, sys.executable, __file__, "mpi"]
    return lines


def compare() -> None:
    """Run the jobs in turns, one thread for each rank, and print the medians as a table."""
    results: dict[str, list[dict[str, float]]] = {}
    for _ in range(TURNS):
        for name, line in jobs().items():
            for left in reversed(range(TRIES)):
                done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
                if not done.returncode:
                    results.setdefault(name, []).append(json.loads(done.stdout.strip().splitlines()[-1]))
                    break
                if not left:
                    sys.exit(f"{name}: {done.stderr}")
                print(f"{name}: failed, and is tried again", file=sys.stderr)
    print("| ms |", " | ".join(COLUMNS), "|\n|", " | ".join(["---"] * (len(COLUMNS) + 1)), "|")
    for name, turns in results.items():
        medians = [statistics.median(turn[each] for turn in turns) if each in turns[0] else "-" for each in COLUMNS]
        print("|", " | ".join(map(str, [name, *medians])), "|")


if __name__ == "__main__":
    if "RANK" in os.environ or sys.argv[1:] == ["mpi"]:
        measure()
    else:
        compare()
