"""MPI in this process: begun once, and ended with all ranks, or for all of them at once."""

from __future__ import annotations

import math
import os
import sys
import traceback
from typing import Any, NamedTuple

from ..ground import launched
from ..ground.waiting import poll

__all__ = ["begun", "failed", "finalize", "name_failures"]

_PATIENCE = 5.0  # seconds that ranks have to end after one another where a collective failed


class _Begun(NamedTuple):
    """mpi4py's module, a communicator of all processes for what goes wrong, and the process that MPI was begun in."""

    mpi: Any
    notices: Any
    owner: int


_here: list[_Begun] = []


def begun() -> _Begun:
    """MPI, begun with the other ranks where it was not yet."""
    if _here:
        return _here[0]
    try:
        import mpi4py

        mpi4py.rc.finalize = False  # it would wait for ranks that never come: finalize() ends MPI
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(
            f"This process was started by an MPI launcher, and MPI cannot be loaded ({error}): "
            "pip install 'glassgrad[mpi]', or start it otherwise"
        ) from None
    if MPI.Query_thread() != MPI.THREAD_MULTIPLE:
        raise RuntimeError("The MPI library must be one that several threads may call (MPI_THREAD_MULTIPLE)")
    _here.append(_Begun(MPI, MPI.COMM_WORLD.Dup(), os.getpid()))
    launched.take_names_away()
    return _here[0]


def finalize(well: bool) -> None:
    """End MPI, with all ranks; where not all is ``well``, if they come within some seconds, as MPI itself would wait.

    The launcher takes a rank that leaves without this for one that failed, and ends the others.
    """
    if not _here or _here[0].owner != os.getpid() or _here[0].mpi.Is_finalized():
        return
    if poll(_here[0].notices.Ibarrier().Test, math.inf if well else _PATIENCE):
        _here[0].mpi.Finalize()


def name_failures(rank: int) -> None:
    """Have an error that nobody catches name the rank, as PyTorch does, and end the other ranks."""

    def show(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        failed(rank, error, "".join(traceback.format_exception(error)))

    sys.excepthook = show


def failed(rank: int, error: BaseException, text: str) -> None:
    """Print the traceback of a rank's error and end all ranks."""
    print("\n".join(f"[rank{rank}]: {line}" for line in text.splitlines()), file=sys.stderr, flush=True)
    sys.stdout.flush()
    code = 130 if isinstance(error, KeyboardInterrupt) else 1
    if _here and "GLASSGRAD_JOB" not in os.environ:
        _here[0].mpi.COMM_WORLD.Abort(code)
    os._exit(code)  # our launcher's mpiexec ends the others, and says less about it
