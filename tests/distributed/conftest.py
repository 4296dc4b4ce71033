"""Programs that several processes run together, joined by MPI or, on one machine, without; a hang fails."""

import datetime
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

MPIEXEC = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
MPI = MPIEXEC is not None and importlib.util.find_spec("mpi4py") is not None
NO_MPI = "MPI is not installed: pip install 'glassgrad[mpi]'"
ROOT = str(Path(__file__).parents[2])


class Hangs(BaseException):
    """No Exception, so that nothing on the way takes it for one of its own."""


@pytest.fixture(autouse=True)
def _bounded():
    def stop(*_):
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(150)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=["local", pytest.param("mpi", marks=pytest.mark.mpi)])
def together(request, tmp_path):
    """Runs ``program(rank, count, *arguments)`` in the ``count`` processes of a group; what fails there fails here."""
    if request.param == "local":
        yield lambda program, count, *arguments: _local(tmp_path, program, count, arguments)
    else:
        yield _mpi


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def _local(folder, program, count, arguments):
    import glassgrad.multiprocessing as mp

    address = f"file://{folder}/{program.__name__}-{count}"
    mp.start_processes(begin, (program, count, address, arguments), nprocs=count, start_method="fork")


def _mpi(program, count, *arguments):
    line = [sys.executable, "-m", "tests.distributed.conftest", program.__module__, program.__name__]
    done = subprocess.run(
        [MPIEXEC, "-n", str(count), *line, json.dumps(arguments)], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr + done.stdout


def begin(rank, program, count, address, arguments):
    import glassgrad.distributed as dist

    limit = datetime.timedelta(seconds=20)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=count, timeout=limit)
    program(dist.get_rank(), count, *arguments)
    dist.destroy_process_group()


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("mpi") and not MPI:
            item.add_marker(pytest.mark.skip(reason=NO_MPI))


if __name__ == "__main__":
    module, name, given = sys.argv[1:]
    from glassgrad.ground import launched

    place = launched.place()
    begin(-1, getattr(importlib.import_module(module), name), place.size, None, json.loads(given))
