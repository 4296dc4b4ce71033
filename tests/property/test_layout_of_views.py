"""Random chains of views lie in memory as torch's: sizes, strides, offsets, and what a write through one reaches."""

import random

import pytest

import glassgrad
from tests.counts import seeds
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

SHAPES = [
    (), (1,), (0,), (4,), (1, 1), (3, 1), (1, 3), (2, 3), (3, 0), (0, 3), (0, 0), (2, 1, 3), (1, 2, 1), (2, 0, 3),
    (1, 0, 1), (2, 3, 2, 2), (2, 1, 3, 3), (1, 3, 1, 1), (2, 3, 1, 1), (0, 2, 1, 3), (1, 1, 1, 2), (2, 3, 2, 1, 2),
]  # fmt: skip


def _dim(draw, t, more=0):
    span = t.dim() + more
    return draw.randrange(-span, span) if span else 0


def _size(draw, t, dim):
    return t.shape[dim] if t.dim() else 1


def _part(draw, size):
    """A part of a dimension: where it starts and how long it is."""
    start = draw.randrange(size + 1)
    return start, draw.randrange(size - start + 1)


def _select(draw, t):
    dim = _dim(draw, t)
    index = draw.randrange(max(_size(draw, t, dim), 1))
    return lambda lib, t: t.select(dim, index)


def _narrow(draw, t):
    dim = _dim(draw, t)
    start, length = _part(draw, _size(draw, t, dim))
    return lambda lib, t: t.narrow(dim, start, length)


def _slice(draw, t):
    key = [slice(None)] * draw.randrange(t.dim() + 1)
    for dim in range(len(key)):
        start, length = _part(draw, t.shape[dim])
        choice = [slice(start, start + length), slice(start, None, draw.choice([1, 2, 3])), None, ..., slice(start)]
        key[dim] = draw.choice([*choice, draw.randrange(max(t.shape[dim], 1))])
    key = tuple(part for at, part in enumerate(key) if part is not ... or ... not in key[:at])
    return lambda lib, t: t[key]


def _transpose(draw, t):
    a, b = _dim(draw, t), _dim(draw, t)
    return lambda lib, t: t.transpose(a, b)


def _permute(draw, t):
    dims = draw.sample(range(t.dim()), t.dim())
    return lambda lib, t: t.permute(dims)


def _movedim(draw, t):
    a, b = _dim(draw, t), _dim(draw, t)
    return lambda lib, t: t.movedim(a, b)


def _unsqueeze(draw, t):
    dim = _dim(draw, t, 1)
    return lambda lib, t: t.unsqueeze(dim)


def _squeeze(draw, t):
    dim = draw.choice([None, _dim(draw, t), (_dim(draw, t),)])
    return lambda lib, t: t.squeeze() if dim is None else t.squeeze(dim)


def _expand(draw, t):
    sizes = [draw.choice([-1, n]) if n != 1 else draw.choice([-1, 1, 2, 0]) for n in t.shape]
    sizes = [draw.choice([1, 2, 0]) for _ in range(draw.randrange(3))] + sizes
    return lambda lib, t: t.expand(sizes)


def _view(draw, t):
    sizes, rest = [], t.numel()
    while len(sizes) < 5 and (rest > 1 or draw.random() < 0.5):
        n = draw.choice([n for n in (1, 1, 2, 3, 4, rest) if n and rest % n == 0] or [1])
        sizes.append(n)
        rest = rest // n
    if not t.numel():
        sizes.insert(draw.randrange(len(sizes) + 1), 0)
    draw.shuffle(sizes)
    if t.numel() and sizes and draw.random() < 0.3:
        sizes[draw.randrange(len(sizes))] = -1
    name = draw.choice(["view", "reshape"])
    return lambda lib, t: getattr(t, name)(sizes)


def _flatten(draw, t):
    a, b = _dim(draw, t), _dim(draw, t)
    return lambda lib, t: t.flatten(a, b)


def _unfold(draw, t):
    dim, size, step = _dim(draw, t), draw.randrange(3), draw.randrange(1, 4)
    return lambda lib, t: t.unfold(dim, size, step)


def _diagonal(draw, t):
    offset, a, b = draw.randrange(-4, 5), _dim(draw, t), _dim(draw, t)
    return lambda lib, t: t.diagonal(offset, a, b)


def _as_strided(draw, t):
    sizes = [draw.choice([0, 1, 2, 3]) for _ in range(draw.randrange(4))]
    strides = [draw.randrange(4) for _ in sizes]
    offset = draw.choice([None, 0, 1, 5])
    return lambda lib, t: t.as_strided(sizes, strides, offset)


def _split(draw, t):
    dim, n, at = _dim(draw, t), draw.randrange(1, 4), draw.randrange(3)
    name = draw.choice(["split", "chunk", "tensor_split"])
    return lambda lib, t: getattr(t, name)(n, dim)[at]


def _unbind(draw, t):
    dim = _dim(draw, t)
    return lambda lib, t: t.unbind(dim)[0]


def _attribute(draw, t):
    name = draw.choice(["T", "mT", "H", "mH"])
    return lambda lib, t: getattr(t, name)


def _plain(draw, t):
    name = draw.choice(["t", "detach", "ravel", "alias", "contiguous", "clone", "view_as", "data"])
    if name == "alias":
        return lambda lib, t: t[...]
    if name == "view_as":
        return lambda lib, t: t.view_as(t)
    return lambda lib, t: t.data if name == "data" else getattr(t, name)()


def _format(draw, t):
    kind = draw.choice(["contiguous_format", "channels_last", "channels_last_3d", "preserve_format"])
    name = draw.choice(["clone", "contiguous", "to", "empty_like", "zeros_like", "float"])

    def run(lib, t):
        chosen = getattr(lib, kind)
        if name in ("empty_like", "zeros_like"):
            return getattr(lib, name)(t, memory_format=chosen).zero_()
        return getattr(t, name)(memory_format=chosen)

    return run


def _in_place(draw, t):
    a, b = _dim(draw, t), _dim(draw, t)
    dim = _dim(draw, t, 1)
    kinds = [
        lambda t: t.transpose_(a, b), lambda t: t.unsqueeze_(dim), lambda t: t.squeeze_(), lambda t: t.squeeze_(a),
        lambda t: t.t_(), lambda t: t.swapdims_(a, b),
    ]  # fmt: skip
    act = draw.choice(kinds)
    return lambda lib, t: act(t)


def _unflatten(draw, t):
    dim = _dim(draw, t)
    sizes = draw.choice([(1, -1), (-1, 1), (2, -1), (1, 1, -1), (-1,)])
    return lambda lib, t: t.unflatten(dim, sizes)


def _atleast(draw, t):
    name = draw.choice(["atleast_1d", "atleast_2d", "atleast_3d"])
    return lambda lib, t: getattr(lib, name)(t)


def _broadcast(draw, t):
    return lambda lib, t: lib.broadcast_tensors(t, lib.zeros(2, 1))[0]


STEPS = [
    _select, _narrow, _slice, _slice, _transpose, _permute, _movedim, _unsqueeze, _squeeze, _expand, _view, _view,
    _flatten, _unfold, _diagonal, _as_strided, _split, _unbind, _attribute, _plain, _format, _in_place, _unflatten,
    _atleast, _broadcast,
]  # fmt: skip


def outcome(act):
    try:
        return act()
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


def state(lib, t):
    """All that says how a tensor lies in memory."""
    laid = [
        outcome(lambda name=name: t.is_contiguous(memory_format=getattr(lib, name)))
        for name in ("contiguous_format", "channels_last", "channels_last_3d")
    ]
    address = t.data_ptr() - t.untyped_storage().data_ptr() if t.numel() else 0
    return tuple(t.shape), t.stride(), t.storage_offset(), laid, address, t.detach().tolist()


def shows_each_element_once(t):
    """Whether a write has one meaning."""
    memory = torch.arange(t.untyped_storage().nbytes() // t.element_size())
    places = memory.as_strided(t.shape, t.stride(), t.storage_offset())
    return places.unique().numel() == t.numel()


def compare(seed):
    """Run one random program under both; the first difference, or None."""
    draw = random.Random(seed)
    shape = draw.choice(SHAPES)
    count = 1
    for size in shape:
        count *= size
    pools = [[lib.arange(float(count)).reshape(shape)] for lib in (torch, glassgrad)]
    steps_taken = [f"shape {shape}"]
    for number in range(draw.randrange(1, 7)):
        at = draw.choice([-1, -1, -1, draw.randrange(len(pools[0]))])
        make = draw.choice(STEPS)
        source = pools[0][at]
        choice = draw.getrandbits(32)
        steps = [make(random.Random(choice), source) for _ in pools]
        steps_taken.append(
            f"{make.__name__}[{at}] of {tuple(source.shape)} {source.stride()} +{source.storage_offset()}"
        )
        results = [
            outcome(lambda step=step, lib=lib, pool=pool: step(lib, pool[at]))
            for step, lib, pool in zip(steps, (torch, glassgrad), pools, strict=True)
        ]
        if any(isinstance(result, str) for result in results):
            if not all(isinstance(result, str) for result in results):
                return steps_taken, results
            continue
        for pool, result in zip(pools, results, strict=True):
            pool.append(result)
        written = draw.randrange(len(pools[0]))
        if shows_each_element_once(pools[0][written]):
            for pool in pools:
                outcome(lambda pool=pool, number=number: pool[written].add_(100.0 * (number + 1)))
        states = [[state(lib, t) for t in pool] for lib, pool in zip((torch, glassgrad), pools, strict=True)]
        for mine, theirs in zip(*states, strict=True):
            if 0 in mine[0] and not any(mine[1]):
                return None  # NumPy has no empty arrays whose strides are zero: see docs/limits.md
            if mine != theirs:
                return steps_taken, mine, theirs
    return None


def test_views_lie_where_torch_has_them():
    for seed in seeds(300):
        difference = compare(seed)
        assert difference is None, f"seed {seed}: {difference}"
