"""The stubs say what the table says: they are written from it, and a type checker finds its way by them."""

import ast

import pytest

import glassgrad
from glassgrad.core.row import TABLE
from glassgrad.ops import publish, stub
from glassgrad.ops.declare import COMPOSITES

SCRIPT = """\
import glassgrad as torch
from glassgrad import Tensor

x: Tensor = torch.ones(2, 3, requires_grad=True)
y: Tensor = x.exp() + x * 2 - 1 / x + 2.0**x
z: Tensor = (x @ x.t()).sum(dim=1, keepdim=True)[0, 0]
parts: tuple[Tensor, ...] = torch.cat([x, y], 0).split(1)
rows: int = x.shape[0] + len(x) + x.dim()
loss: Tensor = (y**2).mean()
loss.backward()
slope: Tensor | None = torch.autograd.grad(loss, x)[0]
kept: Tensor | None = x.grad
same: Tensor = x == y
with torch.no_grad():
    x.add_(1).mul_(y)
    x += 1
kind: torch.dtype = x.float().dtype
"""
WRONG = {
    "x.no_such_thing": "has no attribute",
    "x.exp('far', 'too', 'much')": "Too many",
    "torch.add(x)": "Missing positional argument",
    "size: str = x.dim()": "Incompatible types",
    "torch.no_grad().enable()": "has no attribute",
}


@pytest.mark.parametrize("name,text", publish.texts().items())
def test_is_up_to_date(name, text):
    """If not: python -m glassgrad.ops.publish."""
    assert (stub.PACKAGE / name).read_text(encoding="utf-8") == text


def test_every_method_is_there():
    tree = ast.parse(stub.tensor_stub())
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor").body
    named = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    named |= {node.target.id for node in body if isinstance(node, ast.AnnAssign)}
    unlisted = {name for name in dir(glassgrad.Tensor) if not hasattr(object, name)} - named
    assert not {name for name in unlisted if not name.startswith("_")}


def test_every_function_is_there():
    tree = ast.parse(stub.package_stub())
    named = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    named |= {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    named |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    public = {name for row in TABLE.values() if row.public for name in (row.name, *row.aliases)}
    public |= {name for made in COMPOSITES.values() if made.is_function for name in made.names if name.isidentifier()}
    assert not public - named


def test_a_script_is_checked_against_them(tmp_path):
    api = pytest.importorskip("mypy.api", reason="the type checker is a tool of developers")
    script = tmp_path / "script.py"
    base = SCRIPT + "\n".join(WRONG) + "\n"
    script.write_text(base, encoding="utf-8")
    told, _, _ = api.run(["--config-file=", f"--cache-dir={tmp_path}", "--ignore-missing-imports", str(script)])
    lines = [line for line in told.splitlines() if "script.py" in line and ": error:" in line]
    start = len(SCRIPT.splitlines())
    for number, (line, words) in enumerate(WRONG.items(), start + 1):
        assert any(f":{number}: " in message and words in message for message in lines), (line, told)
    early = [message for message in lines if int(message.split(":")[1]) <= start]
    assert not early, early
