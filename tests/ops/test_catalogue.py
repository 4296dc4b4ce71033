"""The catalogue imports a family when one of its names is first wanted; nobody can tell in which order that happens."""

import ast
import importlib
import inspect
import subprocess
import sys

import pytest

from glassgrad.ops import catalogue


def answer(script):
    """What a process of its own, in which nothing has been looked up yet, prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_nothing_is_imported_before_it_is_wanted():
    script = """
import sys, glassgrad
from glassgrad.ops.catalogue import COMPOSED, ROWS
print([file for file in (*ROWS, *COMPOSED) if f"glassgrad.families.{file}" in sys.modules])
print(*[name for name in ("glassgrad.nn", "glassgrad.optim") if name in sys.modules])
glassgrad.bernoulli
print("glassgrad.families.random.functions" in sys.modules, "glassgrad.families.loss.rows" in sys.modules)
"""
    assert answer(script) == ["[]", "True", "False"]


def test_a_product_brings_what_it_needs():
    script = """
import sys, glassgrad as torch
x, z = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
(x * z).backward()
others = '''autograd.differences autograd.function families.arithmetic.powers families.compare.rows
families.pointwise.rows families.sparse.kernels ground.format ground.generator tensor.sparse'''
print(*[name for name in others.split() if f"glassgrad.{name}" in sys.modules])
"""
    assert answer(script) == []


@pytest.mark.fast
def test_a_row_is_printed_at_its_second_call():
    script = """
import sys, glassgrad as torch
x = torch.tensor([0.0, 0.0], requires_grad=True)
for _ in range(3):
    torch.exp(x).sum().backward()
    print("glassgrad.fast.generate" in sys.modules, torch.exp.__code__.co_filename.rpartition("/")[2].split()[0])
print(*x.grad.tolist())
"""
    assert answer(script) == ["False", "__init__.py", "True", "<glassgrad", "True", "<glassgrad", "3.0", "3.0"]


def test_the_first_call_of_a_row_is_heard_as_every_other():
    script = """
import glassgrad as torch
from glassgrad.core.row import TABLE
from glassgrad.ground import listening
x, heard = torch.tensor(2.0), []
mul = TABLE["mul"]
def listen(function, proceed, args, kwargs):
    heard.append(function)
    return proceed(*args, **kwargs)
with listening.listening(listen, [mul.caller, mul.operate]):
    print((x * x).item(), torch.mul(x, x).item(), (x * 3.0).item())
print([function is each for function, each in zip(heard, (mul.operate, mul.caller, mul.operate), strict=True)])
"""
    assert answer(script) == ["4.0", "4.0", "6.0", "[True,", "True,", "True]"]


def test_members_of_a_tensor_come_when_they_are_wanted():
    script = """
import inspect, sys, glassgrad as torch
x = torch.ones(2, requires_grad=True)
torch.Tensor.__repr__ = lambda tensor: "mine"  # what somebody put there stays
print("glassgrad.tensor.members" in sys.modules)
for name in ("device", "data", "nbytes", "_version", "_base", "output_nr", "retains_grad"):
    assert isinstance(getattr(torch.Tensor, name), property), name
for name in ("retain_grad", "register_hook", "requires_grad_"):
    assert inspect.isfunction(getattr(torch.Tensor, name)), name
x.data = torch.zeros(2)
try:
    x.nbytes = 3
except AttributeError as error:
    print("writable" in str(error))
print(x.data.tolist())
print(x.device, repr(x))
"""
    assert answer(script) == ["False", "True", "[0.0,", "0.0]", "cpu", "mine"]


@pytest.mark.parametrize("seed", [1, 2])
def test_names_mean_the_same_in_any_order(seed):
    script = f"""
import random, glassgrad
from glassgrad.ops import bind, catalogue
wanted = [(glassgrad, name) for name in catalogue.FUNCTIONS.families if name not in ("bool", "int", "float")]
wanted += [(glassgrad.Tensor, name) for name in catalogue._METHODS.families]
random.Random({seed}).shuffle(wanted)
found = [(owner, name, getattr(owner, name)) for owner, name in wanted]
whole = bind.functions()
print(*[name for owner, name, function in found if owner is glassgrad and whole[name] is not function])
print(*[name for name in catalogue._METHODS.families if type(vars(glassgrad.Tensor)[name]) is catalogue.Later])
print(len(found) > 1000)
"""
    assert answer(script) == ["True"]


def test_every_file_of_a_family_can_come_first():
    script = """
import importlib, os, sys
import glassgrad
from glassgrad.ops import built, catalogue
for file in (*catalogue.ROWS, *catalogue.COMPOSED, *built.layers(), *built.functional()):
    child = os.fork()
    if not child:
        try:
            importlib.import_module(f"glassgrad.families.{file}")
        except BaseException as error:
            print(file, error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
    if not hasattr(__import__("os"), "fork"):
        pytest.skip("needs fork")
    assert answer(script) == []


def test_what_somebody_puts_there_stays():
    script = """
import glassgrad as torch
def mine(self, dim): return "mine"
torch.Tensor.cumsum = mine
torch.cumsum(torch.ones(2), 0), torch.ones(2).cumprod(0)
print(torch.ones(2).cumsum(0))
class Own(torch.Tensor):
    def cummax(self, dim): return "own"
print(torch.ones(2).as_subclass(Own).cummax(0))
"""
    assert answer(script) == ["mine", "own"]


def test_properties_can_be_set_first_of_all():
    script = """
import glassgrad as torch
x = torch.zeros(2, dtype=torch.complex64)
x.real = torch.ones(2)
print(x.sum().item())
try:
    x.is_cuda = True
except AttributeError:
    print("refused")
"""
    assert answer(script) == ["(2+0j)", "refused"]


def test_sparse_gradients_have_their_methods():
    script = """
import sys, glassgrad as torch
table = torch.nn.Embedding(5, 3, sparse=True)
table(torch.tensor([1, 2, 1])).sum().backward()
print("glassgrad.families.sparse.functions" in sys.modules)
print(table.weight.grad.coalesce().indices().tolist(), (table.weight.grad * 2).to_dense().sum().item())
"""
    assert answer(script) == ["False", "[[1,", "2]]", "18.0"]


def test_a_table_counts_as_whole():
    assert len(catalogue.TABLE) == len(list(catalogue.TABLE)) == len(catalogue.TABLE.values())
    assert "add" in catalogue.TABLE and "no_such_row" not in catalogue.TABLE
    assert catalogue.TABLE.get("no_such_row") is None
    with pytest.raises(KeyError):
        catalogue.TABLE["no_such_row"]
    homes = [row.kernel.__module__ for row in catalogue.TABLE.values()]
    assert homes == sorted(homes, key=lambda home: list(dict.fromkeys(homes)).index(home))  # one family after another


@pytest.mark.parametrize("name", ["nn", "nn.functional", "nn.modules", "nn.modules.loss", "optim"])
def test_namespaces_bring_what_type_checkers_read(name):
    module = importlib.import_module(f"glassgrad.{name}")
    block = [node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.If)]
    imported = {alias.name for node in block for part in node.body for alias in getattr(part, "names", ())} - {"*"}
    assert imported <= set(dir(module))
    for wanted in {*imported, *getattr(module, "__all__", ()), *dir(module)}:
        assert getattr(module, wanted, None) is not None or wanted in ("__doc__", "__spec__", "__loader__", "__path__",
                                                                       "__cached__", "__file__")  # fmt: skip
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name
