"""The ``torch.compiler`` namespace: compiling functions and modules, and what steers it."""

from ..ground.later import later

__getattr__, __dir__ = later(globals(), "torch.compiler", {
    ".api": "OptimizedModule compile get_default_backend is_compiling list_backends set_default_backend",
    ".function": "reset",
    ".._dynamo.decorators": """allow_in_graph assume_constant_result cudagraph_mark_step_begin disable
        is_dynamo_compiling is_exporting nested_compile_region set_stance wrap_numpy""",
})  # fmt: skip
