"""Every code block of the seed documents prints what the document promises, under glassgrad and under torch.

`python -m tests.test_seeds` writes the expected texts anew with the torch installed here.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SEEDS = ROOT / "examples" / "seeds"
EXAMPLES = sorted(SEEDS.glob("*.py"))
PICTURES = {"graphs_picture": "computation_graph.png", "reading_the_graph": "reading_the_graph.png"}
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")

# torch has no torchviz here: glassgrad's own drawing is handed to the script under that name.
UNDER_TORCH = """
import runpy, sys, types
import glassgrad
with glassgrad.alias():
    from torchviz import make_dot
sys.modules["torchviz"] = types.ModuleType("torchviz")
sys.modules["torchviz"].make_dot = make_dot
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def output(arguments, folder):
    """What a Python process prints, object addresses hidden; its errors fail the test."""
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return re.sub(r"0x[0-9a-f]+", "0x...", done.stdout)


def expected(example):
    """The stored text of an example."""
    return (SEEDS / "expected" / f"{example.stem}.txt").read_text(encoding="utf-8")


def assert_same_text(printed, wanted):
    """The words are equal, and each number is within one unit of the last place printed or of float32."""
    assert NUMBER.sub("#", printed) == NUMBER.sub("#", wanted)
    for got, want in zip(NUMBER.findall(printed), NUMBER.findall(wanted), strict=True):
        decimals = len(want.partition("e")[0].partition(".")[2])
        place = 10.0**-decimals * (10.0 ** int(want.partition("e")[2] or 0))
        assert abs(float(got) - float(want)) <= max(1.001 * place, 1e-6 * abs(float(want))), (got, want)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_prints_what_the_document_says(example, tmp_path):
    printed = output(["-m", "glassgrad", "run", str(example)], tmp_path)
    assert_same_text(printed, expected(example))
    if example.stem in PICTURES:
        assert (tmp_path / PICTURES[example.stem]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.once
@pytest.mark.torch
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_torch_prints_the_same(example, tmp_path):
    from tests.torch_reference import torch

    assert torch.__name__ == "torch"
    assert_same_text(output(["-c", UNDER_TORCH, str(example)], tmp_path), expected(example))
    if example.stem in PICTURES:
        assert (tmp_path / PICTURES[example.stem]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.once
def test_every_example_has_its_text():
    assert {example.stem for example in EXAMPLES} == {text.stem for text in (SEEDS / "expected").glob("*.txt")}


if __name__ == "__main__":
    import tempfile

    for example in EXAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            text = output([str(example)], folder)
        (SEEDS / "expected" / f"{example.stem}.txt").write_text(text, encoding="utf-8")
