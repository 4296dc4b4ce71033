"""DataLoader in one process: batches, orders, random streams, arguments, refusals, compared with PyTorch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import cases, check
from tests.counts import generated


def _data(torch, length=10):
    return torch.utils.data.TensorDataset(torch.arange(length * 2.0).view(length, 2), torch.arange(length))


def shuffles(torch, show):
    D = torch.utils.data
    torch.manual_seed(0)
    for epoch in range(3):
        show(f"epoch {epoch}", [y.tolist() for _, y in D.DataLoader(_data(torch), 3, shuffle=True)])
    show("stream", torch.rand(2))
    plain = D.DataLoader(_data(torch), 4)
    show("plain", [x for x, _ in plain])
    show("an epoch in order draws too", torch.rand(2))
    own = torch.Generator().manual_seed(7)
    loader = D.DataLoader(_data(torch), 4, shuffle=True, generator=own)
    show("own", [[y.tolist() for _, y in loader] for _ in range(2)])
    show("after own", [torch.rand(2), torch.rand(2, generator=own)])
    iter(loader)
    show("begun", torch.rand(2, generator=own))
    early = iter(D.DataLoader(_data(torch), 4, shuffle=True))
    torch.rand(5)
    show("the order is drawn when the first batch is", [y.tolist() for _, y in early])


def batching(torch, show):
    D = torch.utils.data
    for size in (1, 3, 10, 11):
        for drop in (False, True):
            loader = D.DataLoader(_data(torch), size, drop_last=drop)
            show(f"{size} {drop}", [len(loader), [y.tolist() for _, y in loader]])
    single = D.DataLoader(_data(torch, 3), batch_size=None)
    show("single", [list(sample) for sample in single])
    show("length", [len(single), len(iter(single))])
    show("arrays", list(D.DataLoader([np.ones(2), np.zeros(2)], batch_size=None)))
    show("list", list(D.DataLoader([1, 2, 3], 2)))
    show("dicts", list(D.DataLoader([{"a": 1.0}, {"a": 2.0}], 2)))
    show("whole", list(D.DataLoader(_data(torch), None, sampler=D.BatchSampler(range(5), 2, False)))[1])
    show("collate", list(D.DataLoader(range(5), 2, collate_fn=lambda batch: tuple(batch))))
    show("sampler", list(D.DataLoader(range(5), 2, sampler=[4, 0, 2])))
    show("batch sampler", list(D.DataLoader(range(5), batch_sampler=[[4], [0, 2]])))
    loader = D.DataLoader(range(5), batch_sampler=[[4], [0, 2]])
    show("attributes", [loader.batch_size, loader.drop_last, len(loader), type(loader.sampler).__name__])
    show("subset", [y.tolist() for _, y in D.DataLoader(D.Subset(_data(torch), [9, 1, -1]), 2)])
    parts = D.random_split(_data(torch), [4, 6], torch.Generator().manual_seed(1))
    show("split", [[x.tolist() for x, _ in D.DataLoader(part, 3)] for part in parts])
    inner = D.Subset(parts[1], range(1, 4))
    show("nested", [y.tolist() for _, y in D.DataLoader(inner, 2)])
    indexed = D.Subset(_data(torch), torch.tensor([2, 3]))
    show("tensor indices", [y.tolist() for _, y in D.DataLoader(indexed, 2)])


def tensor_rows(torch, show):
    D = torch.utils.data

    def first(*tensors, **options):
        return next(iter(D.DataLoader(D.TensorDataset(*tensors), 2, **options)))

    for kind in (torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.bool, torch.complex64):
        show(str(kind), first(torch.ones(3, 2).to(kind), torch.zeros(3).to(kind)))
    leaf = torch.arange(6.0).view(3, 2).requires_grad_()
    out = first(leaf, leaf * 2)
    show("recorded", out)
    show.graph("graph", out[1])
    show("transposed", first(torch.arange(6.0).view(2, 3).t()))
    show("view", first(torch.arange(12.0).view(6, 2)[1:4]))
    show("three", first(torch.ones(3), torch.ones(3, 1), torch.ones(3, 1, 2)))
    show("negative", first(torch.arange(3), sampler=[-1, -3]))
    show.error(lambda: first(torch.arange(3), sampler=[0, 3]))
    show.error(lambda: first(torch.arange(3), sampler=[0, -4]))
    show("tensors as indices", first(torch.arange(3), sampler=[torch.tensor(2), torch.tensor(0)]))
    show.error(lambda: first(torch.arange(3), sampler=[0.5, 1]))
    show("parameter", first(torch.nn.Parameter(torch.ones(3)))[0])

    class Doubled(D.TensorDataset):
        def __getitem__(self, index):
            return tuple(2 * tensor for tensor in super().__getitem__(index))

    show("subclass", next(iter(D.DataLoader(Doubled(torch.arange(3)), 2))))
    data = D.TensorDataset(torch.zeros(4))
    batch = next(iter(D.DataLoader(data, 2)))[0]
    batch += 1
    show("memory of its own", data.tensors[0])
    with torch.inference_mode():
        batch = first(torch.ones(2))[0]
    show("inference", batch.is_inference())


def several_at_once(torch, show):
    D = torch.utils.data

    class Data(D.Dataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return index

        def __getitems__(self, indices):
            return [10 * index for index in indices]

    show("batches", list(D.DataLoader(Data(), 2)))
    show("subset", list(D.DataLoader(D.Subset(Data(), [1, 3]), 2)))
    show("stack", list(D.DataLoader(D.StackDataset(Data(), Data()), 2)))


def streams(torch, show):
    D = torch.utils.data

    class Stream(D.IterableDataset):
        def __init__(self, n, told=None):
            self.n, self.told = n, told

        def __iter__(self):
            return iter(range(self.n))

        def __len__(self):
            return self.n if self.told is None else self.told

        def __repr__(self):
            return "Stream"

    for drop in (False, True):
        loader = D.DataLoader(Stream(7), 3, drop_last=drop)
        show(f"drop {drop}", [len(loader), list(loader)])
    show("single", [list(D.DataLoader(Stream(3), None)), len(D.DataLoader(Stream(3), None))])
    loader = D.DataLoader(Stream(5, told=2))
    show("silent", show.warnings(lambda: list(loader)))
    len(loader)
    show("too long", show.warnings(lambda: list(loader)))
    show("shuffle", [list(D.DataLoader(Stream(2), shuffle=False)), type(loader.sampler).__name__])
    for wrong in ({"shuffle": True}, {"sampler": [1]}, {"batch_sampler": [[1]]}, {"shuffle": 1}):
        show.error(lambda: D.DataLoader(Stream(3), **wrong))
    ended = iter(D.DataLoader(Stream(2), 2))
    next(ended)
    for _ in range(2):
        show.error(lambda: next(ended))
    torch.manual_seed(4)
    list(D.DataLoader(Stream(2)))
    show("stream", torch.rand(1))


def refusals(torch, show):
    D = torch.utils.data
    data = range(5)
    wrong = [
        {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"num_workers": 1, "prefetch_factor": -1},
        {"persistent_workers": True}, {"multiprocessing_context": "fork"},
        {"num_workers": 1, "multiprocessing_context": "no"}, {"num_workers": 1, "multiprocessing_context": 3},
        {"sampler": [1], "shuffle": True}, {"batch_sampler": [[1]], "batch_size": 2},
        {"batch_sampler": [[1]], "shuffle": True}, {"batch_sampler": [[1]], "sampler": [1]},
        {"batch_sampler": [[1]], "drop_last": True}, {"batch_size": None, "drop_last": True}, {"batch_size": 0},
        {"batch_size": 1.5}, {"drop_last": 1},
    ]  # fmt: skip
    for options in wrong:
        show.error(lambda: D.DataLoader(data, **options), str(options))
    show.error(lambda: D.DataLoader([], shuffle=True))
    show("empty", list(D.DataLoader([])))
    show.error(lambda: list(D.DataLoader(data, timeout=3)))
    loader = D.DataLoader(data)
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"):
        show.error(lambda: setattr(loader, name, 3))
    loader.collate_fn = tuple
    show("others may be set", list(loader)[0])
    show.error(lambda: iter(loader).__getstate__())
    show("pinned", show.warnings(lambda: list(D.DataLoader(data, pin_memory=True))))
    show("pinned there", show.warnings(lambda: list(D.DataLoader(data, pin_memory=True, pin_memory_device="cuda"))))
    show("in order", list(D.DataLoader(data, in_order=False)))
    show("worker", D.get_worker_info())
    show.error(lambda: D.DataLoader(data, foo=1), words=False)
    show("many workers", [w[:60] for w in _words(lambda: D.DataLoader(data, num_workers=1000))])
    show("defaults", [D.DataLoader(data, num_workers=1).prefetch_factor, D.DataLoader(data).prefetch_factor])


def _words(action):
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message) for warning in caught]


def training(torch, show):
    torch.manual_seed(0)
    x = torch.randn(40, 3)
    data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    net = torch.nn.Linear(3, 1)
    step = torch.optim.SGD(net.parameters(), 0.1)
    for _ in range(3):
        for inputs, wanted in torch.utils.data.DataLoader(data, 8, shuffle=True):
            step.zero_grad()
            ((net(inputs) - wanted) ** 2).mean().backward()
            step.step()
    show("weights", [net.weight, net.bias])


@pytest.mark.torch
@pytest.mark.parametrize("program", cases(globals()).values(), ids=cases(globals()))
def test_agrees(program):
    check(program)


@pytest.mark.torch
@given(st.integers(1, 40), st.integers(1, 12), st.booleans(), st.booleans(), st.integers(0, 2**64 - 1))
@generated(40)
def test_epochs_are_pytorch_s(length, size, shuffle, drop, seed):
    from tests.torch_reference import torch

    found = []
    for library in (torch, glassgrad):
        library.manual_seed(seed)
        loader = library.utils.data.DataLoader(range(length), size, shuffle, drop_last=drop)
        found.append([[batch.tolist() for batch in loader] for _ in range(2)] + [library.rand(1).item()])
    assert found[0] == found[1]
