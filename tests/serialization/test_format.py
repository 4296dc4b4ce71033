"""The files are PyTorch's, byte for byte, and what the format's flags say is honoured."""

import io
import os
import zipfile

import numpy as np
import pytest

import glassgrad
from glassgrad import serialization
from glassgrad.serialization import archive
from tests.torch_reference import torch

pytestmark = pytest.mark.torch


def state(engine):
    """A state whose pickle does not depend on which strings happen to be one object."""
    engine.manual_seed(0)
    layer = engine.nn.Linear(2, 3)
    x = engine.arange(12.0).reshape(3, 4)
    layer(engine.ones(1, 2)).sum().backward()
    optimizer = engine.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    optimizer.step()
    return {
        "layer": layer.state_dict(), "weight": layer.weight, "x": x, "view": x.t()[1:3], "half": x.half(),
        "brain": x.to(engine.bfloat16), "leaf": engine.ones(2, requires_grad=True), "empty": engine.empty(0, 3),
        "unsigned": engine.zeros(3, dtype=engine.uint16), "size": x.size(), "optimizer": optimizer.state_dict(),
        "numbers": [1, 2.5, 10**30, True, None, 1j], "bytes": b"abc",
    }  # fmt: skip


def saved(engine, thing, **how):
    file = io.BytesIO()
    engine.save(thing, file, **how)
    return file.getvalue()


def test_the_same_bytes_as_torch():
    wanted, found = saved(torch, state(torch)), saved(glassgrad, state(glassgrad))
    at = wanted.index(b"archive/.data/serialization_id")
    body = wanted.index(b"archive/.data/serialization_id", at + 1) - 46  # past the record, at its line of the directory
    assert found[: at - 30] == wanted[: at - 30]
    assert len(found) == len(wanted)
    assert found[body + 50 :] == wanted[body + 50 :]  # but for the record's checksum
    identity = zipfile.ZipFile(io.BytesIO(found)).read("archive/.data/serialization_id")
    assert identity.isdigit() and len(identity) == 40
    assert identity[20:] == zipfile.ZipFile(io.BytesIO(wanted)).read("archive/.data/serialization_id")[20:]


def test_the_folder_is_named_after_the_file(tmp_path):
    for name, folder in (("model.pt", "model"), ("a.tar.gz", "a.tar"), ("plain", "plain"), ("größe.pt", "archive")):
        for engine in (torch, glassgrad):
            engine.save(engine.ones(1), tmp_path / name)
            assert zipfile.ZipFile(tmp_path / name).namelist()[0] == f"{folder}/data.pkl"
        assert torch.load(tmp_path / name).tolist() == [1.0]


@pytest.mark.parametrize("alignment", [64, 4096])
def test_records_lie_on_boundaries(alignment, monkeypatch):
    monkeypatch.setattr(serialization.options.save, "storage_alignment", alignment)
    content = saved(glassgrad, [glassgrad.ones(5), glassgrad.ones(7)])
    reader = archive.Reader(io.BytesIO(content))
    assert [reader.content_offset(name) % alignment for name in ("data/0", "data/1", "data.pkl")] == [0, 0, 0]
    assert torch.load(io.BytesIO(content))[1].tolist() == [1.0] * 7


def test_sizes_and_places_beyond_32_bits(monkeypatch):
    """With the limit moved down, the wide fields are used for everything, and everybody can read them."""
    monkeypatch.setattr(archive, "HUGE", 40)
    content = saved(glassgrad, [glassgrad.arange(50.0), glassgrad.ones(1)])
    monkeypatch.undo()
    with zipfile.ZipFile(io.BytesIO(content)) as found:
        assert found.testzip() is None
    assert torch.load(io.BytesIO(content))[0].tolist() == list(range(50))
    assert glassgrad.load(io.BytesIO(content))[0].tolist() == list(range(50))


def test_big_endian_files():
    x = np.array([1.5, -2.0, 3.25], np.float32)
    content = saved(glassgrad, glassgrad.tensor(x))
    twisted = content.replace(x.tobytes(), x.byteswap().tobytes()).replace(b"little", b"\0big\0\0")
    files = zipfile.ZipFile(io.BytesIO(twisted)).infolist()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out, zipfile.ZipFile(io.BytesIO(content)) as old:
        for entry in files:
            data = old.read(entry.filename)
            data = {"archive/byteorder": b"big", "archive/data/0": x.byteswap().tobytes()}.get(entry.filename, data)
            out.writestr(entry.filename, data)
    for engine in (torch, glassgrad):
        buffer.seek(0)
        assert engine.load(buffer).tolist() == x.tolist()


def test_files_without_byte_order():
    x = np.array([1, 256], np.int16)
    little = saved(glassgrad, glassgrad.tensor(x), _disable_byteorder_record=True)
    assert b"byteorder" not in little and glassgrad.load(io.BytesIO(little)).tolist() == [1, 256]
    assert torch.load(io.BytesIO(little)).tolist() == [1, 256]
    glassgrad.serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    try:
        assert glassgrad.load(io.BytesIO(little)).tolist() == [256, 1]
    finally:
        glassgrad.serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        glassgrad.serialization.set_default_load_endianness("big")


def test_files_without_checksums():
    for writer, reader in ((torch, glassgrad), (glassgrad, torch)):
        writer.serialization.set_crc32_options(False)
        try:
            assert writer.serialization.get_crc32_options() is False
            content = saved(writer, writer.arange(3))
        finally:
            writer.serialization.set_crc32_options(True)
        assert reader.load(io.BytesIO(content)).tolist() == [0, 1, 2]


def test_archives_that_a_tool_compressed():
    x = glassgrad.arange(1000.0)
    old, packed = zipfile.ZipFile(io.BytesIO(saved(glassgrad, x))), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for name in old.namelist():
            out.writestr(name, old.read(name))
    packed.seek(0)
    assert glassgrad.load(packed).equal(x)


def test_skipping_data(tmp_path):
    path = tmp_path / "x.pt"
    with glassgrad.serialization.skip_data():
        glassgrad.save(glassgrad.ones(3), path)
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True"):
            glassgrad.save(glassgrad.ones(3), path, _use_new_zipfile_serialization=False)
    assert glassgrad.load(path).tolist() == torch.load(path).tolist() == [0.0, 0.0, 0.0]
    glassgrad.save(glassgrad.ones(3), path)
    with glassgrad.serialization.skip_data():
        assert glassgrad.load(path).shape == (3,)
    assert glassgrad.load(path).tolist() == [1.0, 1.0, 1.0]


def test_mapped_files(tmp_path):
    import mmap

    path = tmp_path / "x.pt"
    torch.save({"x": torch.arange(6.0), "b": torch.ones(3, dtype=torch.bfloat16), "e": torch.empty(0)}, path)
    found = glassgrad.load(path, mmap=True)
    found["x"][0] = 9.0  # ours alone
    assert found["b"].tolist() == [1.0, 1.0, 1.0] and found["e"].shape == (0,)
    assert glassgrad.load(str(path))["x"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    with glassgrad.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        found = glassgrad.load(path, mmap=True)
    found["x"][0] = 9.0  # the file's
    del found
    assert torch.load(path)["x"][0] == 9.0
    with pytest.raises(ValueError, match="f must be a file path"):
        glassgrad.load(io.BytesIO(path.read_bytes()), mmap=True)
    with pytest.raises(ValueError, match="expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 77"):
        glassgrad.serialization.set_default_mmap_options(77)
    torch.save(torch.ones(1), path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        glassgrad.load(path, mmap=True)


def test_later_in_a_file_and_from_every_kind_of_file(tmp_path):
    path = tmp_path / "x.pt"
    with open(path, "wb") as file:
        file.write(b"a line before\n")
        glassgrad.save(glassgrad.arange(4), file)
    with open(path, "rb") as file:
        file.readline()
        assert glassgrad.load(file).tolist() == [0, 1, 2, 3]
    with open(path, "rb") as file:
        file.readline()
        assert torch.load(file).tolist() == [0, 1, 2, 3]
    read, write = os.pipe()
    with open(write, "wb") as file:
        glassgrad.save(glassgrad.arange(4), file)  # a pipe cannot be sought
    with open(read, "rb") as file, pytest.raises(OSError):
        glassgrad.load(file)

    class Stream(io.RawIOBase):
        """A file that cannot be sought."""

    with pytest.raises(io.UnsupportedOperation, match="You can only torch.load from a file that is seekable"):
        glassgrad.load(Stream())
    with pytest.raises(AttributeError, match="'int' object has no attribute 'seek'"):
        glassgrad.load(5)


def test_torchscript_archives():
    old, buffer = zipfile.ZipFile(io.BytesIO(saved(glassgrad, 1))), io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name in old.namelist():
            out.writestr(name, old.read(name))
        out.writestr("archive/constants.pkl", b"")
    for weights_only, words in ((True, "Cannot use ``weights_only=True`` with TorchScript"), (False, "TorchScript")):
        buffer.seek(0)
        with pytest.warns(UserWarning, match="looks like a TorchScript"), pytest.raises(RuntimeError, match=words):
            glassgrad.load(buffer, weights_only=weights_only)
    buffer.seek(0)
    with pytest.raises(ValueError, match="got a torchscript checkpoint"):
        glassgrad.serialization.get_unsafe_globals_in_checkpoint(buffer)


def test_strings_that_look_like_names():
    """A user's string is his own, even one that reads like an opcode of the pickle."""
    lure = "cglassgrad.serialization.rebuild\n_rebuild_tensor_v2\n"
    found = glassgrad.load(io.BytesIO(saved(glassgrad, [lure, glassgrad.ones(1), lure + "x"])))
    assert found[0] == lure and found[1].tolist() == [1.0] and found[2] == lure + "x"
    assert torch.load(io.BytesIO(saved(glassgrad, [lure, glassgrad.ones(1)])))[0] == lure
