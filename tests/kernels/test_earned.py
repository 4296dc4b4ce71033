"""When compiled kernels are loaded: by counts of elements, the same in every run, never by what lies on disk."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from glassgrad.kernels import ahead, earned

pytest.importorskip("numba")

PROGRAM = """
import sys
import glassgrad as torch
from glassgrad.kernels import compiled, earned

earned.WORTH["softmax"] = 5 * 65_536
rows = torch.linspace(-4, 4, 65_536).reshape(256, 256)
seen = []
for call in range(8):
    torch.softmax(rows, 1)
    seen.append("numba" in sys.modules)
print(*seen)
print(hash(torch.softmax(rows, 1).numpy().tobytes()))
"""


def ran(program: str, folder: object, **environment: str) -> list[str]:
    own = {"GLASSGRAD_NUMBA": "", "NUMBA_CACHE_DIR": str(folder), "PYTHONHASHSEED": "0"}
    variables = {**os.environ, **own, **environment}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_call_at_which_compiled_code_takes_over_is_the_same_cold_and_warm(tmp_path):
    cold, warm = ran(PROGRAM, tmp_path), ran(PROGRAM, tmp_path)
    assert cold[0].split() == ["False"] * 4 + ["True"] * 4
    assert warm == cold


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    assert ran(PROGRAM, tmp_path / "file" / "below")[0].split() == ["False"] * 4 + ["True"] * 4


@pytest.mark.parametrize("choice, loaded", [("now", True), ("all", True), ("0", False)])
def test_the_environment_may_say_otherwise(choice, loaded, tmp_path):
    assert ran(PROGRAM, tmp_path, GLASSGRAD_NUMBA=choice)[0].split() == [str(loaded)] * 8


def test_what_counts_are_the_elements_of_all_arrays(monkeypatch):
    np = pytest.importorskip("numpy")
    monkeypatch.setattr(ahead, "begin", lambda name: None)
    monkeypatch.setattr(earned, "_asked", {})
    monkeypatch.setitem(earned.WORTH, "optimizer", 30_000)
    assert not earned.by("optimizer", ([(np.ones(5_000), np.ones(5_000))], 3), {})
    assert not earned.by("optimizer", (None, "text"), {"weight": np.ones(10_000)})
    assert earned.by("optimizer", (np.ones((10, 1_000)),), {})


def test_a_call_of_few_elements_counts_as_one_of_more(monkeypatch):
    np = pytest.importorskip("numpy")
    monkeypatch.setattr(ahead, "begin", lambda name: None)
    monkeypatch.setattr(earned, "_asked", {})
    monkeypatch.setitem(earned.WORTH, "norm", 3 * 4096)
    assert [earned.by("norm", (np.ones(200),), {}) for _ in range(3)] == [False, False, True]


def test_another_process_compiles_ahead(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(ahead, "cores", lambda: 2)
    assert not ahead.is_kept("sort")
    ahead.begin("sort")
    ahead.wait("sort")
    ahead._compiling.clear()
    assert ahead.is_kept("sort")
    ahead.begin("sort")  # which was compiled: no process starts
    assert not ahead._compiling


def test_every_file_of_kernels_is_compiled_by_warm():
    from glassgrad.warm import PROGRAMS

    assert PROGRAMS.keys() == earned.WORTH.keys() - {"elementary"}  # that serves elementwise
