"""Groups, names, hooks, closures, saved state, copies, and the words of every refusal."""

import copy
import importlib
import pickle

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _leaf(torch, *values):
    return torch.tensor(values or (1.0,), requires_grad=True)


def _module(torch):
    """The module torch.optim.optimizer, which torch.optim does not hold as an attribute."""
    return importlib.import_module(f"{torch.__name__}.optim.optimizer")


def names_of_parameters(torch, show):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.named_parameters(), lr=0.1)
    show("names", optimizer.param_groups[0]["param_names"])
    show("state", optimizer.state_dict())
    show("repr", repr(optimizer))
    show.error(lambda: optimizer.add_param_group({"params": [_leaf(torch)]}))
    plain = torch.optim.SGD([_leaf(torch)], lr=0.1)
    show.error(lambda: plain.add_param_group({"params": [("a", _leaf(torch))]}))
    show.error(lambda: torch.optim.SGD([("a", _leaf(torch)), _leaf(torch)], lr=0.1))
    other = torch.optim.SGD(torch.nn.Linear(2, 1).parameters(), lr=0.2)
    optimizer.load_state_dict(other.state_dict())
    show("loaded", [optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["param_names"]])


def groups_refused(torch, show):
    w = _leaf(torch)
    optimizer = torch.optim.SGD([w], lr=0.1)
    show.error(lambda: optimizer.add_param_group([w]))
    show.error(lambda: optimizer.add_param_group({"lr": 0.1}))
    show.error(lambda: optimizer.add_param_group({"params": w}))
    show.error(lambda: optimizer.add_param_group({"params": {_leaf(torch)}}))
    show.error(lambda: optimizer.add_param_group({"params": [3]}))
    show.error(lambda: optimizer.add_param_group({"params": [_leaf(torch) * 2]}))
    show("one left", len(optimizer.param_groups))
    show.warnings(lambda: torch.optim.SGD([w, w], lr=0.1))
    retained = _leaf(torch) * 2
    retained.retain_grad()
    show("retained", len(torch.optim.SGD([retained], lr=0.1).param_groups))
    for params in (w, 3, None, [], ["a"], [None], iter(())):
        show.error(lambda p=params: torch.optim.SGD(p, lr=0.1))


def settings_refused(torch, show):
    w, optim = _leaf(torch), torch.optim
    for do in (
        lambda: optim.SGD([w], lr=torch.ones(2)), lambda: optim.SGD([w], nesterov=True, momentum=0.9, dampening=0.1),
        lambda: optim.SGD([w], fused=True, differentiable=True), lambda: optim.SGD([w], fused=True, foreach=True),
        lambda: optim.Adam([w], fused=True, differentiable=True), lambda: optim.Adam([w], fused=True, foreach=True),
        lambda: optim.Adam([w], lr=torch.ones(2)), lambda: optim.Adam([w], lr=torch.tensor(0.1), foreach=True),
        lambda: optim.Adam([w], betas=(0, 0)), lambda: optim.Adam([w], betas=(0.9, 1.0)),
        lambda: optim.Adam([w], betas=(torch.tensor(0.9), 0.9)), lambda: optim.AdamW([w], lr=-1),
        lambda: optim.Adam([w], betas=(torch.tensor([0.9, 0.9]), torch.tensor(0.9))),
        lambda: optim.AdamW([w], weight_decay=-1.0), lambda: optim.SGD([w], 0.1, 0, 0, 0, False, True),
        lambda: optim.Adam([w], unknown=1),
    ):  # fmt: skip
        show.error(do, words=False if do.__code__.co_names[-1] == "unknown" else True)
    capturable = optim.Adam([w], capturable=True)
    w.grad = torch.ones(1)
    show.error(capturable.step, words="must be on supported devices")


def optimizers_of_one_s_own(torch, show):
    seen = []

    class Mine(torch.optim.Optimizer):
        def __init__(self, params, lr=_module(torch).required, power=2):
            super().__init__(params, {"lr": lr, "power": power})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["count"] = self.state[p].get("count", 0) + 1
                    p -= group["lr"] * p.grad ** group["power"]

    w = _leaf(torch, 1.0, 2.0)
    show.error(lambda: Mine([w]))
    mine = Mine([{"params": [w], "lr": 0.1}])
    show("repr", repr(mine))
    mine.register_step_pre_hook(lambda o, args, kwargs: seen.append((len(args), args[0] is o, kwargs)))
    mine.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    (w * 3).sum().backward()
    mine.step()
    show("w", w)
    show("state", mine.state_dict())
    show("seen", seen)
    show.error(lambda: torch.optim.Optimizer([w], {}).step())


def hooks_around_steps(torch, show):
    seen = []
    w = _leaf(torch)
    optimizer = torch.optim.SGD([w], lr=0.1)
    of = _module(torch)
    handles = [
        of.register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append("pre all")),
        of.register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append("post all")),
        optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("pre") or (args, {"closure": lambda: 5})),
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append(sorted(kwargs))),
    ]
    try:
        show("replaced", optimizer.step())
        optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
        show.error(optimizer.step, words=False)
    finally:
        for handle in handles:
            handle.remove()
    show("seen", seen)


def hooks_around_state(torch, show):
    seen = []
    w = _leaf(torch)
    optimizer = torch.optim.SGD([w], lr=0.1)
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("pre"))
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    state = optimizer.state_dict()
    show("state", state)
    optimizer.register_load_state_dict_pre_hook(lambda o, state: {k: v for k, v in state.items() if k != "more"})
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    optimizer.load_state_dict(state)
    show("seen", seen)


def closures_are_recorded(torch, show):
    w = _leaf(torch, 3.0)
    for kind in (torch.optim.SGD, torch.optim.Adam):
        optimizer = kind([w], lr=0.1)

        def closure(optimizer=optimizer):
            optimizer.zero_grad()
            loss = (w * w).sum()
            loss.backward()
            return loss

        with torch.no_grad():
            show("loss", optimizer.step(closure))
        show("mode", torch.is_grad_enabled())
        show("keyword", optimizer.step(closure=closure))
    show("w", w)
    show.error(lambda: optimizer.step(lambda: 1 / 0))
    show("mode after", torch.is_grad_enabled())


def state_follows_the_parameter(torch, show):
    w = _leaf(torch, 1.0, 2.0)
    optimizer = torch.optim.Adam([w], lr=0.1)
    w.grad = torch.ones(2)
    optimizer.step()
    show("step", optimizer.state[w]["step"])
    show("means", [optimizer.state[w][k] for k in ("exp_avg", "exp_avg_sq")])
    held = optimizer.state[w]["exp_avg"]
    optimizer.step()
    show("identity", held is optimizer.state[w]["exp_avg"])
    twice = _leaf(torch, 1.0, 2.0)
    twice = twice.detach().double().requires_grad_()
    other = torch.optim.Adam([twice], lr=0.5)
    other.load_state_dict(optimizer.state_dict())
    show("double", [other.state[twice]["exp_avg"].dtype, other.state[twice]["step"].dtype, other.param_groups[0]["lr"]])
    twice.grad = torch.ones(2).double()
    other.step()
    show("twice", twice)
    show("zero", [optimizer.zero_grad(set_to_none=False), w.grad])


def copies_and_pickles(torch, show):
    w = _leaf(torch, 1.0, 2.0)
    for optimizer in (torch.optim.SGD([w], lr=0.1, momentum=0.9), torch.optim.AdamW([w])):
        w.grad = torch.ones(2)
        optimizer.step()
        for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
            show("state", twin.state_dict())
            copied = twin.param_groups[0]["params"][0]
            copied.grad = torch.ones(2)
            twin.step()
            show("parameter", [copied, copied is w, copied in twin.state])
        show("original", w)


def states_of_old_forms(torch, show):
    w = _leaf(torch, 1.0)
    optimizer = torch.optim.Adam([w])
    w.grad = torch.ones(1)
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = 4
    del state["param_groups"][0]["amsgrad"]
    optimizer.load_state_dict(state)
    show("step", optimizer.state[w]["step"])
    optimizer.step()
    show("w", w)
    sgd = torch.optim.SGD([w], lr=0.1, momentum=0.5)
    state = sgd.state_dict()
    for key in ("nesterov", "maximize", "foreach", "differentiable", "fused"):
        del state["param_groups"][0][key]
    sgd.load_state_dict(state)
    show("groups", sgd.state_dict())


def state_that_is_no_tensor(torch, show):
    w, v = _leaf(torch), _leaf(torch)
    optimizer = torch.optim.SGD([w, v], lr=0.1)
    optimizer.state["own"] = [1, 2]
    optimizer.state[v] = {"list": [torch.ones(1).double(), 3], "none": None}
    state = optimizer.state_dict()
    show("state", state["state"])
    optimizer.load_state_dict(state)
    show("loaded", [optimizer.state["own"], optimizer.state[v]])


def steps_in_the_middle_of_a_graph(torch, show):
    w = _leaf(torch, 1.0, 2.0)
    for kind in (torch.optim.SGD, torch.optim.Adam):
        y = (w * w).sum()
        y.backward(retain_graph=True)
        kind([w], lr=0.1).step()
        show.error(y.backward)
        w.grad = None


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
