"""Tracebacks show the program's frames, and count an engine's."""

import subprocess
import sys
import traceback

import pytest

from glassgrad.watch.frames import folded

NESTED = """
import glassgrad as torch

def product():
    return torch.ones(3) @ torch.ones(4)

def run():
    try:
        product()
    except RuntimeError as error:
        raise ValueError("no product") from error
"""


def raised(function):
    with pytest.raises(BaseException) as caught:
        function()
    return caught.value


def test_an_engines_frames_are_counted():
    names = {}
    exec(compile(NESTED, "/program.py", "exec"), names)
    text = folded(error := raised(names["run"]), error.__traceback__)
    assert text.count("frames of glassgrad]") == 1 and "src/glassgrad" not in text
    assert text.index("inconsistent tensor size") < text.index("direct cause") < text.index("ValueError: no product")
    assert text.count('File "/program.py"') == 3


def test_what_is_the_programs_alone_is_as_python_prints_it():
    def fail():
        raise KeyError("x")

    error = raised(fail)
    assert folded(error, error.__traceback__) == "".join(traceback.format_exception(error))


def test_groups_and_circles():
    first, second = ValueError("first"), TypeError("second")
    first.__context__ = second
    second.__context__ = first
    text = folded(ExceptionGroup("two", [first, second]), None)
    assert "two (2 sub-exceptions)" in text and "TypeError: second" in text


def test_a_script_that_runs_on_glassgrad(tmp_path):
    (tmp_path / "train.py").write_text("import torch\n\ndef step():\n    torch.ones(3) @ torch.ones(4)\n\nstep()\n")
    command = [sys.executable, "-m", "glassgrad", "run", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.count('File "') == 2 and "frames of glassgrad]" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("RuntimeError: inconsistent tensor size")
