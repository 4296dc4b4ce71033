"""What modules, classes and functions are called while ``torch`` means glassgrad, beside PyTorch's own names."""

import importlib
import importlib.metadata
import importlib.util
import inspect
import pickle
import sys

import pytest

import glassgrad
from glassgrad.ground.later import whole
from glassgrad.ground.names import PRESENTED

SPACES = """
torch torch.nn torch.nn.modules torch.nn.parameter torch.nn.utils.rnn torch.nn.utils.parametrize torch.nn.parallel
torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.utils.data torch.utils.hooks torch.utils.checkpoint
torch.distributions torch.distributions.transforms torch.distributions.constraints torch.autograd torch.autograd.graph
torch.autograd.function torch.amp torch.func torch.profiler torch.fx torch.storage torch.serialization torch.futures
torch.autograd.forward_ad torch.autograd.profiler torch.multiprocessing torch.overrides torch.testing torch.hub
torch.compiler torch.distributed torch.jit torch.return_types torch.utils.tensorboard torch.torch_version torch.types
torch.nn.attention torch.nn.utils.parametrizations torch.nn.utils.prune torch.utils.benchmark torch.quasirandom
""".split()


def classes_of(module):
    """The classes that a module shows by their public names, each with what it is called."""
    shown = {name: value for name, value in vars(module).items() if issubclass(type(value), type) and name[0] != "_"}
    return {name: f"{value.__module__}.{value.__qualname__}" for name, value in shown.items()}


#: Classes whose files here PyTorch's paths cannot lead to: ``torch.jit`` and ``datapipes`` are modules, not packages.
APART = set(
    """
Future Attribute RecursiveScriptModule ScriptFunction ScriptModule TopLevelTracedModule TracedModule TracerWarning
TracingCheckError SDPBackend IterDataPipe DFIterDataPipe MapDataPipe Compare Measurement TaskSpec Language Timer P2POp
ReduceOp FileStore HashStore PrefixStore Store TCPStore ProfilerActivity
""".split()
)


@pytest.mark.torch
@pytest.mark.parametrize("space", SPACES)
def test_classes_are_called_as_in_pytorch(space):
    importlib.import_module("tests.torch_reference")
    theirs = classes_of(importlib.import_module(space))
    with glassgrad.alias():
        module = importlib.import_module(space)
        whole(module)
        ours = classes_of(module)
    common = {name for name in theirs.keys() & ours.keys() if theirs[name].startswith("torch.")} - APART
    common = {name for name in common if not name.endswith("_out")}  # the same types here
    assert {name: ours[name] for name in common} == {name: theirs[name] for name in common}


def test_what_bears_pytorch_s_name_is_found_by_it():
    """Pickles find classes by their names."""
    with glassgrad.alias():
        for space in SPACES:
            whole(importlib.import_module(space))
        for thing, _ in [*PRESENTED.values()]:
            if isinstance(thing, type) and "<" not in thing.__qualname__ and thing.__name__[0] != "_":
                if getattr(importlib.import_module(thing.__module__), thing.__name__, None) is not thing:
                    assert thing.__name__ in INNER, thing


#: Nobody pickles these.
INNER = set("Budget Reader Storages Unpickler Writer CrossMapLRN2d load save tensortype".split())


def test_all_is_as_before_afterwards():
    def names():
        module = glassgrad.nn.modules.linear
        things = (glassgrad.Tensor, glassgrad.nn.Linear, glassgrad.optim.Adam, glassgrad.distributions.Normal)
        return [repr(thing) for thing in things], glassgrad.__name__, module.__name__, sys.path[:], dict(PRESENTED)

    before = names()
    with glassgrad.alias():
        importlib.import_module("torch.nn.utils.prune")
        assert "glassgrad" not in str(names()[:3])
    assert names() == before
    assert repr(glassgrad.nn.utils.prune.L1Unstructured) == "<class 'glassgrad.nn.utils.prune.L1Unstructured'>"


def test_what_is_asked_of_an_installed_package():
    with glassgrad.alias():
        import torch

        assert torch.__name__ == "torch" and "torch" in sys.modules
        assert importlib.util.find_spec("torch") is not None
        assert importlib.metadata.version("torch") == torch.__version__
        assert "torch" in importlib.metadata.packages_distributions()
        assert inspect.getsource(torch.nn.Linear).startswith("class Linear")
        assert sys.modules[torch.nn.Linear.__module__].Linear is torch.nn.Linear
        assert torch.Tensor.__module__ == "torch" and torch.nn.functional.__name__ == "torch.nn.functional"


def things(torch):
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    layer.kept = [torch.arange(3), torch.ones(2, dtype=torch.bfloat16), torch.float32, torch.Size([1])]
    layer(torch.ones(4, 2)).sum().backward()
    optimizer = torch.optim.Adam(layer.parameters())
    optimizer.step()
    return layer, optimizer, torch.distributions.Normal(0.0, 1.0), torch.optim.lr_scheduler.StepLR(optimizer, 3)


def test_pickles_name_pytorch_s_paths():
    with glassgrad.alias():
        import torch

        written = things(torch)
        content = pickle.dumps(written)
        read = pickle.loads(content)
        assert type(read[0]) is torch.nn.Sequential and (read[0][0].weight == written[0][0].weight).all()
    assert b"glassgrad" not in content


@pytest.mark.torch
def test_pickles_go_to_pytorch_and_back():
    from tests.torch_reference import torch as real

    with glassgrad.alias():
        import torch

        content = pickle.dumps(things(torch)[0])
    layer = pickle.loads(content)
    assert type(layer) is real.nn.Sequential
    content = pickle.dumps(layer)
    with glassgrad.alias():
        again = pickle.loads(content)
        assert type(again) is glassgrad.nn.Sequential and again.kept[2] is glassgrad.float32
        assert again[0].weight.tolist() == layer[0].weight.tolist()


def test_a_tensor_of_numbers_of_the_program_s_own_class_keeps_its_name():
    with glassgrad.alias():
        import torch

        class Mine(torch.nn.Linear):
            pass

        assert Mine.__module__ == __name__
