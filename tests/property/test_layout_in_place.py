"""Tensors that are given other sizes or other memory in place lie as torch's do, and so do their neighbours."""

import random

import pytest

import glassgrad
from tests.counts import seeds
from tests.property.test_layout_of_views import outcome, state
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

ROOM = 24  # elements of the memory that all share: resizing within it changes no other tensor's memory
SHAPES = [(), (0,), (4,), (2, 3), (3, 1), (1, 3), (0, 3), (2, 3, 4), (2, 1, 3), (1, 2, 2, 2), (2, 2, 1, 3), (24,)]
FORMATS = [None, None, None, "contiguous_format", "channels_last", "preserve_format"]


def _window(draw):
    sizes = draw.choice(SHAPES)
    strides = [draw.choice([0, 1, 1, 2, 3, 6]) for _ in sizes]
    return sizes, strides, draw.choice([0, 0, 1, 5, 20])


def _named(lib, name):
    return {} if name is None else {"memory_format": getattr(lib, name)}


def _has_room(t, sizes):
    return t.storage_offset() + torch.Size(sizes).numel() <= t.untyped_storage().nbytes() // t.element_size()


def _resize(draw):
    sizes, name = draw.choice(SHAPES), draw.choice(FORMATS)
    return lambda lib, t, other: t.resize_(sizes, **_named(lib, name)) if _has_room(t, sizes) else None


def _resize_as(draw):
    name = draw.choice(FORMATS)
    return lambda lib, t, other: t.resize_as_(other, **_named(lib, name)) if _has_room(t, other.shape) else None


def _set(draw):
    sizes, strides, offset = _window(draw)
    kind = draw.randrange(6)

    def run(lib, t, other):
        storage = other.untyped_storage()
        reach = sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
        if kind and 1 + offset + other.storage_offset() + max(reach, 24) > ROOM:
            return None  # torch gives the memory another size
        if kind == 0:
            return t.set_(other)
        if kind == 1:
            return t.set_(storage)
        if kind == 2:
            return t.set_(storage, offset, sizes, strides)
        if kind == 3:
            return t.set_(storage, offset, sizes)
        return t.set_(other, offset, sizes, strides) if kind == 4 else t.set_()

    return run


def _as_strided(draw):
    sizes, strides, offset = _window(draw)
    offset = draw.choice([None, offset])
    return lambda lib, t, other: t.as_strided_(sizes, strides, offset)


def _data(draw):
    def run(lib, t, other):
        t.data = other

    return run


def _turn(draw):
    return lambda lib, t, other: t.transpose_(0, -1)


STEPS = [_resize, _resize, _resize_as, _set, _as_strided, _data, _turn]


def compare(seed):
    """Run one random program under both; the first difference, or None."""
    draw = random.Random(seed)
    pools = [
        [base := lib.arange(float(ROOM)), base[2:], base.view(2, 3, 4), base.view(4, 6).t()[1:], lib.arange(24.0)[3:9]]
        for lib in (torch, glassgrad)
    ]
    steps_taken = []
    for number in range(draw.randrange(1, 6)):
        at, other, make, choice = draw.randrange(5), draw.randrange(5), draw.choice(STEPS), draw.getrandbits(32)
        steps_taken.append((make.__name__, at, other, pools[0][at].shape, pools[0][at].stride()))
        results = []
        for lib, pool in zip((torch, glassgrad), pools, strict=True):
            act = make(random.Random(choice))
            results.append(outcome(lambda act=act, lib=lib, pool=pool: act(lib, pool[at], pool[other])))
        if len({isinstance(result, str) for result in results}) > 1:
            return steps_taken, results
        if isinstance(results[0], str):
            return None  # torch may have resized a tensor before it refuses the format
        filled = draw.randrange(5)
        for pool in pools:
            pool[filled].fill_(100.0 + number)
        looks = [
            [
                [state(lib, t), t.untyped_storage().nbytes(), t.storage().size(), [t.is_set_to(each) for each in pool]]
                for t in pool
            ]
            for lib, pool in zip((torch, glassgrad), pools, strict=True)
        ]
        for mine, theirs in zip(*looks, strict=True):
            if mine != theirs:
                return steps_taken, results[0] if isinstance(results[0], str) else "", mine, theirs
    return None


def test_tensors_lie_where_torch_has_them():
    for seed in seeds(200):
        difference = compare(seed)
        assert difference is None, f"seed {seed}: {difference}"
