"""state_dict and load_state_dict: keys, metadata, hooks, assignment, and the report of what does not fit."""

import copy
import pickle
from collections import OrderedDict

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _model(torch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(2, 1)))
    model.register_buffer("seen", torch.tensor(3.0))
    model[1].register_buffer("hidden", torch.ones(1), persistent=False)
    return model


def keys_and_metadata(torch, show):
    model = _model(torch)
    state = model.state_dict()
    show("keys", list(state))
    show("metadata", dict(state._metadata))
    show("prefix", [list(model.state_dict(prefix="net.")), dict(model.state_dict(prefix="net.")._metadata)])
    given = {}
    show("given", model.state_dict(destination=given) is given)
    show("same", [state["0.weight"].requires_grad, model.state_dict(keep_vars=True)["0.weight"] is model[0].weight])
    show("shared", state["0.weight"].data_ptr() == model[0].weight.data_ptr())
    show.warnings(lambda: model.state_dict({}, "old.", True))
    show("positional", list(model.state_dict({}, "old.", True)))


def versions_of_modules(torch, show):
    class Newer(torch.nn.Module):
        _version = 7

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            seen.append((prefix, dict(local_metadata)))
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    seen = []
    model = torch.nn.Sequential(Newer(), torch.nn.ReLU())
    model.load_state_dict(model.state_dict())
    model.load_state_dict({})
    show("seen", seen)


def reports(torch, show):
    model = _model(torch)
    state = model.state_dict()
    for change in (
        {"0.bias": torch.ones(5)}, {"0.bias": 3}, {"0.bias": torch.ones(2).double()}, {"strange": torch.ones(1)},
        {"9.strange": torch.ones(1)}, {"0.more": torch.ones(1)}, {"seen": torch.ones(1)}, {"1.hidden": torch.ones(1)},
        {"1.1.weight": torch.ones(2, 1)}, {"0.weight": torch.ones(2, 2, dtype=torch.int64)},
    ):  # fmt: skip
        changed = OrderedDict(state)
        changed.update(change)
        show.error(lambda c=changed: repr(model.load_state_dict(c)))
        show.error(lambda c=changed: repr(model.load_state_dict(c, strict=False)))
        show("state", dict(model.state_dict()))
    show.error(lambda: model.load_state_dict({}))
    show("loose", model.load_state_dict({}, strict=False))
    show.error(lambda: model.load_state_dict("text"))


def what_fits_is_loaded_all_the_same(torch, show):
    model = _model(torch)
    state = {"0.bias": torch.ones(2), "0.weight": torch.ones(7)}
    show.error(lambda: model.load_state_dict(state))
    show("bias", model[0].bias)


def loading_keeps_identity(torch, show):
    model, other = _model(torch), _model(torch)
    parameter = other[0].weight
    version = parameter._version
    with torch.no_grad():
        other[0].weight.fill_(0)
    show("report", str(other.load_state_dict(model.state_dict())))
    show("same", [other[0].weight is parameter, parameter._version - version, parameter.requires_grad])


def assignment(torch, show):
    model = _model(torch)
    state = {key: value.clone().double() for key, value in model.state_dict().items()}
    show("report", str(model.load_state_dict(state, assign=True)))
    show("types", [type(model[0].weight).__name__, type(model.seen).__name__, model[0].weight.dtype])
    show("shared", [model[0].weight.data_ptr() == state["0.weight"].data_ptr(), model.seen is state["seen"]])
    frozen = torch.nn.Linear(2, 2).requires_grad_(False)
    given = torch.nn.Parameter(torch.ones(2, 2))
    frozen.load_state_dict({"weight": given, "bias": torch.ones(2)}, assign=True)
    show("frozen", [frozen.weight is given, given.requires_grad, frozen.bias.requires_grad])


def extra_state(torch, show):
    class Extra(torch.nn.Module):
        extra = 3

        def get_extra_state(self):
            return {"extra": self.extra}

        def set_extra_state(self, state):
            self.extra = state["extra"]

    model = torch.nn.Sequential(Extra())
    state = model.state_dict()
    show("state", dict(state))
    state["0._extra_state"] = {"extra": 9}
    model.load_state_dict(state)
    show("extra", model[0].extra)
    show.error(lambda: model.load_state_dict({}))
    show.error(lambda: torch.nn.ReLU().load_state_dict({"_extra_state": 1}))
    show.error(lambda: torch.nn.Module().get_extra_state())
    show.error(lambda: torch.nn.Module().set_extra_state(1))


def hooks(torch, show):
    seen = []
    model = _model(torch)
    model.register_state_dict_pre_hook(lambda m, prefix, keep: seen.append(("pre", prefix, keep)))
    model.register_state_dict_post_hook(lambda m, state, prefix, facts: seen.append((len(state), prefix, facts)))
    model._register_state_dict_hook(lambda m, state, prefix, facts: OrderedDict(state, more=1))
    show("state", list(model.state_dict()))
    bad = _model(torch)
    hook = lambda m, state, prefix, facts: state  # noqa: E731
    bad.register_state_dict_post_hook(hook)
    show.error(bad.state_dict)
    show.error(lambda: bad._register_state_dict_hook(hook))
    loaded = _model(torch)
    loaded.register_load_state_dict_pre_hook(
        lambda m, state, prefix, facts, strict, missing, unexpected, errors: seen.append(
            (type(m).__name__, len(state), prefix, facts, strict, missing, unexpected, errors)
        )
    )
    handle = loaded.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    show("forgiven", str(loaded.load_state_dict({"0.bias": torch.ones(2)})))
    handle.remove()
    show.error(lambda: loaded.load_state_dict({}))
    loaded.register_load_state_dict_post_hook(lambda m, keys: keys)
    show.error(lambda: loaded.load_state_dict(loaded.state_dict()))
    show("seen", seen)


def copies_and_pickles(torch, show):
    model = _model(torch)
    model.eval()
    model[0].weight.grad = torch.ones(2, 2)
    model.register_load_state_dict_pre_hook(_renamed)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), copy.copy(model)):
        show("repr", repr(twin))
        show("state", dict(twin.state_dict()))
        show("modes", [twin.training, twin[0].weight.requires_grad, type(twin[0].weight).__name__])
        show("hidden", [n for n, _ in twin.named_buffers()])
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin[0].weight.fill_(7.0)
    show("apart", model[0].weight)
    tied = torch.nn.Sequential(model[0], model[0])
    show("tied", copy.deepcopy(tied)[0] is not model[0] and len(list(copy.deepcopy(tied).parameters())))
    report = model.load_state_dict({}, strict=False)
    show("report", [list(report.missing_keys), report[1]])


def _renamed(module, state, *rest):
    state.pop("old", None)


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
