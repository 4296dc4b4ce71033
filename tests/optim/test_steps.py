"""Fifty steps of every setting end where torch's do: parameters, state, version counts."""

import numpy as np
import pytest

import glassgrad
from tests.torch_reference import torch

pytestmark = pytest.mark.torch

SETTINGS = [
    ("SGD", {"lr": 0.02}),
    ("SGD", {"lr": 0.02, "momentum": 0.9}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.05}),
    ("SGD", {"lr": 0.02, "momentum": 0.8, "nesterov": True, "weight_decay": 0.05}),
    ("SGD", {"lr": 0.001, "maximize": True}),
    ("SGD", {"lr": 1}),
    ("SGD", {"lr": 0.02, "weight_decay": 0.1, "foreach": True}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "fused": True}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "betas": (0.7, 0.9), "eps": 1e-3}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05, "amsgrad": True}),
    ("Adam", {"lr": 0.05, "maximize": True, "foreach": True}),
    ("Adam", {"lr": 0.05, "betas": (0.2, 0.9)}),
    ("Adam", {"lr": 0.05, "fused": True}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.2, "amsgrad": True}),
    ("Adamax", {}),
    ("Adamax", {"lr": 0.05, "betas": (0.3, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.05, "maximize": True}),
    ("NAdam", {}),
    ("NAdam", {"lr": 0.05, "betas": (0.7, 0.9), "weight_decay": 0.1, "momentum_decay": 0.1}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("RAdam", {}),
    ("RAdam", {"lr": 0.05, "betas": (0.7, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.3, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "eps": 1e-3}),
    ("Adagrad", {"lr": 0.05, "maximize": True}),
    ("Adagrad", {"lr": 0.05, "fused": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.5, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adadelta", {"maximize": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.02, "alpha": 0.3, "eps": 1e-3, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.02, "momentum": 0.7}),
    ("RMSprop", {"lr": 0.02, "momentum": 0.7, "centered": True, "maximize": True}),
    ("RMSprop", {"lr": 0.02, "centered": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.5, "etas": (0.3, 1.4), "step_sizes": (1e-3, 2.0)}),
    ("Rprop", {"maximize": True}),
    ("ASGD", {}),
    ("ASGD", {"lr": 0.02, "lambd": 0.1, "alpha": 0.5, "t0": 10, "weight_decay": 0.05}),
    ("ASGD", {"lr": 0.001, "t0": 1, "maximize": True}),
    ("Adafactor", {}),
    ("Adafactor", {"lr": 0.02, "beta2_decay": -0.3, "eps": (1e-3, 0.1), "d": 1.5, "weight_decay": 0.1}),
    ("Adafactor", {"lr": 0.1, "maximize": True}),
]
SOME = [[place for place, (name, _) in enumerate(SETTINGS) if name == kind][1] for kind in (
    "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD",
)]  # fmt: skip
BOTTOM = 8.0  # where the bowls are lowest
IDS = [f"{name}-{'-'.join(f'{k}={v}' for k, v in settings.items())}" for name, settings in SETTINGS]


def descend(engine, name, settings, dtype, steps=50, size=12):
    """Steps down an uneven bowl whose bottom is out of reach: rounding does not grow. Gives parameters, optimizer."""
    kind = getattr(engine, dtype)
    start = np.linspace(-1.0, 2.0, size)
    w = engine.tensor(start.reshape(3, -1), dtype=kind, requires_grad=True)
    b = engine.tensor(0.5, dtype=kind, requires_grad=True)
    unused = engine.tensor([1.0], dtype=kind, requires_grad=True)
    slope = engine.tensor(np.geomspace(0.5, 4.0, size).reshape(3, -1) / size, dtype=kind)
    optimizer = getattr(engine.optim, name)([w, b, unused], **settings)
    for _ in range(steps):
        optimizer.zero_grad()
        (((w - BOTTOM) ** 2 * slope).sum() + (b - BOTTOM - w.sum() / size) ** 2 * 0.05).backward()
        optimizer.step()
    return (w, b, unused), optimizer


def as_array(tensor):
    return np.array(tensor.detach().tolist(), np.float64)


def assert_near(have, want, tolerance, size=1.0):
    """Every element within ``tolerance`` of the largest, or of ``size``: small ones are differences of large ones."""
    want = as_array(want)
    largest = np.abs(want).max(initial=size)
    np.testing.assert_allclose(as_array(have), want, rtol=0, atol=tolerance * largest)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=IDS)
def test_fifty_steps(name, settings, dtype):
    want, theirs = descend(torch, name, settings, dtype)
    have, ours = descend(glassgrad, name, settings, dtype)
    tolerance = 1e-12 if dtype == "float64" else 1e-6
    for a, b in zip(want, have, strict=True):
        assert_near(b, a, tolerance, BOTTOM)
        if not settings.get("fused"):  # torch's fused steps are not counted
            assert b._version == a._version
    for a, b in zip(want, have, strict=True):
        assert list(ours.state[b]) == list(theirs.state[a])
        for key, value in theirs.state[a].items():
            mine = ours.state[b][key]
            assert str(mine.dtype) == str(value.dtype), key
            assert tuple(mine.shape) == tuple(value.shape), key
            assert_near(mine, value, tolerance, BOTTOM)


@pytest.mark.parametrize(("name", "settings"), [SETTINGS[3], SETTINGS[8], SETTINGS[11]])
def test_large_arrays_are_stepped_in_blocks(name, settings):
    """More elements than one block, and a layout that cannot be flattened."""
    size = 3 * (4 * (1 << 16) // 3 + 1)
    want, _ = descend(torch, name, settings, "float64", 2, size)
    have, _ = descend(glassgrad, name, settings, "float64", 2, size)
    assert_near(have[0], want[0], 1e-12)

    def transposed(engine):
        w = engine.tensor(np.linspace(0, 1, size).reshape(3, -1)).t().requires_grad_()
        optimizer = getattr(engine.optim, name)([w], **settings)
        for _ in range(2):
            w.grad = engine.tensor(np.linspace(1, 0, size).reshape(-1, 3))
            optimizer.step()
        return w

    assert_near(transposed(glassgrad), transposed(torch), 1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [SETTINGS[0], SETTINGS[2], SETTINGS[8], SETTINGS[17], *[SETTINGS[place] for place in SOME]],
)
def test_narrow_types(name, settings, dtype):
    """Narrow types round at every operation, as torch's do: equal but for a unit in the last place.

    Of a size without a rest: torch rounds what does not fill a vector register once more.
    """

    def run(engine):
        w = engine.linspace(-1, 1, 64).to(getattr(engine, dtype)).requires_grad_()
        optimizer = getattr(engine.optim, name)([w], **{**settings, "foreach": False})
        for step in range(5):
            w.grad = (engine.linspace(0.5, 2, 64) * (step + 1)).to(w.dtype)
            optimizer.step()
        return w, optimizer.state[w]

    (want, their_state), (have, state) = run(torch), run(glassgrad)
    unit = 2.0**-10 if dtype == "float16" else 2.0**-7
    assert_near(have, want, unit)
    assert {k: str(v.dtype) for k, v in state.items()} == {k: str(v.dtype) for k, v in their_state.items()}


@pytest.mark.parametrize(
    ("name", "settings"),
    [SETTINGS[0], SETTINGS[2], SETTINGS[8], SETTINGS[11], SETTINGS[16], *[SETTINGS[place] for place in SOME]],
)
def test_complex_parameters(name, settings):
    """Real and imaginary parts are stepped as numbers of their own."""

    def run(engine):
        w = engine.tensor([1 + 2j, -3j, 0.5], dtype=engine.complex128, requires_grad=True)
        z = engine.tensor(1 - 1j, dtype=engine.complex128, requires_grad=True)
        optimizer = getattr(engine.optim, name)([w, z], **settings)
        for step in range(5):
            w.grad = engine.tensor([1 + 1j, 2 - 3j, -1j], dtype=engine.complex128) * (step + 1)
            z.grad = engine.tensor(0.3 - 2j, dtype=engine.complex128)
            optimizer.step()
        return [w.detach().tolist(), z.detach().tolist()]

    want, have = run(torch), run(glassgrad)
    np.testing.assert_allclose(have[0], want[0], rtol=1e-12)
    np.testing.assert_allclose(have[1], want[1], rtol=1e-12)


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in SETTINGS))
def test_settings_as_tensors(name, kind):
    """A rate that is a tensor can be changed from outside, and what is made of it has its dtype."""

    def run(engine):
        w = engine.tensor([1.0, -2.0], dtype=engine.float64, requires_grad=True)
        rate = engine.tensor(0.1, dtype=getattr(engine, kind))
        optimizer = getattr(engine.optim, name)([w], lr=rate)
        for _ in range(4):
            w.grad = w.detach() * 2
            optimizer.step()
            rate.mul_(0.5)
        return as_array(w)

    np.testing.assert_allclose(run(glassgrad), run(torch), rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("SGD", {}), ("SGD", {"momentum": 0.9, "weight_decay": 0.1}), ("Adam", {}), ("AdamW", {"weight_decay": 0.2})],
)
def test_differentiable_steps(name, settings):
    """The gradient of what comes after a step, through the step."""

    def run(engine):
        start = engine.tensor([1.0, -2.0], dtype=engine.float64, requires_grad=True)
        w = start.clone()
        optimizer = getattr(engine.optim, name)([w], lr=0.1, differentiable=True, **settings)
        for _ in range(2):
            w.grad = engine.autograd.grad((w.clone() ** 3).sum(), w, create_graph=True)[0]
            optimizer.step()
        return as_array(engine.autograd.grad((w * w).sum(), start)[0])

    # torch's differentiable Adam counts its steps, and takes powers of them, in single precision
    np.testing.assert_allclose(run(glassgrad), run(torch), rtol=1e-12 if name == "SGD" else 1e-5)
