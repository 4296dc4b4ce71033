"""Where NumPy's index type has 32 bits, operations give the same values, dtypes and gradients."""

import os
import subprocess
import sys

import pytest


@pytest.mark.once
def test_all_samples():
    command = [sys.executable, "-m", "tests.reliability.narrow"]
    environment = {**os.environ, "GLASSGRAD_NUMBA": "0"}  # compiled kernels have no such machine
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr
    *different, count = done.stdout.splitlines()
    assert different == []
    assert int(count) > 2000
