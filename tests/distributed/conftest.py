"""No test here runs for longer than a minute: a hang fails."""

import datetime
import signal

import pytest


class Hangs(BaseException):
    """No Exception, so that nothing on the way takes it for one of its own."""


@pytest.fixture(autouse=True)
def _bounded():
    def stop(*_):
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def together(tmp_path):
    """Runs ``program(rank, count, *arguments)`` in the ``count`` processes of a group; what fails there fails here."""
    import glassgrad.multiprocessing as mp

    def run(program, count, *arguments, method="fork"):
        address = f"file://{tmp_path}/{program.__name__}-{count}"
        mp.start_processes(begin, (program, count, address, arguments), nprocs=count, start_method=method)

    return run


def begin(rank, program, count, address, arguments):
    import glassgrad.distributed as dist

    limit = datetime.timedelta(seconds=20)
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=count, timeout=limit)
    program(rank, count, *arguments)
    dist.destroy_process_group()
