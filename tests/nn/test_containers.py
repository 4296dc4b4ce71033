"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict: as lists and dictionaries, and as modules."""

from collections import OrderedDict

import pytest

from tests.agreement import cases, check

pytestmark = pytest.mark.torch


def _names(modules):
    return [type(module).__name__ for module in modules]


def sequential_as_a_list(torch, show):
    nn = torch.nn
    model = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sigmoid())
    model.append(nn.SiLU()).extend([nn.ELU()]).insert(1, nn.Identity()).insert(-1, nn.GELU())
    show("built", _names(model))
    show("parts", [repr(model[1:3]), repr(model[-1]), len(model)])
    model[0] = nn.Mish()
    del model[1]
    del model[-2:]
    show("left", repr(model))
    show("popped", [type(model.pop(0)).__name__, _names(model.pop(slice(0, 1))), _names(model)])
    for do in (
        lambda: model[9], lambda: model[-9], lambda: model["a"], lambda: model.insert(9, nn.ReLU()),
        lambda: model.append(3), lambda: model + [nn.ReLU()], lambda: model.pop(9),
        lambda: nn.Sequential(3), lambda: nn.Sequential([nn.ReLU()]),
    ):  # fmt: skip
        show.error(do)
    for factor in (0, -1):
        show.error(lambda f=factor: model * f, words="Non-positive multiplication factor")
    show.error(lambda: model * 1.5, words="unsupported operand type(s) for *")
    show.error(lambda: model.insert(0, 3), words="module should be of type")


def sequential_arithmetic(torch, show):
    nn = torch.nn
    one, two = nn.Sequential(nn.ReLU(), nn.Tanh()), nn.Sequential(nn.SiLU())
    show("sum", repr(one + two))
    show("twice", [repr(one * 2), repr(2 * two), (one * 2)[0] is (one * 2)[2]])
    one += two
    two *= 3
    show("in place", [repr(one), repr(two)])
    for operation in ("__iadd__", "__imul__"):
        show.error(lambda name=operation: getattr(one, name)("a"), words=False)


def sequential_of_names(torch, show):
    nn = torch.nn
    model = nn.Sequential(OrderedDict(first=nn.Linear(1, 2), second=nn.ReLU()))
    show("repr", repr(model))
    show("attribute", repr(model.second))
    show("slice", repr(model[1:]))
    del model[0]
    show("renumbered", repr(model))
    show("identity", nn.Sequential()(torch.ones(2)))


def module_list(torch, show):
    nn = torch.nn
    modules = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])
    modules.append(nn.ReLU())
    modules.extend(nn.Tanh() for _ in range(2))
    modules += [nn.Tanh()]
    modules.insert(0, nn.SiLU())
    show("repr", repr(modules))
    show("nested", repr(nn.ModuleList([nn.Sequential(nn.ReLU(), nn.Tanh())] * 2)))
    show("empty", repr(nn.ModuleList()))
    show("state", list(modules.state_dict()))
    show("parts", [repr(modules[:2]), type(modules[-1]).__name__, len(modules), _names(modules + [nn.ELU()])])
    modules[1] = nn.GELU()
    del modules[0]
    del modules[-2:]
    show("left", [_names(modules), list(modules._modules), type(modules.pop(0)).__name__])
    for do in (lambda: modules[9], lambda: modules.extend(3), lambda: modules.append(3), lambda: modules(1)):
        show.error(do)


def module_dict(torch, show):
    nn = torch.nn
    modules = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Linear(1, 1)})
    modules.update([("c", nn.Tanh())])
    modules.update(nn.ModuleDict({"a": nn.SiLU()}))
    modules["d"] = nn.ELU()
    show("repr", repr(modules))
    show("keys", [list(modules), list(modules.keys()), len(modules), "a" in modules, "z" in modules])
    show("values", [_names(modules.values()), [k for k, _ in modules.items()]])
    show("popped", [type(modules.pop("a")).__name__, list(modules)])
    del modules["b"]
    for do in (
        lambda: modules["z"], lambda: modules.pop("z"), lambda: modules.update(3), lambda: modules.update([3]),
        lambda: modules.update([("x",)]), lambda: modules.update({"x": 3}), lambda: modules.update({"keys": nn.ReLU()}),
    ):  # fmt: skip
        show.error(do)
    modules.clear()
    show("cleared", repr(modules))


def parameter_list(torch, show):
    nn = torch.nn
    held = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1, 3))])
    held.append(torch.tensor([1.0]))
    held += ["text"]
    show("repr", repr(held))
    show("parameters", [n for n, _ in held.named_parameters()])
    held[0] = torch.zeros(4)
    show("parts", [held[0], len(held), repr(held[1:3]), type(held[-2]).__name__, [type(p).__name__ for p in held]])
    for do in (lambda: held[9], lambda: held.extend(3), lambda: held.extend(torch.ones(2)), lambda: held()):
        show.error(do)
    show("state", list(held.state_dict()))


def parameter_dict(torch, show):
    nn = torch.nn
    held = nn.ParameterDict({"b": torch.ones(2), "a": nn.Parameter(torch.zeros(1, 3)), "c": 3})
    show("sorted", list(held))
    held.update([("z", torch.ones(1))])
    held.update(OrderedDict(y=torch.ones(1), x=torch.ones(1)))
    show("repr", repr(held))
    show("parameters", [n for n, _ in held.named_parameters()])
    show("access", [held["a"], held.a, held.get("q"), held.get("q", 1), "a" in held, len(held), list(reversed(held))])
    show("default", [held.setdefault("a", 5), held.setdefault("n", torch.ones(1))])
    show("popped", [held.pop("z"), held.popitem(), list(held)])
    show("joined", [list(held | {"w": torch.ones(1)}), list(held.copy()), list(held.fromkeys("pq", torch.ones(1)))])
    held |= nn.ParameterDict({"v": torch.ones(1)})
    show("values", [list(held.keys()), list(held.values()), [k for k, _ in held.items()]])
    for do in (
        lambda: held["nope"], lambda: held.pop("nope"), lambda: held.update(3), lambda: held.update([3]),
        lambda: held.update([("x", 1, 2)]), lambda: held(1),
    ):  # fmt: skip
        show.error(do)
    held.clear()
    show("cleared", [repr(held), list(held.parameters())])
    show.error(held.popitem)
    show.error(lambda: held.__setitem__(3, torch.ones(1)))


PROGRAMS = cases(globals())


@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])
