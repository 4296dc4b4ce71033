"""Sums of many numbers are as exact as PyTorch's, however their elements lie in memory."""

import itertools

import numpy as np
import pytest

import glassgrad
from tests.property.conditioning import numbers
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

LAYOUTS = {
    "in rows": lambda x: x,
    "in columns": lambda x: x.transpose(0, -1).contiguous().transpose(0, -1),
    "turned": lambda x: x.transpose(0, -1),
    "moved": lambda x: x.movedim(0, -1),
    "in steps": lambda x: x[..., ::2],
    "expanded": lambda x: x[..., :1].expand(x.shape),
}
SUMS = {
    "sum": lambda x, dims: x.sum(dims),
    "mean": lambda x, dims: x.mean(dims, keepdim=True),
    "nansum": lambda x, dims: x.nansum(dims),
    "norm": lambda x, dims: x.norm(2, dims),
    "var": lambda x, dims: x.var(dims),
    "gradient": lambda x, dims: _back(x, dims),
}


def _back(x, dims):
    """The gradient of what was expanded along dimensions: the sum of what arrives there."""
    engine = torch if isinstance(x, torch.Tensor) else glassgrad
    leaf = engine.zeros([1 if dim in dims else size for dim, size in enumerate(x.shape)], dtype=x.dtype)
    return engine.autograd.grad(leaf.requires_grad_() + x, leaf, x)[0]


def _off(truth, computed):
    assert np.array_equal(np.isnan(truth), np.isnan(computed))
    return np.sqrt(np.nanmean((truth - computed) ** 2) / np.nanmean(truth**2)) if np.nansum(truth**2) else 0.0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(7, 20000, 2), (2, 20000), (100, 2, 100, 3)])
def test_sums_are_exact_in_every_layout(shape, layout):
    drawn = np.random.default_rng(0).uniform(0.5, 1.5, shape).astype("float32")
    theirs, ours = (LAYOUTS[layout](engine.tensor(drawn)) for engine in (torch, glassgrad))
    truth = LAYOUTS[layout](torch.tensor(drawn).double())
    least = 1e-5 if layout == "expanded" else 1e-6  # BLAS rounds sums of equal numbers to one side
    for count in range(1, len(shape) + 1):
        for dims in itertools.combinations(range(len(shape)), count):
            for name, summed in SUMS.items():
                wanted, yours, mine = (numbers(summed(x, dims).double()) for x in (truth, theirs, ours))
                assert _off(wanted, mine) <= 5 * _off(wanted, yours) + least, (name, dims)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize("number", [0.1, 1 / 3, 7.7, 123.456])
def test_equal_numbers_have_no_variance(number, dtype):
    for count in (3, 7, 100, 999, 20000):
        for shape, dims in (((count, 4), 0), ((4, count), 1), ((4, count), (1,)), ((3, count, 2), (0, 1))):
            for x in (made := glassgrad.full(shape, number, dtype=getattr(glassgrad, dtype)), made.mT.contiguous().mT):
                assert not x.var(dims).any(), (shape, dims)
                assert not x.std(dims, keepdim=True).any(), (shape, dims)
