"""What a file of a stranger can ask for: memory and time in proportion to its bytes, whatever it says."""

import contextlib
import io
import os
import pickle
import struct
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import glassgrad
from tests import counts
from tests.serialization.mutations import (
    archive,
    call,
    dense,
    integer,
    meta,
    named,
    sparse,
    storage,
    text,
    tuple_of,
)
from tests.torch_reference import torch

pytestmark = pytest.mark.once
SIZE = 60_000  # bytes of a pickle
PRIME = sys.hash_info.modulus
TENSOR = tuple_of(storage(), integer(0), tuple_of(integer(6)), tuple_of(integer(1)), b"\x89", b"}") + b"q\x01"
LONG_LIST = b"]q\x01(" + b"".join(text(str(n)) for n in range(3000)) + b"e"
LONG_DICT = b"}q\x01(" + b"".join(text(str(n)) + b"N" for n in range(3000)) + b"u"
PLACES = dense(storage("Long", "1", SIZE // 8), (1, SIZE // 8), (SIZE // 8, 1))
SPARSE = call("torch.serialization _get_layout", text("torch.sparse_coo")) + tuple_of(
    PLACES, dense(storage(), (SIZE // 8,), (0,)), tuple_of(integer(5))
)
RECORDS = {"data/0": np.arange(6, dtype=np.float32).tobytes(), "data/1": bytes(SIZE)}


def many(unit, head=b""):
    """A pickle that says one thing again and again."""
    return head + b"(" + unit * (SIZE // len(unit)) + b"t"


def function(name):
    return named(name) + b"q\x00"


def keyed(key):
    """A dictionary of keys that all have the same hash."""
    return b"}(" + b"".join(key(n * PRIME) + b"N" for n in range(1, SIZE // 14)) + b"u"


PICKLES = {
    "empty sets": many(b"\x8f"),
    "empty lists": many(b"]"),
    "empty dictionaries": many(b"}"),
    "dictionaries of one": many(b"}NNs"),
    "tuples": many(b"N\x85"),
    "ordered dictionaries": many(b"h\x00)R", function("collections OrderedDict")),
    "counters": many(b"h\x00)R", function("collections Counter")),
    "tensors": many(b"h\x00)R", function("torch Tensor")),
    "tensors of one storage": many(b"h\x00h\x01R", function("torch._utils _rebuild_tensor_v2") + TENSOR),
    "sets of one list": many(b"h\x00h\x01\x85R", function("__builtin__ set") + LONG_LIST),
    "attributes": many(b"h\x00)Rh\x01b", function("collections OrderedDict") + LONG_DICT),
    "sparse tensors of the same places": many(
        b"h\x00h\x01R", function("torch._utils _rebuild_sparse_tensor") + b"(" + SPARSE + b"tq\x01"
    ),
    "integers of one hash": keyed(integer),
    "tuples of one hash": keyed(lambda n: tuple_of(integer(n))),
    "a set of one hash": named("__builtin__ set")
    + b"]("
    + b"".join(integer(n * PRIME) for n in range(1, SIZE // 12))
    + b"e\x85R",
    "deep tuples": b"N" + b"\x85" * SIZE,
    "deep lists": b"]" * (SIZE // 2) + b"a" * (SIZE // 2 - 1),
    "deep dictionaries": b"}N" * (SIZE // 3) + b"}" + b"s" * (SIZE // 3),
}


@pytest.mark.parametrize("compressed", [False, True], ids=["stored", "compressed"])
@pytest.mark.parametrize("name", PICKLES)
def test_memory_and_time_are_bounded(name, compressed):
    """The bounds are those of SECURITY.md."""
    content = archive(b"\x80\x02" + PICKLES[name] + b".", RECORDS, compressed)
    glassgrad.load(io.BytesIO(archive(b"\x80\x02" + TENSOR + b".", RECORDS)))  # what is imported once
    bound = (96 << 20) + (1000 if compressed else 128) * len(content)
    tracemalloc.start()
    start = time.process_time()
    try:
        glassgrad.load(io.BytesIO(content))
    except pickle.UnpicklingError as error:
        assert "asks for far more memory or work than its bytes stand for" in str(error)
    work, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < bound
    assert work < 60, "it would not have ended"  # of the processor, however busy: what is meant are hours


@pytest.mark.parametrize("size", [2**20, 2**40])
def test_elements_that_share_one_place_are_not_walked(size):
    """Sparse tensors whose parts are one number seen from everywhere, or have no data at all."""
    numbers = dense(storage(), (size,), (0,))
    for pickled in (
        sparse("coo", (size,), dense(storage("Long", "1"), (1, size), (0, 0)), numbers),
        sparse("coo", (size,), meta((1, size), (size, 1)), numbers),
        sparse("coo", (size,), dense(storage("Long", "1"), (1, size), (0, 0)), meta((size,), (1,), "float32")),
        sparse("csr", (size - 1, 4), *[dense(storage("Long", "1"), (size,), (0,))] * 2, numbers),
        sparse("csr", (size - 1, 4), meta((size,), (1,)), meta((size,), (1,)), meta((size,), (1,), "float32")),
    ):  # fmt: skip
        with pytest.raises(pickle.UnpicklingError, match="far more memory|without data"):
            glassgrad.load(io.BytesIO(archive(b"\x80\x02" + pickled + b".", {**RECORDS, "data/1": bytes(48)})))


MANY = 64 << 20  # zeros, which take a thousandth of that once they are compressed
ZEROS = storage("Char", "2", MANY)
ALL_ZEROS = dense(ZEROS, (MANY,), (1,))
INFLATED = {
    "parts of storages": dense(storage("Char", "2", MANY - 1), (1,), (1,)),
    "places": sparse("coo", (5,), dense(ZEROS, (1, MANY), (MANY, 1)), ALL_ZEROS) * 6,
    "conjugates": b"".join(
        call(
            "torch._utils _rebuild_tensor_v3",
            *(ZEROS, integer(0), tuple_of(integer(1)), tuple_of(integer(1)), b"\x89", b"}", named(f"torch {kind}")),
            b"}" + text("conj") + b"\x88s",
        )
        for kind in ("complex64", "complex128", "float64", "float32", "int64", "int32")
    ),
}


@pytest.mark.parametrize("name", INFLATED)
def test_zeros_that_were_compressed_pay_for_what_the_file_holds(name):
    content = archive(b"\x80\x02(" + INFLATED[name] + b"t.", {"data/2": bytes(MANY)}, True)
    bound = (96 << 20) + 1000 * len(content)
    tracemalloc.start()
    try:
        glassgrad.load(io.BytesIO(content))
    except pickle.UnpicklingError as error:
        assert "far more memory or work" in str(error)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < bound


def test_copies_of_small_places_are_counted_as_they_are_made():
    """Places of one byte, which PyTorch never writes, become places of eight."""
    count = 1 << 20
    places = dense(storage("Char", "2", count), (1, count), (count, 1))
    tensors = sparse("coo", (5,), places, dense(storage("Char", "2", count), (count,), (1,))) * 40
    content = archive(b"\x80\x02(" + tensors + b"t.", {"data/2": bytes(count)})
    with pytest.raises(pickle.UnpicklingError, match="far more memory or work"):
        glassgrad.load(io.BytesIO(content))


@pytest.mark.parametrize("how", ["stored", "compressed", "skipped", "meta"])
def test_a_directory_that_claims_large_records_makes_no_room(how):
    size = 2**32 - 2
    content = bytearray(archive(b"\x80\x02" + dense(storage("Char", "2", size), (1,), (1,)) + b".",
                                {"data/2": bytes(100)}, how == "compressed"))  # fmt: skip
    entry = content.index(b"archive/data/2", content.index(b"PK\1\2")) - 46
    struct.pack_into("<I", content, entry + 24, size)
    tracemalloc.start()
    with glassgrad.serialization.skip_data() if how == "skipped" else contextlib.nullcontext():
        with pytest.raises(RuntimeError, match="compressed records that hold|invalid header"):
            glassgrad.load(io.BytesIO(content), map_location="meta" if how == "meta" else None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24


def test_values_that_share_one_place_are_read():
    """They are nobody's attack: ``sparse_coo_tensor(places, ones(1).expand(3))``."""
    values = dense(storage(), (3,), (0,), 2)
    content = b"\x80\x02" + sparse("coo", (5,), dense(storage("Long", "1", 3), (1, 3), (3, 1)), values) + b"."
    tensor = glassgrad.load(io.BytesIO(archive(content, {**RECORDS, "data/1": np.array([4, 0, 1]).tobytes()})))
    assert tensor.to_dense().tolist() == [2.0, 2.0, 0.0, 0.0, 2.0]


def test_places_are_checked_in_whatever_shares_them():
    """In the old format they are looked at when their storages are there, also where another tensor took them over."""
    places = dense(storage("Long", "1", 1), (1, 1), (1, 1)).replace(b"tQ", b"NtQ")
    values = dense(storage("Float", "0", 1), (1,), (1,)).replace(b"tQ", b"NtQ")
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    layout = call("torch.serialization _get_layout", text("torch.sparse_coo"))
    parts = tuple_of(layout, tuple_of(places, values, tuple_of(integer(5))))
    rebuild = named("torch._utils _rebuild_sparse_tensor"), named("torch Tensor"), parts, b"}" + text("note") + b"Ns"
    pickled = b"\x80\x02" + call("torch._tensor _rebuild_from_type_v2", *rebuild) + b"."
    for place, good in ((3, True), (7, False)):
        data = struct.pack("<qfqq", 1, 2.0, 1, place)
        content = io.BytesIO(head + pickled + pickle.dumps(["0", "1"], 2) + data)
        if good:
            tensor = glassgrad.load(content)
            assert tensor.note is None and tensor.layout is glassgrad.sparse_coo
            assert tensor.to_dense().tolist() == [0.0, 0.0, 0.0, 2.0, 0.0]
        else:
            with pytest.raises(pickle.UnpicklingError, match="outside"):
                glassgrad.load(content)


def test_a_string_that_claims_to_be_long_makes_no_room(tmp_path):
    """A file, unlike a buffer, makes room for what is asked of it before it reads."""
    path = tmp_path / "x.pt"
    path.write_bytes(b"\x80\x02X" + struct.pack("<I", 2**32 - 1) + b"abc")
    tracemalloc.start()
    with pytest.raises(EOFError, match="Ran out of input"):
        glassgrad.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24


@pytest.mark.parametrize("name", ["shape", "data", "grad", "requires_grad", "dtype", "T"])
def test_properties_are_no_attributes(name):
    parts = [named("torch._utils _rebuild_tensor_v2"), named("torch Tensor"), TENSOR, b"}" + text(name) + b"Ns"]
    content = archive(b"\x80\x02" + call("torch._tensor _rebuild_from_type_v2", *parts) + b".", RECORDS)
    with pytest.raises(pickle.UnpicklingError, match=f"may not set the attribute '{name}'"):
        glassgrad.load(io.BytesIO(content))


def test_a_tensor_of_a_device_that_is_not_here():
    parts = [dense(storage(), (6,), (1,)), named("torch float32"), text("cuda:0"), b"\x89"]
    content = archive(b"\x80\x02" + call("torch._utils _rebuild_device_tensor_from_cpu_tensor", *parts) + b".", RECORDS)
    with pytest.raises(pickle.UnpicklingError, match="not compiled with CUDA"):
        glassgrad.load(io.BytesIO(content))
    assert glassgrad.load(io.BytesIO(content), map_location="cpu").device.type == "cpu"


@pytest.mark.torch
@pytest.mark.parametrize("modern", [True, False], ids=["zip", "old"])
def test_conjugated_and_negated_views(modern):
    """In the old format what they show comes after the pickle."""
    numbers = torch.tensor([1 + 2j, 3 - 1j])
    file = io.BytesIO()
    views = [numbers.conj(), numbers.clone().conj().imag]
    torch.save(views, file, _use_new_zipfile_serialization=modern)
    file.seek(0)
    assert [ours.tolist() for ours in glassgrad.load(file)] == [theirs.tolist() for theirs in views]


def test_names_in_a_damaged_pickle():
    with pytest.raises(pickle.UnpicklingError, match="damaged"):
        glassgrad.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(archive(b"\x80\x02\xff.", {})))


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="limits memory as Linux tells it")
def test_changed_checkpoints_end_in_something_or_in_the_loader_s_error():
    """``--count 100000`` for a long run; it names the seed and number of what went wrong."""
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(Path(glassgrad.__file__).parents[1]), str(root)])
    count = str(counts.count(1200))
    line = [sys.executable, "-m", "tests.serialization.mutations", "--count", count, "--seed", str(int(count) % 97)]
    done = subprocess.run(line, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
