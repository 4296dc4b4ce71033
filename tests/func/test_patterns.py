"""What transforms are used for, as examples: all tensors that each example is left with are PyTorch's."""

import contextlib
import io
import runpy
import sys
import warnings

import pytest

import glassgrad
from tests.laws import array
from tests.test_examples import ROOT

pytestmark = pytest.mark.torch

PATTERNS = {  # the tensors that are compared: at least as many
    "per_sample_gradients": 15,
    "jacobians": 15,
    "ensemble": 15,
    "tangent_kernel": 10,
    "maml": 10,
    "physics": 10,
}


def tensors_of(namespace):
    """The tensors among a script's names, by name: those in dictionaries too."""
    for name, value in namespace.items():
        if isinstance(value, dict):
            for key, part in value.items():
                if hasattr(part, "is_leaf"):
                    yield f"{name}[{key}]", part.detach()
        elif hasattr(value, "is_leaf"):
            yield name, value.detach()


def left_with(engine, script):
    """The tensors that a script is left with after some steps in float64, and what it printed."""
    home = glassgrad.alias() if engine is glassgrad else contextlib.nullcontext()
    printed = io.StringIO()
    sys.modules.pop("options", None)  # which imports torch
    before = engine.get_default_dtype()
    try:
        with home, contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "There is a performance drop")
            namespace = runpy.run_path(str(script))
    finally:
        sys.modules.pop("options", None)
        engine.set_default_dtype(before)
    return dict(tensors_of(namespace)), printed.getvalue()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_tensors_are_those_of_torch(pattern, monkeypatch):
    from tests.torch_reference import torch

    script = ROOT / "examples" / f"{pattern}.py"
    monkeypatch.setattr(sys, "argv", [str(script), "--double", "--steps", "3"])
    monkeypatch.syspath_prepend(str(script.parent))
    ours, printed = left_with(glassgrad, script)
    theirs, _ = left_with(torch, script)
    assert ours.keys() == theirs.keys() and len(ours) >= PATTERNS[pattern]
    assert "agree: False" not in printed
    for name, tensor in theirs.items():
        expected = array(tensor)
        assert array(ours[name]) == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1, abs(expected).max())), name
