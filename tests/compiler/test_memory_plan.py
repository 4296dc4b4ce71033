"""The memory of programs: what goes when, what nobody may write to, and how much there is at once."""

import functools
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import glassgrad as torch
import glassgrad.nn.functional as F
from glassgrad.compiler import build, fuse
from glassgrad.kernels import compiled
from tests.counts import generated

from .both_ways import bits, programs, reasons

compile = functools.partial(torch.compile, pure=True)

ONE = {
    "double": lambda x: x * 2, "more": lambda x: x + 1, "neg": lambda x: -x, "relu": F.relu, "square": lambda x: x * x,
    "tanh": torch.tanh, "turned": lambda x: x.t(), "apart": lambda x: x.t().contiguous(),
    "flat": lambda x: x.reshape(-1),
    "shaped": lambda x: x.reshape(8, 8), "part": lambda x: torch.cat([x.reshape(8, 8)[2:], x.reshape(8, 8)[:2]]),
    "sum": lambda x: x.reshape(8, 8).sum(0, keepdim=True).expand(8, 8), "clone": lambda x: x.clone(),
    "written": lambda x: x.clone().mul_(0.5), "detached": lambda x: x.detach(), "same": lambda x: x.contiguous(),
    "scan": lambda x: x.reshape(8, 8).cumsum(0) * 0.1,
}  # fmt: skip
TWO = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y * 0.1,
    "div": lambda x, y: x / (y * y + 1), "matmul": lambda x, y: x @ y * 0.1,
}  # fmt: skip
STEP = st.tuples(st.sampled_from(sorted(ONE) + sorted(TWO)), st.integers(0, 99), st.integers(0, 99))
STEPS = st.lists(STEP, min_size=2, max_size=12)


def square(x):
    return x if tuple(x.shape) == (8, 8) else x.reshape(8, 8)


@pytest.fixture(scope="module", autouse=True)
def _every_size():
    """Small programs are written step by step, and what large arrays go through is done for all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build.Builder, "_tape", lambda *_: None)
        patch.setattr(fuse, "FEWEST", 2)
        patch.setattr(fuse, "WORTH_IT", 1)
        yield


def outcome(program, how, kept, trained):
    """Everything that a few calls give, of which all is kept, and what they leave behind."""
    torch.manual_seed(len(program))
    weights = [torch.randn(8, 8, requires_grad=True) for _ in range(2)]

    def step(x):
        values = [x, *weights]
        for name, first, second in program:
            a, b = values[first % len(values)], values[second % len(values)]
            values.append(ONE[name](square(a)) if name in ONE else TWO[name](square(a), square(b)))
        given = [values[place % len(values)] * 1.5 for place in kept]
        total = sum((square(value) * square(value)).mean() for value in [*values[-3:], *weights])
        if trained:
            for weight in weights:
                weight.grad = None
            total.backward()
            given = [piece.detach() for piece in given]
        return total.detach() if trained else total, given

    step = how(step)
    found, grads = [], []
    for _ in range(5):
        found.append(step(torch.randn(8, 8)))
        grads.append([weight.grad for weight in weights])
    if not trained:
        for total, given in found:
            (total + sum(piece.sum() for piece in given)).backward()
    return [[total, *given] for total, given in found] + grads + [[w.grad for w in weights]], step


def told(found):
    return [[None if t is None else bits(t) for t in group] for group in found]


def test_repeated_steps_are_left_out():
    """What computes the same as an earlier step is left out."""
    for trained in (True,):
        with compiled.serving(compiled.NEVER):
            written, _ = outcome([("square", 1, 0), ("div", 2, 1)], lambda step: step, [], trained)
            replayed, step = outcome([("square", 1, 0), ("div", 2, 1)], compile, [], trained)
        assert told(written) == told(replayed)
        assert programs(step), reasons(step)


@generated(30, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS, st.lists(st.integers(0, 99), max_size=3), st.booleans())
def test_programs_give_the_same_bits(program, kept, trained):
    with compiled.serving(compiled.NEVER):
        written, _ = outcome(program, lambda step: step, kept, trained)
        replayed, step = outcome(program, compile, kept, trained)
    assert told(written) == told(replayed)
    assert programs(step) or reasons(step)


def chain(x):
    for _ in range(3):
        x = x.cumsum(0) * 0.5 + 1
    return x.sum(), x


def test_two_threads_in_one_program():
    with compiled.serving(compiled.NEVER):
        step = compile(chain)
        for _ in range(4):
            step(torch.randn(200, 50))
        assert programs(step), reasons(step)
        given = [[torch.randn(200, 50) for _ in range(40)] for _ in range(2)]
        found = [[], []]

        def many(which):
            for x in given[which]:
                found[which].append(step(x))

        threads = [threading.Thread(target=many, args=(which,)) for which in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for which in range(2):
            for x, pair in zip(given[which], found[which], strict=True):
                assert list(map(bits, pair)) == list(map(bits, chain(x)))


def deep(x):
    for _ in range(12):
        x = torch.tanh(x * 1.01)
    return x


def test_what_a_program_needs_at_once_is_told():
    weight = torch.randn(200, 300, requires_grad=True)

    @compile
    def step(x):
        weight.grad = None
        loss = deep(x * weight).sum()
        loss.backward()
        return loss

    with compiled.serving(compiled.NEVER):
        for _ in range(4):
            step(torch.randn(200, 300))
    (program,) = programs(step)
    one = 200 * 300 * 4
    assert 13 * one <= program.plan.most <= 17 * one  # what tanh's slope reads, and what is on the way
    assert program.plan.made >= 36 * one
    line = f"memory: {program.plan.most / 1e6:,.1f} MB at most, of {program.plan.made / 1e6:,.1f} MB of values"
    assert f"  {line}" in repr(torch.compile.explain(step)).splitlines()
    assert f"    # {line}" in step.source.splitlines()


def test_loops_are_kept_on_disk():
    pytest.importorskip("numba", reason="Numba is not installed: no loop is compiled")
    from glassgrad.kernels.native import kept

    if kept.file_of("loop_of_nothing", "").startswith("<"):
        pytest.skip("there is no directory to keep compiled code in")

    def made():
        text = ["def loop(first, last, x):", "    for i in range(first, last):", "        x[i] = x[i] * x[i] + one"]
        return kept.called_by_python(kept.defined(text, {"one": np.float32(1)}, "<f4 for a test"))

    array = np.arange(6, dtype=np.float32)
    made()(0, 6, array)
    again = made()
    again(0, 3, array)
    assert sum(again.stats.cache_hits.values()) == 1
    assert array.tolist() == [2, 5, 26, 10, 17, 26]
    other = kept.defined(["def loop(first, last, x):", "    x[0] = one"], {"one": np.float32(1)}, "<f4 for a test")
    assert other.__name__ != again.py_func.__name__
