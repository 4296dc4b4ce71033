"""Every name that a namespace promises and looks up later is there; and the namespaces that only name types."""

import importlib
import pkgutil
import subprocess
import sys

import pytest

import glassgrad
import glassgrad.promised
from glassgrad.utils import _pytree
from tests.agreement import check
from tests.torch_reference import torch

ACT = ("glassgrad.__main__", "glassgrad.why")  # importing the second has this process watched, and every test after it
PROMISED = ("_LAZY", "_PART_OF", "_MODULES", "_HOMES", "_NAMES", "_PARTS")
MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(glassgrad.__path__, "glassgrad.")
    if found.name not in ACT and ".native" not in found.name and "listen_torch" not in found.name
)


@pytest.mark.parametrize("name", ["glassgrad", *MODULES])
def test_promised_names_are_there(name):
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as absent:  # a library that is not installed
        assert not (absent.name or "").startswith("glassgrad"), absent
        pytest.skip(str(absent))
    tables = vars(glassgrad.promised if module is glassgrad else module)
    for promised in [*getattr(module, "__all__", ()), *(x for table in PROMISED for x in tables.get(table, ()))]:
        if isinstance(promised, str) and ("__getattr__" in vars(module) or promised in getattr(module, "__all__", ())):
            assert hasattr(module, promised), f"{name} promises {promised}"


def test_distributions_load_the_families_they_use():
    script = """
import sys, glassgrad.distributions
print(*[name for name in sys.modules if name.startswith("glassgrad.families.") and name.count(".") == 3])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    families = {name.removeprefix("glassgrad.families.") for name in done.stdout.split()}
    assert len(families) < 60 and not {"convolution.rows", "recurrent.rows"} & families, families


@pytest.mark.torch
def test_types():
    ours, theirs = glassgrad.types, torch.types
    assert set(ours.__all__) == set(theirs.__all__)
    symbolic = {"PySymType", "DispatchKey", "_dispatchkey", "_qscheme"}
    imported = {"Any", "IO", "Self", "Sequence", "TYPE_CHECKING", "TypeAlias", "Union", "os"}
    names = {name for name in dir(theirs) if not name.startswith("__")} - imported
    assert names - {*dir(ours)} == symbolic
    assert ours.Number == theirs.Number and ours._Number == theirs._Number and ours.FileLike == theirs.FileLike
    for value in ("cpu", 0, None, glassgrad.device("cpu"), 1.5):
        other = torch.device("cpu") if isinstance(value, glassgrad.device) else value
        assert isinstance(value, ours.Device) == isinstance(other, theirs.Device)
    assert isinstance(glassgrad.ones(2), ours._TensorOrTensors.__args__[0])
    with pytest.raises(NotImplementedError):
        ours.Storage().nbytes()


NOT_OURS = {  # of functions that are PyTorch's own parts, without names of their own
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "_fused_moving_avg_obs_fq_helper", "_linalg_det",
    "_linalg_det_out", "_linalg_eigh", "_linalg_eigh_out", "_linalg_slogdet", "_linalg_slogdet_out",
    "_linalg_solve_ex", "_linalg_solve_ex_out", "_linalg_svd", "_linalg_svd_out", "_unpack_dual",
    "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_flash_attention", "_scaled_dot_product_flash_attention_for_cpu", "_attr",
}  # fmt: skip


@pytest.mark.torch
def test_return_types():
    ours, theirs = glassgrad.return_types, torch.return_types
    assert set(ours.__all__) == set(theirs.__all__)
    kinds = {name for name, kind in vars(theirs).items() if isinstance(kind, type) and issubclass(kind, tuple)}
    assert kinds - NOT_OURS <= {*dir(ours)}
    for name in kinds - NOT_OURS:
        assert getattr(ours, name).n_fields == getattr(theirs, name).n_fields
    assert len(ours.all_return_types) == len(theirs.all_return_types)
    assert isinstance(glassgrad.max(glassgrad.ones(2, 2), 0), ours.max)
    assert isinstance(glassgrad.linalg.qr(glassgrad.eye(2)), ours.linalg_qr)
    assert not isinstance(glassgrad.sort(glassgrad.ones(2)), ours.max)


@pytest.mark.torch
def test_results_are_trees():
    import torch.utils._pytree as theirs

    result, other = glassgrad.max(glassgrad.ones(2, 2), 0), torch.max(torch.ones(2, 2), 0)
    assert len(_pytree.tree_leaves(result)) == len(theirs.tree_leaves(other)) == 2
    doubled = _pytree.tree_map(lambda leaf: leaf * 2, result)
    assert type(doubled) is glassgrad.return_types.max and doubled.values.tolist() == [2.0, 2.0]
    paths = [_pytree.keystr(path) for path, _ in _pytree.tree_leaves_with_path(result)]
    assert paths == [theirs.keystr(path) for path, _ in theirs.tree_leaves_with_path(other)]
    for module, kind in ((glassgrad.return_types, type(result)), (torch.return_types, type(other))):
        with pytest.raises(ValueError, match="already registered"):
            module.pytree_register_structseq(kind)


@pytest.mark.torch
def test_names_below_the_surface_that_packages_use():
    def program(torch, show):
        from collections import namedtuple

        loading = importlib.import_module(f"{torch.__name__}.utils.data._utils.pin_memory")
        reduction = importlib.import_module(f"{torch.__name__}.nn._reduction")
        vmap = importlib.import_module(f"{torch.__name__}._vmap_internals")._vmap
        scaling = importlib.import_module(f"{torch.__name__}.cuda.amp.grad_scaler")
        casting = importlib.import_module(f"{torch.__name__}.cuda.amp.autocast_mode")
        common = importlib.import_module(f"{torch.__name__}.cuda.amp.common")
        spread = importlib.import_module(f"{torch.__name__}.cuda.comm")

        class Batch:
            def pin_memory(self):
                return "pinned"

        Pair = namedtuple("Pair", "one other")
        batch = {"one": [Batch(), 2], "other": Pair(Batch(), "text"), "last": (Batch(), b"")}
        show("pinned", loading.pin_memory(batch))
        show.error(lambda: loading.pin_memory(torch.ones(1)), "tensor")
        words = [(average, reduce) for average in (None, True, False) for reduce in (None, True, False)]
        show("words", [reduction.legacy_get_string(*word, emit_warning=False) for word in words])
        show("numbers", [reduction.legacy_get_enum(*word, emit_warning=False) for word in words])
        show("enum", [reduction.get_enum(word) for word in ("none", "mean", "sum")])
        show("examples", vmap(lambda x: x.sum(), in_dims=1)(torch.ones(2, 3)).tolist())
        show("amp", [scaling.GradScaler is torch.cuda.amp.GradScaler, casting.autocast is torch.cuda.amp.autocast])
        show("definitely", common.amp_definitely_not_available())
        show("spread", sorted(spread.__all__))
        show("tracing", torch._C._is_tracing())

        class Wrapped(torch.optim.Optimizer):
            def __init__(self, inner):
                self.inner = inner
                self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks = {}, {}
                self._patch_step_function()

            def step(self):
                return self.inner.step(lambda: 7)

        show("wrapped", Wrapped(torch.optim.SGD([torch.ones(1)], lr=0.1)).step())

        def placed(x, device: str | torch.DeviceObjType):
            return x

        show("type", [placed(1, "cpu"), torch.DeviceObjType is torch._C.DeviceObjType])

    check(program)
