"""The ``torch.autograd.profiler`` namespace; what it names is in a package above, and is looked up when asked for."""

from ..ground.later import later

__getattr__, __dir__ = later(globals(), "torch.autograd.profiler", {
    "..profiler.legacy": "EventList FunctionEvent FunctionEventAvg emit_itt emit_nvtx profile record_function",
})  # fmt: skip
