"""Files made to do harm: nothing of them is run, nothing lies outside its memory, and nothing grows without bound."""

import io
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest

import glassgrad
from glassgrad import serialization
from tests.work import calls_of

MARKS = []


def mark(*args):
    """What an attack would like to have called."""
    MARKS.append(args)


class Call:
    """Something whose pickle says: call this with that."""

    def __init__(self, function, *args, state=None):
        self.function, self.args, self.state = function, args, state

    def __reduce__(self):
        return (self.function, self.args) if self.state is None else (self.function, self.args, self.state)


def checkpoint(pickled, records=None):
    """An archive around a pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("archive/data.pkl", pickled)
        out.writestr("archive/byteorder", "little")
        for key, content in (records or {}).items():
            out.writestr(f"archive/data/{key}", content)
        out.writestr("archive/version", "3\n")
    file.seek(0)
    return file


def refused(pickled, records=None, match=None, error=(pickle.UnpicklingError, RuntimeError, EOFError)):
    """Loading must fail, after little work and without running anything."""
    MARKS.clear()
    file = checkpoint(pickled, records)

    def load():
        with pytest.raises(error, match=match):
            glassgrad.load(file)

    _, calls = calls_of(load)
    assert not MARKS
    assert calls < 10_000 + 20 * len(pickled)


def text(string):
    return b"X" + struct.pack("<I", len(string)) + string.encode()


def number(value):
    return b"\x8a" + bytes([len(pickle.encode_long(value))]) + pickle.encode_long(value)


def storage(kind="FloatStorage", key="0", count=6, place="cpu"):
    return b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text(place) + number(count) + b"tQ"


def tensor(offset=0, sizes=(6,), strides=(1,), held=None, version=2, tail=b""):
    numbers = b"(" + b"".join(number(n) for n in sizes) + b"t(" + b"".join(number(n) for n in strides) + b"t"
    function = f"ctorch._utils\n_rebuild_tensor_v{version}\n".encode()
    hooks = b"ccollections\nOrderedDict\n)R"
    return function + b"(" + (held or storage()) + number(offset) + numbers + b"\x89" + hooks + tail + b"tR"


SIX = {"0": np.arange(6, dtype=np.float32).tobytes()}


def test_the_tools_of_this_file_make_good_files():
    found = glassgrad.load(checkpoint(b"\x80\x02" + tensor(1, (2, 2), (2, 1)) + b".", SIX))
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    "thing, named",
    [
        (Call(os.system, "true"), "posix.system whose module posix is blocked|nt.system whose module nt is blocked"),
        (Call(eval, "1"), "GLOBAL eval was not an allowed global"),
        (Call(exec, "1"), "GLOBAL exec was not"),
        (Call(getattr, "x", "upper"), "GLOBAL getattr was not"),
        (Call(__import__, "os"), "GLOBAL __import__ was not"),
        (Call(mark, 1), "GLOBAL tests.serialization.test_hostile.mark was not"),
        (Call(print, 1), "GLOBAL print was not"),
        (glassgrad.nn.Linear(1, 1), "GLOBAL torch.nn.modules.linear.Linear was not"),
        (np.float64(1), "GLOBAL numpy.*was not"),
        (np.ones(2), "GLOBAL numpy.*was not"),
        (slice(1), "GLOBAL slice was not"),
    ],
)
def test_what_is_not_on_the_list(thing, named):
    file = io.BytesIO()
    glassgrad.save(thing, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=named) as raised:
        glassgrad.load(file)
    assert "Weights only load failed" in str(raised.value)
    assert not MARKS
    file.seek(0)
    assert glassgrad.serialization.get_unsafe_globals_in_checkpoint(file)


def test_blocked_modules_cannot_be_allowed():
    with glassgrad.serialization.safe_globals([(mark, "posix.system"), (mark, "os.system")]):
        refused(b"\x80\x02cposix\nsystem\n)R.", match="whose module posix is blocked")


def test_only_names_on_the_list_are_called():
    refused(b"\x80\x02" + text("x") + b")R.", match="Trying to call reduce for unrecognized function")
    refused(b"\x80\x02ctorch\nfloat32\n)R.", match="Trying to call reduce for unrecognized function")
    refused(b"\x80\x02" + tensor() + b")R.", SIX, match="Trying to call reduce")
    refused(b"\x80\x02ctorch\nFloatStorage\n" + b"(" + number(5) + b"tR.", match="Trying to call reduce")
    refused(b"\x80\x02}(" + text("a") + text("b") + b"u)R.", match="Trying to call reduce")


def test_only_allowed_classes_are_made():
    refused(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)\x81.", match="Can only create new object")
    refused(b"\x80\x02" + text("x") + b")\x81.", match="Can only create new object")


def test_states_of_strangers_are_not_set():
    refused(b"\x80\x02]}b.", match="Can only build Tensor, Parameter, OrderedDict")
    refused(b"\x80\x02ctorch\nfloat32\n}b.", match="Can only build")
    refused(b"\x80\x02ccollections\nOrderedDict\n)R]b.", match="the state of an OrderedDict")
    refused(b"\x80\x02ccollections\nCounter\n)R}b.", match="Can only build")


def by_type(state, function=b"ctorch._utils\n_rebuild_tensor_v2\n"):
    plain = tensor()[len(b"ctorch._utils\n_rebuild_tensor_v2\n") : -1]
    return b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(" + function + b"ctorch\nTensor\n" + plain + state + b"tR."


def test_attributes_that_tensors_are_made_of_are_not_set():
    good = glassgrad.load(checkpoint(by_type(b"}" + text("note") + text("x") + b"s"), SIX))
    assert good.note == "x"
    for name in (
        "_array",
        "_edge",
        "_counter",
        "_gathered",
        "_hooks",
        "__class__",
        "__dict__",
        "_backward_hooks",
        "__torch_function__",
    ):
        refused(by_type(b"}" + text(name) + text("x") + b"s"), SIX, match="may not set the attribute")
        refused(by_type(b"(N}" + text(name) + text("x") + b"st"), SIX, match="may not set the attribute")


def test_a_tensor_is_rebuilt_by_nothing_else():
    refused(by_type(b"}", b"cbuiltins\nset\n"), SIX, match="a tensor is rebuilt by a function of torch._utils")
    refused(by_type(b"}", text("upper")), SIX, match="a tensor is rebuilt by")


@pytest.mark.parametrize(
    "where",
    [
        dict(sizes=(7,)), dict(offset=1), dict(sizes=(2, 2), strides=(4, 2)), dict(sizes=(2,), strides=(2**62,)),
        dict(sizes=(2**40,)), dict(sizes=(2**62, 4), strides=(0, 0)), dict(sizes=(2,), strides=(-1,), offset=3),
        dict(offset=-1), dict(offset=2**63), dict(sizes=(-1,)), dict(sizes=(2, 2), strides=(1,)),
        dict(sizes=(0, 2**62, 2**62), strides=(1, 1, 1)), dict(sizes=(1,) * 65, strides=(1,) * 65),
        dict(offset=2**61, sizes=()), dict(sizes=(3,), strides=(2**61,)),
    ],
)  # fmt: skip
def test_tensors_outside_their_storage(where):
    where.setdefault("strides", (1,) * len(where.get("sizes", (6,))))
    refused(b"\x80\x02" + tensor(**where) + b".", SIX, error=(RuntimeError, pickle.UnpicklingError))


def test_tensors_of_wider_numbers_than_their_storage():
    bytes_ = storage("ByteStorage", count=24).replace(b"ctorch\nByteStorage\n", b"ctorch.storage\nUntypedStorage\n")
    wide = b"ctorch\nfloat64\n"
    ok = glassgrad.load(checkpoint(b"\x80\x02" + tensor(0, (3,), (1,), bytes_, 3, wide) + b".", SIX))
    assert ok.shape == (3,) and ok.dtype == glassgrad.float64
    refused(b"\x80\x02" + tensor(0, (4,), (1,), bytes_, 3, wide) + b".", SIX, match="out of bounds for storage")
    refused(b"\x80\x02" + tensor(0, (3,), (1,), bytes_, 3, text("float64")) + b".", SIX, match="must be a torch.dtype")


@pytest.mark.parametrize("count", [7, 2**40, 2**70, -1])
def test_storages_that_claim_more_than_the_file_holds(count):
    refused(b"\x80\x02" + tensor(held=storage(count=count)) + b".", SIX)


def test_storages_that_are_none():
    refused(b"\x80\x02" + tensor(held=text("storage")) + b".", match="must lie in a storage")
    refused(
        b"\x80\x02" + tensor(held=storage(key="../version")) + b".", SIX, match="failed locating file data/../version"
    )
    refused(b"\x80\x02(" + text("module") + text("x") + b"tQ.", match="Only persistent_load of storage is allowed")
    refused(b"\x80\x02" + text("storage") + b"Q.", match="persistent_load id must be tuple or int")
    refused(b"\x80\x02(" + text("storage") + b"cbuiltins\nset\n" + text("0") + text("cpu") + b"K\x06tQ.", SIX,
            match="must be of a storage type")  # fmt: skip


def test_sizes_that_are_no_integers():
    refused((b"\x80\x02" + tensor() + b".").replace(b"(" + number(6) + b"t", b"(" + text("6") + b"t"), SIX)
    refused((b"\x80\x02" + tensor() + b".").replace(b"(" + number(6) + b"t", b"(\x88t"), SIX, match="must be integers")
    huge = (b"\x80\x02" + tensor() + b".").replace(b"(" + number(6) + b"t", b"(" + number(2**80) + b"t")
    refused(huge, SIX, match="64 bits")
    with pytest.raises(pickle.UnpicklingError, match="64 bits"):
        glassgrad.load(checkpoint(huge, SIX), map_location="meta")


def limited(pickled, records=None):
    """The same with little memory to spare."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29), hard))
    try:
        refused(pickled, records)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


LINUX = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="measures memory as Linux tells it")


@LINUX
def test_memory_that_the_file_does_not_hold():
    limited(b"\x80\x02cbuiltins\nbytearray\n" + number(2**40) + b"\x85R.")
    limited(b"\x80\x02ctorch\nFloatTensor\n" + number(2**40) + b"\x85R.")
    limited(b"\x80\x02ctorch\nTensor\n" + number(2**40) + b"\x85\x81.")
    hexed = b"\x80\x02" + b"c_codecs\nencode\nq\x00" + text("a" * 1000)
    limited(hexed + text("hex") + b"\x86R.")
    limited(b"\x80\x02X" + struct.pack("<I", 2**31) + b"abc.")


@LINUX
def test_repetition_does_not_multiply():
    """One long list, made into a thousand dictionaries: the file is small, what it asks for is not."""
    items = b"(]q\x00(" + b"".join(text(str(n)) + text("") + b"\x86" for n in range(3000)) + b"e"
    copies = b"ccollections\nOrderedDict\nh\x00\x85R" * 3000
    limited(b"\x80\x02" + items + copies + b"t.")


def test_endless_keys():
    """A tuple of a tuple of a tuple ... twice each: hashing it would take 2**60 steps."""
    twins = b")" + b"q\x00h\x00\x86" * 60
    refused(b"\x80\x02}" + twins + b"Ns.", match="very many parts|asks for far more")
    refused(b"\x80\x02cbuiltins\nset\n]" + twins + b"a\x85R.", match="very many parts|asks for far more")
    refused(b"\x80\x02ccollections\nOrderedDict\n]" + twins + b"N\x86a\x85R.", match="very many|asks for far more")
    refused(b"\x80\x02" + twins + b")R.", match="Trying to call reduce")
    refused(b"\x80\x02}" + b")" + b"\x85" * 50_000 + b"Ns.", match="very many parts|asks for far more")


def test_deep_nests_are_no_trouble():
    found = glassgrad.load(checkpoint(b"\x80\x02N" + b"\x85" * 100_000 + b"."))
    depth = 0
    while type(found) is tuple:
        found, depth = found[0], depth + 1
    assert depth == 100_000


@pytest.mark.parametrize(
    "pickled",
    [b"", b"\x80", b"\x80\x02", b"\x80\x02.", b"\x80\x02h\x05.", b"\x80\x02t.", b"\x80\x02(.", b"\x80\x02(\x85.",
     b"\x80\x02a.", b"\x80\x02]a.", b"\x80\x02Na.", b"\x80\x02}(Nu.", b"\x80\x02}]Ns.", b"\x80\x02cfoo",
     b"\x80\x02c\xff\n\n.",
     b"\x80\x02X\xff\xff\xff\xff", b"\x80\x02\x8a\xff", b"\x80\x02T\x05\0\0\0hello.", b"\x80\x02i__main__\nx\n.",
     b"\x80\x02\x82\x01.", b"\x80\x02Px\n.", b"\x80\x02q\x00.", b"\x80\x02NR.", b"\x80\x02Nb."],
)  # fmt: skip
def test_pickles_that_are_none(pickled):
    refused(pickled)


def test_protocols_that_torch_does_not_read():
    file = io.BytesIO()
    glassgrad.save(glassgrad.ones(1), file, pickle_protocol=4)
    file.seek(0)
    with pytest.warns(UserWarning, match="Detected pickle protocol 4"):
        with pytest.raises(pickle.UnpicklingError, match="Unsupported operand 149"):
            glassgrad.load(file)


# -- archives ----------------------------------------------------------------------------------------------------------


def test_records_that_overlap():
    """Two entries of the directory for the same bytes."""
    content = bytearray(checkpoint(b"\x80\x02]q\x00(N" + b"e.", {"0": b"a" * 64, "1": b"a" * 64}).getvalue())
    places = [at for at in range(len(content)) if content[at : at + 4] == b"PK\1\2"]
    first = content[places[2] + 42 : places[2] + 46]
    content[places[3] + 42 : places[3] + 46] = first
    content[places[3] + 46 : places[3] + 46 + 14] = b"archive/data/1"
    with pytest.raises(RuntimeError, match="overlaps other files|failed finding central directory"):
        glassgrad.load(io.BytesIO(bytes(content)))


def test_bombs(monkeypatch):
    monkeypatch.setattr(serialization.archive, "INFLATED_FREE", 1 << 20)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("archive/data.pkl", b"\x80\x02" + tensor(held=storage(count=1 << 20), sizes=(1 << 20,)) + b".")
        out.writestr("archive/data/0", bytes(1 << 22))
        out.writestr("archive/version", "3\n")
    file.seek(0)
    with pytest.raises(RuntimeError, match="compressed records that hold more than 8 times the file's size and 1 MiB"):
        glassgrad.load(file)


def test_several_records_of_one_name():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("archive/data.pkl", b"\x80\x02N.")
        with pytest.warns(UserWarning, match="Duplicate name"):
            out.writestr("archive/data.pkl", b"\x80\x02].")
        out.writestr("archive/version", "3\n")
    file.seek(0)
    with pytest.raises(RuntimeError, match="several files of this name"):
        glassgrad.load(file)


def test_versions():
    for version, words in (
        ("11", "the maximum supported version for reading is 10"),
        ("x", "Couldn't parse the version"),
    ):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as out:
            out.writestr("archive/data.pkl", b"\x80\x02N.")
            out.writestr("archive/version", version)
        file.seek(0)
        with pytest.raises(RuntimeError, match=words):
            glassgrad.load(file)
    with pytest.raises(RuntimeError, match="failed finding central directory"):
        glassgrad.load(io.BytesIO(b"PK\3\4" + b"x" * 100))


# -- the old format ----------------------------------------------------------------------------------------------------


def old(pickled, keys=(), data=b""):
    parts = [pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True})]
    return io.BytesIO(b"".join(parts) + pickled + pickle.dumps(list(keys), 2) + data)


def test_the_old_format_is_as_careful():
    six = struct.pack("<q", 6) + SIX["0"]
    held = storage()[:-2] + b"NtQ"
    good = old(b"\x80\x02" + tensor(held=held) + b".", ["0"], six)
    assert glassgrad.load(good).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    huge = storage(count=2**40)[:-2] + b"NtQ"
    view = storage()[:-2] + b"(" + text("v") + number(5) + number(9) + b"ttQ"
    for pickled, keys, data in (
        (b"\x80\x02cposix\nsystem\n)R.", [], b""),
        (b"\x80\x02" + tensor(held=huge) + b".", ["0"], six),
        (b"\x80\x02" + tensor(held=view) + b".", ["0"], six),
        (b"\x80\x02" + tensor(sizes=(9,), held=held) + b".", ["0"], six),
        (b"\x80\x02" + tensor(held=held) + b".", ["0", "1"], six),
        (b"\x80\x02" + tensor(held=held) + b".", ["0"], struct.pack("<q", 2**40) + SIX["0"]),
        (b"\x80\x02" + tensor(held=held) + b".", ["0"], six[:-1]),
    ):
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            glassgrad.load(old(pickled, keys, data))
    for content in (b"", b"hello", b"\x80\x02K\x05.", pickle.dumps(0x1950A86A20F9469CFC6C, 2)):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            glassgrad.load(io.BytesIO(content))


# -- what the user allows ----------------------------------------------------------------------------------------------


class Settings:
    """A class of the user's."""

    def __init__(self, rate):
        self.rate = rate


class Special(glassgrad.Tensor):
    """A tensor of the user's."""


def test_what_the_user_allows():
    file = io.BytesIO()
    special = glassgrad.ones(2).as_subclass(Special)
    special.note = "kept"
    glassgrad.save({"settings": Settings(0.5), "special": special}, file)
    load = glassgrad.load
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="test_hostile.Settings was not an allowed global"):
        load(file)
    file.seek(0)
    unsafe = glassgrad.serialization.get_unsafe_globals_in_checkpoint(file)
    assert {name.rpartition(".")[2] for name in unsafe} == {"Settings", "Special"}
    with glassgrad.serialization.safe_globals([Settings, Special]):
        assert set(glassgrad.serialization.get_safe_globals()) == {Settings, Special}
        file.seek(0)
        found = load(file)
    assert found["settings"].rate == 0.5
    assert type(found["special"]) is Special and found["special"].note == "kept"
    assert glassgrad.serialization.get_safe_globals() == []
    glassgrad.serialization.add_safe_globals([(Settings, "elsewhere.Settings")])
    refused(b"\x80\x02ctests.serialization.test_hostile\nSettings\n)R.", match="was not an allowed global")
    made = load(checkpoint(b"\x80\x02celsewhere\nSettings\n" + number(3) + b"\x85R."))
    assert made.rate == 3
    glassgrad.serialization.clear_safe_globals()
    layers = io.BytesIO()
    glassgrad.save(glassgrad.nn.ReLU, layers)
    layers.seek(0)
    with glassgrad.serialization.safe_globals([glassgrad.nn.ReLU]):
        assert load(layers) is glassgrad.nn.ReLU
    layers = io.BytesIO()
    glassgrad.save(glassgrad.nn.Sequential(glassgrad.nn.Linear(2, 1), glassgrad.nn.ReLU()), layers)
    layers.seek(0)
    allowed = [glassgrad.nn.Sequential, glassgrad.nn.Linear, glassgrad.nn.ReLU]
    with glassgrad.serialization.safe_globals(allowed):
        assert load(layers)(glassgrad.ones(3, 2)).shape == (3, 1)


def test_the_environment_and_the_arguments(monkeypatch):
    file = io.BytesIO()
    glassgrad.save(Settings(1), file)

    def load(**how):
        file.seek(0)
        return glassgrad.load(file, **how)

    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        load(pickle_module=pickle, weights_only=True)
    assert load(pickle_module=pickle).rate == 1
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert load().rate == 1
    with pytest.raises(pickle.UnpicklingError):
        load(weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="Only one of"):
        load()
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        load(weights_only=False)


def test_pickles_changed_at_random():
    """Bytes changed, opcodes put in, stretches repeated: refused, or a state that can be looked at."""
    import random

    layer, special = glassgrad.nn.Linear(2, 3), glassgrad.ones(2)
    special.note = "x"
    file = io.BytesIO()
    things = {"layer": layer.state_dict(), "p": layer.weight, "note": special, "b": b"ab", "s": {1, 2}, "c": 1j}
    glassgrad.save({**things, "u": glassgrad.zeros(2, dtype=glassgrad.uint16), "z": glassgrad.Size([1])}, file)
    archive = zipfile.ZipFile(file)
    records = {name[13:]: archive.read(name) for name in archive.namelist() if name.startswith("archive/data/")}
    original, dice, loaded = archive.read("archive/data.pkl"), random.Random(5), 0
    for _ in range(600):
        content = bytearray(original)
        for _ in range(dice.choice([1, 1, 2, 5])):
            kind, at, other = dice.randrange(3), dice.randrange(2, len(content)), dice.randrange(2, len(content))
            if kind == 0:
                content[at] = dice.randrange(256)
            elif kind == 1:
                content.insert(at, dice.choice(b"cR\x81bQaesu(t\x85\x86\x87N\x89\x88)]}\x8fJKMGXU\x8ahjqr."))
            else:
                content[at : at + dice.choice([0, 9])] = content[other : other + dice.randrange(1, 30)]
        try:
            repr(glassgrad.load(checkpoint(bytes(content), records)))
            loaded += 1
        except (pickle.UnpicklingError, RuntimeError, EOFError):
            pass
    assert 0 < loaded < 300
