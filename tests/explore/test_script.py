"""``glassgrad run --explore``: the last backward pass of an unmodified script becomes a page, a picture or data."""

import subprocess
import sys

import pytest

from glassgrad.cli import main
from glassgrad.explore import from_json

SCRIPT = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(4, 2)
for step in range(3):
    optimizer.zero_grad()
    loss = (model(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    print("loss", round(loss.item(), 6))
"""


def run(tmp_path, *options, script=SCRIPT):
    """What running a script with options prints, on both streams."""
    path = tmp_path / "train.py"
    path.write_text(script, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "glassgrad", "run", *options, str(path)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_page_of_the_last_step(tmp_path):
    plain, explored = run(tmp_path), run(tmp_path, "--explore", "graph.html")
    assert plain.returncode == explored.returncode == 0, explored.stderr
    assert explored.stdout == plain.stdout  # watching changes nothing
    assert "backward pass 3 is explored in graph.html" in explored.stderr
    assert (tmp_path / "graph.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def _read(tmp_path):
    return from_json((tmp_path / "graph.json").read_text(encoding="utf-8"))


def test_the_graph_knows_lines_modules_and_gradients(tmp_path):
    assert run(tmp_path, "--explore", "graph.json").returncode == 0
    graph = _read(tmp_path)
    assert (graph.engine, graph.level) == ("glassgrad", 4)
    assert [held.path for held in graph.parameters] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    tanh = next(node for node in graph.nodes if node.op.startswith("Tanh"))
    assert tanh.loc.line == 10 and tanh.grad is not None and tanh.backward is not None
    assert {scope.cls for scope in graph.scopes} >= {"Linear", "Tanh"}


@pytest.mark.torch
def test_on_the_real_torch(tmp_path):
    from tests.torch_reference import torch  # noqa: F401  skips where there is none

    ours, theirs = run(tmp_path), run(tmp_path, "--torch", "--explore", "graph.json")
    assert theirs.returncode == 0, theirs.stderr
    assert theirs.stdout == ours.stdout
    assert (_read(tmp_path).engine, _read(tmp_path).level) == ("torch", 4)


def test_a_script_that_fails_still_leaves_its_last_graph(tmp_path):
    done = run(tmp_path, "--explore", "graph.svg", script=SCRIPT + "\nraise SystemExit(7)\n")
    assert done.returncode == 7
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_script_without_a_backward_pass(tmp_path):
    done = run(tmp_path, "--explore", "graph.html", script="import torch\n")
    assert done.returncode == 0
    assert "ran no backward pass" in done.stderr and not (tmp_path / "graph.html").exists()


def test_an_unknown_ending_is_refused_before_the_script_runs(tmp_path):
    done = run(tmp_path, "--explore", "graph.bmp", script="print('ran')\n")
    assert done.returncode == 1 and done.stdout == ""
    assert "must be .html, .svg, .png, .gif, .mp4, .tex, .mmd, .md, .dot or .json" in done.stderr


def test_help_names_it(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "--explore FILE" in capsys.readouterr().out
