"""Samplers draw what PyTorch's draw, and leave the generators where it leaves them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import cases, check
from tests.counts import generated


def orders(torch, show):
    D = torch.utils.data
    torch.manual_seed(1)
    show("sequential", list(D.SequentialSampler(range(4))))
    show("random", list(D.RandomSampler(range(10))))
    show("again", list(D.RandomSampler(range(10))))
    show("replaced", list(D.RandomSampler(range(10), replacement=True)))
    show("many", list(D.RandomSampler(range(10), replacement=True, num_samples=70)))
    show("beyond", list(D.RandomSampler(range(10), num_samples=25)))
    show("fewer", list(D.RandomSampler(range(10), num_samples=3)))
    show("subset", list(D.SubsetRandomSampler([5, 7, 9, 11])))
    show("weights", list(D.WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5)))
    show("once", list(D.WeightedRandomSampler(torch.tensor([0.9, 0.4, 0.05, 0.2]), 4, replacement=False)))
    show("stream", torch.rand(3))
    own = torch.Generator().manual_seed(9)
    show("own", [list(D.RandomSampler(range(9), generator=own)) for _ in range(2)])
    show("own subset", list(D.SubsetRandomSampler(range(9), generator=own)))
    show("own weights", list(D.WeightedRandomSampler([1.0, 2.0], 6, generator=own)))
    show("own replaced", list(D.RandomSampler(range(9), True, 40, own)))
    show("lengths", [len(D.RandomSampler(range(10), num_samples=25)), len(D.WeightedRandomSampler([1.0], 3))])
    show("unused", torch.rand(3))


def lazily(torch, show):
    D = torch.utils.data
    torch.manual_seed(2)
    order = iter(D.RandomSampler(range(5)))
    first = torch.rand(1)
    show("a seed is drawn when the first index is", [first, list(order), torch.rand(1)])


def batches(torch, show):
    D = torch.utils.data
    for size in (1, 3, 4, 5, 20):
        for drop in (False, True):
            batches = D.BatchSampler(D.SequentialSampler(range(10)), size, drop)
            show(f"{size} {drop}", [list(batches), len(batches)])
    show("any iterable", list(D.BatchSampler("abc", 2, False)))


def refusals(torch, show):
    D = torch.utils.data
    for wrong in (0, -1, 1.5, True, None):
        show.error(lambda: D.BatchSampler(range(3), wrong, False))
        show.error(lambda: D.WeightedRandomSampler([1.0], wrong))
    for wrong in (0, -1, 1.5, "x"):
        show.error(lambda: D.RandomSampler(range(3), num_samples=wrong))
    show.error(lambda: D.BatchSampler(range(3), 2, 1))
    show.error(lambda: D.RandomSampler([]))
    show.error(lambda: D.RandomSampler(range(3), replacement=1))
    show.error(lambda: D.WeightedRandomSampler([1.0], 1, 3))
    show.error(lambda: D.WeightedRandomSampler([[1.0]], 1))
    show.error(lambda: list(D.WeightedRandomSampler([1.0], 2, False)))
    show.error(lambda: list(D.Sampler()), words=False)


def distributed(torch, show):
    D = torch.utils.data
    for length in (0, 1, 2, 7, 12):
        for replicas in (1, 3, 5):
            for drop in (False, True):
                for shuffle in (False, True):
                    parts = []
                    for rank in range(replicas):
                        sampler = D.DistributedSampler(range(length), replicas, rank, shuffle, 4, drop)
                        sampler.set_epoch(2)
                        parts.append([len(sampler), sampler.total_size])
                        if length or drop:
                            show.error(lambda: list(sampler))
                    show(f"{length} {replicas} {drop} {shuffle}", parts)
    show.error(lambda: D.DistributedSampler(range(3), 2, 2))
    show.error(lambda: D.DistributedSampler(range(3), 2, -1))


@pytest.mark.torch
@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_agrees(program):
    check(program)


@pytest.mark.torch
@given(st.integers(1, 70), st.booleans(), st.none() | st.integers(1, 150), st.integers(0, 2**64 - 1))
@generated(60)
def test_random_orders_are_pytorch_s(length, replacement, count, seed):
    from tests.torch_reference import torch

    found = []
    for library in (torch, glassgrad):
        library.manual_seed(seed)
        order = list(library.utils.data.RandomSampler(range(length), replacement, count))
        found.append((order, library.rand(1).item()))
    assert found[0] == found[1]


@pytest.mark.torch
@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=20), st.integers(1, 30), st.integers(0, 2**64 - 1))
@generated(40)
def test_weighted_orders_are_pytorch_s(weights, count, seed):
    from tests.torch_reference import torch

    found = []
    for library in (torch, glassgrad):
        library.manual_seed(seed)
        draw = library.utils.data.WeightedRandomSampler
        found.append((list(draw(weights, count)), list(draw(weights, min(count, len(weights)), False))))
    assert found[0] == found[1]


@given(st.integers(1, 50), st.integers(1, 12), st.booleans())
@generated(60)
def test_batches_hold_all_indices_in_order(length, size, drop):
    data = glassgrad.utils.data
    batches = data.BatchSampler(data.SequentialSampler(range(length)), size, drop)
    found = list(batches)
    assert len(found) == len(batches)
    assert all(len(batch) == size for batch in found[:-1])
    kept = length - length % size if drop else length
    assert [index for batch in found for index in batch] == list(range(kept))


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 5))
@generated(40)
def test_replicas_share_the_work(length, replicas, epoch):
    samplers = [glassgrad.utils.data.DistributedSampler(range(length), replicas, rank) for rank in range(replicas)]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    parts = [list(sampler) for sampler in samplers]
    assert len({len(part) for part in parts}) == 1
    assert {index for part in parts for index in part} == set(range(length))
