"""Where storages go: map_location in all its forms, tags of devices that are not here, the registry."""

import io

import pytest

import glassgrad
from glassgrad import serialization
from tests.torch_reference import torch

pytestmark = pytest.mark.torch


def elsewhere(tag="cuda:0"):
    """A checkpoint of a machine with another device: the tag is all that differs."""
    file = io.BytesIO()
    torch.serialization.register_package(0, lambda storage: tag, lambda storage, location: None)
    try:
        torch.save({"x": torch.arange(3.0)}, file)
    finally:
        torch.serialization._package_registry.pop(0)
    return file.getvalue()


FORMS = [
    lambda t: "cpu", lambda t: t.device("cpu"), lambda t: {"cuda:0": "cpu"}, lambda t: lambda storage, tag: storage,
]  # fmt: skip
REFUSED = [
    lambda t: None, lambda t: "cuda", lambda t: t.device("cuda", 1), lambda t: {"cuda:1": "cpu"}, lambda t: "nowhere",
    lambda t: lambda storage, tag: None, lambda t: "xpu:0", lambda t: {"cuda:0": "mars"}, lambda t: 5, lambda t: "hpu",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_mapped_to_what_is_here(form):
    for engine in (torch, glassgrad):
        assert engine.load(io.BytesIO(elsewhere()), map_location=form(engine))["x"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("form", REFUSED)
def test_refused_in_the_same_words(form):
    words = []
    for engine in (torch, glassgrad):
        with pytest.raises(Exception) as raised:
            engine.load(io.BytesIO(elsewhere()), map_location=form(engine))
        words.append((type(raised.value), str(raised.value)))
    assert words[0] == words[1]


def test_what_a_function_is_told():
    told = []
    for engine in (torch, glassgrad):
        seen = []

        def note(storage, tag, seen=seen):
            seen.append((type(storage).__name__, storage.nbytes(), tag, list(storage)[:4]))
            return storage

        engine.load(io.BytesIO(elsewhere()), map_location=note)
        told.append(seen)
    assert told[0] == told[1] and len(told[0]) == 1


def test_to_meta():
    for where in ("meta", glassgrad.device("meta")):
        found = glassgrad.load(io.BytesIO(elsewhere()), map_location=where)["x"]
        assert found.device.type == "meta" and found.shape == (3,)


def test_a_package_of_ones_own():
    def restore(storage, tag):
        return storage.clone() if tag.startswith("mars") else None

    serialization.register_package(15, lambda storage: None, restore)
    try:
        assert glassgrad.load(io.BytesIO(elsewhere("mars:3")))["x"].tolist() == [0.0, 1.0, 2.0]
    finally:
        serialization.location._REGISTRY[:] = [e for e in serialization.location._REGISTRY if e[2] is not restore]
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location .* \(tagged with mars:3\)"):
        glassgrad.load(io.BytesIO(elsewhere("mars:3")))
    assert serialization.location_tag(glassgrad.ones(1).untyped_storage()) == "cpu"
