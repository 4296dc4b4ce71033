"""Checkpoints made to do harm, by the thousand: good ones changed in what their pickles, records and directories say.

``python -m tests.serialization.mutations --count 20000 --seed 1`` loads so many under a limit on memory and time, and
names each that did not end as a file of a stranger must: with something that can be looked at, or the loader's error.
"""

import io
import itertools
import os
import pickle
import pickletools
import random
import re
import resource
import struct
import sys
import warnings
import zipfile
from collections import Counter, OrderedDict

import numpy as np

import glassgrad
from glassgrad.serialization import safetensors as ours
from tests import counts

OWN_ERRORS = (pickle.UnpicklingError, RuntimeError, EOFError)  # these classes, and none that inherit from them
MEMORY = 256 << 20  # bytes that a load may ask for beyond what the process has
LONGEST = 1 << 20  # bytes that an opcode is repeated to: what a load may ask for grows with the file
SECONDS = 10  # of the processor that a load may take; what takes longer ends the process, with a traceback
NUMBERS = [
    0,
    1,
    2,
    3,
    6,
    7,
    -1,
    -2,
    63,
    64,
    65,
    255,
    2**16,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**62,
    2**63,
    -(2**63),
    2**70,
]
TEXTS = [
    "storage", "cpu", "meta", "cuda:0", "mps", "cuda:99999999999999999999", "0", "1", "../version", "data.pkl", "", "x",
    "latin1", "utf-8", "torch.sparse_coo", "torch.sparse_csr", "torch.strided", "_array", "__class__", "shape", "data",
    "grad", "requires_grad", "\ud800", "é" * 20,
]  # fmt: skip
GLOBALS = """torch._utils _rebuild_tensor;torch._utils _rebuild_tensor_v2;torch._utils _rebuild_tensor_v3
torch._utils _rebuild_sparse_tensor;torch._utils _rebuild_meta_tensor_no_storage;torch._utils _rebuild_qtensor
torch._utils _rebuild_nested_tensor;torch._utils _rebuild_parameter;torch._utils _rebuild_wrapper_subclass
torch._utils _rebuild_parameter_with_state;torch._utils _rebuild_device_tensor_from_numpy
torch._utils _rebuild_device_tensor_from_cpu_tensor;torch._tensor _rebuild_from_type_v2;torch Tensor
torch.nn.parameter Parameter;torch.serialization _get_layout;torch Size;torch device;torch float32;torch int64
torch bool;torch complex64;torch FloatStorage;torch LongStorage;torch ByteStorage;torch.storage UntypedStorage
torch.storage TypedStorage;torch FloatTensor;torch per_tensor_affine;torch QInt8Storage;torch sparse_coo
collections OrderedDict;collections Counter;_codecs encode;__builtin__ set;__builtin__ bytearray;__builtin__ complex
os system;numpy.core.multiarray _reconstruct""".replace("\n", ";").split(";")
OPCODES = [b")", b"}", b"]", b"(", b"t", b"R", b"\x81", b"b", b"Q", b"a", b"e", b"s", b"u", b"\x85", b"\x86", b"\x87",
           b"N", b"\x88", b"\x89", b"\x8f", b".", b"h\x00", b"h\x01", b"h\x03", b"h\x05", b"q\x01"]  # fmt: skip
OPCODES += [b"0", b"1", b"2", b"l", b"d", b"o", b"ios\nsystem\n", b"S'x'\n", b"V\\ud800\n", b"P0\n", b"p0\n", b"g0\n",
            b"I01\n", b"I9\n", b"L" + b"9" * 5000 + b"L\n", b"F1e999\n", b"r\xff\xff\xff\x7f", b"j\xff\xff\xff\x7f",
            b"G" + b"\x7f" * 8, b"B\xff\xff\xff\x7f", b"X\xff\xff\xff\xff", b"T\xff\xff\xff\x7f", b"C\x03abc",
            b"\x82\x01", b"\x84\xff\xff\xff\x7f", b"\x8b\xff\xff\xff\x7f"]  # fmt: skip  of protocols up to 3
OPCODES += [b"\x80\x05", b"\x8c\x01x", b"\x90", b"\x91", b"\x92", b"\x93", b"\x94", b"\x97", b"\x98"]  # of 4 and 5
OPCODES += [code + b"\xff" * 7 + b"\x7f" for code in (b"\x8d", b"\x8e", b"\x95", b"\x96")]  # that claim much


def integer(value):
    """The opcode that pushes an integer."""
    content = pickle.encode_long(value)
    return b"\x8a" + bytes([len(content)]) + content


def text(string):
    """The opcode that pushes a string."""
    content = string.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(content)) + content


def named(name):
    """The opcode that pushes what a name stands for."""
    module, _, attribute = name.partition(" ")
    return f"c{module}\n{attribute}\n".encode()


def tuple_of(*parts):
    """The opcodes of a tuple."""
    return b"(" + b"".join(parts) + b"t"


def call(name, *arguments):
    """The opcodes of a call."""
    return named(name) + tuple_of(*arguments) + b"R"


def storage(kind="Float", key="0", count=6, legacy=False):
    """The opcodes of a storage."""
    parts = [text("storage"), named(f"torch {kind}Storage"), text(key), text("cpu"), integer(count)]
    return tuple_of(*parts, *([b"N"] if legacy else [])) + b"Q"


def dense(held, sizes, strides, offset=0):
    """The opcodes of a tensor in a storage."""
    shape, steps = (tuple_of(*map(integer, numbers)) for numbers in (sizes, strides))
    return call("torch._utils _rebuild_tensor_v2", held, integer(offset), shape, steps, b"\x89", b"}")


def meta(sizes, strides, dtype="int64"):
    """The opcodes of a tensor without data."""
    shape, steps = (tuple_of(*map(integer, numbers)) for numbers in (sizes, strides))
    return call("torch._utils _rebuild_meta_tensor_no_storage", named(f"torch {dtype}"), shape, steps, b"\x89")


def sparse(layout, sizes, *parts):
    """The opcodes of a sparse tensor made of such parts."""
    name = call("torch.serialization _get_layout", text(f"torch.sparse_{layout}"))
    return call("torch._utils _rebuild_sparse_tensor", name, tuple_of(*parts, tuple_of(*map(integer, sizes))))


def archive(content, records, compressed=False):
    """A checkpoint in a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as out:
        out.writestr("archive/data.pkl", content)
        for name, record in {"byteorder": b"little", "version": b"3\n", **records}.items():
            out.writestr(f"archive/{name}", record)
    return file.getvalue()


def specimens():
    """Good checkpoints in both formats, as (pickle, records, the file's bytes); the old format has no records."""
    numbers = glassgrad.arange(12.0)
    special = glassgrad.ones(2)
    special.note = ["x"]
    matrix = glassgrad.eye(4, dtype=glassgrad.float64)
    layer = glassgrad.nn.Linear(2, 3)
    optimizer = glassgrad.optim.Adam(layer.parameters())
    layer(glassgrad.ones(2)).sum().backward()
    optimizer.step()
    things = [
        {"model": layer.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3},
        [numbers, numbers[2:8:2], numbers.view(3, 4).t(), glassgrad.nn.Parameter(numbers[:2].clone()), special],
        {"coo": matrix.to_sparse(), "csr": matrix.to_sparse_csr(), "expanded": matrix[:1].expand(5, 4)},
        [glassgrad.empty(3, 4, device="meta"), glassgrad.device("cpu"), glassgrad.Size([2, 3]), glassgrad.float64],
        {1: (2.5, b"ab", bytearray(b"cd"), {1, 2}, 1j, None, True), (1, "a"): OrderedDict(a=1), "c": Counter("aab")},
        [glassgrad.arange(3).to(dtype) for dtype in (glassgrad.uint16, glassgrad.bfloat16, glassgrad.complex64)],
    ]
    for thing in things:
        for modern in (True, False):
            file = io.BytesIO()
            glassgrad.save(thing, file, _use_new_zipfile_serialization=modern)
            if modern:
                opened = zipfile.ZipFile(file)
                records = {name.partition("/")[2]: opened.read(name) for name in opened.namelist()}
                yield records.pop("data.pkl"), records, file.getvalue()
            else:
                yield None, {}, file.getvalue()
    floats, whole = np.arange(6, dtype=np.float32).tobytes(), np.arange(6).tobytes()
    records = {"data/0": floats, "data/1": whole, "byteorder": b"little", "version": b"3\n"}
    index = dense(storage("Long", "1"), (2, 3), (3, 1))
    short = dense(storage("Long", "1"), (4,), (1,))
    values = dense(storage(), (3,), (1,))
    rebuild, plain = named("torch._utils _rebuild_tensor_v2"), named("torch Tensor")
    place = tuple_of(storage(), integer(0), tuple_of(integer(6)), tuple_of(integer(1)), b"\x89", b"}")
    parts = tuple_of(
        call("torch.serialization _get_layout", text("torch.sparse_coo")),
        tuple_of(index, values, tuple_of(integer(8), integer(8))),
    )
    huge = [dense(storage("Long", "1"), (2**40 + 1,), (0,)), dense(storage(), (2**40,), (0,))]
    crafted = [
        sparse("coo", (8, 8), index, values),
        sparse("coo", (2**40,), dense(storage("Long", "1"), (1, 2**40), (0, 0)), huge[1]),
        sparse("coo", (2**40,), meta((1, 2**40), (2**40, 1)), meta((2**40,), (1,), "float32")),
        sparse("csr", (3, 4), short, dense(storage("Long", "1"), (3,), (1,)), values),
        sparse("csr", (2**40, 4), huge[0], short, dense(storage(), (4,), (1,))),
        call(
            "torch._utils _rebuild_device_tensor_from_cpu_tensor",
            *(meta((9,), (1,)), named("torch int64"), text("cpu"), b"\x89"),
        ),
        call("torch.nn.parameter Parameter", dense(storage(), (6,), (1,)), b"\x88"),
        call("torch._tensor _rebuild_from_type_v2", rebuild, plain, place, b"}" + text("note") + b"Ns"),
        call(
            "torch._tensor _rebuild_from_type_v2",
            *(named("torch._utils _rebuild_sparse_tensor"), plain, parts, b"}" + text("shape") + b"Ns"),
        ),
        call(
            "torch._utils _rebuild_tensor_v2",
            *(storage("ComplexFloat", count=3), integer(0), tuple_of(integer(3)), tuple_of(integer(1)), b"\x89", b"}"),
            b"}" + text("conj") + b"\x88s",
        ),
        named("torch FloatTensor") + b")R" + place[: -len(b"\x89}t")] + b"tb",
        named("torch FloatTensor") + b")R" + tuple_of(meta((9,), (1,), "float32"), b"N", b"}", b"\x88", b"}") + b"b",
    ]
    for content in crafted:
        pickled = b"\x80\x02" + content + b"."
        yield pickled, records, archive(pickled, records)
        old = pickled.replace(b"tQ", b"NtQ")
        head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
        data = b"".join(struct.pack("<q", 6) + part for part in (floats, whole))
        yield None, {}, head + old + pickle.dumps([key for key in "01" if text(key) in old], 2) + data


def pieces(content):
    """A pickle's opcodes with their arguments, one by one; what is no pickle is one piece."""
    places = []
    try:
        for _, _, at in pickletools.genops(content):
            places.append(at)
    except ValueError:
        pass
    return [content[a:b] for a, b in zip(places, [*places[1:], len(content)], strict=True)] or [content]


def changed_pickle(content, dice, others):
    """A pickle with some opcodes changed, moved, repeated, or taken from another pickle."""
    ops = pieces(content)
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        at = dice.randrange(len(ops))
        kind = ops[at][:1]
        choice = dice.random()
        if choice < 0.45 and kind in b"KMJ\x8a":
            ops[at] = integer(dice.choice(NUMBERS))
        elif choice < 0.45 and kind == b"X":
            ops[at] = text(dice.choice(TEXTS))
        elif choice < 0.45 and kind == b"c":
            ops[at] = named(dice.choice(GLOBALS))
        elif choice < 0.6:
            ops[at] = dice.choice(OPCODES)
        elif choice < 0.7:
            ops.insert(
                at,
                dice.choice(
                    [*OPCODES, integer(dice.choice(NUMBERS)), text(dice.choice(TEXTS)), named(dice.choice(GLOBALS))]
                ),
            )
        elif choice < 0.78:
            del ops[at : at + dice.choice([1, 1, 3])]
            ops = ops or [b"."]
        elif choice < 0.86:
            other = dice.randrange(len(ops))
            ops[at:at] = ops[other : other + dice.randrange(1, 12)]
        elif choice < 0.95:
            donor = pieces(dice.choice(others))
            other = dice.randrange(len(donor))
            ops[at : at + dice.choice([0, 1, 6])] = donor[other : other + dice.randrange(1, 30)]
        else:
            ops[at] = ops[at] * min(dice.choice([2, 50, 3000]), LONGEST // len(ops[at]) + 1)
    return b"".join(ops)


def changed_bytes(content, dice):
    """A file with some bytes changed, left out or put in."""
    content = bytearray(content or b"x")
    for _ in range(dice.choice([1, 1, 2, 6])):
        at = dice.randrange(len(content) or 1)
        choice = dice.random()
        if choice < 0.5 and content:
            content[at] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)])
        elif choice < 0.8:
            content[at : at + 4] = struct.pack("<I", dice.choice(NUMBERS) & 0xFFFFFFFF)
        else:
            del content[at : at + dice.choice([1, 9])]
    return bytes(content) or b"x"


def changed_records(records, dice):
    """The records of an archive, of which one is changed, missing, another's, there by another name, or made up."""
    name, other = dice.choice(sorted(records)), dice.choice(sorted(records))
    choice = dice.random()
    if choice < 0.5:
        return {**records, name: changed_bytes(records[name], dice)}
    if choice < 0.65:
        return {key: record for key, record in records.items() if key != name}
    if choice < 0.8:
        return {**records, name: records[other]}
    if choice < 0.9:
        return {dice.choice(["../x", "/x", "data/", "data/\0", name * 2]) if key == name else key: record
                for key, record in records.items()}  # fmt: skip
    names = "byteorder .format_version .storage_alignment constants.pkl code/x.py data.pkl data/00".split()
    record = dice.choice([b"", b"big", b"\xff" * 9, b"99" * 3000, b"0", b"-1", b"little "])
    return {**records, dice.choice(names): record}


def changed_directory(file, dice):
    """An archive of which some claims are changed: sizes, places, methods, flags, counts."""
    file = bytearray(file)
    heads = {b"PK\3\4": (4, 30), b"PK\1\2": (4, 46), b"PK\5\6": (4, 22), b"PK\6\6": (4, 56), b"PK\6\7": (4, 20)}
    places = [(found.start(), *heads[found.group()]) for found in re.finditer(b"PK[\1\3\5\6][\2\4\6\7]", file)
              if found.group() in heads]  # fmt: skip
    for _ in range(dice.choice([1, 1, 2, 4])):
        start, first, last = dice.choice(places)
        size = dice.choice([2, 2, 4, 8])
        at = start + dice.randrange(first, last - size + 1)
        number = dice.choice([dice.choice(NUMBERS), dice.choice(places)[0], len(file), 8])
        file[at : at + size] = (number % 256**size).to_bytes(size, "little")
    return bytes(file)


def safetensors_cases(dice):
    """Changed safetensors files without end; none where there is no such library."""
    try:
        good = ours.save({"a": glassgrad.arange(6.0).view(2, 3), "b": glassgrad.ones(2, dtype=glassgrad.bool)})
    except ImportError:
        return
    length = 8 + struct.unpack("<Q", good[:8])[0]
    while True:
        header = good[8:length]
        if dice.random() < 0.6:
            words = re.split(rb"([0-9]+|\"[^\"]*\")", header)
            at = dice.randrange(1, len(words), 2)
            strange = [b"null", b"-0.5", b"[]", b'"F64"', b'"__metadata__"', b'"\\ud800"', b"[" * 3000, b"9" * 5000]
            words[at] = dice.choice([str(dice.choice(NUMBERS)).encode(), dice.choice(words[1::2]), *strange])
            header = b"".join(words)
        else:
            header = changed_bytes(header, dice)
        claimed = len(header) if dice.random() < 0.9 else dice.choice(NUMBERS) % 2**64
        yield struct.pack("<Q", claimed) + header + good[length:][: dice.choice([None, None, 0, 5])]


def cases(seed):
    """Changed checkpoints without end."""
    dice = random.Random(seed)
    good = list(specimens())
    pickles = [content for content, _, _ in good if content]
    for content, records, file in good:
        yield file
        if content:
            yield archive(content, records, True)
    while True:
        content, records, file = dice.choice(good)
        if content is None and dice.random() < 0.7:  # the third of the pickles of the old format is what it is about
            at = file.index(b"little_endian")
            at = file.index(b".", at) + 1
            yield file[:at] + changed_pickle(file[at:], dice, pickles)
        elif content is None or dice.random() < 0.15:
            yield changed_bytes(file, dice)
        else:
            if dice.random() < 0.15:
                records = changed_records(records, dice)
            if dice.random() < 0.15:
                yield changed_directory(archive(content, records, dice.random() < 0.5), dice)
            else:
                yield archive(changed_pickle(content, dice, pickles), records, dice.random() < 0.2)


def look_at(thing):
    """Read what was loaded, without recursion and without ever reading much."""
    waiting, seen = [thing], 0
    while waiting and seen < 1000:
        item, seen = waiting.pop(), seen + 1
        if isinstance(item, glassgrad.Tensor):
            str(item.dtype), item.requires_grad, item.numel()
            if item.layout is not glassgrad.strided:
                if item.numel() < 10_000:
                    item.detach().to_dense().sum()
            elif item.device.type == "cpu" and item.numel() < 10_000:
                repr(item)
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set)):
            waiting += item


def verdict(content, load=lambda content, **how: glassgrad.load(io.BytesIO(content), **how), **how):
    """What is wrong with how a file was loaded; None if it gave something or the loader's own error."""
    try:
        thing = load(content, **how)
    except Exception as error:
        good = (type(error) in OWN_ERRORS or type(error).__name__ == "SafetensorError") and str(error)
        known = type(error) is ValueError and "Unknown endianness type" in str(error)
        return None if good or known else f"{type(error).__name__}: {error!s:.200}"
    try:
        look_at(thing)
    except Exception as error:
        return f"loaded, and cannot be looked at: {type(error).__name__}: {error!s:.200}"
    return None


def limit_memory():
    """Give this process little memory beyond what it has."""
    for _, _, content in itertools.islice(specimens(), 12):  # everything imported, buffers made
        assert verdict(content) is None
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))


def main():
    """Load mutations and name those that end as they should not; the exit code tells whether there are any."""
    parser = counts.options(__doc__, 2000)
    parser.add_argument("--keep", help="a folder for the files that were loaded wrongly, and for the last one")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    limit_memory()
    number, wrong, kinds = 0, 0, Counter()
    others = safetensors_cases(random.Random(options.seed))
    for _, (number, content) in zip(counts.asked(options), enumerate(cases(options.seed), 1), strict=False):
        if options.keep:
            with open(os.path.join(options.keep, "last.pt"), "wb") as file:
                file.write(content)
        with counts.at_most(SECONDS):
            problem = verdict(content, **({"map_location": "meta"} if number % 7 == 6 else {}))
            if not problem and number % 10 == 0 and (other := next(others, None)):
                content = other
                problem = verdict(content, ours.load)
        if problem:
            wrong += 1
            kinds[problem[:60]] += 1
            if kinds[problem[:60]] == 1:
                print(f"{options.seed}:{number}: {problem}", flush=True)
                if options.keep:
                    with open(os.path.join(options.keep, f"{options.seed}-{number}.pt"), "wb") as file:
                        file.write(content)
    print(f"{number:,} files, {wrong} wrong", *(f"\n{n:6} {kind}" for kind, n in kinds.most_common()))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
