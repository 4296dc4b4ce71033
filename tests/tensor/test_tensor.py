"""The Tensor itself: array, version, place in the graph; what aliases share, what views remember, what may be set."""

import gc
import weakref
from collections import OrderedDict

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.core.record import Record
from glassgrad.core.tensor import LEAF, View, alias, edge_of, share, wrap
from tests.agreement import check
from tests.autograd.both import both


def attributes(torch, show):
    x = torch.arange(6.0).reshape(2, 3)
    for t in (x, x.t(), x[0], x[0, 1], x.to(torch.int8), x.requires_grad_(), x * 2, (x * 2)[0], torch.tensor(3)):
        show("what", [t.shape, str(t.dtype), str(t.device), t.ndim, t.itemsize, t.nbytes, str(t.layout)])
        show("where", [t.requires_grad, t.is_leaf, t.grad_fn, t.output_nr, t._version, t._is_view(), t._base is None])


def assigned_gradients(torch, show):
    x = torch.ones(2, requires_grad=True)
    for wrong in (torch.ones(3), 3, torch.ones(2, dtype=torch.float64), x, "grad"):
        show.error(lambda wrong=wrong: setattr(x, "grad", wrong))
    x.grad = torch.tensor([1.0, 2.0])
    (x * 3).sum().backward()
    show("added to", x.grad)
    x.grad = None
    show("none", x.grad)
    del x.grad
    show.warnings(lambda: (x * 2).grad)


def wanting_gradients(torch, show):
    show.error(lambda: torch.tensor([1, 2]).requires_grad_())
    show.error(lambda: torch.tensor([True], requires_grad=True))
    show.error(lambda: torch.tensor([1], requires_grad=True))
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    show.error(lambda: y.requires_grad_(False))
    show.error(lambda: setattr(y, "requires_grad", False))
    y.requires_grad_(True)
    show("detached", [y.detach(), y.detach().requires_grad_(), y.data])
    x.requires_grad = False
    show("no more", [(x * 2).requires_grad, y.requires_grad])
    y.detach_()
    show("cut", [y.requires_grad, y.is_leaf, y.grad_fn])
    show.error(lambda: torch.ones(1).retain_grad())
    show.error(lambda: torch.ones(1).register_hook(print))
    show.error(lambda: torch.ones(1).register_post_accumulate_grad_hook(print))
    z = torch.ones(2, requires_grad=True) * 2
    show.error(lambda: z.register_post_accumulate_grad_hook(print))


def data(torch, show):
    """.data shares memory, not the version; assigning it changes the memory below the same tensor."""
    x = torch.ones(3, requires_grad=True)
    x.data.mul_(2)
    show("written", [x, x._version])
    x.detach().mul_(2)
    show("counted", [x, x._version])
    x.data = torch.tensor([5.0, 6.0])
    show("another", [x, x.requires_grad, x.is_leaf])
    (x * 2).sum().backward()
    show("grad", x.grad)
    show.error(lambda: setattr(x, "data", 3))


def versions(torch, show):
    x = torch.zeros(2, 3)
    view, twin, copy = x[0], x.detach(), x.clone()
    x.add_(1)
    show("after add_", [x._version, view._version, twin._version, copy._version])
    view[0] = 5
    twin.zero_()
    show("after all", [x._version, view._version, twin._version, copy._version, x])


test_same_as_torch = both(attributes, assigned_gradients, wanting_gradients, data, versions)


def test_a_result_of_no_dimensions_stays_a_scalar_until_somebody_shares_it():
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    assert type(y._array) is np.float32
    assert y._counter is None
    view = y.view(1)
    assert type(y._array) is np.ndarray
    assert view._counter is y._counter
    view.mul_(2)
    assert y.item() == 8.0


def test_places_in_the_graph():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert torch.ones(2)._edge is None
    assert x._edge is LEAF and repr(LEAF) == "LEAF"
    assert isinstance(y._edge, Record)
    assert type(y[0]._edge) is View
    assert edge_of(torch.ones(2)) is None
    assert edge_of(x) is x
    assert edge_of(y) is y._edge
    assert edge_of(y[0]) is not None


def test_the_base_of_a_view_is_never_a_view():
    x = torch.arange(6.0)
    view = x.view(2, 3)[1][1:]
    assert view._base is x
    assert x._base is None


def test_share_makes_one_version_for_all_aliases():
    x = torch.ones(2) * 1
    assert x._counter is None
    version = share(x)
    assert share(x) is version is alias(x)._counter
    record = (torch.ones(2, requires_grad=True) * 2)._edge
    y = wrap(np.ones(2))
    y._edge = record
    assert share(y) is record.counter


def test_a_view_rereads_its_history_when_its_base_was_written():
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    view = y[1:]
    first = view.grad_fn
    assert type(first).__name__ == "SliceBackward0"
    y.mul_(3)
    assert type(view.grad_fn).__name__ == "AsStridedBackward0"
    assert view.grad_fn is view.grad_fn, "and reads it once"
    view.sum().backward()
    assert x.grad.tolist() == [0.0, 3.0, 3.0, 3.0]


def test_a_view_keeps_its_base_and_no_base_its_views():
    gc.disable()
    try:
        y = torch.ones(4, requires_grad=True) * 1
        view = y[1:]
        base, seen = weakref.ref(y), weakref.ref(view)
        del y
        assert base() is not None
        del view
        assert seen() is None and base() is None
    finally:
        gc.enable()


def test_tensors_take_attributes_and_compare_by_identity_in_sets():
    x, y = torch.ones(2), torch.ones(2)
    x.note = "mine"
    assert x.note == "mine"
    assert {x, x, y} == {x, y}
    assert len({x, y}) == 2


def test_no_operation_writes_to_its_inputs():
    """Every public elementwise function leaves what it is given, and gives memory of its own."""
    for name in ("add", "mul", "exp", "neg", "relu", "clamp", "abs", "round", "clone", "pow"):
        x = torch.tensor([[-1.0, 2.0], [0.5, 3.0]])
        extra = {"add": (1,), "mul": (1,), "clamp": (-5, 5), "pow": (1,)}.get(name, ())
        out = getattr(torch, name)(x, *extra)
        out.fill_(9)
        assert x.tolist() == [[-1.0, 2.0], [0.5, 3.0]], name


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64", "complex64", "int64", "bool"])
def test_arrays_and_dtypes_agree(kind):
    x = torch.ones(2, dtype=getattr(torch, kind))
    assert x.dtype is getattr(torch, kind)
    assert x.itemsize * 2 == x.nbytes == x._array.nbytes


READ_ONLY = (
    "shape grad_fn is_leaf layout device dtype output_nr _version _base ndim T mT H is_cpu nbytes itemsize "
    "retains_grad name is_sparse is_quantized requires_grad data _backward_hooks"
).split()


@pytest.mark.torch
@pytest.mark.once
@pytest.mark.parametrize("name", READ_ONLY)
def test_what_tensors_do_not_let_be_set_or_deleted(name):
    def program(torch, show):
        x = torch.ones(2, 2, requires_grad=True)
        show.error(lambda: delattr(x, name), "deleted")
        show.error(lambda: setattr(x, name, None), "set", words="" if name == "data" else True)
        show("after", x)

    check(program)


@pytest.mark.torch
def test_backward_hooks_can_be_put_as_one():
    def program(torch, show):
        hooks = OrderedDict({1: lambda grad: grad * 5})
        x = torch.ones(2, requires_grad=True)
        show("at first", x._backward_hooks)
        x.register_hook(lambda grad: grad * 3)
        show("registered", [type(x._backward_hooks).__name__, len(x._backward_hooks)])
        x._backward_hooks = hooks
        x.sum().backward()
        show("put", [x.grad, x._backward_hooks is hooks])
        x._backward_hooks = None
        x.sum().backward()
        show("taken away", [x.grad, x._backward_hooks])
        y = torch.ones(2)
        y._backward_hooks = hooks
        y.requires_grad_().sum().backward()
        show("put early", y.grad)

    check(program)
