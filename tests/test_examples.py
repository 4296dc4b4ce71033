"""Every example is a PyTorch script: it runs under ``glassgrad run`` and under torch, and the first losses agree."""

import math
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HELPERS = ("options", "texts")  # imported by the examples, not examples themselves
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem not in HELPERS)
STEPS = 20
README = (ROOT / "README.md").read_text(encoding="utf-8")
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


#: Runs a script with PyTorch once for each list of options, which seed and set all that they use.
WITH_TORCH = """
import os, runpy, sys
_, script, *runs = sys.argv
sys.path[0] = os.path.dirname(script)
for options in runs:
    sys.argv = [script, *options.split("|")]
    runpy.run_path(script, run_name="__main__")
"""


def run(folder, *command):
    """What a program prints; it must succeed."""
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def noted(path):
    """The losses that an example has written down."""
    values = [float(line) for line in path.read_text(encoding="utf-8").split()]
    assert len(values) == STEPS and all(map(math.isfinite, values))
    return values


def losses(example, folder, *options):
    """The losses of the first steps of an example under ``glassgrad run``, and what it printed."""
    written = folder / "glassgrad.txt"
    command = "-m", "glassgrad", "run", example, "--steps", STEPS, "--losses", written, *options
    printed = run(folder, *command)
    return noted(written), printed


def losses_with_torch(example, folder):
    """The same with PyTorch, in float32 and in float64; both in one process, as PyTorch takes long to start."""
    files = [folder / "single.txt", folder / "double.txt"]
    options = [["--steps", str(STEPS), "--losses", str(file)] for file in files]
    options[1].append("--double")
    run(folder, "-c", WITH_TORCH, example, *map("|".join, options))
    return [noted(file) for file in files]


def test_there_are_examples():
    assert len(EXAMPLES) >= 9


def test_the_readme_shows_what_is_printed(tmp_path):
    """The console block of the README: the example that it names prints the lines that it shows."""
    block = re.search(r"^\$ glassgrad run (examples/\w+\.py) --steps 20\n(.*?)^\.\.\.$", README, re.M | re.S)
    _, printed = losses(ROOT / block[1], tmp_path)
    shown = [re.sub(r"\s+\d+\.\d s$", "", line) for line in block[2].splitlines()]
    assert len(shown) >= 2
    assert [re.sub(r"\s+\d+\.\d s$", "", line) for line in printed.splitlines()][: len(shown)] == shown


@EACH
def test_runs(example, tmp_path):
    """The script runs unchanged, says something, and has PyTorch's losses, where that is there to be asked."""
    values, printed = losses(example, tmp_path)
    assert len(set(values)) > 1
    assert "loss" in printed
    if find_spec("torch") is None and not os.environ.get("GLASSGRAD_REQUIRE_TORCH"):
        return
    single, double = losses_with_torch(example, tmp_path)
    for ours, theirs, tolerance in ((values, single, 1e-4), (losses(example, tmp_path, "--double")[0], double, 1e-9)):
        assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance * max(map(abs, theirs)))
