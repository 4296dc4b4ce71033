"""Bags of embeddings, as function and layer; rows shortened to a greatest norm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import check
from tests.counts import generated

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_layer(mode):
    def program(torch, show):
        for kwargs in ({}, {"padding_idx": -1}, {"include_last_offset": True}, {"dtype": torch.float64}):
            torch.manual_seed(1)
            layer = torch.nn.EmbeddingBag(6, 3, mode=mode, **kwargs)
            show("repr", repr(layer))
            show("weight", layer.weight)
            index = torch.tensor([1, 2, 5, 5, 0, 2, 2])
            flat = (index, torch.tensor([0, 3, 3, 7]))
            for args in (flat, (index[:6].reshape(2, 3),), (index.int()[:6].view(3, 2),)):
                y = layer(*args)
                show("y", y)
                y.pow(2).sum().backward()
            show("gradient", layer.weight.grad)

    check(program)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(dtype):
    def program(torch, show):
        torch.manual_seed(0)
        weight = torch.randn(6, 3).to(getattr(torch, dtype)).requires_grad_()
        for mode in ("sum", "max"):
            y = torch.nn.functional.embedding_bag(torch.tensor([[1, 2], [5, 5]]), weight, mode=mode)
            show("y", y)
            y.sum().backward()
            show("gradient", weight.grad)

    check(program)


def test_options():
    def program(torch, show):
        F = torch.nn.functional
        torch.manual_seed(0)
        weight = torch.randn(5, 4, requires_grad=True)
        factors = torch.rand(6, requires_grad=True)
        index, offsets = torch.tensor([0, 1, 2, 2, 4, 0]), torch.tensor([0, 2, 2, 5])
        for padding in (None, 0, -3):
            y = F.embedding_bag(index, weight, offsets, mode="sum", per_sample_weights=factors, padding_idx=padding)
            show("weighted", y)
            show("gradients", torch.autograd.grad(y.pow(2).sum(), (weight, factors)))
        for mode in ("sum", "mean"):
            y = F.embedding_bag(index, weight, offsets, mode=mode, scale_grad_by_freq=True)
            show("by frequency", torch.autograd.grad(y.sum(), weight))
        show("no bags", F.embedding_bag(index[:0], weight, offsets[:0]))
        show("empty bag", F.embedding_bag(index[:0], weight, offsets[:1], mode="max"))
        show("edges", [type(edge[0]).__name__ for edge in y.grad_fn.next_functions])
        made = torch.nn.EmbeddingBag.from_pretrained(torch.arange(6.0).reshape(3, 2), mode="sum", max_norm=2.0)
        show("pretrained", [repr(made), made.weight.requires_grad])
        show("shortened", made(torch.tensor([[0, 2]])))
        show("kept", made.weight)

    check(program)


def test_refusals():
    def program(torch, show):
        F, nn = torch.nn.functional, torch.nn
        weight, index, offsets = torch.ones(5, 3), torch.tensor([0, 1, 2, 2, 4, 0]), torch.tensor([0, 2, 5])
        show.error(lambda: F.embedding_bag(index, weight))
        show.error(lambda: F.embedding_bag(index.view(2, 3), weight, offsets))
        show.error(lambda: F.embedding_bag(index, weight, offsets, mode="product"))
        show.error(lambda: F.embedding_bag(index, weight, offsets.view(1, 3)))
        show.error(lambda: F.embedding_bag(index.view(1, 2, 3), weight))
        show.error(lambda: F.embedding_bag(index, weight[0], offsets))
        show.error(lambda: F.embedding_bag(index, weight, offsets.float()))
        show.error(lambda: F.embedding_bag(index, weight, torch.tensor([0, 9])))
        show.error(lambda: F.embedding_bag(index, weight, torch.tensor([1, 2])), words="However, got 1")
        show.error(lambda: F.embedding_bag(index + 5, weight, offsets), words=False)
        show.error(lambda: F.embedding_bag(index, weight, offsets, padding_idx=7))
        show.error(lambda: F.embedding_bag(index, weight, offsets, mode="max", sparse=True))
        show.error(lambda: F.embedding_bag(index, weight, offsets, mode="max", scale_grad_by_freq=True))
        show.error(lambda: F.embedding_bag(index, weight, offsets, mode="mean", per_sample_weights=torch.ones(6)))
        show.error(lambda: F.embedding_bag(index, weight, offsets, mode="sum", per_sample_weights=torch.ones(3)))
        doubles = torch.ones(6).double()
        show.error(lambda: F.embedding_bag(index, weight, offsets, mode="sum", per_sample_weights=doubles))
        show.error(lambda: F.embedding_bag(index, weight, offsets[:0], include_last_offset=True))
        show.warnings(lambda: F.embedding_bag(weight, index.view(2, 3)))
        show.error(lambda: nn.EmbeddingBag(5, 3, padding_idx=5))
        show.error(lambda: nn.EmbeddingBag(5, 3, _weight=weight[:4]))
        show.error(lambda: nn.EmbeddingBag.from_pretrained(weight[0]))

    check(program)


def test_shortening_rows():
    def program(torch, show):
        F = torch.nn.functional
        for norm in (1, 2, 3.5, float("inf")):
            weight = torch.arange(12.0).reshape(4, 3)
            show("y", F.embedding(torch.tensor([1, 3, 1]), weight, max_norm=2.0, norm_type=norm))
            show("weight", weight)
        leaf = torch.nn.Parameter(torch.arange(12.0).reshape(4, 3))
        F.embedding(torch.tensor([1, 3]), leaf, max_norm=1.0).sum().backward()
        show("leaf", [leaf, leaf.grad, leaf._version])
        show.error(lambda: F.embedding(torch.tensor([1, 4]), leaf, max_norm=2.0))
        show.error(lambda: F.embedding(torch.tensor([1, -1]), leaf, max_norm=2.0))
        show.error(lambda: torch.embedding_renorm_(leaf, torch.tensor([1]), 1.0, 2.0))
        x = torch.arange(12.0).reshape(3, 4)
        show("renorm", [x.renorm(2, 0, 5.0), torch.renorm(x, 1, -1, 5.0), x.half().renorm(float("inf"), 1, 5)])
        show("in place", x.renorm_(1.5, 1, 3.0))
        show("written", x)
        show.error(lambda: x.renorm(0, 0, 1.0))
        show.error(lambda: x.renorm(2, 2, 1.0))
        show.error(lambda: x.renorm(2, 0, -1.0))
        show.error(lambda: x[0].renorm(2, 0, 1.0))
        show.error(lambda: x.long().renorm(2, 0, 1.0))

    check(program)


@generated(60)
@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=6),
    mode=st.sampled_from(["sum", "mean", "max"]),
    padding=st.sampled_from([None, 0, 3]),
    seed=st.integers(0, 100),
)
def test_bags_are_what_they_are_made_of(lengths, mode, padding, seed):
    """Each bag by itself, in NumPy; empty ones are zeros."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((4, 3))
    index = rng.integers(0, 4, sum(lengths))
    offsets = np.cumsum([0, *lengths])[:-1]
    found = glassgrad.nn.functional.embedding_bag(
        *map(glassgrad.from_numpy, (index, table, offsets)), mode=mode, padding_idx=padding
    )
    for bag, start, length in zip(found.numpy(), offsets, lengths, strict=True):
        rows = table[[i for i in index[start : start + length] if i != padding]]
        wanted = getattr(rows, mode)(0) if len(rows) else np.zeros(3)
        np.testing.assert_allclose(bag, wanted, rtol=1e-12, atol=1e-12)
