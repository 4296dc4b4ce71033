"""States go to torch and come back; the other forms of a step; and what constructors refuse."""

import importlib

import numpy as np
import pytest

import glassgrad
from tests.agreement import cases, check
from tests.optim.test_steps import BOTTOM, IDS, SETTINGS, as_array, assert_near
from tests.torch_reference import torch

pytestmark = pytest.mark.torch


def translated(state, engine):
    """A state with every tensor made anew by the other engine."""
    if isinstance(state, dict):
        return {key: translated(value, engine) for key, value in state.items()}
    if isinstance(state, (list, tuple)):
        return type(state)(translated(value, engine) for value in state)
    if isinstance(state, (torch.Tensor, glassgrad.Tensor)):
        return engine.tensor(np.array(state.tolist()), dtype=getattr(engine, str(state.dtype).partition(".")[2]))
    return state


@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=IDS)
def test_there_and_back(name, settings):
    """Some steps here, some at the other's from the state taken over, and some here again: as if never moved."""

    def begun(engine, values):
        params = [engine.tensor(value, dtype=engine.float64, requires_grad=True) for value in values]
        groups = [{"params": params[:2]}, {"params": params[2:], **({"lr": 0.01} if "lr" in settings else {})}]
        return params, getattr(engine.optim, name)(groups, **settings)

    def go_on(params, optimizer, steps):
        for _ in range(steps):
            for place, param in enumerate(params):
                param.grad = (param.detach() - BOTTOM) * (0.1 + 0.2 * place)
            optimizer.step()

    def move(*engines):
        params, optimizer = begun(engines[0], [np.linspace(-1, 2, 6).reshape(2, 3), np.array(0.5), np.ones(4)])
        go_on(params, optimizer, 5)
        for engine in engines[1:]:
            there, other = begun(engine, [as_array(param) for param in params])
            other.load_state_dict(translated(optimizer.state_dict(), engine))
            go_on(there, other, 5)
            params, optimizer = there, other
        return params, optimizer.state_dict()

    want, stayed = move(torch, torch, torch)
    for engines in ((torch, glassgrad, torch), (glassgrad, torch, glassgrad)):
        here, state = move(*engines)
        for a, b in zip(here, want, strict=True):
            assert_near(a, b, 1e-9)
        assert str(state["param_groups"]) == str(stayed["param_groups"])
        for number, held in stayed["state"].items():
            assert list(state["state"][number]) == list(held)
            for key, value in held.items():
                assert str(state["state"][number][key].dtype) == str(value.dtype)
                assert_near(state["state"][number][key], value, 1e-9, BOTTOM)


@pytest.mark.parametrize(("name", "settings"), [pair for pair in SETTINGS if pair[0] not in ("SGD", "Adafactor")])
def test_functional_forms(name, settings):
    """torch.optim._functional: the state comes as lists."""
    lists = {
        "Adam": ("exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"), "AdamW": ("exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"),
        "Adamax": ("exp_avgs", "exp_infs"), "NAdam": ("exp_avgs", "exp_avg_sqs", "mu_products"),
        "RAdam": ("exp_avgs", "exp_avg_sqs"), "Adagrad": ("state_sums",), "Adadelta": ("square_avgs", "acc_deltas"),
        "RMSprop": ("square_avgs", "grad_avgs", "momentum_buffer_list"), "Rprop": ("prevs", "step_sizes"),
        "ASGD": ("axs", "mus", "etas"),
    }[name]  # fmt: skip
    scalars, ones = ("mus", "etas", "mu_products"), ("mu_products", "mus", "step_sizes")

    def run(engine):
        function = getattr(importlib.import_module(f"{engine.__name__}.optim._functional"), name.lower())
        with engine.no_grad():
            params = [engine.ones(3, dtype=engine.float64) * 2, engine.ones(2, 2, dtype=engine.float64)]
            grads = [param * 3 for param in params]
            optimizer = getattr(engine.optim, name)([engine.ones(1, requires_grad=True)], **settings)
            group = dict(optimizer.param_groups[0])
            for key in ("params", "initial_accumulator_value", "fused", "foreach"):
                group.pop(key, None)
            if "betas" in group:
                group["beta1"], group["beta2"] = group.pop("betas")
            if name == "Rprop":
                group["etaminus"], group["etaplus"] = group.pop("etas")
                group["step_size_min"], group["step_size_max"] = group.pop("step_sizes")
                del group["lr"]
            if name == "AdamW":
                del group["decoupled_weight_decay"]
            held = {
                key: [
                    (engine.ones if key in ones else engine.zeros)(() if key in scalars else param.shape).to(
                        engine.float32 if key in scalars else param.dtype
                    )
                    for param in params
                ]
                for key in lists
            }
            held["state_steps"] = [engine.tensor(0.0) for _ in params]
            for _ in range(3):
                function(params, grads, **held, **group, foreach=False)
        if name != "ASGD":
            with pytest.raises(RuntimeError, match="API has changed, `state_steps` argument must contain"):
                function(params, grads, **{**held, "state_steps": [1, 2]}, **group)
        return params, held

    (want, their), (have, our) = run(torch), run(glassgrad)
    for a, b in zip(have, want, strict=True):
        assert_near(a, b, 1e-12)
    for key in their:
        for a, b in zip(our[key], their[key], strict=True):
            assert_near(a, b, 1e-6)


def functional_sgd(torch, show):
    function = importlib.import_module(f"{torch.__name__}.optim.sgd").sgd
    params, buffers = [torch.ones(3), torch.ones(2)], [None, torch.ones(2)]
    for _ in range(2):
        function(
            params, [param * 2 for param in params], buffers, weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.1,
            nesterov=False, maximize=False, foreach=False,
        )  # fmt: skip
    show("params", params)
    show("buffers", buffers)


def settings_refused(torch, show):
    w, o = torch.ones(1, requires_grad=True), torch.optim
    for name in ("Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD", "Adafactor", "Muon",
                 "SparseAdam", "LBFGS"):  # fmt: skip
        for more in (
            {"lr": -1.0}, {"lr": torch.ones(2)}, {"eps": -1.0}, {"eps": 0.0}, {"betas": (1.0, 0.9)},
            {"betas": (0.9, -0.1)}, {"weight_decay": -0.1}, {"momentum_decay": -1}, {"lr_decay": -1},
            {"initial_accumulator_value": -1}, {"rho": 1.5}, {"alpha": -1}, {"momentum": -1}, {"etas": (0.5, 0.9)},
            {"etas": (0, 1.2)}, {"d": 0.5}, {"beta2_decay": 0.1}, {"eps": (-1.0, 0.1)}, {"eps": (None, -0.1)},
            {"adjust_lr_fn": "no"}, {"fused": True, "foreach": True}, {"fused": True, "differentiable": True},
            {"params": [torch.ones(1, dtype=torch.complex64)]}, {"params": [torch.ones(2, 2), torch.ones(2, 2, 2)]},
        ):  # fmt: skip
            kind = getattr(o, name)
            if not set(more) <= {*kind.__init__.__code__.co_varnames}:
                continue
            if "eps" in more and isinstance(more["eps"], tuple) != (name == "Adafactor"):
                continue
            arguments = {"params": [torch.ones(2, 2) if name == "Muon" else w], **more}
            try:
                kind(**arguments)
                show("made", [name, sorted(more)])
            except (ValueError, RuntimeError) as error:
                show(name, [type(error).__name__, str(error)])


def steps_refused(torch, show):
    o = torch.optim
    for name in ("Adamax", "NAdam", "RAdam", "Adadelta", "RMSprop", "Rprop", "ASGD", "Adam"):
        w = torch.ones(1, requires_grad=True)
        optimizer = getattr(o, name)([w], capturable=True)
        w.grad = torch.ones(1)
        show.error(lambda optimizer=optimizer: optimizer.step())
    w = torch.ones(2, requires_grad=True)
    sparse = o.SparseAdam([w])
    show("nothing to do", sparse.step(lambda: 3))
    w.grad = torch.ones(2)
    show.error(sparse.step)
    z = torch.ones(2, 2, dtype=torch.complex64, requires_grad=True)
    z.grad = torch.ones(2, 2, dtype=torch.complex64)
    show.error(o.Adafactor([z]).step)
    show.error(o.Muon([z]).step)
    m = torch.ones(2, 2, requires_grad=True)
    m.grad = torch.ones(2, 2)
    show.error(o.Muon([m], ns_steps=100).step)
    show.error(o.Muon([m], ns_coefficients=(1, 2)).step)
    m.grad = None
    torch.nn.functional.embedding(torch.tensor([0]), m, sparse=True).sum().backward()
    show.error(o.Adafactor([m]).step)
    show.error(o.Muon([m]).step)


def made_and_shown(torch, show):
    w = torch.ones(2, 2, requires_grad=True)
    for name in ("Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD", "Adafactor", "Muon",
                 "SparseAdam", "LBFGS", "Adam", "AdamW", "SGD"):  # fmt: skip
        optimizer = getattr(torch.optim, name)([w])
        show("repr", repr(optimizer))
        show("defaults", list(optimizer.defaults.items()))
        show("state", optimizer.state_dict())


def states_of_old_forms(torch, show):
    for name, scalars in (("Adamax", ["step"]), ("NAdam", ["step", "mu_product"]), ("RAdam", ["step"]),
                          ("Adagrad", ["step"]), ("Adadelta", ["step"]), ("RMSprop", ["step"]), ("Rprop", ["step"]),
                          ("ASGD", ["step", "eta", "mu"]), ("Adafactor", ["step"])):  # fmt: skip
        w = torch.ones(2, dtype=torch.float64, requires_grad=True)
        optimizer = getattr(torch.optim, name)([w])
        w.grad = torch.ones(2, dtype=torch.float64)
        optimizer.step()
        state = optimizer.state_dict()
        for key in scalars:
            state["state"][0][key] = state["state"][0][key].item()
        kept = {"params", "lr", "betas", "eps", "rho", "etas", "step_sizes", "lambd", "alpha", "t0", "weight_decay",
                "lr_decay", "momentum_decay", "initial_accumulator_value", "d", "beta2_decay", "maximize"}  # fmt: skip
        state["param_groups"] = [
            {key: value for key, value in group.items() if key in kept} for group in state["param_groups"]
        ]
        optimizer.load_state_dict(state)
        show("groups", [list(group.items())[1:] for group in optimizer.param_groups if group.pop("params")])
        show("state", optimizer.state[w])


def swapped_in(torch, show):
    w, other = torch.ones(2, requires_grad=True), torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    swap = torch.optim.swap_in_optimizer_params_and_state
    show.error(lambda: swap(optimizer, {"w": other}, optimizer.state_dict()).__enter__())
    w.grad = torch.ones(2)
    optimizer.step()
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = 0.5
    with swap(optimizer, {"w": other}, state):
        other.grad = torch.ones(2)
        optimizer.step()
        show("inside", [optimizer.param_groups[0]["lr"], other in optimizer.state])
    show("w", [w, other, optimizer.param_groups[0]["lr"], w in optimizer.state])
    for bad in (
        3, {"state": 3}, {"state": {w: {}}}, {"state": {0: 3}}, {"state": {}, "param_groups": 3},
        {"state": {}, "param_groups": []}, {"state": {}, "param_groups": [3]},
        {"state": {}, "param_groups": [{"params": [w]}]}, {"state": {}, "param_groups": [{"params": [0, 1]}]},
        {"state": {}, "param_groups": [{"params": [0]}]}, {**state, "state": {7: {}}},
    ):  # fmt: skip
        show.error(lambda bad=bad: swap(optimizer, {"w": other}, bad).__enter__())
    show.error(lambda: swap(optimizer, {}, state).__enter__())


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])


@pytest.mark.parametrize(
    ("name", "settings"),
    [("Adamax", {}), ("NAdam", {}), ("RAdam", {"betas": (0.5, 0.6)}), ("Adagrad", {}), ("Adadelta", {}),
     ("RMSprop", {"momentum": 0.5, "centered": True}), ("Rprop", {}), ("ASGD", {"t0": 0})],
)  # fmt: skip
def test_differentiable_steps(name, settings):
    """The gradient of what comes after a step, through the step."""

    def run(engine):
        start = engine.tensor([1.0, -2.0], dtype=engine.float64, requires_grad=True)
        w = start.clone()
        optimizer = getattr(engine.optim, name)([w], lr=0.1, differentiable=True, **settings)
        w.grad = engine.autograd.grad((w.clone() ** 3).sum(), w, create_graph=True)[0]
        optimizer.step()
        return as_array(engine.autograd.grad((w * w).sum(), start)[0])

    # torch's differentiable NAdam computes its factors in the single precision of "mu_product"
    np.testing.assert_allclose(run(glassgrad), run(torch), rtol=1e-7 if name == "NAdam" else 1e-9)


@pytest.mark.parametrize("shape", [(4, 6), (7, 3), (5, 5)])
@pytest.mark.parametrize(
    "settings",
    [{}, {"nesterov": False, "momentum": 0.5}, {"adjust_lr_fn": "match_rms_adamw"},
     {"ns_steps": 3, "ns_coefficients": (2, -1.5, 0.5), "weight_decay": 0.0}],
)  # fmt: skip
def test_muon(shape, settings):
    """The directions are bfloat16, of which a few units in the last place depend on the order of sums."""

    def run(engine):
        w = engine.linspace(-1, 1, shape[0] * shape[1]).reshape(shape).requires_grad_()
        optimizer = engine.optim.Muon([w], lr=0.02, **settings)
        for turn in range(5):
            w.grad = (w.detach() * 3 + engine.cos(w.detach() * 7 + turn)).sin()
            optimizer.step()
        return w, optimizer.state[w]["momentum_buffer"]

    (want, buffer), (have, mine) = run(torch), run(glassgrad)
    assert_near(have, want, 5 * 0.02 * 2.0**-6)
    assert_near(mine, buffer, 5 * 2.0**-6)
