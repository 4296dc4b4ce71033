"""Every example is a PyTorch script: it runs under ``glassgrad run`` and under torch, and the first losses agree."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HELPERS = ("options", "texts")  # imported by the examples, not examples themselves
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem not in HELPERS)
STEPS = 20
README = (ROOT / "README.md").read_text(encoding="utf-8")
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)


def losses(example, folder, engine, *options):
    """The losses of the first steps of an example, and what it printed, under one engine."""
    written = folder / f"{engine}.txt"
    runner = ["-m", "glassgrad", "run"] if engine == "glassgrad" else []
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, *runner, str(example), "--steps", str(STEPS), "--losses", str(written), *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    values = [float(line) for line in written.read_text(encoding="utf-8").split()]
    assert len(values) == STEPS and all(map(math.isfinite, values))
    return values, done.stdout


def test_there_are_examples():
    assert len(EXAMPLES) >= 9


def test_the_readme_shows_what_is_printed(tmp_path):
    """The console block of the README: the example that it names prints the lines that it shows."""
    block = re.search(r"^\$ glassgrad run (examples/\w+\.py) --steps 20\n(.*?)^\.\.\.$", README, re.M | re.S)
    _, printed = losses(ROOT / block[1], tmp_path, "glassgrad")
    shown = [re.sub(r"\s+\d+\.\d s$", "", line) for line in block[2].splitlines()]
    assert len(shown) >= 2
    assert [re.sub(r"\s+\d+\.\d s$", "", line) for line in printed.splitlines()][: len(shown)] == shown


@EACH
def test_runs(example, tmp_path):
    """The script runs unchanged, and says something."""
    values, printed = losses(example, tmp_path, "glassgrad")
    assert len(set(values)) > 1
    assert "loss" in printed


@pytest.mark.torch
@EACH
@pytest.mark.parametrize(("options", "tolerance"), [((), 1e-4), (("--double",), 1e-9)], ids=["float32", "float64"])
def test_losses_are_those_of_torch(example, tmp_path, options, tolerance):
    from tests.torch_reference import torch  # noqa: F401  skips where there is none

    ours, _ = losses(example, tmp_path, "glassgrad", *options)
    theirs, _ = losses(example, tmp_path, "torch", *options)
    assert ours == pytest.approx(theirs, rel=tolerance, abs=tolerance * max(map(abs, theirs)))
