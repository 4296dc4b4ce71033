"""Compiled optimizer steps: the same as on NumPy arrays, for every option, layout, dtype and number of threads."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="the compiled kernels need Numba")

import glassgrad  # noqa: E402
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

SETTINGS = [
    ("Adam", {}),
    ("Adam", {"weight_decay": 0.1, "amsgrad": True}),
    ("Adam", {"maximize": True, "lr": 0.1, "betas": (0.5, 0.7), "eps": 1e-3}),
    ("AdamW", {}),
    ("AdamW", {"amsgrad": True, "maximize": True, "weight_decay": 0.3}),
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "weight_decay": 0.2, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.2}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.8}),
    ("RMSprop", {"centered": True, "weight_decay": 0.1}),
    ("RMSprop", {"momentum": 0.8, "centered": True, "maximize": True}),
    ("Adagrad", {}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.2, "initial_accumulator_value": 0.5}),
]
SHAPES = [(), (1,), (7, 3), (0, 4), (33,), (130, 127), (20001,)]


def stepped(elements, name, settings, values, slopes, steps=3):
    """Parameters and states after some steps, with compiled kernels from so many elements on."""
    params = [glassgrad.nn.Parameter(glassgrad.from_numpy(value.copy(order="K"))) for value in values]
    optimizer = getattr(glassgrad.optim, name)(params, **settings)
    with compiled.serving(elements):
        for step in range(steps):
            for param, slope in zip(params, slopes, strict=True):
                param.grad = glassgrad.from_numpy(np.asarray(slope * (step + 1), slope.dtype))
            optimizer.step()
    found = [(param, param._version) for param in params]
    state = [[value for _, value in sorted(optimizer.state[param].items())] for param in params]
    return found, state


def drawn(kind, shapes=SHAPES):
    source = np.random.default_rng(0)

    def draw(shape):
        values = source.normal(size=shape)
        if np.dtype(kind).kind == "c":
            values = values + 1j * source.normal(size=shape)
        return np.asarray(values, kind)

    return [draw(shape) for shape in shapes], [draw(shape) for shape in shapes]


def assert_same(one, other, rtol):
    for (param, version), (expected, expected_version) in zip(one[0], other[0], strict=True):
        np.testing.assert_allclose(param.detach().numpy(), expected.detach().numpy(), rtol=rtol, atol=rtol)
        assert version == expected_version
    for state, expected in zip(one[1], other[1], strict=True):
        for value, wanted in zip(state, expected, strict=True):
            assert value.dtype == wanted.dtype
            np.testing.assert_allclose(value.numpy(), wanted.numpy(), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("kind", ["f4", "f8", "c8"])
@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_against_numpy(name, settings, kind, monkeypatch):
    values, slopes = drawn(kind)
    expected = stepped(compiled.NEVER, name, settings, values, slopes)
    served = []
    native = compiled.optimizer
    step = native.step
    monkeypatch.setattr(native, "step", lambda *arguments: served.append(step(*arguments)) or served[-1])
    assert_same(stepped(0, name, settings, values, slopes), expected, 1e-12 if kind == "f8" else 3e-6)
    assert served and all(served)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_layouts(kind):
    """Transposed parameters are served where all their arrays lie alike; others are left to NumPy."""
    (one,), (slope,) = drawn(kind, [(40, 30)])
    for value in (np.asfortranarray(one), one[::2, ::3], one):
        for grad in (slope, np.asfortranarray(slope)):
            grad = grad[: len(value), : value.shape[1]]
            expected = stepped(compiled.NEVER, "AdamW", {}, [value], [grad])
            assert_same(stepped(0, "AdamW", {}, [value], [grad]), expected, 3e-6)


def test_expanded_gradient():
    values = [np.ones((5, 6), "f4")]
    slopes = [np.broadcast_to(np.float32(2), (5, 6))]
    native = compiled.optimizer
    assert not native.step(
        native.descend, [[values[0], slopes[0]]], np.dtype("f4"), {}, (1, 0, 0, 1, 0, 0.1), False, False
    )
    assert (values[0] == 1).all()


def test_read_only_parameter():
    value, slope = np.ones(50, "f4"), np.ones(50, "f4")
    value.flags.writeable = False
    native = compiled.optimizer
    assert not native.step(native.descend, [[value, slope]], np.dtype("f4"), {}, (1, 0, 0, 1, 0, 0.1), False, False)
    assert (value == 1).all()


@pytest.mark.parametrize(("name", "settings"), [("Adam", {}), ("SGD", {"lr": 0.1, "momentum": 0.9})])
def test_threads(name, settings):
    """The same bits by one thread and by two."""
    values, slopes = drawn("f4", [(513, 701), (17,), (300, 301)])
    before = runtime._set.threads
    found = []
    try:
        for threads in (1, 2):
            runtime._set.threads = threads
            found.append(stepped(0, name, settings, values, slopes))
    finally:
        runtime._set.threads = before
    assert_same(*found, 0)


def test_parameters_that_share_memory():
    """Two views of one memory are stepped one after the other."""
    for elements in (0, compiled.NEVER):
        base = glassgrad.ones(64)
        params = [base[:40].detach().requires_grad_(), base[20:].detach().requires_grad_()]
        optimizer = glassgrad.optim.SGD(params, lr=0.5, momentum=0.5)
        for param in params:
            param.grad = glassgrad.ones(param.shape)
        with compiled.serving(elements):
            optimizer.step()
        assert base.tolist() == [0.5] * 20 + [0.0] * 20 + [0.5] * 24


def test_not_a_number_and_infinity():
    values = [np.array([np.nan, np.inf, -np.inf, 1.0, 0.0, 1e38] * 5, "f4")]
    slopes = [np.array([1.0, 1.0, np.nan, np.inf, 0.0, 1e30] * 5, "f4")]
    for name, settings in [("Adam", {}), ("Adam", {"amsgrad": True}), ("AdamW", {}), ("SGD", {"lr": 0.1})]:
        with np.errstate(all="ignore"):
            expected = stepped(compiled.NEVER, name, settings, values, slopes)
        assert_same(stepped(0, name, settings, values, slopes), expected, 3e-6)
