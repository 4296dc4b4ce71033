"""Beside PyTorch: the explorer, the watch and the command do without the engine, ml_dtypes and Numba."""

import subprocess
import sys
import textwrap

import pytest

with_engine = pytest.mark.skipif(sys.version_info < (3, 11), reason="the engine needs Python 3.11")

#: Put before a program: whoever imports the engine, or what only the engine needs, is refused.
REFUSE = """
import sys

LIGHT = (
    "torch_alias", "cli", "environment", "explore", "watch", "why", "__main__", "ground.arrival", "ground.importing",
    "ground.names", "ground.output",
)  # fmt: skip

class Refusing:
    def find_spec(self, name, path=None, target=None):
        own, _, part = name.partition(".")
        light = part in ("", "ground") or any(part == one or part.startswith(one + ".") for one in LIGHT)
        if own in ("ml_dtypes", "numba", "llvmlite") or own == "glassgrad" and not light:
            raise ImportError(f"{name} is refused here")

sys.meta_path.insert(0, Refusing())
import glassgrad
"""

EXPLORE = """
import torch
from glassgrad.explore import (
    check, explain, explore, flow, from_json, graph_text, keeps, make_dot, observe, paths, read, record, to_json,
    trace_nan, unused, why,
)

model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
with record(model) as recording:
    hidden = model[1](model[0](torch.ones(2, 4)))
    loss = model[2](hidden.detach()).mean()
answer = why(loss, model[0].weight)
assert [cut.how for cut in answer.cuts] == ["detach"] and answer.cuts[0].loc.line == LINE, answer
assert len(unused(loss, model).names) == 2 and check(loss) and trace_nan(loss) and keeps(loss).lines
assert "AddmmBackward0" in graph_text(loss) and "digraph" in str(make_dot(loss)) and "root" in str(explain(loss))
assert paths(loss, model[2].bias).count == 1
page = explore(loss, model=model, record=recording, backward=True)
assert page.graph.nodes[0].rule.startswith("self: spread(grad") and len(page.html) > 30_000
assert page._repr_svg_() and flow(page.graph).layers
graph = observe(model(torch.ones(2, 4)).sum(), model=model)
assert from_json(to_json(graph)) == graph and graph.engine == "torch" and read(model(torch.ones(2, 4)).sum()).nodes
"""

SCRIPT = """
import torch

w = torch.randn(3, requires_grad=True)
for step in range(3):
    y = torch.sigmoid(w * 2)
    y += 1
    y.sum().backward()
"""

COMMAND = """
from glassgrad.cli import main

sys.exit(main(["check", "--page", "", sys.argv[1]]))
"""


def run(program, *arguments):
    """What a process prints that is refused the engine, on both streams; its exit status."""
    line = (
        1 + (REFUSE + program).splitlines().index("    loss = model[2](hidden.detach()).mean()")
        if "LINE" in program
        else 0
    )
    text = (REFUSE + program).replace("LINE", str(line))
    done = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True, timeout=180)
    return done.stdout + done.stderr, done.returncode


def test_everything_but_the_engine_can_be_imported():
    said, status = run(
        """
import importlib, pkgutil

for part in ("explore", "watch"):
    for module in pkgutil.walk_packages([f"{glassgrad.__path__[0]}/{part}"], f"glassgrad.{part}."):
        if "listen_" not in module.name and module.name != "glassgrad.watch.again":
            importlib.import_module(module.name)
import glassgrad.cli
"""
    )
    assert status == 0, said


@pytest.mark.torch
@pytest.mark.parametrize("program", [EXPLORE, EXPLORE.replace("import torch\n", "import torch, glassgrad.why\n", 1)])
def test_the_explorer_serves_torch(program):
    pytest.importorskip("torch")
    said, status = run(program)
    assert status == 0, said


@pytest.mark.torch
def test_the_command_serves_torch(tmp_path):
    pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SCRIPT))
    said, status = run(COMMAND, str(script))
    assert status == 1 and "SigmoidBackward0" in said and "y += 1" in said, said


@with_engine
@pytest.mark.torch
def test_the_engine_comes_when_it_is_wanted():
    pytest.importorskip("torch")
    program = """
import sys, torch, glassgrad

assert not any(name.startswith(("glassgrad.core", "glassgrad.nn", "ml_dtypes")) for name in sys.modules)
import glassgrad.nn
from glassgrad.explore import read, record

assert glassgrad.core is sys.modules["glassgrad.core"] and glassgrad.nn is sys.modules["glassgrad.nn"]
assert glassgrad.nn.Linear and glassgrad.Tensor.__module__ and "tensor" in dir(glassgrad)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr


@with_engine
@pytest.mark.torch
def test_what_runs_is_told_of_an_engine_that_comes_later():
    pytest.importorskip("torch")
    program = """
import sys, torch
import glassgrad.why
import glassgrad as ours
from glassgrad.explore import record
from glassgrad.watch.hosts import THIS

assert [watch.torch for watch in THIS.watches] == [torch] and "glassgrad.core" not in sys.modules
with record() as recording:
    x = ours.ones(3, requires_grad=True)
    y = (x * 2).sum()
assert [call.name for call in recording.calls if call.name][-2:] == ["mul", "sum"], recording.calls
assert [watch.torch for watch in THIS.watches] == [torch, ours]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
