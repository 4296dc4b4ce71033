"""Ranks on several hosts: here network namespaces, each with its own name and address, that meet by TCP alone."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent
ADDRESSES = ("10.77.0.1", "10.77.0.2")
# what mpiexec calls in place of ssh: -x HOST COMMAND
REMOTE = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
name=NAME$1; shift
exec ip netns exec $name unshare -u sh -c "hostname $name; $*"
"""


def _ip(*words):
    return subprocess.run(["ip", *words], capture_output=True, check=False).returncode == 0


@pytest.fixture
def start(tmp_path):
    """The command line that runs a launcher on the first host, and its environment."""
    name = f"gg{os.getpid()}-"
    names = [name + address for address in ADDRESSES]
    if not (shutil.which("unshare") and shutil.which("ip") and all(_ip("netns", "add", each) for each in names)):
        pytest.skip("network namespaces cannot be made here")
    ends = [f"v{os.getpid()}{side}" for side in "ab"]
    _ip("link", "add", ends[0], "netns", names[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
    for each, end, address in zip(names, ends, ADDRESSES, strict=True):
        _ip("-n", each, "link", "set", "lo", "up")
        _ip("-n", each, "addr", "add", f"{address}/24", "dev", end)
        _ip("-n", each, "link", "set", end, "up")
    remote = tmp_path / "remote"
    remote.write_text(REMOTE.replace("NAME", name))
    remote.chmod(0o755)
    launcher = {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": str(remote)}
    line = ["ip", "netns", "exec", names[0], "unshare", "-u", "sh", "-c", f'hostname {names[0]}; exec "$@"', "sh"]
    yield line, {**os.environ, **launcher}
    for each in names:
        _ip("netns", "del", each)


def _launched(start, *words):
    line, environment = start
    command = [*line, sys.executable, "-m", "glassgrad", "launch", *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.mpi
def test_two_hosts_train_as_one_does(tmp_path, start):
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    script = FOLDER / "train.py"
    subprocess.run([sys.executable, "-m", "glassgrad", "launch", "-n", "2", script, here], check=True, timeout=120)
    done = _launched(start, "-n", 1, "--hosts", ",".join(ADDRESSES), script, there)
    assert done.returncode == 0, done.stderr
    (wanted, names), (found, names_there) = (json.loads(path.read_text()) for path in (here, there))
    assert names == names_there
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.mpi
@pytest.mark.parametrize("fault", ["raises", "killed"])
def test_a_fault_on_another_host_ends_the_job(start, fault):
    done = _launched(start, "-n", 1, "--hosts", ",".join(ADDRESSES), FOLDER / "faults.py", fault)
    told = r"rank1\]: ValueError: no data" if fault == "raises" else r"rank 1 \(pid \d+\) was killed by SIGKILL"
    assert done.returncode == (1 if fault == "raises" else 137)
    assert re.search(told, done.stderr), done.stderr
