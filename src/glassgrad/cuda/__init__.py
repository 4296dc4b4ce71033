"""The ``torch.cuda`` namespace as PyTorch has it without a GPU: questions are answered, work is refused."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NoReturn

from ..ground.absent import refusal
from ..ground.device import device as _device
from ..ground.generator import Generator
from . import amp, nccl, nvtx

_NOT_COMPILED = "Torch not compiled with CUDA enabled"

has_half = has_magma = False
default_generators: tuple[Generator, ...] = ()


class OutOfMemoryError(RuntimeError):
    """What a GPU would raise when its memory is full; never raised here."""


class AcceleratorError(RuntimeError):
    """What a GPU would raise when its work fails; never raised here."""


def is_available() -> bool:
    """False: there is no GPU support."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def device_count() -> int:
    """0."""
    return 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: no device computes in bfloat16."""
    return False


def is_tf32_supported() -> bool:
    """False."""
    return False


def is_current_stream_capturing() -> bool:
    """False."""
    return False


def get_arch_list() -> list[str]:
    """No architectures."""
    return []


def get_gencode_flags() -> str:
    """No compiler flags."""
    return ""


def can_device_access_peer(device: Any, peer_device: Any) -> NoReturn:
    """Refused: there is no GPU."""
    raise AssertionError(_NOT_COMPILED)


def manual_seed(seed: int) -> None:
    """Accepted without effect: there are no GPU generators."""
    int(seed)


manual_seed_all = manual_seed


def seed() -> None:
    """Accepted without effect."""


seed_all = seed


def get_rng_state_all() -> list[Any]:
    """No states: there are no devices."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Accepted where there is nothing to set; refused for states of devices that do not exist."""
    for index, _ in enumerate(new_states):
        set_rng_state(_, index)


def empty_cache() -> None:
    """Accepted without effect."""


def memory_stats(device: Any = None) -> OrderedDict[str, Any]:
    """Empty."""
    return OrderedDict()


def _no_memory(device: Any = None) -> int:
    """0: no memory of a GPU is in use."""
    return 0


memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _no_memory
memory_cached = max_memory_cached = _no_memory


class device:  # noqa: N801  PyTorch's name
    """A block with another current GPU: without GPUs it changes nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = device.index if isinstance(device, _device) else device

    def __enter__(self) -> None:
        if isinstance(self.idx, int) and self.idx >= 0:
            raise AssertionError(_NOT_COMPILED)

    def __exit__(self, *exception: object) -> None:
        return None


class device_of(device):  # noqa: N801  PyTorch's name
    """A block on the device of a tensor; of a tensor on the CPU, without effect."""

    def __init__(self, obj: Any) -> None:
        super().__init__(-1)


def set_device(device: Any) -> None:
    """Refused for any GPU; a negative index is accepted, as in PyTorch, and changes nothing."""
    if isinstance(device, int) and device < 0:
        return
    raise AssertionError(_NOT_COMPILED)


class Stream:
    """A queue of GPU work, which there is none of."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class Event:
    """A mark in a GPU's work, which there is none of."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("Tried to instantiate dummy base class Event")


class stream:  # noqa: N801  PyTorch's name
    """A block on another stream; with None, nothing changes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None


_REFUSED = (
    "current_device", "get_device_name", "get_device_capability", "get_device_properties", "synchronize", "init",
    "get_rng_state", "set_rng_state", "current_stream", "default_stream", "set_stream", "ipc_collect", "mem_get_info",
    "initial_seed", "memory_summary", "memory_snapshot", "reset_peak_memory_stats", "reset_max_memory_allocated",
    "reset_max_memory_cached", "reset_accumulated_memory_stats", "set_per_process_memory_fraction", "utilization",
    "temperature", "power_draw", "clock_rate", "memory_usage", "current_blas_handle", "cudart",
    "graph", "make_graphed_callables", "graph_pool_handle", "CUDAGraph", "list_gpu_processes",
    "get_sync_debug_mode", "set_sync_debug_mode", "caching_allocator_alloc", "caching_allocator_delete",
)  # fmt: skip
for _name in _REFUSED:
    globals()[_name] = refusal(_name, AssertionError, _NOT_COMPILED)
set_rng_state = globals()["set_rng_state"]

__all__ = [
    "AcceleratorError", "Event", "OutOfMemoryError", "Stream", "amp", "can_device_access_peer", "default_generators",
    "device", "device_count", "device_of", "empty_cache", "get_arch_list", "get_gencode_flags", "get_rng_state_all",
    "has_half", "has_magma", "is_available", "is_bf16_supported", "is_current_stream_capturing", "is_initialized",
    "is_tf32_supported", "manual_seed", "manual_seed_all", "max_memory_allocated", "max_memory_cached",
    "max_memory_reserved", "memory_allocated", "memory_cached", "memory_reserved", "memory_stats", "nccl", "nvtx",
    "seed", "seed_all", "set_device", "set_rng_state_all", "stream", *_REFUSED,
]  # fmt: skip
