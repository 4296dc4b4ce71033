"""Floor 6: what surrounds training: checkpointing of activations, data."""

from __future__ import annotations

from ..ground.later import later
from ..ground.paths import show as _show
from ..ground.paths import show_all as _show_all

__getattr__, __dir__ = later(globals(), "torch.utils", {".swap": "swap_tensors"}, modules="""
    _foreach_utils _python_dispatch _pytree benchmark checkpoint checkpoint_budget collect_env cpp_extension data
    deterministic dlpack flop_counter hooks model_zoo module_tracker serialization weak
""")  # fmt: skip
_HOME = __name__.partition(".")[0]
_show_all(__name__, {"counters": {
    "flop_counter": "FlopCounterMode register_flop_formula", "module_tracker": "ModuleTracker",
}})  # fmt: skip
_show(f"{__name__}._contextlib", f"{_HOME}.autograd.grad_mode", "_DecoratorContextManager=_Switch")
_show(f"{__name__}.hooks", f"{_HOME}.ground.handle", "RemovableHandle")
_show(f"{__name__}.hooks", f"{_HOME}.tensor.hooks", "unserializable_hook")
_show(f"{__name__}.hooks", f"{_HOME}.families.storage.interchange", "warn_if_has_hooks=warn_of_hooks")
