"""What a selection discarded stays without a gradient: analytic gradients, where PyTorch's are NaN."""

import collections
import threading

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.autograd import is_masked_gradients_enabled, masked_mode, set_masked_gradients
from glassgrad.autograd.masked_mode import _ALONE, is_elementwise
from glassgrad.core import plan
from glassgrad.core.record import Record
from glassgrad.core.row import TABLE
from glassgrad.ground import modes
from tests.laws import Call
from tests.samples import all_samples

BAD = [0.0, 4.0, -1.0, 9.0]  # of which a root likes the second and the last
ROOT = [0.0, 0.25, 0.0, 1 / 6]
ROOT_TWICE = [0.0, -1 / 32, 0.0, -1 / 108]
LOG = [0.0, 0.25, 0.0, 1 / 9]
LOG_TWICE = [0.0, -1 / 16, 0.0, -1 / 81]


def good(x):
    return (x > 0).detach()


def halved(x):
    out = torch.zeros_like(x)
    out[good(x)] = x.sqrt()[good(x)]
    return out


def written(x):
    out = x * 1
    out[:].sqrt_()
    return torch.where(good(x), out, 0.0)


CASES = {
    "where": (lambda x: torch.where(good(x), x.sqrt(), 0.0), ROOT, ROOT_TWICE),
    "where with a tensor": (lambda x: torch.where(good(x), x.sqrt(), torch.zeros_like(x)), ROOT, ROOT_TWICE),
    "power": (lambda x: torch.where(good(x), x**0.5, 0.0), ROOT, ROOT_TWICE),
    "power of a tensor": (lambda x: torch.where(good(x), x ** torch.full_like(x, 0.5), 0.0), ROOT, ROOT_TWICE),
    "masked_fill": (lambda x: x.sqrt().masked_fill(~good(x), 0.0), ROOT, ROOT_TWICE),
    "masked_select": (lambda x: x.sqrt().masked_select(good(x)), ROOT, ROOT_TWICE),
    "mask as an index": (lambda x: x.sqrt()[good(x)], ROOT, ROOT_TWICE),
    "whole numbers as an index": (lambda x: x.sqrt()[torch.tensor([1, 3])], ROOT, ROOT_TWICE),
    "index_select": (lambda x: x.sqrt().index_select(0, torch.tensor([1, 3])), ROOT, ROOT_TWICE),
    "gather": (lambda x: x.sqrt().gather(0, torch.tensor([1, 3])), ROOT, ROOT_TWICE),
    "selected into another": (halved, ROOT, ROOT_TWICE),
    "written in place": (written, ROOT, ROOT_TWICE),
    "logarithm": (lambda x: torch.where(good(x), x.log(), 0.0), LOG, LOG_TWICE),
    "a maximum that is another's": (
        lambda x: torch.maximum(x.log(), torch.full_like(x, -1.0))[good(x)],
        LOG,
        LOG_TWICE,
    ),
    "two in a row": (lambda x: torch.where(good(x), (x * x).log() * 0.5, 0.0), LOG, LOG_TWICE),
    "clamp": (lambda x: x.abs().log().clamp(min=0.1) * good(x), LOG, LOG_TWICE),
    "relu": (lambda x: torch.relu(x.abs().log()) * good(x), LOG, LOG_TWICE),
}


@pytest.mark.parametrize("name", CASES)
def test_is_the_analytic_gradient(name):
    function, first, second = CASES[name]
    x = torch.tensor(BAD, dtype=torch.float64, requires_grad=True)
    loss = function(x).sum()
    with set_masked_gradients(True):
        loss.backward(retain_graph=True)
        (grad,) = torch.autograd.grad(loss, x, create_graph=True)
        (twice,) = torch.autograd.grad(grad.sum(), x)
        nested = torch.func.grad(lambda x: function(x).sum())(x.detach())
    for got, wanted in ((x.grad, first), (grad.detach(), first), (twice, second), (nested.detach(), first)):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-14, atol=0)


def test_a_masked_division_by_broadcasting():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.0, 2.0], dtype=torch.float64, requires_grad=True)
    with set_masked_gradients(True):
        torch.where(y != 0, x / y, 7.0).sum().backward()
    assert x.grad.tolist() == [[0, 0.5], [0, 0.5]]
    assert y.grad.tolist() == [0, -1.5]


def test_a_walk_of_nothing_but_zeros_gives_zeros_through_any_operation():
    x = torch.tensor([[0.0, 0.0], [0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    loss = torch.where(torch.tensor(False), torch.linalg.eigh(x)[1].sum(), 1.0)
    assert torch.autograd.grad(loss, x, retain_graph=True)[0].isnan().any()
    with set_masked_gradients(True):
        assert torch.autograd.grad(loss, x)[0].tolist() == [[0, 0], [0, 0]]


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_a_batch_of_examples():
    def function(x):
        return torch.where(x > 0, x.sqrt(), 0.0)

    x = torch.tensor(BAD, dtype=torch.float64)
    with set_masked_gradients(True):
        np.testing.assert_allclose(torch.func.vmap(torch.func.grad(function))(x).numpy(), ROOT)


def test_what_no_selection_discarded_stays_nan():
    x = torch.tensor([0.0, -1.0], requires_grad=True)
    with set_masked_gradients(True):
        (infinite,) = torch.autograd.grad(x.sqrt().sum(), x)
        (spoiled,) = torch.autograd.grad((x.log() * float("nan")).sum(), x)
    assert infinite[0].isinf() and infinite[1].isnan()
    assert spoiled.isnan().all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64"])
def test_every_dtype(dtype):
    x = torch.tensor([0.0, 4.0], dtype=getattr(torch, dtype), requires_grad=True)
    with set_masked_gradients(True):
        torch.where(torch.tensor([False, True]), x.sqrt(), 0.0).sum().abs().backward()
    assert x.grad.dtype is x.dtype
    assert x.grad.tolist() == [0, 0.25]


def test_is_a_switch_of_this_thread_and_a_block():
    seen = []
    assert not is_masked_gradients_enabled()
    switch = set_masked_gradients(True)
    try:
        assert is_masked_gradients_enabled()
        thread = threading.Thread(target=lambda: seen.append(is_masked_gradients_enabled()))
        thread.start()
        thread.join()
        with set_masked_gradients(False):
            assert not is_masked_gradients_enabled()
        assert is_masked_gradients_enabled()
        with switch:
            pass
        assert not is_masked_gradients_enabled() and not modes.unusual
    finally:
        set_masked_gradients(False)
    assert seen == [False]


def test_off_it_is_as_in_pytorch():
    x = torch.tensor(BAD, requires_grad=True)
    torch.where(x > 0, x.sqrt(), 0.0).sum().backward()
    assert x.grad.isnan().tolist() == [True, False, True, False]


@pytest.mark.parametrize("name", sorted(_ALONE))
def test_names_are_those_of_rows(name):
    assert name in TABLE


def made_by(sample):
    """The records of rows that are element by element, of one call of a sample."""
    if not sample.gradient or "float64" not in sample.only:
        return []
    outputs = Call(sample, torch, "float64")()
    edges = [out._edge for out in outputs if isinstance(out, torch.Tensor) and 1 < out.numel() < 30]
    return [
        (edge, out) for edge, out in zip(edges, outputs, strict=False)
        if isinstance(edge, Record) and edge.kind.row is not None and is_elementwise(edge.kind.row)
    ]  # fmt: skip


@pytest.mark.once
def test_what_counts_as_elementwise_is(monkeypatch):
    """A gradient that arrives at one place changes what a rule gives there, and nowhere else."""
    given = []

    def look(row, arriving, gradient):
        given.append(np.array(gradient))
        return gradient

    monkeypatch.setattr(masked_mode, "_clean", look)
    tried, calls = set(), collections.Counter()
    for sample in all_samples():
        calls[sample.name] += 1
        if calls[sample.name] > 3:
            continue
        for record, out in made_by(sample):
            for place in np.ndindex(out._array.shape):
                grad = np.zeros(out._array.shape, out._array.dtype)
                grad[place] = 1
                with set_masked_gradients(True):
                    plan.gradients(record, grad, True)
                for gradient in given:
                    if gradient.shape == grad.shape:
                        gradient[place] = 0
                        assert not np.nan_to_num(gradient).any(), sample.id
                given.clear()
            tried.add(record.kind.row.name)
    assert len(tried) > 100
