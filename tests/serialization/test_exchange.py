"""Checkpoints pass between torch and glassgrad, both ways, in both formats, with nothing lost."""

import io

import pytest
from hypothesis import given

import glassgrad
from tests.counts import generated
from tests.serialization.recipes import DTYPES, LEGACY, build, recipes, told
from tests.torch_reference import torch

pytestmark = pytest.mark.torch


def through(writer, reader, recipe, **how):
    """A recipe built and saved with one engine, loaded with the other, and told."""
    file = io.BytesIO()
    writer.save(build(writer, recipe), file, **how)
    file.seek(0)
    return told(reader, reader.load(file))


@generated(60)
@given(recipes())
def test_states_pass_both_ways(recipe):
    wanted = told(torch, build(torch, recipe))
    assert told(glassgrad, build(glassgrad, recipe)) == wanted
    assert through(torch, glassgrad, recipe) == wanted
    assert through(glassgrad, torch, recipe) == wanted
    assert through(glassgrad, glassgrad, recipe) == wanted


@generated(30)
@given(recipes(LEGACY))
def test_states_pass_in_the_old_format(recipe):
    wanted = told(torch, build(torch, recipe))
    old = {"_use_new_zipfile_serialization": False}
    assert through(torch, glassgrad, recipe, **old) == wanted
    assert through(glassgrad, torch, recipe, **old) == wanted


@generated(15)
@given(recipes())
def test_pickles_of_a_later_protocol(recipe):
    file = io.BytesIO()
    glassgrad.save(build(glassgrad, recipe), file, pickle_protocol=5)
    wanted = told(torch, build(torch, recipe))
    for reader in (torch, glassgrad):
        file.seek(0)
        assert told(reader, reader.load(file, weights_only=False)) == wanted


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    recipe = [(dtype, 7)], ("tuple", [("tensor", 0, (2, 2), (1, 3), 1, False), ("tensor", 0, (), (), 3, False)])
    wanted = told(torch, build(torch, recipe))
    assert through(torch, glassgrad, recipe) == through(glassgrad, torch, recipe) == wanted


def test_conjugated_and_negated_views():
    x = torch.tensor([1 + 2j, 3 - 1j])
    file = io.BytesIO()
    torch.save({"conj": x.conj(), "plain": x}, file)
    file.seek(0)
    found = glassgrad.load(file)
    assert found["conj"].tolist() == x.conj().tolist() and found["conj"].is_conj()
    assert found["plain"].tolist() == x.tolist()
    file = io.BytesIO()
    torch.save(x.conj().imag, file)
    file.seek(0)
    assert glassgrad.load(file).tolist() == x.conj().imag.tolist() == [-2.0, 1.0]
    y = glassgrad.tensor([1 + 2j, 3 - 1j])
    file = io.BytesIO()
    glassgrad.save(y.conj(), file)
    file.seek(0)
    assert torch.load(file).tolist() == y.conj().tolist()


def test_meta_tensors():
    for writer, reader in ((torch, glassgrad), (glassgrad, torch)):
        file = io.BytesIO()
        writer.save(writer.empty(2, 3, device="meta", dtype=writer.int16), file)
        file.seek(0)
        found = reader.load(file)
        assert str(found.device) == "meta" and found.shape == (2, 3) and found.dtype == reader.int16


@pytest.mark.parametrize("writer, reader", [(torch, glassgrad), (glassgrad, torch)])
def test_attributes_of_tensors_and_parameters(writer, reader):
    x, p, b = writer.ones(2), writer.nn.Parameter(writer.ones(1)), writer.nn.Buffer(writer.zeros(1))
    x.note, p.rank = "kept", 3
    file = io.BytesIO()
    writer.save([x, p, b], file)
    file.seek(0)
    x, p, b = reader.load(file)
    assert x.note == "kept" and p.rank == 3 and isinstance(b, reader.nn.Buffer) and b.persistent


@pytest.mark.parametrize("writer, reader", [(torch, glassgrad), (glassgrad, torch)])
def test_optimizer_state_and_random_state(writer, reader):
    writer.manual_seed(7)
    layer = writer.nn.Linear(2, 2)
    optimizer = writer.optim.Adam(layer.parameters(), lr=0.1)
    layer(writer.ones(1, 2)).sum().backward()
    optimizer.step()
    file = io.BytesIO()
    state = {"layer": layer.state_dict(), "optimizer": optimizer.state_dict(), "random": writer.get_rng_state()}
    writer.save(state, file)
    wanted = layer(writer.ones(1, 2)).tolist()[0], writer.rand(3).tolist()
    file.seek(0)
    state = reader.load(file)
    twin = reader.nn.Linear(2, 2)
    twin.load_state_dict(state["layer"])
    assert state["layer"]._metadata == layer.state_dict()._metadata
    other = reader.optim.Adam(twin.parameters(), lr=0.5)
    other.load_state_dict(state["optimizer"])
    assert other.param_groups[0]["lr"] == 0.1
    reader.set_rng_state(state["random"])
    assert (twin(reader.ones(1, 2)).tolist()[0], reader.rand(3).tolist()) == (pytest.approx(wanted[0]), wanted[1])


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("writer, reader", [(torch, glassgrad), (glassgrad, torch)])
def test_whole_modules(writer, reader, old):
    nn = writer.nn
    writer.manual_seed(3)
    model = nn.Sequential(
        nn.Linear(3, 4), nn.ReLU(), nn.ModuleDict({"a": nn.GELU()})["a"], nn.LayerNorm(4), nn.Dropout(0.5),
        nn.Sequential(nn.Linear(4, 2, bias=False), nn.Softmax(1)),
    ).eval()  # fmt: skip
    file = io.BytesIO()
    writer.save({"model": model, "loss": nn.CrossEntropyLoss()}, file, _use_new_zipfile_serialization=not old)
    content = file.getvalue()
    assert b"glassgrad" not in content.replace(b"src/glassgrad", b"")
    file.seek(0)
    with pytest.raises(Exception, match="Weights only load failed"):
        reader.load(file)
    file.seek(0)
    found = reader.load(file, weights_only=False)
    assert repr(found["model"]) == repr(model) and type(found["model"]) is reader.nn.Sequential
    x = [[0.5, -1.0, 2.0]]
    assert found["model"](reader.tensor(x)).tolist()[0] == pytest.approx(model(writer.tensor(x)).tolist()[0])
    found["model"].train()(reader.tensor(x)).sum().backward()
    assert found["model"][0].weight.grad is not None
    assert type(found["loss"]) is reader.nn.CrossEntropyLoss


@pytest.mark.parametrize("writer, reader", [(torch, glassgrad), (glassgrad, torch)])
def test_generators_functions_and_types(writer, reader):
    generator = writer.Generator().manual_seed(11)
    writer.rand(3, generator=generator)
    file = io.BytesIO()
    things = [generator, writer.nn.functional.relu, writer.nn.Linear, writer.Tensor, writer.optim.SGD, writer.strided]
    writer.save(things, file)
    file.seek(0)
    found = reader.load(file, weights_only=False)
    assert found[1:] == [
        reader.nn.functional.relu, reader.nn.Linear, reader.Tensor, reader.optim.SGD, reader.strided
    ]  # fmt: skip
    assert reader.rand(2, generator=found[0]).tolist() == writer.rand(2, generator=generator).tolist()


@pytest.mark.parametrize("writer, reader", [(torch, glassgrad), (glassgrad, torch)])
def test_storages(writer, reader):
    x = writer.arange(3.0)
    file = io.BytesIO()
    writer.save({"bytes": writer.ones(2, dtype=writer.uint8).untyped_storage(), "x": x}, file)
    file.seek(0)
    found = reader.load(file)
    assert type(found["bytes"]).__name__ in ("UntypedStorage", "TypedStorage")  # torch wraps it
    assert list(found["bytes"]) == [1, 1]


def test_one_memory_as_two_dtypes_is_refused():
    for engine in (torch, glassgrad):
        x = engine.arange(4.0)
        with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data"):
            engine.save([x, x.view(engine.int32)], io.BytesIO())


def test_names_that_are_not_here():
    file = io.BytesIO()
    torch.save(torch.nn.quantized.FloatFunctional(), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match="there is no FloatFunctional: "):
        glassgrad.load(file, weights_only=False)
