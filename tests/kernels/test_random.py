"""Random arrays: the same numbers as PyTorch's for the same seed, and the generator left at the same place."""

import math
import threading
import warnings

import ml_dtypes
import numpy as np
import pytest

from glassgrad.families.random import kernels as random
from glassgrad.ground.generator import Generator

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = {name: np.dtype(name) for name in ("float16", "float32", "float64")} | {"bfloat16": BFLOAT16}
WHOLE = {name: np.dtype(name) for name in ("uint8", "int8", "int16", "int32", "int64", "bool")}
EVERY = FLOATS | WHOLE | {name: np.dtype(name) for name in ("complex64", "uint16", "uint32", "uint64")}
SIZES = [(), (0,), (1,), (2,), (7,), (3, 5), (16,), (17,), (31,), (32,), (100,), (10, 100), (10_000,)]


# --- fixed numbers, from torch 2.13 -----------------------------------------------------------------------------------


def test_numbers_of_seed_0():
    gen = Generator()

    def start():
        return gen.manual_seed(0)

    def f32(*numbers):
        return np.array(numbers, np.float32).tolist()

    assert random.uniform(start(), (3,)).tolist() == f32(0.4962566, 0.7682218, 0.08847743)
    assert random.uniform(start(), (2,), np.float64).tolist() == [0.9700530018065531, 0.707819864399788]
    assert random.normal(start(), (3,)).tolist() == f32(1.5409961, -0.2934289, -2.1787894)
    pairs = [1.5409961082440433, -0.2934289057609464, -2.1787893820745574]
    np.testing.assert_allclose(random.normal(gen.manual_seed(0), (3,), np.float64), pairs, rtol=1e-15)
    sixteen = f32(-1.1258398, -1.1523602, -0.25057858, -0.4338788, 0.84871036, 0.69200915, -0.31601277, -2.1152194)
    assert random.normal(start(), (16,)).tolist()[:8] == sixteen
    assert random.randint(start(), (4,), np.int64, 0, 10).tolist() == [4, 9, 3, 0]
    assert random.randperm(start(), 5).tolist() == [4, 0, 1, 3, 2]
    assert random.bernoulli(start(), 0.5, (8,), np.int64).tolist() == [0, 0, 1, 0, 0, 0, 1, 1]
    random.normal(start(), (3,), np.float64)  # the fourth is kept: whole numbers leave it there
    assert random.randint(gen, (2,), np.int64, 0, 2**40).tolist() == [41332891347, 91845220082]
    chances = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    assert random.multinomial(gen, chances, 3).tolist() == [3, 0, 1]


def test_what_every_array_is():
    gen = Generator().manual_seed(1)
    for made in (random.uniform(gen, ()), random.normal(gen, ()), random.randint(gen, (), np.int8, 0, 5)):
        assert isinstance(made, np.ndarray) and made.shape == ()
    made = random.normal(gen, (4, 5, 6), np.float64)
    assert made.flags.c_contiguous and made.flags.writeable and made.dtype == np.float64


def test_uniform_numbers_stay_below_the_upper_bound():
    gen = Generator().manual_seed(1)
    values = random.uniform(gen, (5000,), np.float16, 1.0, 1.0 + 2**-9)  # three numbers, of which the last is excluded
    assert set(values.tolist()) == {1.0, 1.0 + 2**-10}


def test_moments_of_the_wide_path():
    values = random.normal(Generator().manual_seed(4), (200_000,), np.float32, 3.0, 2.0).astype(np.float64)
    assert values.mean() == pytest.approx(3.0, abs=0.02) and values.std() == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize("n", [2, 3, 255, 256, 257, 1000, 4099])
def test_a_permutation_is_the_swaps_done_one_by_one(n):
    gen = Generator().manual_seed(n)
    words = gen.random32(n - 1).tolist()
    order = list(range(n))
    for place, word in enumerate(words):
        other = place + word % (n - place)
        order[place], order[other] = order[other], order[place]
    assert random.randperm(gen.manual_seed(n), n).tolist() == order


def test_threads_share_the_kept_normal():
    gen = Generator().manual_seed(6)
    drawn: list[float] = []

    def draw():
        for _ in range(300):
            drawn.extend(random.normal(gen, (3,), np.float64).tolist())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = random.normal(Generator().manual_seed(6), (3600,), np.float64, contiguous=False)
    np.testing.assert_allclose(np.sort(drawn), np.sort(alone), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    "call",
    [
        lambda gen: random.uniform(gen, (3,), np.float32, 2.0, 1.0),
        lambda gen: random.normal(gen, (3,), np.float32, 0.0, -1.0),
        lambda gen: random.normal_of(gen, np.zeros(3), np.array([1.0, -1.0, 1.0])),
        lambda gen: random.exponential(gen, (3,), np.float32, 0.0),
        lambda gen: random.bernoulli(gen, 1.5, (3,)),
        lambda gen: random.randint(gen, (3,), np.int64, 5, 5),
        lambda gen: random.randperm(gen, -1),
        lambda gen: random.multinomial(gen, np.array([0.5, -0.5]), 1),
        lambda gen: random.multinomial(gen, np.array([[0.5, 0.5], [0.0, 0.0]]), 2, True),
    ],
)
def test_a_refusal_draws_nothing(call):  # but of chances one by one, as in PyTorch
    gen = Generator().manual_seed(3)
    before = gen.get_state_bytes()
    with pytest.raises(RuntimeError):
        call(gen)
    assert np.array_equal(gen.get_state_bytes(), before)


# --- against torch ----------------------------------------------------------------------------------------------------


class Pair:
    """The two libraries from one seed: what each draws, raises and warns, and where each stream then stands."""

    def __init__(self, seed):
        from tests.torch_reference import torch

        self.torch, self.seed, self.gen = torch, seed, Generator()

    def dtype(self, name):
        return getattr(self.torch, name)

    def both(self, theirs, ours):
        self.torch.manual_seed(self.seed)
        self.gen.manual_seed(self.seed)
        return _outcome(theirs), _outcome(ours)

    def same_place(self):
        """Whether both streams go on alike; the kept normal may differ in its last bit."""
        record = [self.torch.get_rng_state().numpy(), self.gen.get_state_bytes()]
        kept = [state[5024:5032].view(np.float64)[0] for state in record]
        rest = [np.delete(state, np.s_[5024:5032]) for state in record]
        return np.array_equal(*rest) and abs(kept[0] - kept[1]) <= 2 * np.spacing(abs(kept[0]))

    def check(self, theirs, ours, ulps=0.0):
        """Equal results to ``ulps`` units in the last place, or equal errors; equal warnings and streams."""
        (value, warned), (other, own_warned) = self.both(theirs, ours)
        assert own_warned == warned
        if isinstance(value, Exception) or isinstance(other, Exception):
            assert (type(other), str(other)) == (type(value), str(value))
            return
        value = value.numpy() if value.dtype is not self.torch.bfloat16 else value.view(self.torch.int16).numpy()
        assert other.shape == value.shape
        if other.dtype == BFLOAT16:
            other = other.view(np.int16)
        assert other.dtype == value.dtype
        if ulps:
            assert np.all(np.abs(other - value) <= ulps * np.spacing(np.abs(value)))
        else:
            assert np.array_equal(other, value, equal_nan=value.dtype.kind in "fc")
        assert self.same_place()


def _outcome(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = call()
        except Exception as error:  # the error is the outcome
            made = error
    return made, [str(w.message).split(" (Triggered internally")[0] for w in caught]


torch_only = pytest.mark.torch
# float64 transcendental functions are NumPy's here and the C library's there: two units in the last place each
FLOAT64_ULPS = 4.0


@torch_only
@pytest.mark.parametrize("name", [*FLOATS, "complex64", "complex128"])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-0.5, 0.25), (0.1, 0.3), (1e-3, 17.123), (0.0004883, 1.0004), (2, 2)])
def test_uniform(name, bounds):
    for seed, shape in enumerate(SIZES):
        pair = Pair(seed)
        pair.check(
            lambda: pair.torch.empty(shape, dtype=pair.dtype(name)).uniform_(*bounds),
            lambda: random.uniform(pair.gen, shape, np.dtype(EVERY.get(name, name)), *bounds),
        )


@torch_only
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "complex64"])
@pytest.mark.parametrize("mean_std", [(0.0, 1.0), (0.1, 0.3), (-4.0, 0.02), (0.0, 0.0), (1.0, math.inf)])
def test_normal_of_32_bits_and_fewer_is_equal_bit_for_bit(name, mean_std):
    for seed, shape in enumerate([*SIZES, (100_003,)]):
        pair = Pair(seed + 20)
        pair.check(
            lambda: pair.torch.empty(shape, dtype=pair.dtype(name)).normal_(*mean_std),
            lambda: random.normal(pair.gen, shape, EVERY[name], *mean_std),
        )


@torch_only
def test_a_million_float32_normals_are_equal_bit_for_bit():
    for seed in (3, 12):
        pair = Pair(seed)
        pair.check(lambda: pair.torch.randn(2**20 + 5), lambda: random.normal(pair.gen, (2**20 + 5,)))


@torch_only
@pytest.mark.parametrize("mean_std", [(0.0, 1.0), (0.0, 0.3)])
def test_normal_of_float64(mean_std):
    for seed, shape in enumerate([*SIZES, (100_003,)]):
        pair = Pair(seed + 20)
        exact = math.prod(shape) < 16  # the C library's functions on both sides
        pair.check(
            lambda: pair.torch.empty(shape, dtype=pair.torch.float64).normal_(*mean_std),
            lambda: random.normal(pair.gen, shape, np.float64, *mean_std),
            ulps=0 if exact else FLOAT64_ULPS,
        )


@torch_only
@pytest.mark.parametrize("name", FLOATS)
def test_a_mean_moves_float64_by_its_own_rounding_only(name):
    pair = Pair(5)
    (value, _), (other, _) = pair.both(
        lambda: pair.torch.empty(5000, dtype=pair.dtype(name)).normal_(5.0, 17.3).double().numpy(),
        lambda: random.normal(pair.gen, (5000,), FLOATS[name], 5.0, 17.3).astype(np.float64),
    )
    assert np.all(np.abs(value - other) <= (4 * np.spacing(np.abs(value - 5.0)) if name == "float64" else 0.0))


@torch_only
@pytest.mark.parametrize("name", FLOATS)
def test_normals_into_memory_with_gaps_come_in_pairs(name):
    for seed, n in enumerate((1, 15, 16, 33, 1000)):
        pair = Pair(seed)
        pair.check(
            lambda: pair.torch.empty(2 * n, dtype=pair.dtype(name))[::2].normal_(0.0, 0.5),
            lambda: random.normal(pair.gen, (n,), FLOATS[name], 0.0, 0.5, contiguous=False),
            ulps=FLOAT64_ULPS if name == "float64" else 0,
        )


@torch_only
def test_calls_of_all_kinds_in_a_row_stay_in_step():
    pair = Pair(77)
    torch, gen = pair.torch, pair.gen

    def theirs():
        parts = [
            torch.randn(3),
            torch.rand(5),
            torch.randn(2),
            torch.randn(17),
            torch.randn(1),
            torch.randperm(9).float(),
        ]
        parts += [torch.randn(4).double().float(), torch.randint(0, 7, (3,)).float(), torch.randn(3)]
        return torch.cat(parts)

    def ours():
        parts = [
            random.normal(gen, (3,)),
            random.uniform(gen, (5,)),
            random.normal(gen, (2,)),
            random.normal(gen, (17,)),
        ]
        parts += [random.normal(gen, (1,)), random.randperm(gen, 9).astype(np.float32), random.normal(gen, (4,))]
        parts += [random.randint(gen, (3,), np.int64, 0, 7).astype(np.float32), random.normal(gen, (3,))]
        return np.concatenate(parts)

    pair.check(theirs, ours)


@torch_only
def test_normal_of_arrays():
    for seed, n in enumerate((3, 16, 40)):
        pair = Pair(seed)
        torch = pair.torch
        mean, std = torch.linspace(-1, 1, n), torch.linspace(0, 3, n)
        m, s = mean.numpy(), std.numpy()
        pair.check(lambda: torch.normal(mean, 0.3), lambda: random.normal_of(pair.gen, m, 0.3))
        pair.check(lambda: torch.normal(0.1, std), lambda: random.normal_of(pair.gen, 0.1, s))
        pair.check(lambda: torch.normal(mean, std), lambda: random.normal_of(pair.gen, m, s))
        pair.check(
            lambda: torch.normal(mean, std.double()), lambda: random.normal_of(pair.gen, m, s.astype(np.float64))
        )
        pair.check(lambda: torch.normal(mean[:, None], std), lambda: random.normal_of(pair.gen, m[:, None], s))
        pair.check(
            lambda: torch.normal(mean.half(), 0.3), lambda: random.normal_of(pair.gen, m.astype(np.float16), 0.3)
        )
        pair.check(lambda: torch.normal(mean, -std), lambda: random.normal_of(pair.gen, m, -s))
        pair.check(lambda: torch.normal(mean, -1.0), lambda: random.normal_of(pair.gen, m, -1.0))
        pair.check(
            lambda: torch.normal(mean + 0j, 2.0), lambda: random.normal_of(pair.gen, m.astype(np.complex64), 2.0)
        )


@torch_only
@pytest.mark.parametrize("name", [*EVERY])
def test_other_continuous_distributions(name):
    ulps = FLOAT64_ULPS if name == "float64" else 0
    for seed, n in enumerate((1, 5, 300)):
        pair = Pair(seed)
        empty = lambda: pair.torch.empty(n, dtype=pair.dtype(name))  # noqa: E731
        for rate in (1.0, 0.3, -1.0, 0.0, math.inf):
            pair.check(
                lambda: empty().exponential_(rate), lambda: random.exponential(pair.gen, (n,), EVERY[name], rate), ulps
            )
        for arguments in ((0.0, 1.0), (0.0, 0.3), (1.0, 0.0)):
            pair.check(
                lambda: empty().cauchy_(*arguments),
                lambda: random.cauchy(pair.gen, (n,), EVERY[name], *arguments),
                ulps,
            )
            pair.check(
                lambda: empty().log_normal_(*arguments),
                lambda: random.log_normal(pair.gen, (n,), EVERY[name], *arguments),
                ulps,
            )


@torch_only
@pytest.mark.parametrize("name", [*EVERY])
def test_decisions_and_counts(name):
    for seed, n in enumerate((1, 5, 300)):
        pair = Pair(seed)
        torch = pair.torch
        empty = lambda: torch.empty(n, dtype=pair.dtype(name))  # noqa: E731
        for p in (0.3, 0.0, 1.0, 1.5, math.nan):
            pair.check(lambda: empty().bernoulli_(p), lambda: random.bernoulli(pair.gen, p, (n,), EVERY[name]))
        for p in (0.3, 1e-3, 1e-9, 1e-12, 0.0, 1.0):
            pair.check(lambda: empty().geometric_(p), lambda: random.geometric(pair.gen, (n,), EVERY[name], p))
        chances = torch.linspace(0, 1, n, dtype=torch.float64)
        for kind in (torch.float64, torch.float32, torch.float16, torch.int64):
            given = chances.to(kind)
            pair.check(
                lambda: empty().bernoulli_(given),
                lambda: random.bernoulli(pair.gen, given.numpy(), (n,), EVERY[name]),
            )


RANGES = [
    (0, 1), (0, 2), (0, 10), (-5, 5), (0, 256), (0, 300), (0, 2049), (0, 4000), (0, 2**16), (0, 2**24 + 2),
    (-(2**24) - 1, 2**24 + 9), (0, 2**28 - 1), (0, 2**28), (-(2**31), 2**31), (0, 2**32), (5, 2**40 + 1),
    (-(2**63), 2**63 - 1), (0, 2**63), (5, 5), (7, 3), (2**24 + 1, 2**24 + 3), (-257, 300), (2**62 + 1, 2**63 - 1),
]  # fmt: skip


@torch_only
@pytest.mark.parametrize("name", [*EVERY])
def test_randint(name):
    for low, high in RANGES:
        for n in (3, 100):
            pair = Pair(n)
            pair.check(
                lambda: pair.torch.randint(low, high, (n,), dtype=pair.dtype(name)),
                lambda: random.randint(pair.gen, (n,), EVERY[name], low, high),
            )


@torch_only
@pytest.mark.parametrize("name", [*EVERY])
def test_random_over_what_the_type_holds(name):
    lows = [0, 1, -1, -128, 100, 255, 300, 2047, 2048, -(2**31), 2**31 - 1, -(2**63), -257, 2**24, 2**25, 2**54, 70000]
    for low in [None, *lows]:
        pair = Pair(3)
        arguments = () if low is None else (low, None)
        pair.check(
            lambda: pair.torch.empty(40, dtype=pair.dtype(name)).random_(*arguments),
            lambda: random.random_(pair.gen, (40,), EVERY[name], low),
        )


@torch_only
@pytest.mark.parametrize("name", [*EVERY])
def test_randperm(name):
    for n in (-1, 0, 1, 2, 10, 128, 129, 255, 256, 257, 2049, 2050, 70_000):
        pair = Pair(n)
        pair.check(
            lambda: pair.torch.randperm(n, dtype=pair.dtype(name)), lambda: random.randperm(pair.gen, n, EVERY[name])
        )


@torch_only
def test_a_large_permutation():
    pair = Pair(4)
    pair.check(lambda: pair.torch.randperm(1_000_000), lambda: random.randperm(pair.gen, 1_000_000))


@torch_only
@pytest.mark.parametrize("name", [*FLOATS, "int64"])
@pytest.mark.parametrize("shape", [(5,), (3, 12), (2, 1), (1, 1000), (0, 3), (3, 0), (0,), (), (2, 2, 2)])
def test_multinomial(name, shape):
    pair = Pair(9)
    torch = pair.torch
    chances = torch.linspace(0.5, 3.0, math.prod(shape)).reshape(shape).to(pair.dtype(name))
    own = chances.double().numpy().astype(EVERY[name])
    for samples in (0, 1, 2, 10, 3000):
        for replacement in (True, False):
            pair.check(
                lambda: torch.multinomial(chances, samples, replacement),
                lambda: random.multinomial(pair.gen, own, samples, replacement),
            )


@torch_only
@pytest.mark.parametrize(
    "chances",
    [
        [0.5, math.inf], [0.5, math.nan], [math.nan, -1.0], [-1.0, math.inf], [math.inf, -1.0], [0.0, 0.0],
        [[0.5, 0.5], [0.0, 0.0]], [[0.5, -0.5], [0.0, 0.0]], [[0.0, 0.0], [-1.0, 1.0]], [0.0, 0.0, 1.0],
    ],
)  # fmt: skip
def test_multinomial_of_strange_chances(chances):
    pair = Pair(9)
    for samples, replacement in ((1, True), (1, False), (2, True)):
        pair.check(
            lambda: pair.torch.multinomial(pair.torch.tensor(chances), samples, replacement),
            lambda: random.multinomial(pair.gen, np.array(chances, np.float32), samples, replacement),
        )


@torch_only
@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("float32", (2.0, 1.0)), ("float32", (0.5, 0.25)), ("float32", (0.0, 1e39)), ("float32", (-1e39, 1.0)),
        ("float16", (0.0, 70000.0)), ("bfloat16", (-4e38, 1.0)), ("float16", (-60000.0, 60000.0)),
        ("float32", (-3e38, 3e38)), ("float32", (math.nan, 1.0)), ("float32", (0.0, math.inf)),
        ("float64", (-1.5e308, 1.5e308)), ("complex64", (2.0, 1.0)), ("int64", (0.0, 1.0)), ("bool", (2.0, 1.0)),
    ],
)  # fmt: skip
def test_refused_bounds_of_uniform(name, bounds):
    pair = Pair(1)
    pair.check(
        lambda: pair.torch.empty(3, dtype=pair.dtype(name)).uniform_(*bounds),
        lambda: random.uniform(pair.gen, (3,), EVERY[name], *bounds),
    )


@torch_only
@pytest.mark.parametrize("std", [-1.0, -1.5, math.nan])
def test_refused_deviations(std):
    for name in ("float32", "complex64", "int64"):
        pair = Pair(1)
        for deviation in (std, 1.0):
            pair.check(
                lambda: pair.torch.empty(3, dtype=pair.dtype(name)).normal_(0.0, deviation),
                lambda: random.normal(pair.gen, (3,), EVERY[name], 0.0, deviation),
            )


@torch_only
@pytest.mark.parametrize(
    "view",
    [
        lambda torch: torch.zeros(7, 5).t(),
        lambda torch: torch.zeros(4, 5, 6).permute(2, 0, 1),
        lambda torch: torch.zeros(8, 9)[1::2, ::3],
        lambda torch: torch.zeros(8, 9)[1::2, ::3].t(),
        lambda torch: torch.zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        lambda torch: torch.zeros(4, 1, 6).permute(2, 1, 0),
        lambda torch: torch.zeros(5, 4)[:, 1],
    ],
)
def test_a_view_is_filled_in_the_order_of_its_memory(view):
    pair = Pair(2)
    torch = pair.torch
    for fill, draw in (
        (lambda x: x.uniform_(), lambda shape: random.uniform(pair.gen, shape)),
        (lambda x: x.normal_(), lambda shape: random.normal(pair.gen, shape, contiguous=False)),
        (lambda x: x.random_(0, 99), lambda shape: random.randint(pair.gen, shape, np.float32, 0, 99)),
    ):
        own = view(torch).numpy()

        def ours(own=own, draw=draw):
            ordered = random.in_memory_order(own)
            ordered[...] = draw(ordered.shape)
            return own

        pair.check(lambda: fill(view(torch)), ours)
