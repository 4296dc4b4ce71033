"""What every training example takes from its command line, and where it notes its losses."""

import argparse
import random
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def parse(description, steps, **more):
    """The command line of an example: steps, seed, precision, and what ``more`` names (name=(default, help))."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps, help="training steps (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers (default: %(default)s)")
    parser.add_argument("--double", action="store_true", help="compute in float64")
    parser.add_argument("--losses", metavar="FILE", help="write the loss of every step to a file, one a line")
    for name, (default, text) in more.items():
        if default is False:
            parser.add_argument(f"--{name}", action="store_true", help=text)
            continue
        kind = {"type": type(default)} if default is not None else {}
        parser.add_argument(f"--{name}", default=default, help=f"{text} (default: %(default)s)", **kind)
    given = parser.parse_args()
    if given.double:
        torch.set_default_dtype(torch.float64)
    random.seed(given.seed)
    torch.manual_seed(given.seed)
    return given


RANKS = (False, "share the batches out to the ranks of `glassgrad launch`")


def shared(given, model):
    """The model that is trained, this process's rank and how many there are: 0 and 1 without ``--distributed``."""
    if not given.distributed:
        return model, 0, 1
    dist.init_process_group("gloo")
    return DistributedDataParallel(model), dist.get_rank(), dist.get_world_size()


class Losses:
    """Prints a loss now and then, and keeps all of them."""

    def __init__(self, given, every=None, rank=0, ranks=1):
        self.rank, self.ranks = rank, ranks
        self.path, self.steps = given.losses, given.steps
        self.every = every or max(1, given.steps // 10)
        self.values = []
        self.start = time.perf_counter()

    def add(self, loss):
        """Note the loss of a step; of several ranks, their mean."""
        loss = loss.detach().clone()
        if self.ranks > 1:
            dist.all_reduce(loss)
        self.values.append(loss.item() / self.ranks)
        step = len(self.values)
        if self.rank == 0 and (step % self.every == 0 or step in (1, self.steps)):
            print(f"step {step:5d}  loss {self.values[-1]:8.4f}  {time.perf_counter() - self.start:6.1f} s")

    def write(self):
        """Write them to the file that was asked for."""
        if self.path and self.rank == 0:
            Path(self.path).write_text("".join(f"{value!r}\n" for value in self.values), encoding="utf-8")


def lines(path, builtin):
    """The lines of a text file; without a path, those that come with the example."""
    text = Path(path).read_text(encoding="utf-8") if path else builtin
    return text.split()
