"""glassgrad: PyTorch's autograd system on NumPy, small, fast, and transparent.

This module is the torch-shaped namespace: it re-exports, and holds no logic of its own.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

RELEASE = "0.1.0"
__version__ = RELEASE  # where `import torch` means this package, alias.py makes it the PyTorch it behaves as

# NumPy tells of overflow and division by zero inside our kernels; PyTorch is silent about them.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"glassgrad(\.|$)")

from .ground import process as _process  # noqa: E402, F401 - before NumPy

# isort: split
from .alias import alias  # noqa: E402
from .autograd import api as _api  # noqa: E402
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled  # noqa: E402
from .autograd.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.tensor import Tensor  # noqa: E402
from .ground import absent as _absent  # noqa: E402
from .ground import dtypes as _dtypes  # noqa: E402
from .ground.device import device, get_default_device, set_default_device  # noqa: E402
from .ground.dtypes import (  # noqa: E402
    bfloat16,
    cdouble,
    cfloat,
    channels_last,
    channels_last_3d,
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
    layout,
    long,
    memory_format,
    preserve_format,
    promote_types,
    set_default_dtype,
    short,
    sparse_coo,
    sparse_csr,
    strided,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .ground.format import get_printoptions, set_printoptions  # noqa: E402
from .ground.generator import Generator, default_generator, initial_seed, manual_seed, seed  # noqa: E402
from .ground.importing import load as _load  # noqa: E402
from .ground.runtime import (  # noqa: E402
    are_deterministic_algorithms_enabled,
    compiled_with_cxx11_abi,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    get_num_threads,
    is_deterministic_algorithms_warn_only_enabled,
    is_vulkan_available,
    is_warn_always_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_interop_threads,
    set_num_threads,
    set_warn_always,
    use_deterministic_algorithms,
)
from .ground.size import Size  # noqa: E402
from .ops import catalogue as _catalogue  # noqa: E402
from .ops.built import unpublished as _unpublished  # noqa: E402

_FUNCTIONS = _catalogue.FUNCTIONS  # each comes into this namespace when somebody first wants it
bool = _dtypes.bool
int = _dtypes.int
float = _dtypes.float
pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
newaxis = None

_ANSWERED = ("accelerator", "backends", "cpu", "cuda", "mps", "onnx", "xpu")  # modules made from the table in absent.py
_absent.find_in("absent", _ANSWERED)

_LAZY = {
    "autograd", "nn", "optim", "utils", "explore", "random", "testing", "linalg", "special", "fft", "version", "types",
    "return_types", "func", "compiler", "jit", "overrides", "amp", "torch_version", "hub", "profiler", "distributions",
    "distributed", "multiprocessing", "serialization", "storage", "fx", "futures", "sparse", "signal", "masked",
    "_dynamo", "_utils", "_C", "functional", "__future__", "quasirandom", *_ANSWERED,
}  # fmt: skip


_PART_OF = {  # names of this namespace that a module brings which not every program needs
    "make_dot": "explore.dot",
    "compile": "compiler.api",
    **dict.fromkeys(("autocast", "get_autocast_dtype", "set_autocast_dtype", "is_autocast_enabled",
                     "set_autocast_enabled", "is_autocast_cpu_enabled", "is_autocast_cache_enabled",
                     "set_autocast_cache_enabled", "clear_autocast_cache"), "amp.autocast_mode"),
    "GradScaler": "amp.grad_scaler",
    "_assert": "overrides",
    **dict.fromkeys(("save", "load"), "serialization"),
    "typename": "tensor.typename",
    "load_ipython_extension": "watch.notebook",
    "unload_ipython_extension": "watch.notebook",
    **dict.fromkeys(("_check", "_check_with", "_check_index", "_check_value", "_check_type", "_check_not_implemented",
                     "_check_is_size", "_check_tensor_all", "_check_tensor_all_with", "_assert_async",
                     "_assert_scalar"), "tensor.checks"),
    **dict.fromkeys(("OutOfMemoryError", "AcceleratorError"), "ground.errors"),
    "get_device_module": "_utils",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        function = globals()[name] = _FUNCTIONS[name]
        return function
    if name in _PART_OF:
        return getattr(_load(f"{__name__}.{_PART_OF[name]}"), name)
    if name in _LAZY:
        try:
            return _load(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"torch.{name} is not in glassgrad {RELEASE}{_unpublished(name)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_PART_OF, *_FUNCTIONS.families, "alias"})


for _name in _FUNCTIONS.families.keys() & globals().keys():  # a part of this package is no function of its name
    del globals()[_name]

__all__ = [
    name
    for name in [*globals(), *_FUNCTIONS.families]
    if not name.startswith("_") and name not in ("math", "sys", "warnings", "annotations", "Any")
]
