"""Members shown among the attributes stay in step with the dictionaries, however those are changed."""

import copy
import pickle

import pytest

import glassgrad as torch
from tests.agreement import cases, check

nn = torch.nn


def dictionaries_changed_from_outside(torch, show):
    nn = torch.nn
    module = nn.Module()
    module.a = nn.ReLU()
    module._modules["a"] = nn.Tanh()
    show("replaced", repr(module.a))
    module._modules["b"] = nn.ReLU()
    module._modules.update(c=nn.ELU())
    module._modules |= {"d": nn.GELU()}
    show("added", [repr(module.b), repr(module.c), repr(module.d), repr(module._modules.setdefault("e", nn.SiLU()))])
    show("kept", repr(module._modules.setdefault("a", nn.SiLU())))
    del module._modules["b"]
    module._modules.pop("c")
    show("popped", module._modules.popitem()[0])
    for name in "bce":
        show.error(lambda n=name: getattr(module, n))
    module._modules.clear()
    show.error(lambda: module.a)
    module._parameters["w"] = nn.Parameter(torch.ones(1))
    module._buffers["s"] = torch.zeros(1)
    show("members", [module.w, module.s, list(module.state_dict())])
    del module.w
    show("deleted", list(module._parameters))
    show.error(lambda: module._modules.pop("nothing"))
    show("default", module._modules.pop("nothing", 3))


def dictionaries_replaced(torch, show):
    nn = torch.nn
    module = nn.Sequential(nn.ReLU(), nn.Tanh())
    module.w = nn.Parameter(torch.ones(1))
    module._modules = {"x": nn.ELU()}
    module._parameters = {}
    show("repr", [repr(module), repr(module.x)])
    show.error(lambda: module.w)
    show.error(lambda: getattr(module, "0"))
    twin = nn.Sequential.__new__(nn.Sequential)
    twin.__dict__ = module.__dict__.copy()
    twin._modules = {"y": nn.GELU()}
    show("replica", [repr(twin), repr(twin.y), repr(module), repr(module.x)])
    show.error(lambda: twin.x)


def classes_with_attributes_of_the_same_name(torch, show):
    class Model(torch.nn.Module):
        act = None

        @property
        def size(self):
            return 3

    model = Model()
    model.act = torch.nn.ReLU()
    show("hidden", [model.act, [n for n, _ in model.named_children()]])
    show.error(lambda: model.register_buffer("size", torch.ones(1)))


def attributes_set_behind_the_back(torch, show):
    layer = torch.nn.Linear(1, 1)
    layer.weight.data = torch.ones(1, 1)
    weight = layer._parameters.pop("weight")
    layer.weight = weight.detach() * 2
    layer._parameters["bias"] = None
    show("y", [layer(torch.ones(1)), layer.bias, list(layer.state_dict())])


PROGRAMS = cases(globals())


@pytest.mark.torch
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees(name):
    check(PROGRAMS[name])


def test_copies_have_members_of_their_own():
    model = nn.Sequential(nn.Linear(1, 1))
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert getattr(twin, "0") is twin[0] is not model[0]
        twin.add_module("more", nn.ReLU())
        assert twin.more is twin[1]
        assert not hasattr(model, "more")
        twin[0].weight = nn.Parameter(torch.zeros(1, 1))
        assert twin[0].weight is twin[0]._parameters["weight"]


def test_states_written_by_a_class_of_its_own():
    twin = pickle.loads(pickle.dumps(Plain()))
    assert twin.layer is twin._modules["layer"]
    twin.layer = nn.ReLU()
    assert isinstance(twin.layer, nn.ReLU)
    assert twin(torch.ones(1)).item() == 1.0


class Plain(nn.Module):
    """A module that saves and restores itself as a dictionary."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)

    def forward(self, x):
        return self.layer(x)

    def __getstate__(self):
        return self.__dict__.copy()

    def __setstate__(self, state):
        self.__dict__.update(state)


def test_a_plain_dictionary_of_members_is_pickled():
    assert type(pickle.loads(pickle.dumps(nn.Linear(1, 1)._parameters))) is dict
    assert type(copy.copy(nn.Linear(1, 1)._parameters)) is dict


def test_a_class_with_a_search_of_its_own_is_asked_each_time():
    def program(torch, show):
        class Counting(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.scale = torch.nn.Linear(2, 2), torch.nn.Parameter(torch.ones(2))
                self.asked = []

            def __getattr__(self, name):
                member = super().__getattr__(name)
                if name in ("layer", "scale"):
                    self.__dict__["asked"].append(name)
                return member

        module = Counting()
        module.layer(module.scale), module.scale  # noqa: B018
        show("asked", module.asked)
        show("listed", [name for name, _ in module.named_parameters()])

    check(program)
