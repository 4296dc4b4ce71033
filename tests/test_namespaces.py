"""The namespaces around tensors that scripts ask: devices that are not there, flags, versions, compiling."""

import importlib
import subprocess
import sys

import pytest

from tests.agreement import check

pytestmark = pytest.mark.torch

ANSWERED = """
cuda.is_available() cuda.device_count() cuda.is_initialized() cuda.memory_allocated() cuda.max_memory_reserved()
cuda.empty_cache() cuda.manual_seed(3) cuda.manual_seed_all(3) cuda.get_rng_state_all() cuda.set_device(-1)
cuda.is_bf16_supported() cuda.get_arch_list() cuda.memory_stats() accelerator.is_available()
accelerator.current_accelerator() accelerator.device_count() mps.is_available() xpu.is_available() cpu.is_available()
cpu.device_count() cpu.current_device() cpu.synchronize() backends.cudnn.is_available() backends.cudnn.version()
backends.cudnn.benchmark backends.cudnn.enabled backends.cudnn.deterministic backends.cudnn.allow_tf32
backends.cuda.matmul.allow_tf32 backends.cuda.is_built() backends.mps.is_available() backends.mps.is_built()
version.cuda version.hip version.debug get_float32_matmul_precision() are_deterministic_algorithms_enabled()
get_deterministic_debug_mode() is_deterministic_algorithms_warn_only_enabled() is_warn_always_enabled()
compiled_with_cxx11_abi() is_vulkan_available() compiler.is_compiling() amp.is_autocast_available("cpu")
compiler.list_backends() backends.cuda.flash_sdp_enabled() backends.cuda.math_sdp_enabled()
""".split()


@pytest.mark.parametrize("question", ANSWERED)
def test_answers(question):
    check(lambda torch, show: show(question, repr(eval(f"torch.{question}", {"torch": torch}))))


REFUSED = """
cuda.current_device() cuda.get_device_name() cuda.synchronize() cuda.get_device_properties(0) cuda.init()
cuda.get_rng_state() cuda.Stream() cuda.current_stream() cuda.mem_get_info() cuda.Event() accelerator.synchronize()
accelerator.current_device_index() accelerator.set_device_index(0) accelerator.current_stream() mps.empty_cache()
mps.synchronize() xpu.current_device() tensor(1.0).cuda() zeros(2,device="cuda") nn.Linear(1,1).cuda()
set_num_threads(0) set_num_threads(1.5) set_deterministic_debug_mode(7) set_deterministic_debug_mode("x")
compile(nn.Linear(1,1),mode="x") compile(nn.Linear(1,1),backend="foo") compile(3)
compile(nn.Linear(1,1),mode="default",options={})
""".split()


@pytest.mark.parametrize("request_", REFUSED)
def test_refusals(request_):
    check(lambda torch, show: show.error(lambda: eval(f"torch.{request_}", {"torch": torch}), request_))


def test_flags_are_kept_for_a_block():
    def program(torch, show):
        cudnn = torch.backends.cudnn
        with cudnn.flags(enabled=True, benchmark=True, deterministic=True):
            show("inside", [cudnn.benchmark, cudnn.deterministic])
        show("after", [cudnn.benchmark, cudnn.deterministic])
        torch.backends.cudnn.benchmark = True
        show("set", torch.backends.cudnn.benchmark)
        torch.backends.cudnn.benchmark = False

    check(program)


def test_determinism_and_precision():
    def program(torch, show):
        torch.use_deterministic_algorithms(True, warn_only=True)
        show("on", [torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode()])
        torch.set_deterministic_debug_mode("error")
        show("error", torch.is_deterministic_algorithms_warn_only_enabled())
        torch.use_deterministic_algorithms(False)
        torch.set_float32_matmul_precision("high")
        show("precision", torch.get_float32_matmul_precision())
        torch.set_float32_matmul_precision("highest")

    check(program)


def test_compile():
    def program(torch, show):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
        made = torch.compile(model, backend="eager")
        show("repr", repr(made))
        show("state", dict(made.state_dict()))
        show("names", [name for name, _ in made.named_parameters()])
        show("modes", [made.training, made.eval().training, model.training, made.train().training, model.training])
        show("passes on", getattr(made, "0").in_features)
        x = torch.randn(4, 3)
        show("same", torch.equal(made(x), model(x)))
        made(x).sum().backward()
        show("gradient", model[0].weight.grad)

        @torch.compile(backend="eager")
        def double(x):
            """Twice."""
            return x * 2

        show("function", [double(x), double.__name__, double.__doc__])
        show("disabled", torch.compile(model, disable=True) is model)

    check(program)


def test_version():
    def program(torch, show):
        version = torch.torch_version.TorchVersion("2.13.0+x")
        for other in ("2.9", "2.13.0", "2.13.0+x", "2.14.0a1", "1.8", (2, 1), (2, 13), (3,), "2.13.0+y"):
            show(str(other), [version < other, version <= other, version == other, version >= other, version > other])
        show("words", [version.split("."), str(version), version != "3.0"])

    check(program)


def test_flags_of_attention_have_their_effect():
    def program(torch, show):
        cuda, x = torch.backends.cuda, torch.ones(1, 2, 3, 4, requires_grad=True)

        def computed():
            return torch.nn.functional.scaled_dot_product_attention(x, x, x).grad_fn.name()

        show("fused", computed())
        cuda.enable_flash_sdp(False)
        show("composed", [computed(), cuda.flash_sdp_enabled()])
        cuda.enable_math_sdp(False)
        show.error(computed, "none is left")
        cuda.enable_flash_sdp(True)
        cuda.enable_math_sdp(True)
        torch.backends.mha.set_fastpath_enabled(False)
        show("fast path", torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(True)

    check(program)


LOOKED_AT = "nn optim optim.lr_scheduler nn.modules nn.modules.container distributions utils.data".split()


@pytest.mark.parametrize("name", LOOKED_AT)
def test_namespaces_are_full_when_somebody_looks(name):
    from tests.torch_reference import torch as real

    theirs = real
    for part in name.split("."):
        theirs = getattr(theirs, part)
    public = [key for key, value in vars(theirs).items() if isinstance(value, type) and key[0] != "_"]
    script = f"""
import glassgrad, importlib, inspect, sys
module = importlib.import_module("glassgrad.{name}")
dir(module)
print(*vars(module), sep="\\n")
assert set(vars(module)) <= {{*dir(module)}} and dict(inspect.getmembers(module)).keys() >= {{*vars(module)}} - {{"a"}}
names = {{}}
exec("from glassgrad.{name} import *", names)
assert names.keys() >= {{*getattr(module, "__all__", ())}}
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    missing = {*public} - {*done.stdout.split()}
    assert all(not hasattr(importlib.import_module(f"glassgrad.{name}"), key) for key in missing), missing


def test_looking_at_one_namespace_imports_no_other():
    script = """
import sys, glassgrad.optim
assert not any(name.startswith("glassgrad.optim.adam") for name in sys.modules)
assert "Adam" in dir(glassgrad.optim) and not any(name.startswith("glassgrad.optim.adam") for name in sys.modules)
assert "Adam" in vars(glassgrad.optim) and type(glassgrad.optim) is type(sys)
assert not any(name.startswith("glassgrad.families.recurrent") for name in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_what_a_namespace_has_is_listed():
    from tests.torch_reference import torch as real

    public = [name for name in [*sys.modules] if name.partition(".")[0] == real.__name__ and "._" not in name]
    tried, unlisted = 0, {}
    for name in public:
        try:
            ours = importlib.import_module(f"glassgrad{name.removeprefix('torch')}")
        except ImportError:
            continue
        there = {listed for listed in getattr(sys.modules[name], "__all__", ()) if hasattr(ours, listed)}
        tried += len(there)
        unlisted |= {f"{name}.{one}": "dir" for one in there - {*dir(ours)}}
        unlisted |= {f"{name}.{one}": "nothing" for one in getattr(ours, "__all__", ()) if not hasattr(ours, one)}
        if name == "torch":
            unlisted |= {f"{name}.{one}": "import *" for one in there - {*ours.__all__}}
    assert tried > 2000 and unlisted == {}


def test_the_source_of_a_layer_is_found_by_whoever_imports_its_module_first():
    script = "import glassgrad.nn.modules.linear as m, inspect; print(inspect.getsource(m.Linear).splitlines()[0])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100)
    assert done.stdout == "class Linear(Module):\n", done.stderr
