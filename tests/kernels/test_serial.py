"""Numbers taken one by one: the stream they come from, and where it is left."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassgrad.families.random.counts import Stream, binomial, dirichlet, normal, poisson, standard_gamma
from glassgrad.families.random.uniform import unit64
from glassgrad.ground.generator import Generator
from tests.counts import generated


def twins():
    return Generator().manual_seed(11), Generator().manual_seed(11)


@generated(60)
@given(taken=st.integers(0, 700), expected=st.integers(0, 700))
def test_whatever_was_expected_the_numbers_are_the_streams(taken, expected):
    one, other = twins()
    with Stream(one, expected) as stream:
        found = [next(stream.numbers) for _ in range(taken)]
    assert found == unit64(other, taken).tolist()
    assert one.random32(5).tolist() == other.random32(5).tolist()


@pytest.mark.parametrize("expected", [1, 1000])
def test_a_normal_number_waits_for_the_next_caller(expected):
    one, other = twins()
    with Stream(one, expected) as stream:
        first = normal(stream.numbers, stream.kept)
    with Stream(other, 1) as stream:
        assert [normal(stream.numbers, stream.kept), normal(stream.numbers, stream.kept)] == [first, one.next_normal]


@pytest.mark.parametrize("expected", [1, 1000])
def test_an_error_leaves_the_stream_after_what_was_used(expected):
    one, other = twins()
    with pytest.raises(ZeroDivisionError), Stream(one, expected) as stream:
        next(stream.numbers)
        1 / 0  # noqa: B018
    unit64(other, 1)
    assert one.random32(1) == other.random32(1)


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_draws_are_torchs_over_the_whole_range(dtype):
    from tests.torch_reference import torch

    rng = np.random.default_rng(2)
    alpha = (10 ** rng.uniform(-3, 4, (60, 5))).astype(dtype)
    count, prob = np.floor(10 ** rng.uniform(0, 4, 300)).astype(dtype), rng.uniform(0, 1, 300).astype(dtype)
    prob[:6] = [0, 1, 0.5, 1e-6, 1 - 1e-6, np.nan]
    stream, theirs = Generator().manual_seed(3), torch.Generator().manual_seed(3)
    limit = {"float32": 0, "float64": 2}[dtype]
    for mine, yours in (
        (standard_gamma(stream, alpha), torch._standard_gamma(torch.tensor(alpha), generator=theirs)),
        (dirichlet(stream, alpha), torch._sample_dirichlet(torch.tensor(alpha), generator=theirs)),
        (poisson(stream, alpha).astype(dtype), torch.poisson(torch.tensor(alpha), generator=theirs)),
        (binomial(stream, count, prob), torch.binomial(torch.tensor(count), torch.tensor(prob), generator=theirs)),
    ):
        np.testing.assert_array_max_ulp(mine[~np.isnan(mine)], yours.numpy()[~np.isnan(mine)], limit)
        np.testing.assert_array_equal(np.isnan(mine), np.isnan(yours.numpy()))
    assert unit64(stream, 1)[0] == torch.rand(1, dtype=torch.float64, generator=theirs).item()
