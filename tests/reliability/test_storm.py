"""Signals at random moments of first uses, and forks while threads are at work: a little of ``storm``."""

import os
import signal
import subprocess
import sys

import pytest

from tests.counts import count

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "setitimer"), reason="no fork here"),
]


@pytest.mark.parametrize("how", ["compute", "raise", "fork"])
def test_storm(how):
    command = [sys.executable, "-m", "tests.reliability.storm", how, "--count", str(count(1 if how == "fork" else 4))]
    environment = {**os.environ, "GLASSGRAD_NUMBA": "0"}  # which compiles for seconds; by hand it is there
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr
    *failed, _ = done.stdout.splitlines()
    assert failed == []
