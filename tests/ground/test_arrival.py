"""Who asks whether the engine has come is told so, be he there before it or after it."""

import subprocess
import sys

import pytest

AFTER = """
import glassgrad
from glassgrad.ground import arrival
"""
BEFORE = """
import sys
sys.argv[0] = "glassgrad"  # the command does without the engine until somebody wants it
import glassgrad
from glassgrad.ground import arrival
assert not arrival.is_here()
arrival.when_here(lambda: told.append("waited"))
glassgrad.ones
"""


@pytest.mark.once
@pytest.mark.parametrize("script, told", [(AFTER, ["at once"]), (BEFORE, ["waited", "at once"])])
def test_the_engine_is_here(script, told):
    script = f"told = []\n{script}\narrival.when_here(lambda: told.append('at once'))\nprint(arrival.is_here(), told)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == f"True {told}\n", done.stderr
