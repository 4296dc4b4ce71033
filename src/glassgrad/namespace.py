"""Roof: the torch-shaped namespace, which the package shows as its own; it re-exports, and has no logic of its own."""

from __future__ import annotations

import math
import sys
from typing import Any

from .ground import process as _process  # before NumPy

# isort: split
from .core.tensor import Tensor
from .ground import dtypes as _dtypes
from .ground import paths as _paths
from .ground.arrival import announce as _announce
from .ground.device import device, get_default_device, set_default_device
from .ground.dtypes import (
    bfloat16,
    cdouble,
    cfloat,
    chalf,
    channels_last,
    channels_last_3d,
    complex32,
    complex64,
    complex128,
    contiguous_format,
    double,
    dtype,
    finfo,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    half,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    jagged,
    layout,
    legacy_contiguous_format,
    long,
    memory_format,
    preserve_format,
    promote_types,
    qint8,
    qint32,
    quint2x4,
    quint4x2,
    quint8,
    set_default_dtype,
    short,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .ground.importing import load as _load
from .ground.size import Size
from .ops import catalogue as _catalogue
from .ops.built import unpublished as _unpublished

_FUNCTIONS = _catalogue.FUNCTIONS  # each comes into this namespace when somebody first wants it
bool = _dtypes.bool
int = _dtypes.int
float = _dtypes.float
pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None
has_lapack = has_spectral = True  # NumPy brings them
has_mkl = has_openmp = False

_TABLES = {  # files whose classes are modules, with the outermost of these
    "absent": "accelerator backends cpu cuda", "absent_devices": "mps xpu mtia",
    "absent_compiled": "onnx ao export nested numa package _inductor _prims_common _subclasses "
    "_functorch _guards fx",
    "absent_distributed": "distributed",
}  # fmt: skip
_ANSWERED = [name for names in _TABLES.values() for name in names.split() if name not in ("fx", "distributed")]
for _table, _names in _TABLES.items():
    _paths.find_in(_table, _names.split())

_DIFFERENTIABLE = "all_gather all_reduce all_to_all all_to_all_single broadcast gather reduce reduce_scatter scatter"
for _path, _file, _names in (
    ("_custom_ops", "library", "custom_op get_ctx impl impl_abstract"),
    ("_tensor", "core.tensor", "Tensor"),
    *((f"distributed.{_path}", _file, _names) for _path, _file, _names in (
        ("algorithms.join", "nn.parallel.join", "Join JoinHook Joinable"),
        ("constants", "distributed.distributed_c10d", "default_pg_timeout"),
        ("elastic", "multiprocessing.failures", ""),
        # where classes and functions say that they are, before the packages that show them too
        ("elastic.multiprocessing.errors", "multiprocessing.failures", "ChildFailedError ProcessFailure record"),
        ("nn.functional", "nn.parallel.collectives", _DIFFERENTIABLE),
        ("optim.zero_redundancy_optimizer", "optim.zero_redundancy_optimizer", "ZeroRedundancyOptimizer"),
        ("elastic.multiprocessing", "multiprocessing.failures", "ChildFailedError record"),
        ("nn", "nn.parallel.collectives", _DIFFERENTIABLE),
        ("optim", "optim.zero_redundancy_optimizer", "ZeroRedundancyOptimizer"),
    )),
    ("_tensor", "serialization.rebuild", "_rebuild_from_type_v2"),
    ("_C._autograd", "tensor.packed", "SavedTensor"),
    *(("_functorch.vmap", _file, _names) for _file, _names in (
        ("core.tensor", "Tensor"), ("ops.pytree", "tree_flatten tree_unflatten"),
        ("ops.pytree_text", "_broadcast_to_and_flatten"), ("func.arguments", "_get_name=name_of"),
        ("_C._functorch", "_add_batch_dim _remove_batch_dim _maybe_remove_batch_dim=_remove_batch_dim"),
    )),
    ("autograd.profiler_util", "profiler.events", "EventList FunctionEvent FunctionEventAvg Interval"),
    ("profiler.profiler", "profiler.session", "ExecutionTraceObserver ProfilerAction _default_schedule_fn profile "
     "schedule supported_activities tensorboard_trace_handler"),
    ("storage", "families.storage.functions", "UntypedStorage"),
    ("storage", "families.storage.typed", "TypedStorage"),
    ("storage", "serialization.rebuild", "_load_from_bytes"),
):  # fmt: skip
    _paths.show(f"{__package__}.{_path}", f"{__package__}.{_file}", _names)

_LAZY = {
    "autograd", "nn", "optim", "utils", "explore", "random", "testing", "linalg", "special", "fft", "version", "types",
    "return_types", "func", "compiler", "jit", "overrides", "amp", "torch_version", "hub", "profiler", "distributions",
    "distributed", "multiprocessing", "serialization", "storage", "fx", "futures", "sparse", "signal", "masked",
    "_dynamo", "_utils", "_C", "functional", "__future__", "__config__", "quasirandom", "library", "_ops",
    "_custom_ops", "_tensor_str", "_jit_internal", "_tensor", "_higher_order_ops", "_VF", *_ANSWERED,
}  # fmt: skip


_GRAD_MODES = ("enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad",
               "set_grad_enabled")  # fmt: skip
_RUNTIME = (
    "are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_deterministic_debug_mode",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled", "is_vulkan_available", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads", "set_num_threads", "set_warn_always", "use_deterministic_algorithms",
)  # fmt: skip
_PART_OF = {  # names of this namespace that a module brings which not every program needs
    **dict.fromkeys(_GRAD_MODES, "autograd.grad_mode"),
    **dict.fromkeys(("is_anomaly_check_nan_enabled", "is_anomaly_enabled"), "autograd.anomaly_mode"),
    **dict.fromkeys(_RUNTIME, "ground.runtime"),
    **dict.fromkeys(("get_printoptions", "set_printoptions"), "ground.format"),
    **dict.fromkeys(("Generator", "default_generator", "initial_seed", "manual_seed", "seed"), "ground.generator"),
    "compile": "compiler.api",
    **dict.fromkeys(("autocast", "get_autocast_dtype", "set_autocast_dtype", "is_autocast_enabled",
                     "set_autocast_enabled", "is_autocast_cpu_enabled", "is_autocast_cache_enabled",
                     "set_autocast_cache_enabled", "clear_autocast_cache"), "amp.autocast_mode"),
    **dict.fromkeys(("get_autocast_cpu_dtype", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
                     "get_autocast_gpu_dtype", "set_autocast_gpu_dtype", "get_autocast_ipu_dtype",
                     "set_autocast_ipu_dtype", "is_autocast_ipu_enabled", "set_autocast_ipu_enabled",
                     "get_autocast_xla_dtype", "set_autocast_xla_dtype", "is_autocast_xla_enabled",
                     "set_autocast_xla_enabled", "autocast_increment_nesting",
                     "autocast_decrement_nesting"), "amp.former"),
    "GradScaler": "amp.grad_scaler",
    **dict.fromkeys(("fork", "wait", "ScriptModule", "ScriptFunction"), "jit"),
    **dict.fromkeys(("Stream", "Event"), "ground.stream"),
    **dict.fromkeys(("Graph", "Value", "TensorType", "ScriptObject", "PyTorchFileReader",
                     "PyTorchFileWriter", "StorageBase", "DispatchKey", "DispatchKeySet"), "_C"),
    "Future": "futures",
    **dict.fromkeys(("cond", "while_loop"), "_higher_order_ops"),
    **dict.fromkeys(("SymInt", "SymFloat", "SymBool"), "types"),
    "_assert": "overrides",
    **dict.fromkeys(("save", "load"), "serialization"),
    "typename": "tensor.typename",
    **dict.fromkeys(("_check", "_check_with", "_check_index", "_check_value", "_check_type", "_check_not_implemented",
                     "_check_is_size", "_check_tensor_all", "_check_tensor_all_with", "_assert_async",
                     "_assert_scalar"), "tensor.checks"),
    **dict.fromkeys(("OutOfMemoryError", "AcceleratorError"), "ground.errors"),
    "get_device_module": "_utils",
    "vmap": "func.vmap",
}  # fmt: skip


def missing(name: str) -> Any:
    """A name of the package that it does not have yet: a function, a part of a module, or a module."""
    if name in _FUNCTIONS:
        function = vars(_package)[name] = _FUNCTIONS[name]
        return function
    if name in _PART_OF:
        part = vars(_package)[name] = getattr(_load(f"{__package__}.{_PART_OF[name]}"), name)
        return part
    if name in _LAZY:
        try:
            return _load(f"{__package__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__package__}.{name}":
                raise
    from .absent_names import hint  # not at the top: most programs ask for what is there

    why = _unpublished(name) or hint(f"torch.{name}")
    raise AttributeError(f"torch.{name} is not in glassgrad {_package.RELEASE}{why}")


def names() -> list[str]:
    """What ``dir`` of the package tells."""
    return sorted({*vars(_package), *_LAZY, *_PART_OF, *_package._PARTS_BESIDE, *_FUNCTIONS.families})


def show() -> None:
    """Give the package the names of this module; what has been put there by its name stays."""
    own = vars(_package)
    for name in _FUNCTIONS.families.keys() & own.keys():  # a part of this package is no function of its name
        del own[name]
    for name, value in _SHOWN.items():
        own.setdefault(name, value)
    _announce()


_package: Any = sys.modules[__name__.rpartition(".")[0]]
_OWN = {"math", "sys", "annotations", "Any", "missing", "names", "show"}
_SHOWN = {name: value for name, value in globals().items() if not name.startswith("__") and name not in _OWN}
_PUBLIC = ["RELEASE", "alias", "export", *_PART_OF, *_SHOWN, *_FUNCTIONS.families]
_SHOWN["__all__"] = [name for name in _PUBLIC if not name.startswith("_")]
show()
