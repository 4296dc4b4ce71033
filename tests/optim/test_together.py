"""Many small parameters are stepped end to end: what comes out is the same, whatever has been done to them before."""

import copy
import pickle

import numpy as np
import pytest

import glassgrad
from glassgrad.kernels import compiled
from glassgrad.optim import elementwise
from tests.optim.test_steps import SETTINGS, as_array, assert_near
from tests.torch_reference import torch

pytestmark = pytest.mark.torch
SHAPES = [(4, 3), (), (3,), (2, 2, 2), (1,), (5,), (0,), (3, 4)]
ONES = [next(pair for pair in reversed(SETTINGS) if pair[0] == kind) for kind in (
    "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD",
)] + [SETTINGS[2], SETTINGS[12]]  # fmt: skip
ONES[0] = SETTINGS[3]


def parameters(engine, dtype="float64"):
    made = []
    for place, shape in enumerate(SHAPES):
        values = np.cos(np.arange(np.prod(shape, dtype=int)) + place).reshape(shape)
        made.append(engine.tensor(values.tolist()).reshape(shape).to(getattr(engine, dtype)).requires_grad_())
    made[-1] = made[-1].detach().t().requires_grad_()
    return made


def give_gradients(params, turn):
    for place, param in enumerate(params):
        param.grad = None if (place + turn) % 5 == 4 else (param.detach() * (place + 1) + 0.1 * turn)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "complex128"])
@pytest.mark.parametrize(("name", "settings"), ONES)
def test_as_one_by_one(name, settings, dtype):
    """Parameters that come equally far, and others; also torch's."""
    settings = {key: value for key, value in settings.items() if key != "fused"}

    def run(engine, together=True):
        params = parameters(engine, dtype)
        optimizer = getattr(engine.optim, name)(params, **settings)
        few, elementwise._FEW = elementwise._FEW, (2 if together else 10**9)
        try:
            for turn in range(12):
                give_gradients(params, turn)
                optimizer.step()
        finally:
            elementwise._FEW = few
        return params, optimizer

    have, ours = run(glassgrad)
    alone, theirs = run(glassgrad, together=False)
    want, torchs = run(torch)
    for a, b, c in zip(have, alone, want, strict=True):
        assert a.tolist() == b.tolist()
        assert a._version == b._version
        if dtype not in ("bfloat16", "complex128"):
            assert_near(a, c, 1e-12 if dtype == "float64" else 1e-5)
        if dtype == "complex128":
            np.testing.assert_allclose(np.array(a.tolist()), np.array(c.tolist()), rtol=1e-9)
        for key, value in ours.state[a].items():
            assert value.tolist() == theirs.state[b][key].tolist()
            assert tuple(value.shape) == tuple(torchs.state[c][key].shape)


def test_together_at_all(monkeypatch):
    """The small ones of a group are one call of the rule."""
    params = parameters(glassgrad)
    optimizer = glassgrad.optim.Adam(params)
    calls = []
    run = glassgrad.optim.Adam._run

    def counted(self, group, numbers, arrays):
        calls.append(arrays[0].size)
        return run(self, group, numbers, arrays)

    monkeypatch.setattr(glassgrad.optim.Adam, "_run", counted)
    for param in params:
        param.grad = param.detach() * 2
    with compiled.serving(compiled.NEVER):
        for _ in range(3):
            optimizer.step()
    assert calls == [sum(param.numel() for param in params)] * 3


def meddle(engine, what, params, optimizer):
    """Something that people do to an optimizer between steps."""
    if what == "data":
        params[0].data = engine.ones(4, 3, dtype=engine.float64)
    elif what == "state":
        optimizer.state[params[2]]["exp_avg"] = engine.ones(3, dtype=engine.float64)
    elif what == "state in place":
        optimizer.state[params[2]]["exp_avg"].mul_(3)
    elif what == "group":
        optimizer.add_param_group({"params": [engine.ones(2, dtype=engine.float64, requires_grad=True)], "lr": 0.5})
    elif what == "loaded":
        optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    elif what == "shared":
        twin = engine.optim.Adam(params, lr=0.1)
        twin.load_state_dict(optimizer.state_dict())
        twin.step()
    elif what == "deepcopy":
        optimizer = copy.deepcopy(optimizer)
    elif what == "pickle":
        optimizer = pickle.loads(pickle.dumps(optimizer))
    elif what == "alias":
        alias = optimizer.state[params[2]]["exp_avg"].detach()
        alias.zero_()
    elif what == "steps":
        optimizer.state[params[2]]["step"] += 5
    return optimizer


@pytest.mark.parametrize(
    "what",
    ["data", "state", "state in place", "group", "loaded", "shared", "deepcopy", "pickle", "alias", "steps"],
)
def test_meddling(what):
    """Changes from outside between two steps count, as with torch."""

    def run(engine):
        params = parameters(engine)
        optimizer = engine.optim.Adam(params, lr=0.1)
        for turn in range(3):
            give_gradients(params, turn)
            optimizer.step()
        optimizer = meddle(engine, what, params, optimizer)
        params = [param for group in optimizer.param_groups for param in group["params"]]
        for turn in range(3):
            give_gradients(params, turn)
            optimizer.step()
        return params, optimizer

    (want, theirs), (have, ours) = run(torch), run(glassgrad)
    for a, b in zip(have, want, strict=True):
        assert_near(a, b, 1e-12)
        for key, value in theirs.state[b].items():
            assert_near(ours.state[a][key], value, 1e-12)


def test_the_same_parameter_twice():
    """With torch's warning, and two steps in one."""

    def run(engine):
        params = parameters(engine)
        with pytest.warns(UserWarning, match="duplicate parameters"):
            optimizer = engine.optim.Adam([*params, params[2]], lr=0.1)
        for param in params:
            param.grad = param.detach() * 2
        optimizer.step()
        optimizer.step()
        return [as_array(param) for param in params]

    for a, b in zip(run(glassgrad), run(torch), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_parameters_that_share_memory():
    """Two views of one array, each with its own state."""

    def run(engine):
        params = parameters(engine)
        base = engine.linspace(0, 1, 6, dtype=engine.float64)
        views = [base[:4].detach().requires_grad_(), base[2:].detach().requires_grad_()]
        optimizer = engine.optim.Adam([*params, *views], lr=0.1)
        for turn in range(3):
            for param in (*params, *views):
                param.grad = param.detach() * 2 + turn
            optimizer.step()
        return as_array(base)

    np.testing.assert_allclose(run(glassgrad), run(torch), rtol=1e-12)
