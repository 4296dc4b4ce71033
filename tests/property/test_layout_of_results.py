"""Elementwise results lie where torch's do: random operands in random orders, with gaps, and repeated.

Of several operands those are compared that do not contradict each other: ``docs/limits.md`` says what happens else.
"""

import itertools
import random

import pytest

import glassgrad
from tests.counts import seeds
from tests.property.changed_calls import Text, samples
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

UNARY = {
    name: lambda lib, a, name=name: getattr(a, name)()
    for name in "neg exp relu sigmoid tanh sqrt abs erf lgamma digamma isnan logical_not reciprocal nan_to_num angle "
    "erfinv clone double floor sinh i0 isfinite".split()
} | {
    "gelu": lambda lib, a: lib.nn.functional.gelu(a),
    "elu": lambda lib, a: lib.nn.functional.elu(a),
    "threshold": lambda lib, a: lib.nn.functional.threshold(a, 0.0, 0.0),
    "softplus": lambda lib, a: lib.nn.functional.softplus(a),
    "clamp": lambda lib, a: a.clamp(0, 1),
    "logit": lambda lib, a: a.logit(0.1),
    "one less": lambda lib, a: 1 - a,
    "a quotient": lambda lib, a: 1 / a,
    "positive": lambda lib, a: a > 0,
    "zeros": lambda lib, a: lib.zeros_like(a),
    "random": lambda lib, a: lib.rand_like(a),
    "whole numbers rounded": lambda lib, a: a.long().floor(),
    "signs of truth values": lambda lib, a: (a > 0).sign(),
    "sign bits of whole numbers": lambda lib, a: a.long().signbit(),
    "logarithms of complex numbers": lambda lib, a: a.cfloat().log1p(),
    "angles of complex numbers": lambda lib, a: a.cfloat().angle(),
    "mirrored": lambda lib, a: a.flip(0),
    "sorted": lambda lib, a: a.sort(-1)[0],
    "positions": lambda lib, a: a.sort(0)[1],
    "rolled": lambda lib, a: a.roll(1, 0),
    "rolled twice": lambda lib, a: a.roll((1, 2), (0, -1)),
    "leaky": lambda lib, a: lib.nn.functional.rrelu(a),
    "slices filled": lambda lib, a: a.index_fill(0, lib.tensor([0]), 1.0),
    "elements put": lambda lib, a: a.put(lib.tensor([0]), lib.tensor([1.0])),
    "index put": lambda lib, a: a.index_put((lib.tensor([0]),), lib.tensor(1.0)),
    "groups": lambda lib, a: lib.nn.functional.group_norm(a, 1) if a.numel() > len(a) and a.ndim > 1 else a,
}
SEVERAL = {
    "add": lambda lib, a, b: a + b,
    "div": lambda lib, a, b: a / b,
    "power": lambda lib, a, b: a**b,
    "eq": lambda lib, a, b: a == b,
    "atan2": lambda lib, a, b: lib.atan2(a, b),
    "remainder": lambda lib, a, b: lib.remainder(a, b),
    "wider": lambda lib, a, b: a.double() + b,
    "complex": lambda lib, a, b: lib.complex(a, b),
    "polar": lambda lib, a, b: lib.polar(a, b),
    "mse": lambda lib, a, b: lib.nn.functional.mse_loss(a, b, reduction="none"),
    "filled": lambda lib, a, b: a.masked_fill(b > 5, 0.0),
    "where": lambda lib, a, b, c: lib.where(a > 0, b, c),
    "lerp": lambda lib, a, b, c: lib.lerp(a, b, c),
    "addcmul": lambda lib, a, b, c: lib.addcmul(a, b, c),
    "stacked": lambda lib, a, b: lib.stack([a, b]),
    "stacked further in": lambda lib, a, b: lib.stack([a, b], min(1, a.ndim)),
    "joined": lambda lib, a, b: lib.cat([a, b], -1),
}


def _operand(draw, sizes, kinds, dtype="float32"):
    """What builds an operand of these sizes for either library."""
    kind, rank = draw.choice(kinds), len(sizes)
    order = draw.sample(range(rank), rank)
    axis, repeated = draw.randrange(rank), [1 if draw.random() < 0.3 else size for size in sizes]

    def build(lib):
        def ones(sizes):
            return lib.ones(sizes, dtype=getattr(lib, dtype))

        if kind == "permuted":
            return ones([sizes[axis] for axis in order]).permute([order.index(axis) for axis in range(rank)])
        if kind == "channels" and rank > 3:
            return ones(sizes).to(memory_format=lib.channels_last if rank == 4 else lib.channels_last_3d)
        if kind == "expanded":
            return ones(repeated).expand(sizes)
        if kind == "sliced":
            return ones([*sizes[:axis], sizes[axis] + 2, *sizes[axis + 1 :]]).narrow(axis, 1, sizes[axis])
        if kind == "stepped":
            steps = (slice(None),) * axis + (slice(None, None, 2),)
            return ones([*sizes[:axis], sizes[axis] * 2, *sizes[axis + 1 :]])[steps]
        return ones(sizes)

    return build


def _strides(result):
    """The strides that can be told: those of sizes beyond 1."""
    return [stride for stride, size in zip(result.stride(), result.shape, strict=True) if size > 1]


def _agree(operands):
    """Whether the operands say the same of the result, in whatever order they come."""
    return len({tuple(_strides(sum(order, start=0))) for order in itertools.permutations(operands)}) == 1


def test_elementwise_results_lie_where_torch_has_them():
    compared = 0
    for seed in (tried := seeds(1200)):
        draw = random.Random(seed)
        several = seed % 2
        name, function = draw.choice(list((SEVERAL if several else UNARY).items()))
        count = function.__code__.co_argcount - 1 if several else 1
        sizes = [draw.choice([1, 2, 3, 4]) for _ in range(draw.choice([1, 2, 3, 4, 4, 5]))]
        kinds = ["plain", "permuted", "permuted", "channels", "sliced", "stepped"]
        recipes = [_operand(draw, sizes, kinds if several else [*kinds, "expanded"]) for _ in range(count)]
        theirs, ours = ([build(lib) for build in recipes] for lib in (torch, glassgrad))
        assert [operand.stride() for operand in ours] == [operand.stride() for operand in theirs], seed
        if count == 1 or _agree(theirs):
            compared += 1
            expected, actual = _strides(function(torch, *theirs)), _strides(function(glassgrad, *ours))
            assert actual == expected, (seed, name, sizes, [operand.stride() for operand in theirs])
    assert compared > len(tried) // 2


def test_operands_of_several_dtypes_that_repeat():
    """What is cast before it is computed with repeats as it did; joined tensors of several dtypes lie row by row."""
    names = [name for name in {**UNARY, **SEVERAL} if name not in ("joined", "stacked", "stacked further in")]
    dtypes = "float32 float64 int32 int64 float16 bfloat16 bool".split()
    compared = 0
    for seed in (tried := seeds(1200)):
        draw = random.Random(seed)
        name = draw.choice(names)
        function = UNARY.get(name) or SEVERAL[name]
        sizes = [draw.choice([1, 2, 3, 4]) for _ in range(draw.choice([1, 2, 3, 4, 4, 5]))]
        kinds = ["plain", "permuted", "channels", "sliced", "stepped", "expanded", "expanded", "expanded"]
        count = 1 if name in UNARY else function.__code__.co_argcount - 1
        recipes = [_operand(draw, sizes, kinds, draw.choice(dtypes)) for _ in range(count)]
        theirs, ours = ([build(lib) for build in recipes] for lib in (torch, glassgrad))
        if count > 1 and not _agree(theirs):
            continue
        try:
            expected = _strides(function(torch, *theirs))
        except RuntimeError:  # dtypes that it does not take
            continue
        compared += 1
        actual = _strides(function(glassgrad, *ours))
        assert actual == expected, (seed, name, sizes, [(operand.dtype, operand.stride()) for operand in theirs])
    assert compared > len(tried) // 2


LAPACK = {
    "qr": lambda lib, a: lib.linalg.qr(a),
    "svd": lambda lib, a: lib.linalg.svd(a, False),
    "eigh": lambda lib, a: lib.linalg.eigh(a @ a.mT),
    "eig": lambda lib, a: lib.linalg.eig(a @ a.mT),
    "cholesky": lambda lib, a: [lib.linalg.cholesky(a @ a.mT + 1e-2 * lib.eye(2), upper=up) for up in (False, True)],
    "lu_factor": lambda lib, a: lib.linalg.lu_factor(a),
    "lu_solve": lambda lib, a: [lib.linalg.lu_solve(*lib.linalg.lu_factor(a @ a.mT), a)],
    "ldl_factor": lambda lib, a: lib.linalg.ldl_factor(a @ a.mT),
    "geqrf": lambda lib, a: lib.geqrf(a),
    "solve_triangular": lambda lib, a: [lib.linalg.solve_triangular(a @ a.mT, a, upper=True)],
    "take": lambda lib, a: [a.take(a.long().mT)],
}


@pytest.mark.parametrize("name", LAPACK)
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("turned", [False, True])
def test_matrices_lie_column_by_column_where_torch_has_them_so(name, batch, turned):
    def strides(lib):
        a = lib.arange(6.0).reshape(2, 3).fmod(4).expand(*batch, 2, 3).clone()
        a = a.mT.contiguous().mT if turned else a
        return [_strides(part) for part in LAPACK[name](lib, a)]

    assert strides(glassgrad) == strides(torch)


@pytest.mark.parametrize("sizes", [(2, 3, 2, 2), (2, 1, 2, 2), (1, 3, 2, 2), (2, 3, 1, 1)])
@pytest.mark.parametrize("kernel", [(1, 1), (1, 2)])
@pytest.mark.parametrize("last", itertools.product([False, True], repeat=2))
def test_convolutions_lie_as_what_lies_by_channels(sizes, kernel, last):
    def strides(lib):
        kinds = [lib.channels_last if each else lib.contiguous_format for each in last]
        image, weight = lib.ones(sizes), lib.ones(2, sizes[1], *kernel)
        image, weight = (each.to(memory_format=kind) for each, kind in zip((image, weight), kinds, strict=True))
        return [lib.nn.functional.conv2d(image, weight, padding=1).stride() for _ in range(3)]

    assert strides(glassgrad) == strides(torch)


PRODUCTS = {
    "linear": lambda lib, x, w, b: lib.nn.functional.linear(x, w),
    "linear with a bias": lambda lib, x, w, b: lib.nn.functional.linear(x, w, b),
    "times a transpose": lambda lib, x, w, b: x @ w.t(),
    "times a matrix": lambda lib, x, w, b: x @ w.t().contiguous(),
    "a transpose times": lambda lib, x, w, b: w @ x.reshape(-1, 3).t(),
    "addmm": lambda lib, x, w, b: lib.addmm(b, x.reshape(-1, 3), w.t()),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("sizes", [(4, 3), (2, 4, 3)])
@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_of_factors_lie_as_torchs(name, sizes, recorded):
    """So that what views them in other sizes, as many do to compare or to collect them, goes on."""

    def strides(lib):
        leaves = [lib.ones(n, requires_grad=True) for n in (sizes, (5, 3), (5,))]
        total = PRODUCTS[name](lib, *leaves).square().sum()
        slopes = lib.autograd.grad(total, leaves, create_graph=recorded, allow_unused=True)
        within = lib.func.grad(lambda *some: PRODUCTS[name](lib, *some).square().sum(), (0, 1, 2))
        alone = within(*[leaf.detach() for leaf in leaves])
        return [slope if slope is None else slope.stride() for slope in slopes], [slope.stride() for slope in alone]

    assert strides(glassgrad) == strides(torch)


TRANSFORMS = "fft ifft rfft irfft hfft ihfft fftn ifftn rfftn irfftn hfftn ihfftn".split()


def _strides_of_a_transform(lib, seed):
    """Where the result of a random transform lies, but for dimensions of size 1; None where it is refused."""
    draw = random.Random(seed)
    sizes = [draw.choice((1, 2, 3, 4)) for _ in range(draw.randint(1, 5))]
    order = draw.sample(range(len(sizes)), len(sizes))
    tensor = lib.zeros(sizes, dtype=getattr(lib, draw.choice(("uint8", "float32", "complex64")))).permute(order)
    if draw.random() < 0.2:
        tensor = tensor[..., :1].expand(tensor.shape)
    name, dims = draw.choice(TRANSFORMS), draw.sample(range(len(sizes)), draw.randint(1, len(sizes)))
    try:
        result = getattr(lib.fft, name)(tensor, dim=dims if name.endswith("n") else dims[0])
    except RuntimeError:  # of complex numbers as real ones, of one element as half of none
        return None
    return [stride for size, stride in zip(result.shape, result.stride(), strict=True) if size > 1]


def test_fourier_transforms_lie_as_torchs():
    """The transformed dimensions innermost, the others in the order in which they lay."""
    told = [(_strides_of_a_transform(glassgrad, seed), _strides_of_a_transform(torch, seed)) for seed in seeds(1000)]
    assert all(ours == theirs for ours, theirs in told)
    assert sum(ours is not None for ours, _ in told) > len(told) / 2


def _rows_in_a_batch(lib, sample):
    """Of each result of a sample call, on one example of a batch and alone, whether it lies row by row."""
    text = Text(1, sample)
    *lines, call = [line for line in text.lines if "requires_grad_" not in line and "_leaf" not in line]
    names, scope = text.names, {"torch": lib}
    exec("\n".join([*lines, f"def one({', '.join(names)}):\n    {call}\n    return r"]), scope)
    told = []

    def example(*leaves):
        result = scope["one"](*leaves)
        outs = result if isinstance(result, (tuple, list)) else (result,)
        told.extend(out.is_contiguous() for out in outs)
        return tuple(outs)

    batch = [lib.stack([scope[name], scope[name]]) for name in names]
    lib.func.vmap(example, randomness="same")(*batch)
    alone = len(told)
    example(*[scope[name] for name in names])
    return told[:alone], told[alone:]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(2))
def test_examples_lie_row_by_row_where_torchs_do(part):
    """What may be viewed in other sizes within PyTorch's ``vmap`` may be here."""
    tried = 0
    for sample in [each for name in [*samples()][part::2] for each in samples()[name]]:
        try:
            (wanted, _), (actual, alone) = _rows_in_a_batch(torch, sample), _rows_in_a_batch(glassgrad, sample)
        except Exception:  # refused by one, or no batch
            continue
        tried += 1
        each = zip(wanted, alone, actual, strict=True)
        assert all(here for there, outside, here in each if there and outside), sample.id
    assert tried > 500
