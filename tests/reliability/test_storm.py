"""Signals at random moments of first uses, and forks while threads are at work: a little of ``storm``."""

import os
import signal
import subprocess
import sys

import pytest

from tests import counts

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not hasattr(os, "fork") or not hasattr(signal, "setitimer"), reason="no fork here"),
]


@pytest.mark.parametrize("how", ["compute", "raise", "fork"])
def test_storm(how):
    cases = counts.count(1 if how == "fork" else 4)
    command = [sys.executable, "-m", "tests.reliability.storm", how, "--count", str(cases)]
    environment = {**os.environ, "GLASSGRAD_NUMBA": "0"}  # which compiles for seconds; by hand it is there
    limit = None if counts.chosen else 600
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    assert done.returncode == 0, done.stderr
    *failed, _ = done.stdout.splitlines()
    assert failed == []
