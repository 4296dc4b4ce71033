"""Collation and conversion: what becomes of samples of every kind, compared with PyTorch."""

import collections

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import cases, check
from tests.counts import generated

Point = collections.namedtuple("Point", "x y")


class Frozen(collections.abc.Mapping):
    def __init__(self, content):
        self.content = dict(content)

    def __getitem__(self, key):
        return self.content[key]

    def __iter__(self):
        return iter(self.content)

    def __len__(self):
        return len(self.content)


class Unmakeable(Frozen):
    def __init__(self, a, b):
        super().__init__({"a": a, "b": b})


class Row(list):
    label = None


class Bag(dict):
    label = None


class Numbers(collections.abc.Sequence):
    """A sequence that cannot be made of a list."""

    def __init__(self, first, second):
        self.content = [first, second]

    def __getitem__(self, index):
        return self.content[index]

    def __len__(self):
        return 2


def numbers(torch, show):
    collate = torch.utils.data.default_collate
    show("ints", collate([1, 2, 3]))
    show("floats", collate([1.0, 2.5]))
    show("bools", collate([True, False]))
    show("mixed", show.warnings(lambda: collate([1, 2.5])))
    show("texts", collate(["a", "b"]))
    show("bytes", collate([b"a", b"b"]))
    show("numpy", [collate([np.float32(1), np.float32(2)]), collate([np.int8(3)]), collate([np.bool_(True)])])
    show("arrays", [collate([np.ones(2, np.float16)] * 2), collate([np.array(3), np.array(4)])])
    show.error(lambda: collate([np.array(["a"])]))
    show.error(lambda: collate([np.array([None])]))
    show.error(lambda: collate([None, None]))
    show.error(lambda: collate([{1, 2}]))
    show.error(lambda: collate([object()]), words="found <class 'object'>")
    show.error(lambda: collate([]))
    show.error(lambda: collate([None]), words=True)


def tensors(torch, show):
    collate = torch.utils.data.default_collate
    for kind in (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.complex64):
        for sizes in ((), (3,), (2, 3), (0,), (2, 0)):
            show(f"{kind} {sizes}", collate([torch.ones(sizes).to(kind), torch.zeros(sizes).to(kind)]))
    show("rows", collate(list(torch.arange(12.0).view(4, 3))))
    show("transposed", collate(list(torch.arange(12.0).view(4, 3).t())))
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    out = collate([x[0], x[1]])
    show("recorded", out)
    show.graph("graph", out)
    with torch.no_grad():
        show("unrecorded", collate([x[0], x[1]]))
    show("parameter", collate([torch.nn.Parameter(torch.ones(2))] * 2))
    show("mixed", collate([torch.ones(2), torch.ones(2, dtype=torch.float64)]))
    show.error(lambda: collate([torch.ones(2), torch.ones(3)]))
    show.error(lambda: collate([torch.ones(2), torch.ones(2, 1)]))


def containers(torch, show):
    collate = torch.utils.data.default_collate
    show("tuples", collate([(1, 2.0, "a"), (3, 4.0, "b")]))
    show("lists", collate([[1, 2], [3, 4]]))
    show("dicts", collate([{"a": 1, "b": torch.ones(2)}, {"a": 2, "b": torch.zeros(2)}]))
    show("nested", collate([{"a": [(1, 2)]}, {"a": [(3, 4)]}]))
    point = collate([Point(1, 2.0), Point(3, 4.0)])
    show("named", [type(point).__name__, point.x, point.y])
    frozen = collate([Frozen({"a": 1}), Frozen({"a": 2})])
    show("mapping", [type(frozen).__name__, frozen["a"]])
    plain = collate([Unmakeable(1, 2), Unmakeable(3, 4)])
    show("mapping that cannot be made", [type(plain).__name__, plain["b"]])
    row = Row([1, 2])
    row.label = "kept"
    out = collate([row, Row([3, 4])])
    show("list of a class", [type(out).__name__, out.label, list(out)])
    bag = Bag(a=1)
    bag.label = "kept"
    out = collate([bag, Bag(a=2)])
    show("dict of a class", [type(out).__name__, out.label, out["a"]])
    show("ordered", type(collate([collections.OrderedDict(a=1)])).__name__)
    show("sequence that cannot be made", collate([Numbers(1, 2), Numbers(3, 4)]))
    show("range", show.warnings(lambda: collate([range(2), range(2)])))
    show.error(lambda: collate([[1, 2], [3]]))
    show.error(lambda: collate([{"a": 1}, {"b": 2}]))
    show("more keys later", collate([{"a": 1}, {"a": 2, "b": 3}]))


def conversion(torch, show):
    convert = torch.utils.data.default_convert
    show("number", [convert(0), convert("a"), convert(b"a"), convert(None), convert(1.5)])
    show("array", convert(np.array([0, 1])))
    show("scalar", convert(np.float32(2)))
    show("texts", type(convert(np.array(["a"]))).__name__)
    show("str_", type(convert(np.str_("a"))).__name__)
    point = convert(Point(np.array(0), 1))
    show("named", [type(point).__name__, point.x, point.y])
    show("tuple", convert((np.array([1]), 2)))
    show("list", convert([np.array([1]), [np.array([2])]]))
    show("dict", convert({"a": np.array([1]), "b": "x"}))
    show("mapping", type(convert(Unmakeable(1, 2))).__name__)
    show("sequence", convert(Numbers(np.array(1), 2)))
    array = np.zeros(2)
    convert(array)[0] = 5
    show("the same memory", array)


def registry(torch, show):
    collate = torch.utils.data._utils.collate.collate
    known = {torch.Tensor: lambda batch, *, collate_fn_map=None: "tensors", (int, float): lambda batch, **_: sum(batch)}
    show("by type", [collate([torch.ones(1)], collate_fn_map=known), collate([1, 2], collate_fn_map=known)])
    show("inside", collate([(1, torch.ones(1)), (2, torch.ones(1))], collate_fn_map=known))
    show.error(lambda: collate([1, 2]))
    show.error(lambda: collate(["a"], collate_fn_map={}), words=False)  # how deep Python went is its own affair


@pytest.mark.torch
@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_agrees(program):
    check(program)


LEAVES = st.integers(-9, 9) | st.floats(-9, 9, width=32) | st.booleans() | st.text(max_size=2)
SAMPLES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple)
    | st.lists(inner, min_size=1, max_size=3)
    | st.dictionaries(st.sampled_from("abc"), inner, min_size=1),
    max_leaves=6,
)


def plain(value):
    """A batch as Python data with its dtypes."""
    if hasattr(value, "tolist"):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [plain(item) for item in value]
    return value


@pytest.mark.torch
@given(SAMPLES, st.integers(1, 3))
@generated(80)
def test_any_nesting_collates_as_in_pytorch(sample, count):
    from tests.torch_reference import torch

    batches = [plain(library.utils.data.default_collate([sample] * count)) for library in (torch, glassgrad)]
    assert batches[0] == batches[1]
