"""torch.hub, torch.jit, torch.onnx, torch._dynamo: what works without network and compiler, and what says why not."""

import importlib
import sys

import pytest

import glassgrad
from tests.agreement import check

HUBCONF = '''
dependencies = ["numpy"]
import torch

def toy(n=2, **settings):
    "A toy."
    return torch.nn.Linear(n, n)

def _private():
    pass
'''


@pytest.fixture
def conf(tmp_path):
    (tmp_path / "hubconf.py").write_text(HUBCONF)
    before = glassgrad.hub._dir
    yield tmp_path
    glassgrad.hub._dir = before


@pytest.mark.torch
def test_a_local_hub(conf):
    def program(torch, show):
        hub = importlib.import_module(f"{torch.__name__}.hub")
        hub.set_dir(str(conf / "cache"))
        show("dir", hub.get_dir())
        show("made", repr(hub.load(str(conf), "toy", source="local", n=3)))
        show.error(lambda: hub.load(str(conf), "other", source="local"), "name")
        show.error(lambda: hub.load(str(conf), "toy", source="elsewhere"), "source")
        show.error(lambda: hub.load(str(conf / "nowhere"), "toy", source="local"), "folder")

    check(program)


def test_nothing_is_downloaded(conf):
    hub = glassgrad.hub
    hub.set_dir(str(conf / "cache"))
    for call in (
        lambda: hub.load("owner/name", "toy"),
        lambda: hub.list("owner/name:v1"),
        lambda: hub.download_url_to_file("https://x.org/a.pt", "a.pt"),
        lambda: hub.load_state_dict_from_url("https://x.org/a.pt"),
        lambda: importlib.import_module("glassgrad.utils.model_zoo").load_url("https://x.org/a.pt"),
    ):
        with pytest.raises(RuntimeError, match="nothing is downloaded here.*torch.load"):
            call()


def test_what_was_fetched_before_is_used(conf):
    hub = glassgrad.hub
    hub.set_dir(str(conf))
    (conf / "owner_name_main").mkdir()
    (conf / "owner_name_main" / "hubconf.py").write_text(HUBCONF)
    assert hub.list("owner/name") == ["toy"] and hub.help("owner/name", "toy") == "A toy."
    assert type(hub.load("owner/name", "toy")) is glassgrad.nn.Linear
    (conf / "checkpoints").mkdir()
    glassgrad.save({"w": glassgrad.ones(2)}, conf / "checkpoints" / "a-12.pt")
    assert hub.load_state_dict_from_url("https://x.org/a-12.pt")["w"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="invalid hash value"):
        hub.load_state_dict_from_url("https://x.org/a-12.pt", check_hash=True)


def test_packages_take_tqdm_from_here_where_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with glassgrad.hub.tqdm(total=3, unit="B") as bar:
        bar.update(2)
    assert "tqdm" in dir(importlib.import_module("glassgrad.utils.model_zoo"))


@pytest.mark.torch
def test_scripting():
    def program(torch, show):
        jit = importlib.import_module(f"{torch.__name__}.jit")

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
                self.scale = 3.0

            def forward(self, x):
                if jit.is_scripting():
                    return self.inner(x) * self.scale
                return self.inner(x) * self.scale

        torch.manual_seed(0)
        net = Net()
        made = jit.script(net)
        show("keys", list(made.state_dict()))
        show("module", isinstance(made, torch.nn.Module) and isinstance(made, jit.ScriptModule))
        show("again", jit.script(made) is made)
        x = torch.ones(1, 2)
        made.eval()
        show("modes", [made.training, net.inner[1].training, made.scale])
        show("result", made(x).detach())
        made(x).sum().backward()
        show("gradient", net.inner[0].weight.grad)
        with torch.no_grad():
            for parameter in made.parameters():
                parameter.zero_()
        show("shared", net.inner[0].weight)
        made.load_state_dict({key: torch.ones_like(value) for key, value in net.state_dict().items()})
        show("loaded", net.inner[0].bias)
        show("repr", repr(jit.script(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))))
        torch.manual_seed(0)
        traced = jit.trace(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), x)
        show("traced", repr(traced))
        show("numbers", traced(x).detach())
        torch.manual_seed(1)
        jit.trace(torch.nn.Dropout(0.5).eval(), x)
        show("drawn", torch.rand(2))

    check(program)


@pytest.mark.torch
def test_functions_and_marks():
    def program(torch, show):
        jit = importlib.import_module(f"{torch.__name__}.jit")

        def f(x, y: int):
            return x + y

        show("scripted", jit.script(f)(torch.ones(2), 3))
        show("traced", jit.trace(lambda x: x * 2, torch.ones(2))(torch.ones(3)))
        show("flags", [jit.is_scripting(), jit.is_tracing()])
        show("fork", jit.wait(jit.fork(f, torch.ones(2), 1)))
        show("annotate", jit.annotate(list[int], []))
        show("isinstance", [jit.isinstance([1], list[int]), jit.isinstance(["a"], list[int]),
                            jit.isinstance({"a": 1}, dict[str, int]),
                            jit.isinstance((1, "a"), tuple[int, str])])  # fmt: skip
        show("marks", [jit.unused(f) is f, jit.export(f) is f, jit.ignore(f) is f, jit.ignore(drop=True)(f) is f])

    check(program)


def test_a_trace_draws_what_pytorch_s_draws():
    def numbers(torch):
        torch.manual_seed(0)
        with pytest.warns(Warning):
            torch.jit.trace(torch.nn.Dropout(0.5), torch.ones(3))
        return torch.rand(2).tolist()

    from tests.torch_reference import torch

    assert numbers(glassgrad) == numbers(torch)


def test_what_is_not_there_says_so(tmp_path):
    model = glassgrad.nn.Linear(2, 2)
    scripted = glassgrad.jit.script(model)
    for call, words in (
        (lambda: scripted.code, "torch.fx.symbolic_trace"),
        (lambda: scripted.save(tmp_path / "x"), "state_dict"),
        (lambda: glassgrad.jit.load(tmp_path / "x"), "state_dict"),
        (lambda: glassgrad.onnx.export(model, glassgrad.ones(2), "x"), "not exported to ONNX"),
        (lambda: importlib.import_module("glassgrad.utils.cpp_extension").load(name="x"), "autograd.Function"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


def test_dynamo():
    dynamo = glassgrad._dynamo
    assert "inductor" in dynamo.list_backends()
    dynamo.reset()
    dynamo.config.suppress_errors = True

    @dynamo.optimize("eager")
    def f(x):
        return x + 1

    assert f(glassgrad.ones(1)).item() == 2 and dynamo.disable(f) is f
    assert isinstance(glassgrad.compile(glassgrad.nn.Linear(1, 1)), dynamo.OptimizedModule)
    assert glassgrad.utils.hooks.RemovableHandle is not None
