"""The names under ``torch._C`` that packages and printed code use: PyTorch's C++ library answers for what is here."""

from __future__ import annotations

import enum
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..core.tensor import Tensor
from ..ground.absent import answer, stand_ins
from ..ground.device import device as _device
from ..ground.device import get_default_device
from ..ground.generator import Generator
from ..ground.importing import load
from ..ground.size import Size
from ..ground.stream import Event, Stream
from ..ops.torch_function import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ..ops.torch_function import _disabled_torch_function_impl as _disabled_torch_function_impl

__all__ = ["Event", "Generator", "Size", "Stream"]

_HOME = __name__.partition(".")[0]


class _Space(SimpleNamespace):
    """The functions of one of our namespaces, by PyTorch's inner names: perhaps with a prefix."""

    def __init__(self, home: str, prefix: str = "") -> None:
        super().__init__(_home=home, _prefix=prefix)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not name.startswith(self._prefix):
            raise AttributeError(name)
        return getattr(load(f"{_HOME}.{self._home}"), name[len(self._prefix) :])


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """What the arguments of ``to`` say: a device, a dtype, whether not to wait, a memory format."""
    device, dtype, memory_format = load(f"{_HOME}.nn.modules.conversion")._parse(*args, **kwargs)
    return device, dtype, bool(kwargs.get("non_blocking", False)), memory_format


_nn = _Space("nn.functional")
_nn._parse_to = _parse_to
_linalg = _Space("linalg", "linalg_")
_special = _Space("special", "special_")
_fft = _Space("fft", "fft_")

# -- classes that are asked for: nothing is one of them ----------------------------------------------------------------

_NO_SCRIPTS = "programs run as Python, and are not compiled to TorchScript"
_scripts = stand_ins(
    _NO_SCRIPTS, "Graph Value Node Block TracingState ScriptObject ScriptMethod CompilationUnit JITException"
)
_types = stand_ins(_NO_SCRIPTS, """
    AnyType AwaitType BoolType ClassType ComplexType DeviceObjType DictType EnumType FloatType FutureType InferredType
    IntType InterfaceType ListType NoneType NumberType OptionalType PyObjectType RRefType StreamObjType StringType
    SymBoolType SymIntType TensorType TupleType Type UnionType""")  # fmt: skip
_files = stand_ins("torch.save and torch.load write and read archives", "PyTorchFileReader PyTorchFileWriter")
globals().update({**_scripts, **_types})
if TYPE_CHECKING:
    def __getattr__(name: str) -> Any: ...  # one of these
PyTorchFileReader, PyTorchFileWriter = _files["PyTorchFileReader"], _files["PyTorchFileWriter"]
StorageBase = stand_ins("torch.UntypedStorage is the class of storages", "StorageBase")["StorageBase"]
StorageBase.__module__ = __name__
_TensorMeta = type(Tensor)
TensorBase = _TensorBase = Tensor

# -- questions ---------------------------------------------------------------------------------------------------------

_get_tracing_state = answer("() -> None", None, "None: ``torch.jit.trace`` keeps no graph.")
_is_tracing = answer("() -> bool", False, "False: ``torch.jit.trace`` runs the program as it is.")
_log_api_usage_once = answer("(*words: str) -> None", None, "Accepted without effect: nobody is told.")
_get_privateuse1_backend_name = answer("() -> str", "privateuseone", "PyTorch's word for a device of one's own.")
_get_cudnn_enabled = answer("() -> bool", True, "True: a flag, without effect.")
_has_mkldnn = has_mkl = has_cuda = has_mps = _has_mps = False
_jit_can_fuse_on_cpu = _jit_can_fuse_on_gpu = _jit_texpr_fuser_enabled = _is_xnnpack_enabled = answer(
    "() -> bool", False, "False: nothing is compiled."
)
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _set_graph_executor_optimize = answer(
    "(value: bool) -> bool", False, "Accepted without effect: nothing is compiled."
)
_jit_set_nvfuser_enabled = _jit_set_nvfuser_guard_mode = _jit_set_texpr_fuser_enabled = _jit_override_can_fuse_on_cpu
_jit_set_profiling_executor = _jit_set_profiling_mode = _jit_override_can_fuse_on_cpu
_set_math_sdp_allow_fp16_bf16_reduction = _jit_override_can_fuse_on_cpu


def _get_accelerator(check: bool = False) -> Any:
    """The processor, as there is nothing else."""
    return _device("cpu")


def _get_default_device() -> str:
    """The name of the device on which tensors are made."""
    return str(get_default_device())


def _is_torch_function_mode_enabled() -> bool:
    """Whether a function mode is on."""
    return bool(load(f"{_HOME}.overrides")._modes.stack)


def _is_alias_of(a: Any, b: Any) -> bool:
    """Whether two tensors lie on the same memory."""
    return bool(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())


# -- dispatch: what asks for a key is told of the one there is ---------------------------------------------------------

DispatchKey = enum.Enum("DispatchKey", """
    Undefined CPU CUDA Meta SparseCPU Python PythonTLSSnapshot ADInplaceOrView Autograd AutogradCPU AutogradCUDA
    AutocastCPU AutocastCUDA AutocastXPU FuncTorchBatched Functionalize BackendSelect CompositeImplicitAutograd
    CompositeExplicitAutograd CompositeExplicitAutogradNonFunctional""")  # fmt: skip


class DispatchKeySet:
    """A set of dispatch keys, which guards take."""

    def __init__(self, *keys: Any) -> None:
        self.keys = frozenset(keys)

    def has(self, key: Any) -> bool:
        """Whether a key is in it."""
        return key in self.keys

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self.keys, *other.keys)


_PUBLIC = *(_scripts[name] for name in ("Graph", "Value", "ScriptObject")), PyTorchFileReader, PyTorchFileWriter
for _class in (*_PUBLIC, *_types.values(), DispatchKey, DispatchKeySet):
    _class.__module__ = _HOME  # torch has them too, and PyTorch says that they are its own


@contextmanager
def _AutoDispatchBelowAutograd() -> Any:  # noqa: N802  PyTorch's name
    """A block in which operations of a program's own call their kernels, and no derivative is looked for."""
    with load(f"{_HOME}.library.operators").below_autograd():
        yield


@contextmanager
def _ExcludeDispatchKeyGuard(keys: DispatchKeySet) -> Any:  # noqa: N802  PyTorch's name
    """A block without some dispatch keys: of the operations of a program's own, without their autocast."""
    below = load(f"{_HOME}.library.operators").below
    autocast = any(getattr(key, "name", "").startswith("Autocast") for key in keys.keys)
    below.autocast += autocast
    try:
        yield
    finally:
        below.autocast -= autocast


def _are_functorch_transforms_active() -> bool:
    """Whether a transform of ``torch.func`` is at work in this thread."""
    return bool(load(f"{_HOME}.func.levels").levels())
