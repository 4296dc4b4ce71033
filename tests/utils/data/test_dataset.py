"""Datasets: what they give, join, split and refuse, compared with PyTorch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import cases, check
from tests.counts import generated

data = glassgrad.utils.data


def tensor_dataset(torch, show):
    D = torch.utils.data
    both = D.TensorDataset(torch.arange(12.0).view(4, 3), torch.arange(4))
    show("sample", both[1])
    show("slice", both[1:3])
    show("list", both[[0, 2]])
    show("length", len(both))
    show.error(lambda: both[4])
    show.error(lambda: D.TensorDataset(torch.ones(2), torch.ones(3)))


def stack_dataset(torch, show):
    D = torch.utils.data
    first, second = D.TensorDataset(torch.arange(3)), range(10, 13)
    pair, named = D.StackDataset(first, second), D.StackDataset(x=first, y=second)
    show("samples", [pair[1], named[2], len(pair), len(named)])
    show("several", [pair.__getitems__([0, 2]), named.__getitems__([2, 1]), named.__getitems__([])])
    show.error(lambda: D.StackDataset(first, y=second))
    show.error(lambda: D.StackDataset())
    show.error(lambda: D.StackDataset(first, range(4)))
    show.error(lambda: D.StackDataset(a=first, b=range(4)))

    class Short(D.Dataset):
        def __len__(self):
            return 3

        def __getitems__(self, indices):
            return [0]

    show.error(lambda: D.StackDataset(Short()).__getitems__([0, 1]))
    show.error(lambda: D.StackDataset(a=Short()).__getitems__([0, 1]))


def joined(torch, show):
    D = torch.utils.data

    class Stream(D.IterableDataset):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            return iter(range(self.n))

        def __len__(self):
            return self.n

    class Numbers(D.Dataset):
        def __init__(self, *numbers):
            self.numbers = numbers

        def __len__(self):
            return len(self.numbers)

        def __getitem__(self, index):
            return self.numbers[index]

    both = Numbers(1, 2, 3) + Numbers() + Numbers(7)
    show("kind", type(both).__name__)
    show("concatenated", [len(both), [both[i] for i in range(-4, 4)], both.cumulative_sizes, both.datasets[1][0]])
    show("old name", show.warnings(lambda: both.cummulative_sizes))
    show.error(lambda: both[-5])
    show.error(lambda: both[4])
    show.error(lambda: D.ConcatDataset([]))
    show.error(lambda: D.ConcatDataset([Stream(2)]))
    chain = Stream(2) + Stream(3)
    show("chained", [type(chain).__name__, list(chain), len(chain)])
    show.error(lambda: list(D.ChainDataset([Numbers(1)])))
    show.error(lambda: len(D.ChainDataset([Numbers(1)])))
    show.error(lambda: D.Dataset()[0])
    show.error(lambda: len(D.Dataset()))
    show.error(lambda: next(iter(D.IterableDataset())), words=False)
    show("generic", issubclass(D.Dataset[int].__origin__, D.Dataset))


def subsets(torch, show):
    D = torch.utils.data
    part = D.Subset(range(10, 20), [3, 5, 7])
    show("part", [len(part), part[1], part[-1], part.__getitems__([0, 2])])
    tensors = D.Subset(D.TensorDataset(torch.arange(10)), [3, 5, 7])
    show("list", tensors[[0, 2]])
    nested = D.Subset(D.Subset(range(5), [4, 3, 2]), [0, 2])
    show("nested", nested.__getitems__([0, 1]))

    class Own(D.Subset):
        def __getitem__(self, index):
            return 0

    show.error(lambda: Own(range(3), [0]))


def splits(torch, show):
    D = torch.utils.data

    def parts(*args, **kwargs):
        return [list(part.indices) for part in D.random_split(*args, **kwargs)]

    torch.manual_seed(3)
    show("lengths", parts(range(10), [3, 7]))
    show("next", parts(range(10), [3, 7]))
    show("fractions", parts(range(11), [0.3, 0.3, 0.4]))
    show("generator", parts(range(11), [0.5, 0.5], generator=torch.Generator().manual_seed(5)))
    show("none", parts(range(4), [1, 3], generator=None))
    show("empty", show.warnings(lambda: parts(range(2), [0.4, 0.1, 0.5])))
    show("one", parts(range(5), [1.0]))
    show.error(lambda: parts(range(10), [3, 3]))
    show.error(lambda: parts(range(10), [-0.5, 1.5]))
    show.error(lambda: parts(range(10), [0.5, 0.6]))
    show("after", torch.rand(2))


@pytest.mark.torch
@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_agrees(program):
    check(program)


@given(st.integers(1, 60), st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 2**63))
@generated(60)
def test_a_split_is_a_partition(length, shares, seed):
    fractions = [share / sum(shares) for share in shares]
    parts = data.random_split(range(length), [length], generator=glassgrad.Generator().manual_seed(seed))
    assert sorted(parts[0].indices) == list(range(length))
    if sum(fractions) <= 1:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = data.random_split(range(length), fractions)
        assert sorted(index for part in parts for index in part.indices) == list(range(length))
        for part, fraction in zip(parts, fractions, strict=True):
            assert abs(len(part) - length * fraction) <= 1 + 1e-9


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Length of split")
@given(st.integers(1, 80), st.integers(1, 5), st.integers(0, 2**64 - 1))
@generated(40)
def test_splits_are_pytorch_s(length, count, seed):
    from tests.torch_reference import torch

    cuts = [length // count] * (count - 1)
    lengths = [*cuts, length - sum(cuts)]
    found = []
    for library in (torch, glassgrad):
        generator = library.Generator().manual_seed(seed)
        found.append([p.indices for p in library.utils.data.random_split(range(length), lengths, generator)])
    assert found[0] == found[1]


def test_old_names():
    with glassgrad.alias():
        from torch.utils.data._utils.collate import default_collate as c
        from torch.utils.data.dataloader import default_collate as a
        from torch.utils.data.dataset import Subset as b
        from torch.utils.data.distributed import DistributedSampler as e
        from torch.utils.data.sampler import RandomSampler as d

    assert (a, b, c, d, e) == (
        data.default_collate, data.Subset, data.default_collate, data.RandomSampler, data.DistributedSampler
    )  # fmt: skip


def test_pipes_say_what_to_use():
    for pipe in (data.IterDataPipe, data.MapDataPipe):
        with pytest.raises(NotImplementedError, match="use torch.utils.data"):
            pipe()
    assert not isinstance(range(3), data.IterDataPipe)
