"""The modules that are made from the table in absent.py behave as modules that lie in files."""

import importlib
import importlib.util
import inspect
import pickle
import subprocess
import sys

import pytest

import glassgrad
import glassgrad.promised
from glassgrad import absent, absent_compiled, absent_devices, absent_distributed
from glassgrad.ground.absent import _inner


def modules(namespace=absent, home="glassgrad"):
    """The dotted name of every module of the table, with its namespace."""
    for name, inner in _inner(namespace).items():
        yield f"{home}.{name}", inner
        yield from modules(inner, f"{home}.{name}")


TABLES = (absent, absent_devices, absent_compiled, absent_distributed)
MODULES = {name: (namespace, table) for table in TABLES for name, namespace in modules(table)}
PACKAGES = (
    "glassgrad.fx", "glassgrad.distributed", "glassgrad.distributed.checkpoint", "glassgrad.distributed.algorithms",
)  # fmt: skip  # which lie in files themselves


@pytest.mark.parametrize("name", MODULES)
def test_they_are_modules(name):
    namespace, table = MODULES[name]
    module = importlib.import_module(name)
    if name in PACKAGES:
        assert module.__file__.endswith("__init__.py")
        return
    assert module is sys.modules[name] and module.__doc__ == inspect.getdoc(namespace)
    assert module.__spec__.name == name == importlib.util.find_spec(name).name
    assert getattr(importlib.import_module(module.__package__ or name), "__name__", None)
    assert inspect.getsourcefile(module) == inspect.getsourcefile(table)
    for public in module.__all__:
        value = getattr(module, public)
        if inspect.isfunction(value) or inspect.isclass(value):
            home = "glassgrad" if vars(glassgrad.ground.errors).get(value.__name__) is value else name
            assert value.__doc__ and getattr(module, value.__name__) is value
            assert value.__module__ == home or _is_shared(value, name)
            assert pickle.loads(pickle.dumps(value)) is value


def _is_shared(value, name):
    """Whether several modules show one class, as PyTorch's do; it says the first of them that was imported."""
    shown = [vars(importlib.import_module(other)).get(value.__name__) for other in MODULES if other != name]
    return any(value is other for other in shown) and value.__module__ in MODULES


def test_the_package_knows_the_outermost():
    outermost = {name for table in TABLES for name in _inner(table)}
    assert {*glassgrad.promised._ANSWERED, "fx", "distributed"} == outermost


@pytest.mark.parametrize(
    "code",
    [
        "import glassgrad.cuda.amp; glassgrad.cuda.amp.autocast",
        "from glassgrad.backends import cudnn; cudnn.flags",
        "from glassgrad.cuda import *; device_count, amp, synchronize",
        "import glassgrad; glassgrad.backends.mkldnn.flags",
        "from glassgrad import xpu; xpu.is_available",
        "from glassgrad.torch_alias import install; install(); from torch.cuda import nccl; import torch.backends.mkl",
    ],
)
def test_however_they_are_imported(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_not_in_the_table_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"glassgrad\.cuda\.nonsense"):
        importlib.import_module("glassgrad.cuda.nonsense")
    assert importlib.util.find_spec("glassgrad.backends.nonsense") is None


def test_answers_are_one_s_own():
    glassgrad.cuda.get_arch_list().append("sm_90")
    assert glassgrad.cuda.get_arch_list() == []


def test_signatures_are_those_of_functions():
    assert str(inspect.signature(glassgrad.cuda.is_bf16_supported)) == "(including_emulation: 'bool' = True) -> 'bool'"
    with pytest.raises(TypeError, match=r"is_available\(\) takes 0 positional arguments"):
        glassgrad.cuda.is_available(1)
