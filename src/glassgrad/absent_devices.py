"""Roof: the modules of devices that are not here, of other makers than the table in ``absent.py`` has."""

from __future__ import annotations

from typing import Any

from .absent import Unchanged, no, nothing, seeding
from .ground.absent import Namespace, answer, refuse_all

NO_XPU = "Torch not compiled with XPU enabled"


class mps(Namespace):
    """The ``torch.mps`` namespace as PyTorch has it on a machine without Apple's GPU."""

    is_available = no("False: tensors live on the CPU.")
    device_count = answer("() -> int", 0, "0.")
    manual_seed = seeding()
    more = {
        name: refuse_all(RuntimeError, f"Cannot execute {inner}() without MPS backend.", name)[name]
        for name, inner in {
            "current_allocated_memory": "getCurrentAllocatedMemory",
            "driver_allocated_memory": "getDriverAllocatedMemory",
            "empty_cache": "emptyCache",
            "get_rng_state": "getDefaultGenerator",
            "recommended_max_memory": "getRecommendedMaxMemory",
            "seed": "getDefaultGenerator",
            "set_per_process_memory_fraction": "setMemoryFraction",
            "set_rng_state": "getDefaultGenerator",
            "synchronize": "deviceSynchronize",
        }.items()
    }


class xpu(Namespace):
    """The ``torch.xpu`` namespace as PyTorch has it on a machine without Intel's GPU."""

    is_available = is_initialized = is_bf16_supported = is_tf32_supported = no("False: tensors live on the CPU.")
    device_count = answer("() -> int", 0, "0.")
    manual_seed = manual_seed_all = seeding()
    empty_cache = seed = seed_all = nothing()
    memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = answer(
        "(device: Any = None) -> int", 0, "0: no memory of a GPU is in use."
    )
    get_rng_state_all = answer("() -> list[Any]", list[Any](), "No states: there are no devices.")
    reset_peak_memory_stats = nothing("(device: Any = None) -> None")
    is_current_stream_capturing = no()

    class device(Unchanged):
        """A block with another current GPU: without GPUs it changes nothing."""

        def __init__(self, device: Any) -> None:
            self.idx = device

    more = refuse_all(AssertionError, NO_XPU, """
        current_device current_stream get_device_capability get_device_name get_device_properties get_rng_state init
        initial_seed mem_get_info set_device set_rng_state set_rng_state_all synchronize""")  # fmt: skip


class mtia(Namespace):
    """The ``torch.mtia`` namespace: there is no such device."""

    is_available = answer("() -> bool", False, "False: tensors live on the CPU.")
    is_initialized = answer("() -> bool", False, "False.")
    device_count = answer("() -> int", 0, "0.")
    more = refuse_all(
        RuntimeError,
        "Torch not compiled with MTIA enabled",
        """
        current_device synchronize set_device memory_stats get_device_capability empty_cache get_device_properties""",
    )
