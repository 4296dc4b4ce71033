"""Tensors handed to NumPy, DLPack, pickles and copies, and back: what is shared, what is kept, what is refused."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import sys

import numpy as np
import pytest

import glassgrad
from glassgrad.nn.parameter import Parameter
from tests.outcome import outcome

TORCH = pytest.mark.torch


def again(value):
    """A value out of its own pickle."""
    return pickle.loads(pickle.dumps(value))


EXPRESSIONS = """
torch.ones(2).numpy()
torch.ones(2, 3).t().numpy()
torch.tensor(3.).numpy()
torch.ones(2, dtype=torch.bfloat16).numpy()
torch.ones(2, dtype=torch.complex64).numpy()
torch.ones(2, dtype=torch.bool).numpy()
torch.ones(2, requires_grad=True).numpy()
(torch.ones(2, requires_grad=True) * 2).numpy()
torch.ones(2, requires_grad=True).numpy(force=True)
torch.ones(2, requires_grad=True).detach().numpy()
torch.ones(2, device="meta").numpy()
np.asarray(torch.ones(2))
np.asarray(torch.ones(2, requires_grad=True))
np.asarray(torch.ones(2), dtype=np.int64)
np.asarray(torch.ones(2, dtype=torch.bfloat16))
np.asarray(torch.tensor(3.))
np.asarray(torch.ones(2, device="meta"))
np.array(torch.ones(2), dtype=np.float64)
np.array([torch.tensor(1.), torch.tensor(2.)])
np.array([torch.ones(2), torch.ones(2)])
torch.ones(2).__array__(np.float64)
np.ones(2) * torch.ones(2)
torch.ones(2) * np.ones(2)
torch.ones(2, 2) @ np.ones((2, 2))
np.ones((2, 2)) @ torch.ones(2, 2)
np.float64(2) * torch.ones(2)
np.float32(2) * torch.ones(2)
np.int64(2) * torch.ones(2)
torch.ones(2) * np.float64(2)
np.float64(2) - torch.ones(2, requires_grad=True)
torch.ones(2, requires_grad=True) ** np.float64(2)
torch.ones(2, requires_grad=True) * np.ones(2)
np.ones(2) - torch.ones(2)
np.add(torch.ones(2), np.ones(2))
np.sin(torch.ones(2))
np.sin(torch.ones(2, requires_grad=True))
np.exp(torch.ones(2, dtype=torch.int64))
np.equal(torch.ones(2), 1)
np.abs(-torch.ones(2))
np.concatenate([torch.ones(2), torch.ones(2)])
np.dot(torch.ones(2), torch.ones(2))
np.allclose(torch.ones(2), torch.ones(2))
np.where(torch.ones(2) > 0, 1, 2)
np.reshape(torch.ones(4), (2, 2))
np.ones(3)[torch.tensor([0, 1])]
[1, 2, 3][torch.tensor(1)]
torch.from_dlpack(torch.ones(2))
torch.from_dlpack(np.arange(3.))
torch.from_dlpack(torch.ones(2).__dlpack__())
torch.from_dlpack(torch.ones(2, requires_grad=True))
torch.from_dlpack(3)
np.from_dlpack(torch.arange(3.))
np.from_dlpack(torch.ones(2, 3).t())
np.from_dlpack(torch.ones(2, requires_grad=True))
torch.ones(2, requires_grad=True).__dlpack__()
torch.ones(2, 3).untyped_storage().nbytes()
len(torch.arange(6.)[2:4].untyped_storage())
torch.arange(6.)[2:].data_ptr() - torch.arange(6.)[2:].data_ptr() % 4 > 0
torch.arange(6.)[2:].storage_offset()
torch.arange(3.).untyped_storage()[0]
torch.arange(6.)[2:].storage()[0]
torch.arange(3.).storage().tolist()
len(torch.ones(3).storage())
torch.ones(3).is_shared()
torch.ones(3).share_memory_().is_shared()
torch.ones(3).pin_memory()
torch.ones(3).is_pinned()
torch.ones(3).cuda()
torch.arange(3.).apply_(lambda x: x * 2)
torch.arange(3).apply_(lambda x: x * 2)
torch.ones(3, requires_grad=True).apply_(lambda x: x)
torch.arange(3.).apply_(3)
torch.arange(3.).map_(torch.ones(3), lambda a, b: a + b)
torch.arange(3.).map_(torch.ones(2), lambda a, b: a + b)
torch.arange(3.).map_(torch.ones(3, requires_grad=True), lambda a, b: a + b)
torch.arange(3.).map2_(torch.ones(3), torch.ones(3), lambda a, b, c: a + b + c)
torch.is_tensor(np.ones(2))
torch.is_tensor(torch.ones(2))
torch.is_storage(torch.ones(1).untyped_storage())
torch.is_storage(3)
torch.is_floating_point(torch.ones(2))
torch.is_floating_point(3)
torch.numel(torch.ones(2, 3))
torch.ones(2, device="meta").data_ptr()
torch.ones(2, device="meta").item()
torch.ones(1, device="meta").item()
torch.ones(2, device="meta").tolist()
float(torch.ones((), device="meta"))
bool(torch.ones((), device="meta"))
torch.ones(2, device="meta").cpu()
torch.ones(2).to("meta")
torch.ones(2, device="meta") + torch.ones(2)
torch.ones(3).copy_(torch.ones(3, device="meta"))
torch.ones(3, device="meta").copy_(torch.ones(3))
""".strip().splitlines()


@TORCH
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_as_torch(expression):
    """Values, dtypes, errors and their words."""
    from tests.torch_reference import torch

    assert outcome(expression, glassgrad) == outcome(expression, torch)


# -- shared memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: glassgrad.ones(3), lambda: glassgrad.ones(()), lambda: glassgrad.ones(()) * 2,
    lambda: glassgrad.ones(2, 3).t(),
    lambda: glassgrad.arange(6.0)[::2],
], ids=["vector", "0-d", "computed 0-d", "transposed", "strided"])  # fmt: skip
@pytest.mark.parametrize("hand_over", [
    lambda t: t.numpy(), np.asarray, np.from_dlpack, lambda t: t.detach().numpy(),
], ids=["numpy", "asarray", "dlpack", "detach"])  # fmt: skip
def test_both_sides_see_each_others_writes(make, hand_over):
    """A write on either side of the border shows on the other."""
    tensor = make()
    array = hand_over(tensor)
    array[...] = 5
    assert np.all(np.asarray(tensor) == 5)
    tensor.add_(1)
    assert np.all(array == 6)


def test_arrays_become_tensors_on_their_memory():
    """``from_numpy`` and ``from_dlpack`` look at the array's memory."""
    for make in (glassgrad.from_numpy, glassgrad.from_dlpack):
        array = np.arange(3.0)
        tensor = make(array)
        array[0] = 9
        tensor[1] = 8
        assert tensor.tolist() == [9, 8, 2] and array.tolist() == [9, 8, 2]


def test_the_array_is_an_object_of_its_own():
    """What is done to the array object leaves the tensor's shape alone."""
    tensor = glassgrad.ones(4)
    array = tensor.numpy()
    assert array is not tensor.numpy()
    array.shape = (2, 2)
    assert tensor.shape == (4,)


@TORCH
def test_capsules_pass_between_the_libraries():
    """DLPack carries memory from glassgrad to PyTorch and back, bfloat16 from PyTorch too."""
    from tests.torch_reference import torch

    ours = glassgrad.arange(6.0).view(2, 3).t()
    theirs = torch.from_dlpack(ours)
    theirs[0, 1] = 77
    assert ours[0, 1].item() == 77 and theirs.stride() == ours.stride()
    back = glassgrad.from_dlpack(theirs)
    back[0, 0] = -1
    assert theirs[0, 0].item() == -1 and ours[0, 0].item() == -1
    small = glassgrad.from_dlpack(torch.tensor([1.5, -2.0], dtype=torch.bfloat16))
    assert small.dtype is glassgrad.bfloat16 and small.tolist() == [1.5, -2.0]
    assert torch.from_numpy(ours.numpy()).tolist() == ours.tolist()


# -- pickles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda: glassgrad.ones(2), lambda: glassgrad.ones(2, 3).t(), lambda: glassgrad.arange(12.0).view(2, 6)[:, ::2],
    lambda: glassgrad.tensor(3.0), lambda: glassgrad.ones(2, dtype=glassgrad.bfloat16), lambda: glassgrad.ones(0, 3),
    lambda: glassgrad.tensor([1j, 2]), lambda: glassgrad.tensor([True, False]),
    lambda: glassgrad.ones(2, requires_grad=True),
    lambda: glassgrad.ones(2, requires_grad=True) * 2, lambda: glassgrad.ones(3, 1).expand(3, 4),
    lambda: Parameter(glassgrad.ones(2)), lambda: Parameter(glassgrad.ones(2), requires_grad=False),
    lambda: glassgrad.ones(2, device="meta"),
])  # fmt: skip
def test_pickles_keep_the_tensor(make):
    """Class, dtype, sizes, strides, elements and ``requires_grad`` survive, and whether it is a leaf."""
    before = make()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        after = pickle.loads(pickle.dumps(before, protocol))
        assert type(after) is type(before)
        assert (after.dtype, after.shape, after.device) == (before.dtype, before.shape, before.device)
        assert after.stride() == before.stride() and after.requires_grad == before.requires_grad
        assert after.is_leaf == before.is_leaf
        if before.device.type != "meta":
            assert after.tolist() == before.tolist()
            after.detach().add_(after.detach().clone()) if 0 not in after.stride() else None


def test_pickled_tensors_take_the_everyday_path():
    """Out of a pickle comes the very dtype object that fast paths look for."""
    for kind in (glassgrad.float32, glassgrad.float64, glassgrad.int64):
        assert again(glassgrad.ones(2, dtype=kind))._array.dtype is kind.numpy
        assert glassgrad.from_numpy(pickle.loads(pickle.dumps(np.ones(2, kind.numpy))))._array.dtype is kind.numpy


def test_views_of_one_pickle_share_memory():
    """Views, aliases and the same tensor twice are what they were."""
    base = glassgrad.arange(6.0)
    whole, part, turned, same, alias = again((base, base[2:4], base.view(2, 3).t(), base, base.detach()))
    assert same is whole
    part[0] = 9
    turned[0, 0] = 8
    alias[5] = 7
    assert whole.tolist() == [8, 1, 9, 3, 4, 7]
    assert base.tolist() == [0, 1, 2, 3, 4, 5]


def test_attributes_survive_and_gradients_do_not():
    """What the user hung on a tensor is kept; ``.grad`` and hooks are not, the latter with a warning."""
    tensor = glassgrad.ones(2, requires_grad=True)
    tensor.note = [1]
    tensor.grad = glassgrad.ones(2)
    after = again(tensor)
    assert after.note == [1] and after.grad is None
    tensor.register_hook(abs)
    with pytest.warns(UserWarning, match="backward hook .* on tensor will not be serialized"):
        pickle.dumps(tensor)


def test_pickles_of_freed_graphs_are_data():
    """A result at the end of a long graph pickles as its data once the graph is freed; nothing recurses."""
    x = glassgrad.ones(2, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y * x
    y.backward(glassgrad.ones(2))
    stream = io.BytesIO()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        pickle.dump(y, stream)
    finally:
        sys.setrecursionlimit(limit)
    assert stream.tell() < 1000
    del y
    gc.collect()


# -- copies -----------------------------------------------------------------------------------------------------------


def test_a_shallow_copy_shares_memory():
    """``copy.copy`` gives another tensor on the same memory."""
    tensor = glassgrad.ones(2)
    twin = copy.copy(tensor)
    twin[0] = 5
    assert twin is not tensor and tensor.tolist() == [5, 1]
    assert type(copy.copy(Parameter(glassgrad.ones(2)))) is Parameter


@pytest.mark.parametrize("make", [
    lambda: glassgrad.ones(2, 3).t(), lambda: glassgrad.arange(12.0).view(2, 6)[:, ::2], lambda: glassgrad.tensor(3.0),
    lambda: glassgrad.ones(2, requires_grad=True), lambda: Parameter(glassgrad.ones(2)),
    lambda: glassgrad.ones(2, device="meta"),
])  # fmt: skip
def test_a_deep_copy_is_apart(make):
    """``copy.deepcopy`` keeps layout, class and ``requires_grad``, and shares nothing."""
    before = make()
    after = copy.deepcopy(before)
    assert type(after) is type(before) and after.stride() == before.stride()
    assert after.requires_grad == before.requires_grad and after.is_leaf
    if before.device.type != "meta":
        assert after.tolist() == before.tolist()
        assert not np.shares_memory(np.asarray(after.detach()), np.asarray(before.detach()))


def test_deep_copies_keep_what_belongs_together():
    """The gradient and attributes are copied; memory that two tensors share is shared by their copies."""
    tensor = glassgrad.ones(2, requires_grad=True)
    tensor.grad = glassgrad.ones(2)
    tensor.note = [1]
    after = copy.deepcopy(tensor)
    assert after.grad.tolist() == [1, 1] and after.grad is not tensor.grad
    assert after.note == [1] and after.note is not tensor.note
    base = glassgrad.arange(6.0)
    whole, part, same = copy.deepcopy((base, base[2:4], base))
    part[0] = 9
    assert same is whole and whole.tolist() == [0, 1, 9, 3, 4, 5] and base.tolist() == [0, 1, 2, 3, 4, 5]


# -- the old types ----------------------------------------------------------------------------------------------------


def test_old_types_stand_for_dtypes():
    """``isinstance`` with ``FloatTensor`` and its like asks for the dtype."""
    assert isinstance(glassgrad.ones(2), glassgrad.FloatTensor)
    assert not isinstance(glassgrad.ones(2), glassgrad.DoubleTensor)
    assert isinstance(glassgrad.ones(2, dtype=glassgrad.int64), glassgrad.LongTensor)
    assert isinstance(Parameter(glassgrad.ones(2)), glassgrad.FloatTensor)
    assert not isinstance(3, glassgrad.FloatTensor)
    assert repr(glassgrad.FloatTensor) == "<class 'torch.FloatTensor'>"
    assert type(glassgrad.LongTensor([1, 2])) is glassgrad.Tensor


def test_the_default_type_can_be_set():
    """``set_default_tensor_type`` sets the default dtype, warns, and refuses integers."""
    with pytest.warns(UserWarning, match="deprecated as of PyTorch 2.1"):
        glassgrad.set_default_tensor_type("torch.DoubleTensor")
    assert glassgrad.zeros(1).dtype is glassgrad.float64
    with pytest.warns(UserWarning):
        glassgrad.set_default_tensor_type(glassgrad.FloatTensor)
    with pytest.warns(UserWarning), pytest.raises(TypeError, match="only floating-point types"):
        glassgrad.set_default_tensor_type(glassgrad.LongTensor)
    assert glassgrad.zeros(1).dtype is glassgrad.float32
