"""Processes started together: what they share, and what is told when one fails."""

import pickle
import time

import pytest

import glassgrad

mp = glassgrad.multiprocessing


@pytest.fixture(scope="module")
def programs():
    with glassgrad.alias():
        from tests.multiprocessing import programs
    return programs


def test_arguments_are_shared(programs):
    counts = glassgrad.zeros(2)
    with glassgrad.alias():
        assert mp.spawn(programs.add_one, (counts,), nprocs=2) is None
    assert counts.tolist() == [1, 1] and counts.is_shared()


def test_a_context_is_joined_bit_by_bit(programs):
    counts = glassgrad.zeros(2).share_memory_()
    context = mp.start_processes(programs.add_one, (counts,), nprocs=2, join=False, start_method="fork")
    assert len(context.pids()) == 2
    deadline = time.monotonic() + 120
    while not context.join(timeout=0.05):
        assert time.monotonic() < deadline
    assert context.join() and counts.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ("raise", mp.ProcessRaisedException, "\n\n-- Process 1 terminated with the following error:\nTraceback (most"),
        ("exit", mp.ProcessExitedException, "process 1 terminated with exit code 5"),
        ("kill", mp.ProcessExitedException, "process 1 terminated with signal SIGKILL"),
    ],
)
def test_a_failure_stops_all(programs, how, kind, words):
    with pytest.raises(kind) as caught:
        mp.start_processes(programs.fail, (how,), nprocs=3, start_method="fork")
    error = caught.value
    assert str(error).startswith(words) and error.error_index == 1 and error.error_pid > 0
    if how == "raise":
        assert str(error).endswith("ValueError: in the child\n")
    else:
        assert (error.exit_code, error.signal_name) == {"exit": (5, None), "kill": (-9, "SIGKILL")}[how]
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is kind and str(twin) == str(error) and twin.error_pid == error.error_pid


def test_old_ways_are_warned_of(programs):
    with glassgrad.alias(), pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        context = mp.spawn(programs.add_one, (glassgrad.zeros(1),), join=False, start_method="fork")
    while not context.join():
        pass
    with pytest.warns(UserWarning, match="SpawnContext is renamed to ProcessContext since 1.4 release."):
        mp.SpawnContext([], [])


def test_names():
    with glassgrad.alias():
        import torch.multiprocessing as named
        from torch.multiprocessing import Pool, Process, Queue, spawn  # noqa: F401

        assert named is mp and spawn is mp.spawn
    with mp.get_context("fork").Pool(1) as pool:
        (found,) = pool.map(_double, [glassgrad.arange(3)])
    assert found.tolist() == [0, 2, 4]


def _double(tensor):
    return 2 * tensor
