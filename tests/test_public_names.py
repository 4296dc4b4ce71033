"""Every public name of PyTorch's namespaces is here, or in the table of absent names with its sentence.

``python -m tests.test_public_names`` lists what is absent, and what neither has.
"""

import importlib
import importlib.util
from types import ModuleType

import pytest

import glassgrad
from glassgrad.absent_names import NAMES, hint
from tests.torch_reference import torch

pytestmark = [pytest.mark.torch, pytest.mark.once]

NAMESPACES = """
torch torch.Tensor torch.__future__ torch.accelerator torch.amp torch.autograd torch.autograd.anomaly_mode
torch.autograd.function torch.autograd.functional torch.autograd.grad_mode torch.autograd.gradcheck
torch.autograd.graph torch.autograd.profiler torch.compiler torch.distributed torch.distributions torch.fft torch.func
torch.functional torch.futures torch.fx torch.hub torch.jit torch.linalg torch.masked torch.multiprocessing torch.nn
torch.nn.attention torch.nn.functional torch.nn.grad torch.nn.init torch.nn.modules torch.nn.parallel
torch.nn.parameter torch.nn.utils torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune
torch.nn.utils.rnn torch.nn.utils.stateless torch.optim torch.optim.lr_scheduler torch.optim.swa_utils
torch.overrides torch.profiler torch.quasirandom torch.random torch.serialization torch.signal torch.signal.windows
torch.sparse torch.special torch.storage torch.testing torch.types torch.utils torch.utils.benchmark
torch.utils.checkpoint torch.utils.data torch.utils.data.dataloader torch.utils.data.dataset
torch.utils.data.distributed torch.utils.data.sampler torch.utils.dlpack torch.utils.hooks torch.utils.tensorboard
""".split()
#: Modules whose names are to be imported, and that are there or in the table as names of their package.
MODULES = """
autograd.forward_ad utils.collect_env utils.cpp_extension utils.deterministic utils.flop_counter utils.model_zoo
utils.module_tracker utils.weak
""".split()
_NOT_THERE = object()
INCIDENTAL = {"torch", "TYPE_CHECKING"}  # what torch's own source imports


def _found(home, namespace):
    name = namespace.replace("torch", home, 1)
    return importlib.import_module(home).Tensor if namespace == "torch.Tensor" else importlib.import_module(name)


def public(namespace):
    """The names of torch's namespace that are for its users: those it lists, else those that are its own."""
    space = _found("torch", namespace)
    whole = namespace in ("torch", "torch.Tensor")
    listed = None if whole else getattr(space, "__all__", None)
    names = []
    for name in dir(space) if listed is None else listed:
        value = getattr(space, name, _NOT_THERE)  # torch lists some names that it lacks itself
        if name.startswith("_") or name in INCIDENTAL or value is _NOT_THERE:
            continue
        if isinstance(value, ModuleType) and not _is_torchs(value):
            continue
        if whole or listed is not None or getattr(value, "__module__", None) == namespace:
            names.append(name)
    return names + [name.partition(".")[2] for name in MODULES if f"torch.{name}".rpartition(".")[0] == namespace]


def _is_torchs(module):
    return module.__name__.partition(".")[0] == "torch"


def lacking(namespace):
    """Public names that are not here, with what the table says of each."""
    ours = _found("glassgrad", namespace)
    return {name: hint(f"{namespace}.{name}") for name in public(namespace) if not hasattr(ours, name)}


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_name_is_here_or_has_its_sentence(namespace):
    assert [name for name, sentence in lacking(namespace).items() if not sentence] == []


def test_the_table_has_names_of_torchs_that_are_not_here_and_each_once():
    for namespace, sentences in NAMES.items():
        names = [name for names in sentences.values() for name in names.split()]
        theirs = _found("torch", namespace)
        assert len(set(names)) == len(names)
        assert [name for name in names if not (hasattr(theirs, name) or _is_module(f"{namespace}.{name}"))] == []
        assert [name for name in names if hasattr(_found("glassgrad", namespace), name)] == []


def _is_module(name):
    return importlib.util.find_spec(name) is not None


@pytest.mark.parametrize("name", ["sym_fresh_size", "q_scale", "smm", "cudnn_convolution", "ScriptMethod"])
def test_the_error_has_the_sentence(name):
    with pytest.raises(AttributeError) as error:
        getattr(glassgrad, name)
    assert str(error.value) == f"torch.{name} is not in glassgrad {glassgrad.RELEASE}{hint(f'torch.{name}')}"
    with glassgrad.alias() as aliased, pytest.raises(AttributeError) as error:
        aliased.distributed.breakpoint  # noqa: B018
    assert "in the process that is to stop" in str(error.value)
    with glassgrad.alias(), pytest.raises(ModuleNotFoundError, match="nonsense"):
        importlib.import_module("torch.utils.nonsense")


def test_what_is_here_to_be_asked_for():
    for lib in (torch, glassgrad):
        assert not isinstance(3, (lib.SymInt, lib.SymFloat, lib.SymBool)) and lib.types.SymInt is lib.SymInt
        assert [repr(getattr(lib, name)) for name in ("sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")] == [
            "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc", "torch.jagged"
        ]  # fmt: skip
        assert lib.ones(2).layout not in (lib.sparse_csc, lib.jagged)
        assert lib.legacy_contiguous_format is lib.contiguous_format and lib.complex32 is lib.chalf
        assert isinstance(lib.futures.Future(), lib.Future) and lib.wait(lib.fork(lambda: 3)) == 3
        assert [lib.autocast_increment_nesting(), lib.autocast_decrement_nesting()] == [1, 0]


@pytest.mark.parametrize("call", ["get_autocast_{}_dtype()", "set_autocast_{}_dtype(torch.float16)"])
@pytest.mark.parametrize("device", ["cpu", "gpu", "ipu", "xla"])
def test_autocasts_functions_by_device(call, device):
    from tests.agreement import check

    def program(torch, show):
        import warnings

        before = getattr(torch, f"get_autocast_{device}_dtype")()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            show("value", eval("torch." + call.format(device), {"torch": torch}))
        show("warned", [(w.category.__name__, str(w.message).partition(" (Triggered")[0]) for w in caught])
        getattr(torch, f"set_autocast_{device}_dtype")(before)

    check(program)


if __name__ == "__main__":
    for namespace in NAMESPACES:
        for name, sentence in lacking(namespace).items():
            print(f"{namespace}.{name}{sentence or ': NOWHERE'}")
