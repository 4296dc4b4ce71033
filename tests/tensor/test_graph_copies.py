"""Live graphs, copied by ``deepcopy`` and pickled: the copy has leaves of its own, and gives equal gradients."""

import copy
import io
import os
import pickle
import subprocess
import sys
import warnings

import pytest

import glassgrad as torch

LENGTH = int(os.environ.get("GLASSGRAD_LONG_COPIES", "20000"))  # a million by hand


class Cube(torch.autograd.Function):
    """A custom Function with attributes on its context, and an output that it saves."""

    @staticmethod
    def forward(ctx, x):
        square = x * x
        out = square * x
        ctx.save_for_backward(x, out)
        ctx.square, ctx.numbers = square, [3.0, {"one": 1}]
        return out

    @staticmethod
    def backward(ctx, grad):
        x, out = ctx.saved_tensors
        return grad * ctx.numbers[0] * ctx.square + 0 * out * x


def _in_place(x, w):
    y = x * 1
    y[0].mul_(w[0])
    y[:, 1] = w[1]
    y.exp_()
    return (y * y).sum()


def _read_again(x, w):
    y = x * 1
    row = y[1]
    y.mul_(w)
    return (row * row).sum()


def _twice(x, w):
    (grad,) = torch.autograd.grad((x * x * w).sum(), x, create_graph=True)
    return (grad * grad).sum()


def _saved_on_cpu(x, w):
    with torch.autograd.graph.save_on_cpu():
        return (x.exp() * w).sum()


def _largest(x, w):
    values, _ = torch.max(x * w, 1)
    return (values * x[0]).sum()


def _changed_since(x, w):
    with torch.no_grad():
        w.add_(1.0)
    return (x * w).exp().sum()


PROGRAMS = {
    "product": lambda x, w: (x * w + x).sum(),
    "matrices": lambda x, w: (x.exp() @ w).tanh().sum(),
    "leaf twice": lambda x, w: (x * x).sum() + x.sum() * w.sum(),
    "writes through views": _in_place,
    "a view read again": _read_again,
    "largest": _largest,
    "outputs": lambda x, w: sum(part.prod() for part in (x * w).unbind(0)),
    "custom": lambda x, w: Cube.apply(x * w).sum(),
    "bfloat16": lambda x, w: (x.bfloat16() * w.bfloat16()).sum().float(),
    "float64 and numbers": lambda x, w: (2 * x.double() ** 2 / w).sum(),
    "complex": lambda x, w: (torch.complex(x, w) * 1j).abs().sum(),
    "linear": lambda x, w: torch.nn.functional.cross_entropy(torch.nn.functional.linear(x, w), torch.tensor([0, 1, 2])),
    "list": lambda x, w: torch.cat([x, w, x * w]).pow(3).sum(),
    "index": lambda x, w: x[torch.tensor([0, 2])].sum() * w[w > 0].sum(),
    "transposed": lambda x, w: (x.t() * w).cumsum(0).prod(),
    "sparse": lambda x, w: (torch.sparse.mm(torch.eye(3).to_sparse(), x) * w).exp().sum(),
    "dropout": lambda x, w: torch.nn.functional.dropout(x * w).sum(),
    "checkpointed within the walk": lambda x, w: (
        torch.utils.checkpoint.checkpoint(torch.mul, x, w, use_reentrant=True).exp().sum()
    ),
    "second": _twice,
    "saved on cpu": _saved_on_cpu,
    "a leaf that was written": _changed_since,
}


def by_deepcopy(value):
    return copy.deepcopy(value)


def by_pickle(value):
    return pickle.loads(pickle.dumps(value))


def leaves():
    torch.manual_seed(3)
    return torch.rand(3, 3, requires_grad=True), torch.nn.Parameter(torch.rand(3, 3) + 0.5)


@pytest.mark.parametrize("how", [by_deepcopy, by_pickle])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_copy_has_equal_gradients_in_leaves_of_its_own(program, how):
    x, w = leaves()
    loss = PROGRAMS[program](x, w)
    x.grad = w.grad = None
    twin, a, b = how((loss, x, w))
    assert a is not x and b is not w and type(b) is torch.nn.Parameter
    assert twin.item() == loss.item() and twin.grad_fn.name() == loss.grad_fn.name()
    assert twin.dtype is loss.dtype
    twin.backward(retain_graph=True)
    assert x.grad is None and w.grad is None
    loss.backward()
    for one, other in ((x, a), (w, b)):
        assert (one.grad is None) == (other.grad is None)
        assert one.grad is None or torch.equal(one.grad, other.grad)
    twin.backward()  # still there, though the first graph is freed
    with pytest.raises(RuntimeError, match="second time"):
        twin.backward()


@pytest.mark.parametrize("how", [by_deepcopy, by_pickle])
def test_a_model_and_its_loss(how):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.BatchNorm1d(4), torch.nn.Dropout(), torch.nn.LSTM(4, 2)
    )
    loss = model(torch.randn(5, 3))[0].square().sum()
    twin, other = how((model, loss))
    other.backward()
    assert all(p.grad is None for p in model.parameters())
    loss.backward()
    for one, another in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.equal(one.grad, another.grad)


def test_deep_copies_of_two_results_share_their_graph():
    x, w = leaves()
    hidden = x.exp()
    loss = (hidden * w).sum()
    for values in ((hidden, loss, x), (loss, hidden, x), (x, loss, hidden)):
        copies = copy.deepcopy(values)
        a, h, one = (copies[[value is what for value in values].index(True)] for what in (x, hidden, loss))
        (of_hidden,) = torch.autograd.grad(one, h, retain_graph=True)
        assert torch.equal(of_hidden, w)
        one.backward()
        assert torch.equal(a.grad, hidden * w) and x.grad is None


def test_views_stay_views_of_copied_bases():
    x, _ = leaves()
    base = x * 2
    view = base[1]
    other_base, other_view, leaf = copy.deepcopy((base, view, x))
    assert other_view._base is other_base
    other_view.mul_(5)
    assert other_base[1].tolist() == pytest.approx((base[1] * 5).tolist()) and base._version == 0
    other_base.sum().backward()
    assert leaf.grad.tolist() == [[2] * 3, [10] * 3, [2] * 3]


def test_a_view_of_a_parameter_sees_its_copy():
    w = torch.nn.Parameter(torch.ones(4))
    loss = w.view(2, 2).exp().sum()
    flat = w.view(2, 2)
    twin, other = copy.deepcopy((w, flat))
    with torch.no_grad():
        twin[0] = 7
    assert other[0, 0].item() == 7
    assert w[0].item() == 1
    assert loss.grad_fn is not None


def test_versions_are_told_apart_in_the_copy():
    x, w = leaves()
    y = x * 1
    loss = (y * y).sum()
    for how in (by_deepcopy, by_pickle):
        twin = how(loss)
        y_of_twin = twin.grad_fn.next_functions[0][0]._saved_self
        y_of_twin.detach().zero_()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            twin.backward()
    y.detach().zero_()
    for how in (by_deepcopy, by_pickle):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            how(loss).backward()


def test_freed_graphs_stay_freed():
    x, w = leaves()
    loss = (x * w).exp().sum()
    loss.backward()
    twin = copy.deepcopy(loss)
    assert twin.grad_fn.name() == "SumBackward0"
    with pytest.raises(RuntimeError, match="second time"):
        (twin * 1).backward()


def test_a_freed_graph_pickles_as_data():
    x, w = leaves()
    hidden = (x * w).exp()
    hidden.sum().backward()
    assert by_pickle(hidden).is_leaf


def test_hooks_are_left_behind_and_pickles_warn_of_it(recwarn):
    x, w = leaves()
    seen = []
    hidden = x * w
    hidden.register_hook(seen.append)
    hidden.grad_fn.register_prehook(lambda grads: seen.append(grads))
    loss = hidden.sum()
    by_deepcopy(loss).backward()
    assert not seen and not recwarn
    with pytest.warns(UserWarning, match="will not be serialized"):
        twin = by_pickle(loss)
    twin.backward()
    assert not seen
    loss.backward()
    assert len(seen) == 2


def test_what_retains_its_gradient_does_so_in_the_copy():
    x, w = leaves()
    hidden = x * w
    hidden.retain_grad()
    loss = hidden.square().sum()
    for how in (by_deepcopy, by_pickle):
        twin, other = copy.deepcopy((loss, hidden)) if how is by_deepcopy else (how(loss), None)
        twin.backward()
        assert other is None or torch.equal(other.grad, 2 * hidden)
        assert hidden.grad is None


def test_attributes_and_classes_survive():
    x, w = leaves()
    y = x * w
    y.note = ["mine"]
    for how in (by_deepcopy, by_pickle):
        twin = how(y)
        assert twin.note == ["mine"] and twin.note is not y.note


def test_what_cannot_be_copied_says_so():
    x, w = leaves()
    loss = torch.utils.checkpoint.checkpoint(lambda x: (x * w).exp().sum(), x, use_reentrant=False)
    for how in (by_deepcopy, by_pickle):
        with pytest.raises(TypeError, match="checkpointed part"):
            how(loss)
    loss.backward()
    assert x.grad is not None


def test_files_and_shallow_copies_hold_data_alone():
    x, w = leaves()
    y = x * w
    file = io.BytesIO()
    torch.save(y, file)
    file.seek(0)
    assert torch.load(file, weights_only=True).is_leaf
    shallow = copy.copy(y)
    assert shallow.is_leaf and shallow.data_ptr() == y.data_ptr()


def test_where_torch_is_glassgrad_pickles_are_pytorchs():
    program = (
        "from importlib import import_module; import_module('glassgrad.torch_alias').install()\n"
        "import torch, pickle, copy\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "print(pickle.loads(pickle.dumps(x * 2)).is_leaf, copy.deepcopy(x * 2).is_leaf)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


def test_another_process_goes_on():
    x, w = leaves()
    loss = (Cube.apply(x * w).exp() @ w).sum()
    program = (
        "import pickle, sys, tests.tensor.test_graph_copies\n"
        "loss, x = pickle.loads(sys.stdin.buffer.read())\n"
        "loss.backward(); sys.stdout.buffer.write(pickle.dumps(x.grad))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps((loss, x)), capture_output=True, check=True
    )
    loss.backward()
    assert torch.equal(pickle.loads(done.stdout), x.grad)


def test_no_depth_is_too_deep():
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(LENGTH):
        y = y * 1.0
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(250)
    try:
        twin, a = copy.deepcopy((y, x))
        other = by_pickle(y)
    finally:
        sys.setrecursionlimit(limit)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin.backward()
        other.backward()
    assert a.grad.item() == 1 and x.grad is None


def test_results_that_are_large_are_copied_as_small_ones():
    """Their way back may be another printed function, which reuses memory."""
    x = torch.ones(1 << 18, requires_grad=True)
    for copied in (pickle.loads(pickle.dumps(x * 2)), copy.deepcopy(x * 2)):
        leaf = copied.grad_fn.next_functions[0][0].variable
        copied.sum().backward()
        assert leaf is not x and leaf.grad[:2].tolist() == [2.0, 2.0]
