"""Where an MPI launcher (mpiexec, srun) put this process among others, as its environment variables tell it."""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Place(NamedTuple):
    """A rank among ``size``, and the same among the processes of this machine."""

    rank: int
    size: int
    local_rank: int
    local_size: int


#: Of each launcher: the names of rank, number of ranks, and both on this machine.
_NAMES = (
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),  # MPICH, Intel MPI, and srun --mpi=pmi2
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
)


def place() -> Place | None:
    """Where this process stands; None where no MPI launcher started it."""
    for rank, size, local_rank, local_size in _NAMES:
        if rank in os.environ and size in os.environ and ("SLURM" not in rank or "PMIX_RANK" in os.environ):
            count = int(os.environ[size])
            local = int(os.environ.get(local_rank, os.environ.get("SLURM_LOCALID", os.environ[rank])))
            return Place(int(os.environ[rank]), count, local, int(os.environ.get(local_size, count)))
    return None


def announce(environment: MutableMapping[str, str]) -> None:
    """Write into ``environment`` what scripts of ``torchrun`` read there: RANK, LOCAL_RANK, WORLD_SIZE and others."""
    here = place()
    if here is None:
        return
    values = {
        "RANK": here.rank, "WORLD_SIZE": here.size, "LOCAL_RANK": here.local_rank, "LOCAL_WORLD_SIZE": here.local_size,
        "GROUP_RANK": here.rank // here.local_size, "ROLE_RANK": here.rank, "ROLE_WORLD_SIZE": here.size,
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29500,
    }  # fmt: skip
    for name, value in values.items():
        environment.setdefault(name, str(value))


def take_names_away(process: str = "self") -> None:
    """Unlink the shared memory that a process got from MPICH: with a name, it would outlive ranks that are killed.

    Ranks do it once all hold it; the launcher does for those that it ends before.
    """
    with suppress(OSError):  # no such system or process, or another rank was faster
        for name in set(re.findall(r"/dev/shm/mpich_shm_\w+", Path(f"/proc/{process}/maps").read_text())):
            os.unlink(name)
