"""The ``torch._dynamo`` names that scripts use; compiling itself is in ``compiler``."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ..compiler.api import (
    OptimizedModule,
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    is_compiling,
    list_backends,
    reset,
)
from ..ground.importing import load
from ..ground.paths import show

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "eval_frame", "exc",
    "graph_break", "is_compiling", "list_backends", "mark_dynamic", "mark_static", "maybe_mark_dynamic", "optimize",
    "reset", "run", "utils",
]  # fmt: skip

_ROOT, _ERRORS = __name__.partition(".")[0], "FailOnRecompileLimitHit InvalidBackend TorchDynamoException Unsupported"
show(f"{__name__}.eval_frame", f"{_ROOT}.compiler.api", "OptimizedModule disable")
show(f"{__name__}.exc", f"{_ROOT}.compiler.errors", _ERRORS)
eval_frame, exc = load(f"{__name__}.eval_frame"), load(f"{__name__}.exc")

#: Settings that scripts make; they are kept, and change nothing.
config = SimpleNamespace(
    suppress_errors=False, cache_size_limit=8, recompile_limit=8, accumulated_cache_size_limit=256, verbose=False,
    capture_scalar_outputs=False, capture_dynamic_output_shape_ops=False, dynamic_shapes=True,
    automatic_dynamic_shapes=True, assume_static_by_default=True, optimize_ddp=True, guard_nn_modules=True,
)  # fmt: skip
utils = SimpleNamespace(counters={})


def optimize(backend: Any = "inductor", **settings: Any) -> Callable[[Any], Any]:
    """A decorator that compiles; see ``torch.compile``."""
    known = {name: value for name, value in settings.items() if name in ("dynamic", "disable")}
    return lambda model: compile(model, backend=backend, fullgraph=bool(settings.get("nopython")), **known)


def run(fn: Any = None) -> Any:
    """The function as it is."""
    return (lambda function: function) if fn is None else fn


def graph_break(msg: str = "") -> None:
    """Accepted without effect: there is no graph to break."""


def mark_dynamic(t: Any, index: Any, **settings: Any) -> None:
    """Accepted without effect: every size may change."""


mark_static = maybe_mark_dynamic = mark_dynamic
