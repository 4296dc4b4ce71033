"""Floor 6: what surrounds training: checkpointing of activations, data."""

from __future__ import annotations

from typing import Any

from ..ground.importing import load as _load
from ..ground.paths import show as _show
from ..ground.paths import show_all as _show_all

_MODULES = {
    "_foreach_utils", "_python_dispatch", "_pytree", "benchmark", "checkpoint", "checkpoint_budget", "collect_env",
    "cpp_extension", "data", "deterministic", "dlpack", "flop_counter", "hooks", "model_zoo", "module_tracker",
    "serialization", "tensorboard", "weak",
}  # fmt: skip
_PART_OF = {"swap_tensors": "swap"}
_HOME = __name__.partition(".")[0]
_show_all(__name__, {"counters": {
    "flop_counter": "FlopCounterMode register_flop_formula", "module_tracker": "ModuleTracker",
}})  # fmt: skip
_show(f"{__name__}.hooks", f"{_HOME}.ground.handle", "RemovableHandle")
_show(f"{__name__}.hooks", f"{_HOME}.tensor.hooks", "unserializable_hook")
_show(f"{__name__}.hooks", f"{_HOME}.families.storage.interchange", "warn_if_has_hooks=warn_of_hooks")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _load(f"{__package__}.{name}")
    if name in _PART_OF:
        return getattr(_load(f"{__package__}.{_PART_OF[name]}"), name)
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
