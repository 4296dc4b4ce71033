"""Random programs: what a compiled training step computes is what it computes as it is written, bit for bit."""

import functools

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad.kernels import compiled
from tests.counts import generated

from .both_ways import bits, programs, reasons

ONE = {
    "exp": lambda x: (x * 0.1).exp(), "tanh": torch.tanh, "sigmoid": torch.sigmoid, "relu": F.relu,
    "square": lambda x: x * x, "cube": lambda x: (x * 0.1) ** 3, "softmax": lambda x: F.softmax(x, -1),
    "neg": lambda x: -x,
    "mean": lambda x: x - x.mean(dim=-1, keepdim=True), "turned": lambda x: x.t().contiguous().t(),
    "half": lambda x: torch.cat([x[:, 1:], x[:, :1]], 1), "norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "clamp": lambda x: x.clamp(-1, 1), "written": lambda x: x.clone().mul_(0.5).add_(1), "gelu": F.gelu,
    "dropout": lambda x: F.dropout(x, 0.5), "noise": lambda x: x + torch.randn(x.shape[-1]) * 0.1,
    "detached": lambda x: x + x.detach(), "frozen": lambda x: x * torch.where(x > 0, 1.0, 0.5),
}  # fmt: skip
TWO = {
    "add": lambda x, y: x + y, "mul": lambda x, y: x * y, "sub": lambda x, y: x - y,
    "div": lambda x, y: x / (y * y + 1), "matmul": lambda x, y: x @ y.t() @ y * 0.1, "max": torch.maximum,
    "where": lambda x, y: torch.where(x > y, x, y), "lerp": lambda x, y: torch.lerp(x, y, 0.3),
}  # fmt: skip
STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(ONE) + sorted(TWO)), st.integers(0, 100), st.integers(0, 100)),
    min_size=1,
    max_size=12,
)
OPTIMIZERS = {
    "SGD": lambda p: torch.optim.SGD(p, 0.1),
    "momentum": lambda p: torch.optim.SGD(p, 0.1, 0.9, weight_decay=0.01),
    "Adam": lambda p: torch.optim.Adam(p, 0.01),
}


def outcome(program, optimizer, shape, seed, how):
    """Everything that four training steps of a program give and leave behind."""
    torch.manual_seed(seed)
    weights = [torch.randn(shape, requires_grad=True) for _ in range(2)]
    opt = OPTIMIZERS[optimizer](weights)
    batches = [torch.randn(shape) for _ in range(5)]

    def step(x):
        values = [x, *weights]
        for name, first, second in program:
            a, b = values[first % len(values)], values[second % len(values)]
            values.append(ONE[name](a) if name in ONE else TWO[name](a, b))
        opt.zero_grad()
        loss = values[-1].square().mean() + sum((w * w).sum() for w in weights) * 0.01
        loss.backward()
        opt.step()
        return loss, values[-1].detach().clone()

    step = how(step)
    found = [step(batch) for batch in batches]
    return [pair[0] for pair in found] + [pair[1] for pair in found] + weights + [w.grad for w in weights], step


@generated(60, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, st.sampled_from(sorted(OPTIMIZERS)), st.sampled_from([(2, 3), (4, 4), (1, 5)]), st.integers(0, 9))
def test_compiled_equals_written(program, optimizer, shape, seed):
    with compiled.serving(compiled.NEVER):
        written, _ = outcome(program, optimizer, shape, seed, lambda step: step)
        stream = torch.get_rng_state().tolist()
        replayed, step = outcome(program, optimizer, shape, seed, functools.partial(torch.compile, pure=True))
    assert [bits(t) for t in written] == [bits(t) for t in replayed]
    assert torch.get_rng_state().tolist() == stream
    assert programs(step), reasons(step)


@generated(3, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, st.sampled_from([(2, 3), (150, 160)]), st.integers(0, 9))
def test_native_and_fused_loops_stay_within_a_bound(program, shape, seed):
    """Loops that Numba compiles sum in another order and have exponentials of their own: both within a few ulps."""
    pytest.importorskip("numba", reason="Numba is not installed: no loop is compiled")
    with compiled.serving(0):
        written, _ = outcome(program, "SGD", shape, seed, lambda step: step)
        replayed, step = outcome(program, "SGD", shape, seed, functools.partial(torch.compile, pure=True))
    for a, b in zip(written, replayed, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=2e-4, atol=2e-5)
    assert programs(step), reasons(step)
