"""Storages, tensors on them, and what tensors are not here but may be in PyTorch."""

import copy
import pickle

import pytest

import glassgrad
from tests.outcome import outcome

EXPRESSIONS = """
repr(torch.arange(3, dtype=torch.int16).untyped_storage())
repr(torch.UntypedStorage([1, 2, 300]))
len(torch.UntypedStorage(5))
torch.UntypedStorage(3, device="meta").device
repr(torch.UntypedStorage(3, device="meta"))
torch.UntypedStorage("a")
torch.UntypedStorage([1, 2, 3])[1:].tolist()
torch.UntypedStorage([1, 2, 3])[-1]
torch.UntypedStorage([1, 2, 3])[3]
torch.UntypedStorage([1, 2, 3])[::2]
torch.UntypedStorage([1, 2, 3])["a"]
torch.UntypedStorage([1, 2, 3]).__setitem__(0, 1.5)
torch.UntypedStorage([1, 2, 3]).fill_(7).tolist()
torch.UntypedStorage([1, 2, 3]).copy_(torch.UntypedStorage([4, 5, 6])).tolist()
torch.UntypedStorage([1, 2, 3]).copy_(torch.UntypedStorage(2))
torch.UntypedStorage([1, 2, 3]).resize_(2).tolist()
torch.UntypedStorage([1, 2, 3]).clone().tolist()
[torch.UntypedStorage(2).element_size(), torch.UntypedStorage(2).type(), torch.UntypedStorage(2).is_shared()]
repr(torch.UntypedStorage([1, 2]).float())
repr(torch.UntypedStorage.from_buffer(b"abcd", byte_order="big", dtype=torch.int16))
torch.UntypedStorage.from_buffer(b"abcd", dtype=torch.float32)
torch.arange(3.).untyped_storage().data_ptr() == 0
(lambda x: [x[1:].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()])(torch.ones(3))
torch.ones(3)[1:].storage_offset()
(lambda x: x[1:].detach()[1:].storage_offset())(torch.ones(4))
repr(torch.arange(3.).storage())
torch.arange(3.).storage()[1:2]
torch.arange(3.).storage()["a"]
torch.arange(3.).storage()[5]
torch.arange(3.).storage().type()
torch.arange(3.).storage().pickle_storage_type()
torch.arange(3.).storage().size()
repr(torch.arange(3.).storage().int())
isinstance(torch.arange(3.).storage(), torch.FloatStorage)
isinstance(torch.arange(3.).storage(), torch.LongStorage)
repr(torch.arange(3.).storage_type())
repr(torch.FloatStorage)
repr(torch.FloatStorage([1, 2]))
torch.FloatStorage(3).fill_(2).tolist()
torch.DoubleStorage.dtype
torch.FloatStorage(torch.FloatStorage(2))
repr(torch.TypedStorage([1, 2], dtype=torch.int64))
repr(torch.TypedStorage(wrap_storage=torch.UntypedStorage([1, 0, 2, 0]), dtype=torch.int16))
repr(torch.ByteStorage.from_buffer(b"abc"))
torch.FloatTensor(torch.FloatStorage([1, 2]))
torch.LongTensor(torch.FloatStorage([1, 2]))
torch.Tensor(torch.FloatStorage([1, 2]))
torch.is_storage(torch.FloatStorage(1))
torch.empty(0).set_(torch.arange(6.).untyped_storage())
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 1, (2, 2), (2, 1))
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 1, (2, 2))
torch.empty(0).set_(source=torch.arange(6.).storage(), storage_offset=4, size=(2,))
torch.empty(0).set_(torch.arange(6.))
torch.empty(0).set_(torch.arange(6.), 1, (2,), (2,))
torch.ones(3).set_()
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 1)
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 1, 2)
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 1, (2, 2), (1,))
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 0, (2,), (-1,))
torch.empty(0).set_(torch.arange(6.).untyped_storage(), -1, (2,), (1,))
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 0, (-2,), (1,))
torch.empty(0).set_(torch.arange(6.).untyped_storage(), 2**62, (2,), (1,))
torch.empty(0, dtype=torch.int32).set_(torch.arange(6.))
torch.ones(2, requires_grad=True).set_(torch.ones(3))
(lambda x: [x.set_(torch.ones(3))._version, x.is_leaf])(torch.ones(2))
(lambda x, y: [y.set_(x.untyped_storage(), 1, (2,)).zero_(), x])(torch.ones(4), torch.empty(0))
torch.from_file("/dev/null", size=0)
[torch.ones(2).is_nested, torch.ones(2).is_sparse_csr, torch.ones(2).is_mtia, torch.ones(2).is_xla]
torch.ones(2).is_ipu
[torch.ones(2).is_vulkan, torch.ones(2).is_maia, torch.ones(2).is_distributed(), torch.is_distributed(torch.ones(2))]
[torch.ones(2).name, torch.ones(2).volatile, torch.ones(2, 3).sparse_dim(), torch.ones(2, 3).dense_dim()]
torch.ones(2).to_dense()
torch.ones(2).coalesce()
torch.ones(2).values()
torch.ones(2).indices()
torch.ones(2).is_coalesced()
torch.ones(2).as_subclass(int)
torch.ones(2).as_subclass(torch.nn.Parameter)
(torch.ones(2, requires_grad=True) * 1).as_subclass(torch.Tensor)
torch.get_device(torch.ones(2))
[torch.is_same_size(torch.ones(2), torch.ones(2)), torch.is_same_size(torch.ones(2), torch.ones(3))]
torch.ones(2, 3, 4).permute(2, 0, 1).dim_order()
torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last).dim_order()
torch.ones(1, 2, 1).dim_order(ambiguity_check=True)
torch.ones(1, 2, 1).dim_order(ambiguity_check=[torch.contiguous_format])
torch.ones(1, 2, 1).dim_order(ambiguity_check=5)
torch.ones(3, 1, 3).expand(3, 4, 3).dim_order()
torch.unravel_index(torch.tensor([5, 3]), (2, 3))
torch.unravel_index(torch.tensor([7, -1]), (2, 3))
torch.unravel_index(torch.tensor(5), 10)
torch.unravel_index(torch.tensor([[1, 2], [3, 400]]), torch.Size((2, 3, 4)))
torch.unravel_index(torch.tensor(5.), (2, 3))
torch.unravel_index(torch.tensor(5), (2., 3))
torch.unravel_index(torch.tensor(5), (2, -3))
torch.typename(torch.ones(2))
torch.typename(5)
torch.typename(torch.nn.Linear(1, 1))
torch.typename(torch.nn.CrossEntropyLoss)
torch.typename(torch.nn.Parameter)
torch.typename(torch.Tensor)
torch.typename(torch.float32)
torch.typename(torch.ones(1).untyped_storage())
torch.typename(torch.nn.functional.relu)
""".strip().splitlines()


@pytest.mark.torch
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_torch(expression):
    from tests.torch_reference import torch

    assert outcome(expression, glassgrad) == outcome(expression, torch)


@pytest.mark.torch
def test_dimension_orders_of_all_kinds():
    import itertools

    from tests.torch_reference import torch

    for sizes in itertools.product((1, 2, 3), repeat=3):
        for order in itertools.permutations(range(3)):
            for first in (None, 4):
                found = []
                for engine in (torch, glassgrad):
                    x = engine.zeros(sizes).permute(order)
                    x = x if first is None else x[:1].expand(first, -1, -1)
                    try:
                        found.append((x.dim_order(), x.dim_order(ambiguity_check=True)))
                    except RuntimeError as error:
                        found.append((x.dim_order(), str(error)))
                assert found[0] == found[1], (sizes, order, first)


def test_a_storage_sees_what_tensors_write():
    x = glassgrad.zeros(2, dtype=glassgrad.int16)
    storage = x.untyped_storage()
    x.fill_(258)
    assert storage.tolist() == [2, 1, 2, 1]
    storage[0] = 3
    assert x.tolist() == [259, 258]


def test_the_size_of_a_tensors_memory_stays():
    storage = glassgrad.ones(2).untyped_storage()
    assert not storage.resizable() and storage.resize_(8) is storage
    with pytest.raises(RuntimeError, match="the memory of a tensor keeps its size: 8 bytes cannot become 0 in place"):
        storage.resize_(0)
    with pytest.raises(RuntimeError, match="out of bounds for storage of size 8"):
        glassgrad.empty(0).set_(storage, 0, (3,))


def test_copies_and_pickles_of_storages():
    x = glassgrad.arange(3.0)
    for storage in (x.untyped_storage(), x._typed_storage()):
        for twin in (pickle.loads(pickle.dumps(storage)), copy.deepcopy(storage), copy.copy(storage)):
            assert type(twin) is type(storage) and twin.tolist() == storage.tolist()
            assert twin.data_ptr() != storage.data_ptr()


def test_memory_that_is_a_file(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(range(8)))
    alone = glassgrad.from_file(str(path), size=8, dtype=glassgrad.uint8)
    alone[0] = 9
    assert path.read_bytes()[0] == 0
    shared = glassgrad.from_file(str(path), shared=True, size=3, dtype=glassgrad.int32)
    shared[2] = 7
    assert shared.tolist()[2] == 7
    del shared
    assert path.read_bytes()[8:] == b"\7\0\0\0"
    with pytest.raises(RuntimeError, match="it holds 12"):
        glassgrad.from_file(str(path), size=100)


def test_plain_pickles_of_modules():
    model = glassgrad.nn.Sequential(glassgrad.nn.Linear(2, 2), glassgrad.nn.ReLU())
    for protocol in (2, 5):
        twin = pickle.loads(pickle.dumps(model, protocol))
        assert twin(glassgrad.ones(1, 2)).equal(model(glassgrad.ones(1, 2)))
        assert b"torch" not in pickle.dumps(model, protocol)
