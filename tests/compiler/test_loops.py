"""Formulas say what kernels compute; loops and native functions are made of them."""

import threading

import numpy as np
import pytest

import glassgrad as torch
from glassgrad import nn
from glassgrad.core.row import TABLE
from glassgrad.kernels import compiled
from glassgrad.kernels.native.formulas import FORMULAS

from .both_ways import bits, programs, reasons, training

numba = pytest.importorskip("numba", reason="Numba is not installed: no loop is compiled")
CASES = [(name, formula) for name, formulas in FORMULAS.items() for formula in formulas]
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5, 1e-30, 30.0, -30.0], np.float32)


@pytest.mark.parametrize(("name", "formula"), CASES, ids=[f"{name}{formula.when or ''}" for name, formula in CASES])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_a_formula_is_what_the_kernel_computes(name, formula, kind):
    from glassgrad.kernels.native.loops import filled_in, functions_for

    row = TABLE[name]
    settings = {**{key: 0.5 for key in row.settings}, **row.defaults, **formula.when}
    pairs = np.array([(a, b) for a in SPECIAL for b in SPECIAL], kind)
    arrays = dict(zip(row.inputs, (pairs[:, 0].copy(), pairs[:, 1].copy()), strict=False))
    exact = "(" not in formula.text
    with np.errstate(all="ignore"):  # the kernel itself may lose places where near numbers are subtracted
        by_tangent = formula.when == {"approximate": "tanh"}
        wide = {key: array.astype(np.float64) for key, array in arrays.items()} if by_tangent else arrays
        expected = row.kernel(*wide.values(), *settings.values()).astype(kind)
    names = dict(functions_for(np.dtype(kind)))
    texts = {key: f"{key}[i]" for key in arrays} | {key: f"number({value!r})" for key, value in settings.items()}
    text = f"def loop({', '.join(arrays)}, out):\n    for i in range(out.size):\n"
    text += f"        out[i] = {filled_in(formula.text, texts)}\n"
    exec(text, names)
    out = np.empty_like(expected)
    numba.njit(error_model="numpy")(names["loop"])(*arrays.values(), out)
    if exact:
        assert np.array_equal(out, expected, equal_nan=True)
    else:
        chance = kind == "f4" and formula.when == {"approximate": "none"}  # whose polynomial is right within 2e-7
        np.testing.assert_allclose(out, expected, rtol=1e-6 if kind == "f4" else 1e-14, atol=3e-6 if chance else 1e-37)


def tiny():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def test_a_whole_step_is_one_native_function():
    torch.manual_seed(0)
    with compiled.serving(compiled.LEAST):
        written, replayed, step = training(
            tiny,
            lambda: (torch.randn(10, 2), torch.randn(10, 1)),
            lambda model, x, y: nn.functional.mse_loss(model(x), y),
            lambda p: torch.optim.SGD(p, 0.01),
            seen=lambda tensor: tensor.detach().numpy().copy(),
        )
    (program,) = programs(step)
    assert program.native and "# one native program" in step.source and not reasons(step)
    assert written["stream"] == replayed["stream"]
    for part in ("state", "gradients"):
        for name, value in written[part].items():
            np.testing.assert_allclose(replayed[part][name], value, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(replayed["losses"], written["losses"], rtol=1e-5)


def test_numbers_of_no_dimension():
    x, z = (torch.tensor(v, requires_grad=True) for v in (3.0, 4.0))

    @torch.compile(pure=True)
    def step():
        x.grad = z.grad = None
        y = x * z + x + z + torch.sin(x) + torch.cos(z)
        y.backward()
        return y

    with compiled.serving(compiled.LEAST):
        values = [step().item() for _ in range(4)]
    assert programs(step)[0].native
    assert values == pytest.approx([12 + 7 + np.sin(3) + np.cos(4)] * 4, rel=1e-6)
    assert x.grad.item() == pytest.approx(5 + np.cos(3), rel=1e-6)
    assert z.grad.item() == pytest.approx(4 - np.sin(4), rel=1e-6)
    assert x.grad.shape == () and x.grad.dtype is torch.float32


def test_native_results_are_the_callers_own():
    w = torch.ones(3, requires_grad=True)

    @torch.compile(pure=True)
    def step(x):
        w.grad = None
        y = x * w
        y.sum().backward()
        return y, w.grad

    with compiled.serving(compiled.LEAST):
        held = [step(torch.full((3,), float(n))) for n in range(6)]
    assert programs(step)[0].native
    assert [(y.tolist(), grad.tolist()) for y, grad in held] == [([float(n)] * 3,) * 2 for n in range(6)]


def test_two_threads_may_call_one_native_program():
    w = torch.ones(4)
    step = torch.compile(lambda x: (x * w).sum(), pure=True)
    with compiled.serving(compiled.LEAST):
        for n in range(4):
            step(torch.ones(4))
        wrong = []

        def work(number):
            for _ in range(300):
                if step(torch.full((4,), float(number))).item() != 4.0 * number:
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert programs(step)[0].native and not wrong


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_of_elementwise_operations_is_one_loop(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        x = torch.rand(300_000) + 0.5

        def function(x):
            return ((x * 2.0 + 1.0).exp().log().sqrt() - 0.5).tanh() * x

        replayed = torch.compile(function)
        with compiled.serving(compiled.LEAST):
            for _ in range(3):
                made = replayed(x)
        assert len(programs(replayed)) == 1
        np.testing.assert_allclose(made.numpy(), function(x).numpy(), rtol=2e-6)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_a_fused_loop_gives_the_same_bits_wherever_an_element_lies(kind):
    """Several vectors at a time, what is left over, and the parts of two threads: one result for one number."""
    torch.manual_seed(0)
    x = torch.randn(150_001, dtype=kind) * 20
    x[:80] = torch.tensor(np.resize(SPECIAL, 80), dtype=kind)

    def function(x):
        return (x.abs() + 1.0).log() * x.tanh() * (x * -0.5).exp().sigmoid()

    found = {}
    before = torch.get_num_threads()
    try:
        for first in (0, 1, 77):
            replayed = torch.compile(function)
            for threads in (1, 2):
                torch.set_num_threads(threads)
                with compiled.serving(compiled.LEAST):
                    for _ in range(3):
                        made = replayed(x[first:].clone())
                found[first, threads] = made.numpy()[77 - first :].tobytes()
            assert len(programs(replayed)) == 1
    finally:
        torch.set_num_threads(before)
    assert len(set(found.values())) == 1
    rtol = 4e-6 if kind is torch.float32 else 1e-14
    np.testing.assert_allclose(made.numpy(), function(x[77:]).numpy(), rtol=rtol)


def test_arithmetic_alone_keeps_its_bits_in_a_fused_loop():
    torch.manual_seed(0)
    a, b = torch.randn(40_000), torch.randn(40_000)

    def function(a, b):
        c = a * b + a
        return c / (b * b), c

    replayed = torch.compile(function)
    with compiled.serving(compiled.LEAST):
        for _ in range(3):
            made = replayed(a, b)
    assert len(programs(replayed)) == 1
    assert [bits(t) for t in made] == [bits(t) for t in function(a, b)]
