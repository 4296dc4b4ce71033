"""Scripts as PyTorch's users have them, unchanged: on several ranks with the losses of one process, and PyTorch's."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .conftest import free_port

OURS = [sys.executable, "-m", "glassgrad"]
FOLDER = Path(__file__).parent


def _numbers(value):
    return [number for each in value for number in (each if isinstance(each, list) else [each])]


def _told(line, path):
    done = subprocess.run([*map(str, line)], capture_output=True, text=True, timeout=140)
    assert done.returncode == 0, done.stderr
    return _numbers(json.loads(path.read_text()))


@pytest.mark.torch
def test_the_tutorial_gives_one_process_losses_and_torchs(tmp_path):
    pytest.importorskip("torch")
    script, path = FOLDER / "tutorial.py", tmp_path / "losses"
    wanted = _told([sys.executable, script, free_port(), 1, path], path)
    for count in (2, 4):
        found = _told([*OURS, "run", script, free_port(), count, path], path)
        np.testing.assert_allclose(found, wanted, rtol=2e-6)


def _imagenet(tmp_path, name, start, *options):
    folder = tmp_path / name
    folder.mkdir()
    return _told([*start, FOLDER / "imagenet.py", "-j", 0, folder, *options], folder / "told.json")


@pytest.mark.torch
def test_the_imagenet_example_gives_one_process_losses_and_torchs(tmp_path):
    pytest.importorskip("torch")
    wanted = _imagenet(tmp_path, "theirs", [sys.executable])
    address = f"tcp://127.0.0.1:{free_port()}"
    spawned = ["--multiprocessing-distributed", "--dist-url", address, "--world-size", "1", "--rank", "0"]
    found = _imagenet(tmp_path, "spawned", [*OURS, "run"], *spawned)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.mpi
def test_the_imagenet_example_goes_on_from_a_checkpoint_when_launched(tmp_path):
    alone = _imagenet(tmp_path, "alone", [*OURS, "run"])
    checkpoint = tmp_path / "alone/checkpoint-0.pth.tar"
    found = _imagenet(tmp_path, "launched", [*OURS, "launch", "-n", 2], "--resume", checkpoint)
    np.testing.assert_allclose(found, alone[-len(found) :], rtol=1e-5)
    assert 0 < len(found) < len(alone)


@pytest.mark.parametrize("start", ["run", pytest.param("launch", marks=pytest.mark.mpi)])
def test_lightnings_ddp_gives_one_process_losses(tmp_path, start):
    if importlib.util.find_spec("lightning") is None:
        pytest.skip("Lightning is not installed")
    script, path = FOLDER / "lightning_ddp.py", tmp_path / "losses"
    wanted = _told([*OURS, "run", script, 1, path], path)
    several = ["launch", "-n", 2] if start == "launch" else ["run"]  # or Lightning starts the second process itself
    found = _told([*OURS, *several, script, 2, path], path)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert len(found) == 13
