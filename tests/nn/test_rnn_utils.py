"""Packing and padding of batches of several lengths, against PyTorch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agreement import cases, check
from tests.counts import generated

pytestmark = pytest.mark.torch


def _utils(torch):
    return torch.nn.utils.rnn


def packing(torch, show):
    pack = _utils(torch).pack_padded_sequence
    x = torch.arange(12.0).reshape(3, 2, 2)
    show("sorted", list(pack(x, [3, 1])))
    show("unsorted", list(pack(x, [1, 3], enforce_sorted=False)))
    show("by batch", list(pack(x, torch.tensor([2, 2, 1]), batch_first=True)))
    show("shortened", list(pack(x, [2, 1])))
    show("too long", list(pack(x, [4, 2])))
    show("whole numbers", list(pack(x.long(), torch.tensor([3, 1], dtype=torch.int32))))
    show("vectors", list(pack(x[0], [2, 1])))
    show("cut", list(pack(x, [3.7, 1.2])))
    leaf = x.clone().requires_grad_()
    packed = pack(leaf, [3, 1])
    show("packed", packed.data)
    show.saved("saved", packed.data)
    show("sizes", packed.batch_sizes.requires_grad)
    (packed.data * torch.arange(8.0).reshape(4, 2)).sum().backward()
    show("grad", leaf.grad)


def packing_refused(torch, show):
    pack = _utils(torch).pack_padded_sequence
    x = torch.arange(12.0).reshape(3, 2, 2)
    for lengths in ([2, 3], [3, 0], [0, 0], [3, 2, 1], [], [[3, 2]], torch.tensor(3)):
        show.error(lambda lengths=lengths: pack(x, lengths))
    show.error(lambda: pack(x[0, 0], [2, 1]))
    show.error(lambda: pack(x[:0], [2, 1]))
    show.error(lambda: pack(x, [1, -2], enforce_sorted=False))
    show.error(lambda: pack(x, [2, 1], batch_first=True) and None)
    show.error(lambda: pack(x.transpose(0, 1)[:, :1], [2, 1], batch_first=False) and None)


def padding_again(torch, show):
    utils = _utils(torch)
    x = torch.arange(12.0).reshape(3, 2, 2).requires_grad_()
    packed = utils.pack_padded_sequence(x, [1, 3], enforce_sorted=False)
    for kwargs in ({}, {"batch_first": True}, {"padding_value": -1.5}, {"total_length": 5}):
        padded, lengths = utils.pad_packed_sequence(packed, **kwargs)
        show("padded", padded.detach())
        show("layout", padded.stride())
        show("lengths", lengths)
    whole = utils.pack_padded_sequence(x.detach().long(), [3, 1])
    show("whole numbers", utils.pad_packed_sequence(whole, padding_value=-1.5))
    show.error(lambda: utils.pad_packed_sequence(packed, total_length=2))
    show.error(lambda: utils.pad_packed_sequence(x))
    for sizes in ([1, 1, 2], [2, 2, 2]):
        odd = utils.PackedSequence(packed.data.detach(), torch.tensor(sizes))
        show.error(lambda odd=odd: utils.pad_packed_sequence(odd))
    show.error(lambda: utils.pad_packed_sequence(utils.PackedSequence(packed.data, packed.batch_sizes.int())))
    padded, _ = utils.pad_packed_sequence(packed)
    (grad,) = torch.autograd.grad((padded * padded * padded).sum(), x, create_graph=True)
    show("grad", grad.detach())
    show("second", torch.autograd.grad((grad * grad).sum(), x))


def sequences(torch, show):
    utils = _utils(torch)
    a, b = torch.arange(6.0).reshape(3, 2), torch.arange(2.0).reshape(1, 2)
    show("padded", utils.pad_sequence([a, b]))
    show("by batch", utils.pad_sequence([b, a], True, 9.0))
    show("left", utils.pad_sequence([a, b], padding_side="left", padding_value=9))
    show("broadcast", utils.pad_sequence([a, b[:, :1]]))
    show("first dtype", [utils.pad_sequence([a, b.long()]), utils.pad_sequence([a.long(), b])])
    show("generator", utils.pad_sequence(piece for piece in (a, b)))
    show("tensor", utils.pad_sequence(torch.ones(2, 3, 2)))
    for given_ in (3, [], [a, 3], [torch.tensor(1.0)]):
        show.error(lambda given_=given_: utils.pad_sequence(given_))
    show.error(lambda: utils.pad_sequence([a, b], padding_side="up"))
    leaf = a.clone().requires_grad_()
    for kwargs in ({}, {"batch_first": True}, {"padding_side": "left"}):
        padded = utils.pad_sequence([leaf, b], **kwargs)
        show("recorded", padded)
        show.graph("graph", padded)
        show("grad", torch.autograd.grad((padded * padded).sum(), leaf))
    show("packed", list(utils.pack_sequence([a, b])))
    show("unsorted", list(utils.pack_sequence([b, a], enforce_sorted=False)))
    show("unpacked", utils.unpack_sequence(utils.pack_sequence([b, a], enforce_sorted=False)))
    show.error(lambda: utils.pack_sequence([b, a]))
    show.error(lambda: utils.pack_sequence([]))
    padded = utils.pad_sequence([a, b])
    show("unpadded", utils.unpad_sequence(padded, torch.tensor([3, 1])))
    show("turned in place", padded)
    show("unpadded", utils.unpad_sequence(utils.pad_sequence([a, b], True), torch.tensor([3, 1]), batch_first=True))
    show.error(lambda: utils.unpad_sequence(utils.pad_sequence([a, b]), torch.tensor([3, 1, 1])))


def the_tuple(torch, show):
    utils = _utils(torch)
    a = torch.arange(6.0).reshape(3, 2)
    packed = utils.pack_sequence([a, a[:1]])
    show("repr", repr(packed))
    show("fields", packed._fields)
    data, sizes, order, back = packed
    show("same", [data is packed.data, sizes is packed[1], order, back, isinstance(packed, tuple), len(packed)])
    show("inverse", utils.invert_permutation(torch.tensor([2, 0, 1])))
    show("nothing", utils.invert_permutation(None))
    for made in (
        utils.PackedSequence(a, torch.tensor([2, 1])),
        utils.PackedSequence((a, torch.tensor([2, 1]))),
        utils.PackedSequence(a, torch.tensor([2, 1]), torch.tensor([1, 0])),
        utils.PackedSequence(a, torch.tensor([2, 1]), unsorted_indices=torch.tensor([1, 0])),
    ):
        show("made", list(made))
    show.error(lambda: utils.PackedSequence(a))
    show.error(lambda: utils.PackedSequence(a, torch.tensor([2, 1], device="meta")))
    for name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
        show(name, getattr(packed, name)().data.dtype)
    show("unchanged", [packed.to(torch.float32) is packed, packed.cpu() is packed, packed.float() is packed])
    show("moved", packed.to("meta").data.device.type)
    order = utils.pack_sequence([a[:1], a], enforce_sorted=False).to(torch.float64)
    show("converted", list(order))
    show("where", [packed.is_cuda, packed.is_pinned()])
    show.error(lambda: packed.cuda())


@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_program(program):
    check(program)


@generated(40)
@given(
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=5),
    rest=st.lists(st.integers(1, 2), max_size=2),
    batch_first=st.booleans(),
    extra=st.integers(0, 2),
)
def test_there_and_back(lengths, rest, batch_first, extra):
    """What was padded, packed, padded again and unpadded is what it was; each stage equals PyTorch's."""

    def program(torch, show):
        utils = torch.nn.utils.rnn
        samples = [torch.randn(n, *rest, dtype=torch.float64) for n in lengths]
        padded = utils.pad_sequence(samples, batch_first).requires_grad_()
        packed = utils.pack_padded_sequence(padded, lengths, batch_first, enforce_sorted=False)
        show("packed", [packed.data.detach(), *packed[1:]])
        again, found = utils.pad_packed_sequence(packed, batch_first, 0.5, max(lengths) + extra)
        show("again", again.detach())
        show("lengths", found)
        show("grad", torch.autograd.grad((again * torch.rand(again.shape, dtype=torch.float64)).sum(), padded))
        apart = utils.unpad_sequence(again.detach(), found, batch_first)
        show("same", all(torch.equal(a, b) for a, b in zip(apart, samples, strict=True)))

    check(program)
