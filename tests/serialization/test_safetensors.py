"""safetensors files pass both ways, are refused in the library's words, and are found under torch's name for them."""

import pytest

import glassgrad
from glassgrad.serialization import safetensors as ours
from tests.serialization.recipes import DTYPES
from tests.torch_reference import torch

theirs = pytest.importorskip("safetensors.torch")
pytestmark = pytest.mark.torch


def tensors(engine):
    made = {name: engine.arange(6).reshape(2, 3).to(getattr(engine, name)) for name in DTYPES if name != "complex128"}
    return {**made, "zero": engine.tensor(3.0), "empty": engine.empty(0, 3), "leaf": engine.ones(2, requires_grad=True)}


def told(found):
    return {name: (str(x.dtype), tuple(x.shape), x.float().tolist() if "complex" not in name else x.tolist())
            for name, x in found.items()}  # fmt: skip


def test_both_ways(tmp_path):
    wanted = told(tensors(torch))
    ours.save_file(tensors(glassgrad), tmp_path / "a.safetensors", metadata={"made": "here"})
    assert told(theirs.load_file(tmp_path / "a.safetensors")) == wanted
    theirs.save_file(tensors(torch), tmp_path / "b.safetensors", metadata={"made": "here"})
    assert told(ours.load_file(tmp_path / "b.safetensors")) == wanted
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    assert ours.save(tensors(glassgrad)) == theirs.save(tensors(torch))
    found = ours.load(theirs.save(tensors(torch)))
    found["float32"][0, 0] = 9.0  # memory of its own, to write to
    assert told(glassgrad.load(tmp_path / "b.safetensors")) == wanted


def test_models_with_a_tensor_under_two_names(tmp_path):
    import safetensors

    def model(engine):
        layer = engine.nn.Linear(2, 2)
        return engine.nn.Sequential(layer, engine.nn.ReLU(), layer)

    mine, other = model(glassgrad), model(torch)
    ours.save_model(mine, str(tmp_path / "m"))
    assert theirs.load_model(other, tmp_path / "m") == (set(), [])
    assert other[0].weight.tolist() == mine[0].weight.tolist()
    theirs.save_model(other, str(tmp_path / "n"))
    assert ours.load_model(model(glassgrad), tmp_path / "n") == (set(), [])
    told = [safetensors.safe_open(tmp_path / name, framework="np").metadata() for name in "mn"]
    assert told[0] == told[1] == {"2.bias": "0.bias", "2.weight": "0.weight"}
    for library, engine in ((theirs, torch), (ours, glassgrad)):
        apart = engine.nn.Sequential(engine.nn.Linear(2, 2), engine.nn.ReLU(), engine.nn.Linear(2, 2))
        with pytest.raises(RuntimeError, match='Missing key.s. in state_dict: "2.bias", "2.weight"'):
            library.load_model(apart, tmp_path / "m")
        assert library.load_model(apart, tmp_path / "m", strict=False)[0] == {"2.bias", "2.weight"}


REFUSED = [
    lambda t: {"a": (x := t.ones(4)), "b": x}, lambda t: {"a": (x := t.ones(4))[:3], "b": x[2:]},
    lambda t: {"a": t.ones(2, 3).t()}, lambda t: [t.ones(1)], lambda t: {"a": 5},
    lambda t: {"a": t.ones(1).expand(3)}, lambda t: {"a": t.empty(2, device="meta")},
]  # fmt: skip


@pytest.mark.parametrize("make", REFUSED)
def test_refused_in_the_same_words(make):
    words = []
    for library, engine in ((theirs, torch), (ours, glassgrad)):
        with pytest.raises(Exception) as raised:
            library.save(make(engine))
        found = str(raised.value).replace("'b', 'a'", "'a', 'b'")  # a set in no order
        words.append((type(raised.value), found.replace("glassgrad.core.tensor", "torch")))
    assert words[0] == words[1]


def test_parts_of_one_memory_that_do_not_overlap():
    for library, engine in ((theirs, torch), (ours, glassgrad)):
        x = engine.arange(4.0)
        assert library.load(library.save({"a": x[:2], "b": x[2:]}))["b"].tolist() == [2.0, 3.0]


def test_damage(tmp_path):
    import safetensors

    content = ours.save(tensors(glassgrad))
    for length in range(0, len(content), 97):
        with pytest.raises(safetensors.SafetensorError):
            ours.load(content[:length])
    with pytest.raises(FileNotFoundError, match="No such file or directory: .*nothing"):
        ours.load_file(tmp_path / "nothing")
    for where in ({"cpu": "cpu"}, lambda storage, tag: storage):
        with pytest.raises(RuntimeError, match="map_location is not supported"):
            glassgrad.load(tmp_path / "x.safetensors", map_location=where)


def test_under_torchs_name(tmp_path):
    import safetensors
    import safetensors.torch as before

    with glassgrad.alias() as torch:
        from safetensors.torch import load_file, save_file

        assert load_file is ours.load_file
        save_file({"x": torch.arange(3)}, tmp_path / "x.safetensors")
        assert torch.load(tmp_path / "x.safetensors")["x"].tolist() == [0, 1, 2]
    import safetensors.torch as after

    assert after is before and safetensors.torch is before


def test_lazy_access_under_torchs_name(tmp_path):
    """The library asks for ``torch`` once in a process, so this is a process of its own."""
    import subprocess
    import sys

    ours.save_file({"x": glassgrad.arange(3)}, tmp_path / "x")
    program = (
        "import glassgrad\nwith glassgrad.alias():\n  from safetensors import safe_open\n"
        f"  with safe_open({str(tmp_path / 'x')!r}, framework='pt') as file: x = file.get_tensor('x')\n"
        "assert isinstance(x, glassgrad.Tensor) and x.tolist() == [0, 1, 2]"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_without_the_library(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match="pip install safetensors"):
        ours.save({"x": glassgrad.ones(1)})
