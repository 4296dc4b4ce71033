"""Sparse tensors in the format that writes storages after the pickle: their places are not known while it is read."""

import io
import struct

import pytest

import glassgrad
from tests.torch_reference import torch

LAYOUTS = {
    "coordinates": lambda t: t.sparse_coo_tensor(t.tensor([[0, 1], [1, 2]]), t.tensor([1.0, 2.0]), (2, 3)),
    "twice": lambda t: t.sparse_coo_tensor(t.tensor([[0, 0], [1, 1]]), t.tensor([1.0, 2.0]), (2, 3)),
    "coalesced": lambda t: t.sparse_coo_tensor(t.tensor([[1, 0], [1, 2]]), t.tensor([1.0, 2.0]), (2, 3)).coalesce(),
    "dense dimensions": lambda t: t.sparse_coo_tensor(t.tensor([[2, 0]]), t.tensor([[1.0, 2.0], [3.0, 4.0]]), (3, 2)),
    "empty": lambda t: t.sparse_coo_tensor(size=(2, 3)),
    "rows": lambda t: t.tensor([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]).to_sparse_csr(),
}


def saved(t, tensor):
    """The bytes of a file in the older format."""
    file = io.BytesIO()
    t.save({"a": tensor, "again": tensor}, file, _use_new_zipfile_serialization=False)
    return file.getvalue()


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("writer", [torch, glassgrad], ids=["theirs", "ours"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_read_as_written(layout, writer, weights_only):
    content = saved(writer, LAYOUTS[layout](writer))
    ours = glassgrad.load(io.BytesIO(content), weights_only=weights_only)
    theirs = torch.load(io.BytesIO(content), weights_only=weights_only)
    for name in ("a", "again"):
        assert ours[name].to_dense().tolist() == theirs[name].to_dense().tolist()
        assert str(ours[name].layout) == str(theirs[name].layout)
        if layout != "rows":
            assert ours[name].is_coalesced() == theirs[name].is_coalesced()


def test_places_outside_are_refused():
    """They are looked at when they are there."""
    content = saved(glassgrad, LAYOUTS["coordinates"](glassgrad))
    places = struct.pack("<4q", 0, 1, 1, 2)
    assert content.count(places) == 1
    with pytest.raises(Exception, match="outside"):
        glassgrad.load(io.BytesIO(content.replace(places, struct.pack("<4q", 0, 7, 1, 2))))
