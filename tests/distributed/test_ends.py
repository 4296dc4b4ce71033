"""Processes that die, are silent, fork, or never come: an error in bounded time, never a hang."""

import datetime
import os
import signal
import time

import pytest

import glassgrad as gg
import glassgrad.distributed as dist
import glassgrad.multiprocessing as mp


def _killed(rank, folder, when):
    dist.init_process_group("gloo", init_method=f"file://{folder}/killed", rank=rank, world_size=3)
    if when == "after a collective":
        dist.all_reduce(gg.ones(3))
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(dist.DistNetworkError, match=r"ended or left the group"):
        if when == "message":
            dist.recv(gg.ones(1), 1)
        else:
            for _ in range(3):
                dist.all_reduce(gg.ones(100_000))
    open(f"{folder}/told {rank}", "w").close()
    time.sleep(600)


@pytest.mark.parametrize("when", ["before", "after a collective", "message"])
def test_a_killed_rank_is_an_error_on_the_others(tmp_path, when):
    context = mp.start_processes(_killed, (str(tmp_path), when), nprocs=3, join=False, start_method="fork")
    deadline = time.monotonic() + 120
    while not all(os.path.exists(f"{tmp_path}/told {rank}") for rank in (0, 2)):
        assert time.monotonic() < deadline, "a rank hangs"
        time.sleep(0.02)
    for process in context.processes:
        process.kill()
        process.join()


def _silent(rank, count):
    short = datetime.timedelta(seconds=0.4)
    group = dist.new_group(timeout=short)
    dist.barrier()
    if rank == 0:
        with pytest.raises(dist.DistNetworkError, match=r"Timed out waiting 400ms for recv operation.*rank 1"):
            dist.all_reduce(gg.ones(2), group=group)
        with pytest.raises(dist.DistNetworkError, match=r"Timed out waiting 400ms for recv operation.*rank 1"):
            dist.recv(gg.ones(2), 1, group=group)
    dist.barrier()


def test_a_silent_rank_is_an_error_after_the_timeout(together):
    together(_silent, 2)


def test_ranks_that_never_come(tmp_path):
    limit = datetime.timedelta(seconds=0.3)
    with pytest.raises(RuntimeError, match="Timeout waiting for key"):
        dist.init_process_group("gloo", init_method=f"file://{tmp_path}/alone", rank=0, world_size=2, timeout=limit)
    assert not dist.is_initialized()
    with pytest.raises(dist.DistNetworkError, match=r"client socket has timed out after 300ms"):
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:9", rank=1, world_size=2, timeout=limit)


def _ask(results):
    try:
        dist.barrier()
    except RuntimeError as error:
        results.put((dist.get_rank(), str(error)))


def _forked(rank, count):
    dist.barrier()
    if rank == 0:
        context = mp.get_context("fork")
        results = context.SimpleQueue()
        child = context.Process(target=_ask, args=(results,))
        child.start()
        found = results.get()
        child.join()
        assert found[0] == 0 and "forked" in found[1], found
    dist.barrier()


def test_a_forked_child_keeps_its_rank_and_may_not_communicate(together):
    together(_forked, 2)


def _again(rank, count, port):
    for turn in range(2):
        dist.destroy_process_group()
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port + turn}", rank=rank, world_size=count)
        tensor = gg.ones(2)
        dist.all_reduce(tensor)
        assert tensor.tolist() == [count, count] and dist.get_backend() == "gloo"


def test_spawned_processes_begin_again_over_tcp(together):
    together(_again, 2, _free_port(), method="spawn")


def _free_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]
