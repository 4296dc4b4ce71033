"""Checkpointing within a budget: the best choice of blocks, the same gradients, no more bytes than allowed."""

import gc
import itertools
import random
import tracemalloc

import numpy as np
import pytest

import glassgrad as torch
from glassgrad.explore import keeps
from glassgrad.utils import checkpoint_budget
from glassgrad.utils.checkpoint_budget import Block, checkpoint_sequential_within, choose, plan_checkpoints

KB = 1000


def tried(blocks, budget):
    """The least seconds of all choices that stay within the budget; None where none does."""
    best = None
    for choices in itertools.product((False, True), repeat=len(blocks)):
        held, has_input, most, seconds = 0, False, 0, 0
        for block, again in zip(blocks, choices, strict=True):
            _, held, peak, has_input = checkpoint_budget._steps(block, held, has_input)[again]
            most, seconds = max(most, peak), seconds + block.seconds * again
        if most <= budget and (best is None or seconds < best):
            best = seconds
    return best


@pytest.mark.parametrize("seed", range(60))
def test_chooses_the_quickest_that_fits(seed):
    draw = random.Random(seed)
    blocks = [
        Block(draw.randrange(20), draw.randrange(9), draw.randrange(9), draw.random() < 0.5, draw.random() < 0.5,
              float(draw.randrange(1, 9)))
        for _ in range(draw.randrange(1, 9))
    ]  # fmt: skip
    budget = draw.randrange(60)
    wanted = tried(blocks, budget)
    if wanted is not None:
        plan = choose(blocks, budget)
        assert plan.seconds == wanted and plan.nbytes <= budget
        assert plan.seconds == sum(b.seconds for b, again in zip(blocks, plan.recomputes, strict=True) if again)
        return
    with pytest.raises(RuntimeError, match=r"budget of \d+ bytes cannot be met: the least .* is \d+ bytes") as caught:
        choose(blocks, budget)
    least = int(str(caught.value).split()[-2])
    assert tried(blocks, least) is not None and tried(blocks, least - 1) is None


def test_two_hundred_blocks():
    draw = random.Random(1)
    blocks = [Block(draw.randrange(50), 5, 5, True, False, float(draw.randrange(9))) for _ in range(200)]
    plan = choose(blocks, 2000)
    assert len(plan.recomputes) == 200 and plan.nbytes <= 2000
    assert choose(blocks, 10**6).seconds == 0


def test_many_states_are_rounded_up(monkeypatch):
    draw = random.Random(2)
    blocks = [Block(draw.randrange(10**6), 10, 10, True, False, draw.random()) for _ in range(30)]
    best = choose(blocks, 8 * 10**6)
    monkeypatch.setattr(checkpoint_budget, "_STATES", 50)
    near = choose(blocks, 8 * 10**6)
    assert best.seconds <= near.seconds <= best.seconds * 1.05 and near.nbytes <= 8 * 10**6


def network(width=128, depth=6):
    torch.manual_seed(0)
    return torch.nn.Sequential(*[
        torch.nn.Sequential(
            torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Dropout(0.2), torch.nn.LayerNorm(width)
        )
        for _ in range(depth)
    ])  # fmt: skip


def gradients(model, call):
    torch.manual_seed(1)
    loss = call().square().sum()
    kept = keeps(loss).nbytes
    return kept, [loss.detach(), *torch.autograd.grad(loss, list(model.parameters()))]


def test_gradients_are_equal_to_the_bit_and_the_graph_keeps_less():
    model = network()
    x = torch.randn(256, 128)
    whole, wanted = gradients(model, lambda: model(x))
    recomputed = []
    everything = plan_checkpoints(model, x, "1GB")
    for budget in (everything.nbytes, everything.nbytes // 2, checkpoint_budget._least(everything.blocks)):
        plan = plan_checkpoints(model, x, budget)
        kept, got = gradients(model, lambda: checkpoint_sequential_within(model, x, plan=plan))  # noqa: B023
        assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))
        assert kept <= budget + 2 * x.nbytes  # the caller's input, and what the square at the end keeps
        recomputed.append(sum(plan.recomputes))
        again = gradients(model, lambda: checkpoint_sequential_within(model, x, budget))[1]  # noqa: B023
        assert all(torch.equal(a, b) for a, b in zip(again, wanted, strict=True))
    assert recomputed[0] == 0 < recomputed[1] < recomputed[2]
    assert kept < whole / 3


def peak_of(step):
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        step()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_the_peak_of_memory_is_lower():
    model = network(depth=10)
    x = torch.randn(512, 128)
    plan = plan_checkpoints(model, x, choose(plan_checkpoints(model, x, "1GB").blocks, 10**9).nbytes // 3)

    def step(call):
        call().sum().backward()
        for parameter in model.parameters():
            parameter.grad = None

    step(lambda: model(x))
    plain = peak_of(lambda: step(lambda: model(x)))
    within = peak_of(lambda: step(lambda: checkpoint_sequential_within(model, x, plan=plan)))
    assert within < plain / 2
    assert within < plan.nbytes + 8 * x.nbytes  # what operations need while they compute


def test_measuring_leaves_no_trace():
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(4), torch.nn.Dropout(), torch.nn.Linear(4, 2))
    before = [np.array(value.numpy()) for value in model.state_dict().values()]
    x = torch.randn(8, 4, requires_grad=True)
    state = torch.get_rng_state()
    plan_checkpoints(model, x, "1MB")
    assert torch.equal(torch.get_rng_state(), state)
    for one, other in zip(before, model.state_dict().values(), strict=True):
        assert np.array_equal(one, other.numpy())
    assert x.grad is None and all(p.grad is None for p in model.parameters())


def test_functions_and_tuples_serve_too():
    w = torch.randn(4, 4, requires_grad=True)
    blocks = [lambda x: (x @ w, x), lambda pair: (pair[0].exp(), pair[1]), lambda pair: (pair[0] * pair[1]).tanh()]
    x = torch.randn(3, 4)
    out = checkpoint_sequential_within(blocks, x, "10KB")
    (got,) = torch.autograd.grad(out.sum(), w)
    (wanted,) = torch.autograd.grad(((x @ w).exp() * x).tanh().sum(), w)
    assert torch.equal(got, wanted)
    with torch.no_grad():
        assert not checkpoint_sequential_within(blocks, x, 0).requires_grad


@pytest.mark.parametrize(
    "budget,nbytes", [(5, 5), ("200MB", 200 * KB**2), ("1.5GiB", 3 * 2**29), ("7", 7), ("2 kb", 2000), (1e3, 1000)]
)
def test_budgets_have_units(budget, nbytes):
    assert checkpoint_budget._bytes_of(budget) == nbytes


@pytest.mark.parametrize("budget", ["much", "5 apples", -1, None, True, "-3MB"])
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(ValueError, match="number of bytes"):
        plan_checkpoints([torch.sin], torch.ones(2), budget)


def test_plans_and_budgets_that_do_not_fit():
    x = torch.ones(2, requires_grad=True)
    plan = plan_checkpoints([torch.exp, torch.exp], x, "1KB")
    with pytest.raises(ValueError, match="plan is for 2 blocks, but there are 1"):
        checkpoint_sequential_within([torch.exp], x, plan=plan)
    for arguments in ({}, {"budget": 5, "plan": plan}):
        with pytest.raises(ValueError, match="either a budget or a plan"):
            checkpoint_sequential_within([torch.exp], x, **arguments)
    with pytest.raises(RuntimeError, match="cannot be met: the least"):
        checkpoint_sequential_within([torch.exp] * 3, torch.ones(1000, requires_grad=True), "1KB")
