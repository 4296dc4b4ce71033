"""Processes that die, are silent, fork, or never come: an error in bounded time that names them, never a hang."""

import datetime
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from multiprocessing import AuthenticationError, Pipe
from multiprocessing.connection import Client
from pathlib import Path

import numpy as np
import pytest

import glassgrad as gg
import glassgrad.distributed as dist
import glassgrad.multiprocessing as mp
from glassgrad.distributed.local import Channel
from glassgrad.ground.waiting import poll
from glassgrad.multiprocessing import launcher, meeting

from .conftest import free_port

FAULTS = str(Path(__file__).with_name("faults.py"))
HERE = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}


def _killed(rank, folder, when):
    dist.init_process_group("gloo", init_method=f"file://{folder}/killed", rank=rank, world_size=3)
    if when == "after a collective":
        dist.all_reduce(gg.ones(3))
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(dist.DistNetworkError, match=r"Rank 1 ended or left the group while .* waits in"):
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
    deadline = time.monotonic() + 100
    while not all(os.path.exists(f"{tmp_path}/told {rank}") for rank in (0, 2)):
        assert time.monotonic() < deadline, "a rank hangs"
        time.sleep(0.02)
    for process in context.processes:
        process.kill()
        process.join()


def test_what_was_sent_to_a_rank_that_left_with_it_is_sent(monkeypatch):
    """Whoever is slow to look meets a receiver that has read all, and gone."""
    lines = Pipe()
    ours, theirs = (meeting.Mesh({1 - rank: line}) for rank, line in enumerate(lines))

    def slow(*message):
        sent = post(*message)
        assert poll(receipt, 20)
        theirs.close()
        assert poll(lambda: 1 in ours.gone, 20)
        return sent

    post, receipt = ours.post, theirs.expect({(0, ("0", 0)): 0}, room := np.zeros(3))
    monkeypatch.setattr(ours, "post", slow)
    channel = Channel(ours, "0", [0, 1], 0)
    arrived = channel.send(np.ones(3), 1, 0)
    assert arrived() == (1, 24) and receipt() == (0, 24) and room.tolist() == [1, 1, 1]
    monkeypatch.undo()
    assert channel.send(np.ones(3), 1, 0)() is None  # nobody is there any more


def test_a_rank_that_ends_within_a_message_keeps_no_other_from_being_heard():
    (ours, theirs), (other, third) = Pipe(), Pipe()
    mesh = meeting.Mesh({1: ours, 2: other})
    theirs.send(("key", True))
    theirs.send_bytes(b"and shared memory, which does not come")
    theirs.close()
    assert poll(lambda: 1 in mesh.gone, 20)
    third.send(("key", False))
    third.send_bytes(b"later")
    assert poll(lambda: mesh.arrived[2, "key"], 20) and not mesh.arrived[1, "key"]
    mesh.close()


def _silent(rank, count):
    short = datetime.timedelta(seconds=0.4)
    groups = [dist.new_group(timeout=short) for _ in range(2)]
    dist.barrier()
    if rank == 0:
        told = r"Timed out waiting 400ms in all_reduce of float32 \(2,\) SUM at test_ends.py:\d+: rank 1 did not come"
        with pytest.raises(dist.DistNetworkError, match=told):
            dist.all_reduce(gg.ones(2), group=groups[0])
        with pytest.raises(dist.DistNetworkError, match=r"Timed out waiting 400ms in recv of float32 \(2,\) from rank"):
            dist.recv(gg.ones(2), 1, group=groups[1])
        with pytest.raises(dist.DistBackendError, match="failed before: Timed out"):
            dist.barrier(group=groups[0])
    dist.barrier()


def test_a_silent_rank_is_an_error_after_the_timeout(together):
    together(_silent, 2)


def test_ranks_that_never_come(tmp_path):
    limit = datetime.timedelta(seconds=0.3)
    with pytest.raises(dist.DistNetworkError, match="rank 0 waited 0.3 s, and rank 1 did not come"):
        dist.init_process_group("gloo", init_method=f"file://{tmp_path}/alone", rank=0, world_size=2, timeout=limit)
    assert not dist.is_initialized() and not list(tmp_path.iterdir())
    with pytest.raises(dist.DistNetworkError, match="rank 0 could not be reached by rank 1 within 0.3 s"):
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:9", rank=1, world_size=2, timeout=limit)


def test_two_processes_of_one_rank_are_told(tmp_path):
    """Each of them hears of it, and the others do: nobody waits for ever."""
    told = []

    def come(rank):
        try:
            meeting.meet(str(tmp_path / "card"), rank, 3, 3.0)
        except dist.DistNetworkError as error:
            told.append((rank, str(error)))

    threads = [threading.Thread(target=come, args=(rank,)) for rank in (0, 1, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(rank for rank, _ in told) == [0, 1, 1]
    assert "ranks [1, 1], and not [1, 2]" in dict(told)[0]
    assert any("as one of the same rank may do" in words for _, words in told)
    assert not list(tmp_path.iterdir())


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
        answer = results.get()
        child.join()
        assert answer[0] == 0 and "forked" in answer[1], answer
    dist.barrier()


def test_a_forked_child_keeps_its_rank_and_may_not_communicate(together):
    together(_forked, 2)


def _again(rank, port):
    for turn in range(2):
        address = f"tcp://127.0.0.1:{port}" if turn else "env://"
        os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(port))
        dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
        x = gg.ones(2)
        dist.all_reduce(x)
        assert x.tolist() == [2, 2] and dist.get_backend() == "gloo"
        dist.destroy_process_group()


def test_spawned_processes_meet_at_a_loopback_address_and_again():
    mp.spawn(_again, (free_port(),), nprocs=2)


def test_another_address_is_refused():
    with pytest.raises(RuntimeError, match="at a loopback address such as 127.0.0.1, not at 192.0.2.1: start"):
        dist.init_process_group(init_method="tcp://192.0.2.1:29500", rank=0, world_size=2)


def test_strangers_neither_read_the_key_nor_come_in(tmp_path):
    """Nobody listens on the network; who finds the socket needs the key, which one user can read."""
    card, lines = meeting.card_of("127.0.0.1", 1), []
    assert stat.S_IMODE(os.stat(os.path.dirname(card)).st_mode) == 0o700
    first = threading.Thread(target=lambda: lines.append(meeting.meet(card, 0, 2, 10.0)))
    first.start()
    while not os.path.exists(card):
        time.sleep(0.01)
    assert stat.S_IMODE(os.stat(card).st_mode) == 0o600
    address = re.search(r'"address": "([^"]*)"', Path(card).read_text())[1]
    assert address.startswith("/") and stat.S_IMODE(os.stat(os.path.dirname(address)).st_mode) == 0o700
    with pytest.raises(AuthenticationError):
        Client(address, authkey=b"a guess")
    lines.append(meeting.meet(card, 1, 2, 10.0))
    first.join(10)
    assert [*lines[0], *lines[1]] in ([0, 1], [1, 0]) and not os.path.exists(card)
    for each in lines:
        for line in each.values():
            line.close()


class _Left:
    """What is in a folder for temporary files, and of MPI's shared memory that nobody has open."""

    def __init__(self, folder):
        self.folder, self.before = folder, self._shared()
        self.environment = {**HERE, "TMPDIR": str(folder)}

    def _shared(self):
        return set(Path("/dev/shm").glob("mpich_shm_*")) if os.path.isdir("/dev/shm") else set()

    def __call__(self):
        files = [file for file in self.folder.rglob("*") if not file.match("glassgrad-[0-9]*")]  # where ranks meet
        held = "".join(_read(maps) for maps in Path("/proc").glob("[0-9]*/maps"))
        return files + [file for file in self._shared() - self.before if str(file) not in held]


def _read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


@pytest.fixture
def left_behind(tmp_path):
    folder = tmp_path / "t"
    folder.mkdir()
    return _Left(folder)


SPAWNED = """
import os, signal, sys, time
import torch, torch.distributed as dist, torch.multiprocessing as mp

def main(rank, address, fault):
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=3)
    x = torch.ones(100_000)
    dist.all_reduce(x)
    os.write(1, f"pid {os.getpid()}\\n".encode())
    if fault == "sleeps":
        time.sleep(60)
    if rank == 1 and fault == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if rank == 1 and fault == "raises":
        raise ValueError("no data")
    for _ in range(3):
        dist.all_reduce(x)

if __name__ == "__main__":
    mp.spawn(main, sys.argv[1:], nprocs=3)
"""


@pytest.mark.parametrize(
    ("fault", "words"), [("raises", "Process 1 (?s:.*)ValueError: no data"), ("killed", "process 1 .*SIGKILL")]
)
def test_of_spawned_processes_the_first_to_fail_is_named_and_nothing_is_left(tmp_path, left_behind, fault, words):
    job = _spawned(tmp_path, fault, left_behind.environment)
    _, complaint = job.communicate(timeout=60)
    assert job.returncode == 1 and re.search(words, complaint), complaint
    assert not left_behind()


def _spawned(folder, fault, environment, **settings):
    script = folder / "spawned.py"
    script.write_text(SPAWNED)
    line = [sys.executable, "-m", "glassgrad", "run", script, f"tcp://127.0.0.1:{free_port()}", fault]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(line, env=environment, text=True, **pipes, **settings)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_what_ends_a_process_ends_those_that_it_spawned(tmp_path, sign):
    job = _spawned(tmp_path, "sleeps", HERE)
    pids = _pids(job)
    job.send_signal(sign)
    job.communicate(timeout=20)
    assert job.returncode == -sign and _gone(pids)


def test_what_kills_a_process_in_the_background_ends_those_that_it_spawned(tmp_path):
    """A shell has what it starts there ignore interrupts."""
    job = _spawned(tmp_path, "sleeps", HERE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    pids = _pids(job)
    job.kill()
    job.communicate(timeout=20)
    assert _gone(pids)


def _pids(job):
    printed = ""
    while len(pids := re.findall(r"pid (\d+)", printed)) < 3:
        line = job.stdout.readline()
        assert line, "it ended"
        printed += line
    return pids


# -- jobs of the launcher -------------------------------------------------------------------------------------------


def _launch(*arguments, **settings):
    return subprocess.Popen(
        [sys.executable, "-m", "glassgrad", "launch", *arguments], text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **{"env": HERE, **settings},
    )  # fmt: skip


def test_what_ranks_print_is_shown_without_the_report_of_mpiexec():
    printed = b"loss 1\n\n===\n"
    report = b"\n" + 83 * b"=" + b"\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 7\n"
    for cut in range(len(printed + report)):
        pieces = (printed + report)[:cut], (printed + report)[cut:]
        assert b"".join(launcher.without_report(pieces)) == printed, cut
        assert b"".join(launcher.without_report((printed[:cut], printed[cut:]))) == printed


def _gone(pids):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        left = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        if not left:
            return True
        time.sleep(0.05)
    return False


RAISED = r'\[rank1\]:   File ".*faults.py", line \d+, in <module>(?s:.*)\[rank1\]: ValueError: no data'
ENDS = {
    "raises": (1, RAISED),
    "raises before": (1, RAISED),
    "exits": (3, r"rank 1 \(pid \d+\) ended with exit code 3"),
    "exits before": (7, r"rank 1 \(pid \d+\) ended with exit code 7"),
    "killed": (137, r"rank 1 \(pid \d+\) was killed by SIGKILL"),
    "faults": (139, r"most recent call first(?s:.*)faults.py(?s:.*)rank 1 \(pid \d+\) was killed by SIGSEGV"),
    "late": (1, r"Timed out waiting 3000ms in all_reduce of float32 \(2,\) SUM at faults.py:\d+: rank 1 did not come"),
    "in another order": (
        1, r"rank 0 is in all_reduce .* at faults.py:\d+; rank 1 is in broadcast of float32 \(2,\) from rank 0 at fau"
    ),
}  # fmt: skip


@pytest.mark.mpi
@pytest.mark.parametrize("fault", ENDS)
def test_a_fault_ends_the_job_and_is_named_and_leaves_nothing(fault, left_behind):
    job = _launch("-n", "3", FAULTS, fault, env=left_behind.environment)
    printed, complaint = job.communicate(timeout=100)
    code, words = ENDS[fault]
    assert job.returncode == code and re.search(words, complaint), complaint
    assert not left_behind()
    assert "BAD TERMINATION" not in printed + complaint
    assert _gone(int(pid) for pid in re.findall(r"pid (\d+)", printed))


@pytest.mark.mpi
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_ends_the_launcher_ends_all_ranks(sign):
    job = _launch("-n", "3", FAULTS, "sleeps")
    pids = _pids(job)
    job.send_signal(sign)
    job.communicate(timeout=20)
    assert job.returncode in (130, -signal.SIGTERM, 143, -signal.SIGKILL)
    assert _gone(pids)
