"""Roof: the names of the torch-shaped namespace that come when they are first wanted, and its modules without files."""

from __future__ import annotations

import sys
from typing import Any

from .ground.importing import load
from .ops.built import layers, unpublished

_PACKAGE: Any = sys.modules[__name__.rpartition(".")[0]]

# -- names ------------------------------------------------------------------------------------------------------------

_TABLES = {  # files whose classes are modules, with the outermost of these
    "absent": "accelerator backends cpu cuda", "absent_devices": "mps xpu mtia",
    "absent_compiled": "onnx ao export nested numa package _inductor _prims_common _subclasses "
    "_functorch _guards fx",
    "absent_distributed": "distributed",
}  # fmt: skip
_ANSWERED = [name for names in _TABLES.values() for name in names.split() if name not in ("fx", "distributed")]
_LAZY = {
    "autograd", "nn", "optim", "utils", "explore", "random", "testing", "linalg", "special", "fft", "version", "types",
    "return_types", "func", "compiler", "jit", "overrides", "amp", "torch_version", "hub", "profiler", "distributions",
    "distributed", "multiprocessing", "serialization", "storage", "fx", "futures", "sparse", "signal", "masked",
    "_dynamo", "_utils", "_C", "functional", "__future__", "__config__", "quasirandom", "library", "_ops",
    "_custom_ops", "_tensor_str", "_jit_internal", "_tensor", "_higher_order_ops", "_VF", *_ANSWERED,
}  # fmt: skip

_DEVICES = ("device", "get_default_device", "set_default_device")
_LIMITS = ("finfo", "iinfo")
_GRAD_MODES = ("enable_grad", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "no_grad",
               "set_grad_enabled")  # fmt: skip
_RUNTIME = (
    "are_deterministic_algorithms_enabled", "compiled_with_cxx11_abi", "get_deterministic_debug_mode",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled", "is_vulkan_available", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads", "set_num_threads", "set_warn_always", "use_deterministic_algorithms",
)  # fmt: skip

_PART_OF = {  # names that a module brings which not every program needs
    **dict.fromkeys(_GRAD_MODES, "autograd.grad_mode"),
    **dict.fromkeys(("is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"),
                    "autograd.anomaly_mode"),
    **dict.fromkeys(_RUNTIME, "ground.runtime"),
    **dict.fromkeys(("get_printoptions", "set_printoptions"), "ground.format"),
    **dict.fromkeys(("Generator", "default_generator", "initial_seed", "manual_seed", "seed"), "ground.generator"),
    **dict.fromkeys(_DEVICES, "ground.device"),
    **dict.fromkeys(_LIMITS, "ground.limits"),
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
    **dict.fromkeys((
        "Graph", "Value", "ScriptObject", "PyTorchFileReader", "PyTorchFileWriter", "StorageBase", "DispatchKey",
        "DispatchKeySet", "AnyType", "AwaitType", "BoolType", "ClassType", "ComplexType", "DeviceObjType", "DictType",
        "EnumType", "FloatType", "FutureType", "InferredType", "IntType", "InterfaceType", "ListType", "NoneType",
        "NumberType", "OptionalType", "PyObjectType", "RRefType", "StreamObjType", "StringType", "SymBoolType",
        "SymIntType", "TensorType", "TupleType", "Type", "UnionType",
    ), "_C"),
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


def value(name: str) -> Any:
    """A name that is promised: a part of a module, or a module; AttributeError for any other."""
    if name in _PART_OF:
        part = vars(_PACKAGE)[name] = getattr(load(f"{__package__}.{_PART_OF[name]}"), name)
        return part
    if name in _LAZY:
        try:
            return load(f"{__package__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__package__}.{name}":
                raise
    from .absent_names import hint  # not at the top: most programs ask for what is there

    why = unpublished(name) or hint(f"torch.{name}")
    raise AttributeError(f"torch.{name} is not in glassgrad {_PACKAGE.RELEASE}{why}")


def is_of(module: str, name: str) -> bool:
    """Whether the package has a name of a module, or will have it."""
    return f"{__package__}.{_PART_OF.get(name)}" == module


def names() -> list[str]:
    """All that are promised."""
    return [*_LAZY, *_PART_OF, *_PACKAGE._PARTS_BESIDE]


def public() -> list[str]:
    """Those that ``from glassgrad import *`` brings."""
    return ["RELEASE", "alias", "export", *_PART_OF]


# -- modules ----------------------------------------------------------------------------------------------------------

_DIFFERENTIABLE = "all_gather all_reduce all_to_all all_to_all_single broadcast gather reduce reduce_scatter scatter"
_SHOWN = (
    ("_custom_ops", "library", "custom_op get_ctx impl impl_abstract"),
    ("_tensor", "core.tensor", "Tensor"),
    ("_vmap_internals", "func.vmap", "vmap _vmap=vmap"),
    ("nn._reduction", "families.loss.functions", "get_enum=number legacy_get_string=retired legacy_get_enum"),
    *((f"distributed.{path}", file, names) for path, file, names in (
        ("algorithms.join", "nn.parallel.join", "Join JoinHook Joinable"),
        ("constants", "distributed.distributed_c10d", "default_pg_timeout"),
        ("elastic", "multiprocessing.failures", ""),
        # where classes and functions say that they are, before the packages that show them too
        ("elastic.multiprocessing.errors", "multiprocessing.failures", "ChildFailedError ProcessFailure record"),
        ("nn.functional", "nn.parallel.collectives", _DIFFERENTIABLE),
        ("optim.zero_redundancy_optimizer", "optim.zero_redundancy_optimizer", "ZeroRedundancyOptimizer"),
        ("elastic.multiprocessing", "multiprocessing.failures", "ChildFailedError ProcessFailure record"),
        ("nn", "nn.parallel.collectives", _DIFFERENTIABLE),
        ("optim", "optim.zero_redundancy_optimizer", "ZeroRedundancyOptimizer"),
    )),
    ("_tensor", "serialization.rebuild", "_rebuild_from_type_v2"),
    ("_C._autograd", "tensor.packed", "SavedTensor"),
    *(("_functorch.vmap", file, names) for file, names in (
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
)  # fmt: skip


def show(paths: Any) -> None:
    """Tell ``ground/paths.py`` of the modules at PyTorch's paths that show other files, or are written in a table."""
    for file, homes in layers().items():
        for path, shown in homes.items():
            paths.show(f"{__package__}.nn.modules.{path}", f"{__package__}.families.{file}", shown)
    for table, outermost in _TABLES.items():
        paths.find_in(table, outermost.split())
    for path, file, shown in _SHOWN:
        paths.show(f"{__package__}.{path}", f"{__package__}.{file}", shown)
