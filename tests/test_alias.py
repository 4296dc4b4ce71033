"""`glassgrad.alias()`: what `import torch` means inside the block, and that nothing of it is left outside."""

import importlib
import importlib.util
import subprocess
import sys
from types import ModuleType

import pytest

import glassgrad

VERSION = glassgrad.__version__


def state():
    """What a block must leave as it found it."""
    theirs = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("torch", "torchviz")}
    ours = {
        name: (module.__spec__, module.__dict__.get("__getattr__"))
        for name, module in [*sys.modules.items()]  # a module whose names come later imports them when looked at
        if name.partition(".")[0] == "glassgrad"
    }
    return theirs, list(sys.meta_path), ours


@pytest.fixture(autouse=True)
def nothing_is_left(request):
    importlib.import_module("glassgrad.nn.functional")
    if request.node.get_closest_marker("torch"):  # loaded before the test, so that it is no trace of it
        importlib.import_module("tests.torch_reference").torch.tensor(0.0)
    before = state()
    yield
    after = state()
    assert after[:2] == before[:2]
    assert {name: after[2][name] for name in before[2]} == before[2]


def test_torch_s_modules_are_glassgrad_s():
    with glassgrad.alias() as given:
        import torch
        import torch.nn as nn
        import torch.nn.functional as F
        from torch.optim import SGD

        assert torch is glassgrad is given
        assert nn is glassgrad.nn and F is glassgrad.nn.functional and SGD is glassgrad.optim.SGD
        assert sys.modules["torch.nn"] is glassgrad.nn
        assert nn.__name__ == "torch.nn" and nn.__spec__.name == "glassgrad.nn"
    assert nn.__name__ == "glassgrad.nn"


def test_torchviz_offers_make_dot():
    from glassgrad.explore.dot import make_dot

    with glassgrad.alias():
        from torchviz import make_dot as drawn

        assert drawn is make_dot


def test_torchviz_has_its_other_names():
    with glassgrad.alias():
        import torchviz
        from torchviz.dot import make_dot

        assert torchviz.make_dot is make_dot
        with pytest.raises(NotImplementedError, match="has been moved to pytorch core"):
            torchviz.make_dot_from_trace(None)


@pytest.mark.parametrize(
    ("file", "answer"),
    [
        ("torchviz.py", "own"),
        ("torchviz/__init__.py", "own"),
        ("torchviz/pictures.txt", "glassgrad"),  # a folder that is no package hides none, as Python has it
        ("site-packages/torchviz.py", "glassgrad"),
    ],
)
def test_a_torchviz_of_the_programs_own_comes_first(tmp_path, file, answer):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("make_dot = 'own'")
    (tmp_path / "script.py").write_text(
        "import sys; sys.path.append(sys.path[0] + '/site-packages')\n"
        "from torchviz import make_dot; print(getattr(make_dot, '__module__', make_dot))"
    )
    line = [sys.executable, "-m", "glassgrad", "run", str(tmp_path / "script.py")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith(answer), done


def test_what_torch_was_before_is_back():
    stand_in, part = ModuleType("torch"), ModuleType("torch.part")
    known = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torch"}
    for name in known:
        del sys.modules[name]
    sys.modules.update({"torch": stand_in, "torch.part": part})
    try:
        with glassgrad.alias():
            import torch

            assert torch is glassgrad and "torch.part" not in sys.modules
        import torch

        assert torch is stand_in and sys.modules["torch.part"] is part
    finally:
        del sys.modules["torch"], sys.modules["torch.part"]
        sys.modules.update(known)


def test_an_error_in_the_block_restores_too():
    with pytest.raises(ZeroDivisionError), glassgrad.alias():
        import torch

        assert torch is glassgrad
        1 / 0


def test_blocks_nest():
    with glassgrad.alias():
        with glassgrad.alias():
            import torch
        import torch.nn

        assert torch is glassgrad and torch.nn is glassgrad.nn


def test_the_function_stays_the_function():
    importlib.import_module("glassgrad.torch_alias")
    importlib.import_module("glassgrad.cli")
    with glassgrad.alias(), glassgrad.alias():
        pass


def missing(work):
    with glassgrad.alias():
        with pytest.raises((AttributeError, ImportError)) as caught:
            work()
    return type(caught.value), str(caught.value)


def test_a_missing_name_is_named():
    def attribute():
        import torch

        return torch.no_such

    def nested():
        import torch

        return torch.nn.functional.no_such

    def module():
        import torch.no_such  # noqa: F401

    def from_package():
        from torch.nn import NoSuch  # noqa: F401

    assert missing(attribute) == (AttributeError, f"torch.no_such is not in glassgrad {VERSION}")
    assert missing(nested) == (AttributeError, f"torch.nn.functional.no_such is not in glassgrad {VERSION}")
    assert missing(module) == (ModuleNotFoundError, f"torch.no_such is not in glassgrad {VERSION}")
    assert missing(from_package) == (ImportError, f"torch.nn.NoSuch is not in glassgrad {VERSION}")


def test_a_missing_name_of_a_plain_module_is_named():
    def from_module():
        from torch.nn.functional import no_such  # noqa: F401

    kind, words = missing(from_module)
    assert kind is ImportError and "no_such" in words and "nn.functional" in words


def test_absence_can_still_be_asked_for():
    with glassgrad.alias():
        import torch

        assert not hasattr(torch, "no_such")
        assert getattr(torch, "no_such", 7) == 7
        assert importlib.util.find_spec("torch.no_such") is None
        assert importlib.util.find_spec("glassgrad.no_such") is None
        assert importlib.util.find_spec("torch.nn") is not None
    with pytest.raises(AttributeError, match="no_such"):
        glassgrad.no_such


def test_the_package_has_itself_as_pytorch_s_does():
    with glassgrad.alias():
        import torch

        assert torch.torch is torch
    with pytest.raises(AttributeError, match="torch"):
        glassgrad.torch


@pytest.mark.parametrize("part", ["tensor", "cli", "graph", "kernels", "explore"])
def test_glassgrad_s_own_parts_are_not_torch_s(part):
    before = getattr(glassgrad, part, None)
    with glassgrad.alias(), pytest.raises(ModuleNotFoundError, match=f"torch.{part} is not in glassgrad"):
        importlib.import_module(f"torch.{part}")
    assert getattr(glassgrad, part, None) is before


@pytest.mark.torch
def test_the_real_torch_is_back_and_whole():
    from tests.torch_reference import torch as real

    with glassgrad.alias():
        import torch
        import torch.nn.functional

        assert torch is glassgrad
        from_real = real.tensor([1.0, 2.0], requires_grad=True)
        assert (from_real * 2).sum().grad_fn.name() == "SumBackward0"
    import torch
    import torch.nn.functional as F

    assert torch is real and F is real.nn.functional
    assert torch.nn.Linear(2, 3)(torch.ones(1, 2)).shape == (1, 3)


def test_functorch_comes_with_torch():
    script = """
import functorch, torch
print(functorch.vmap is torch.func.vmap, functorch.__name__)
print(functorch.grad(lambda x: (x * x).sum())(torch.ones(2)).tolist())
try:
    functorch.make_functional(torch.nn.Linear(1, 1))
except RuntimeError as error:
    print("functional_call" in str(error))
"""
    line = [sys.executable, "-m", "glassgrad", "run", "-"]
    done = subprocess.run(line, input=script, capture_output=True, text=True, timeout=100)
    assert done.stdout == "True functorch\n[2.0, 2.0]\nTrue\n", done.stderr
    with glassgrad.alias():
        assert importlib.import_module("functorch").hessian is glassgrad.func.hessian
