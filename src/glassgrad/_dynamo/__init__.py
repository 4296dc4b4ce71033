"""The ``torch._dynamo`` names that scripts use; compiling itself is in ``compiler``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..compiler.api import OptimizedModule, compile, is_compiling, list_backends
from ..compiler.function import reset
from ..ground.importing import load
from ..ground.paths import show
from .decorators import (
    allow_in_graph,
    assume_constant_result,
    disable,
    graph_break,
    mark_dynamic,
    mark_static,
    mark_static_address,
    mark_unbacked,
    maybe_mark_dynamic,
    run,
)

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "eval_frame", "exc",
    "explain", "graph_break", "is_compiling", "list_backends", "mark_dynamic", "mark_static", "mark_static_address",
    "mark_unbacked", "maybe_mark_dynamic", "optimize", "reset", "run", "utils",
]  # fmt: skip

_ROOT, _ERRORS = __name__.partition(".")[0], "FailOnRecompileLimitHit InvalidBackend TorchDynamoException Unsupported"
show(f"{__name__}.eval_frame", f"{_ROOT}.compiler.api", "OptimizedModule")
show(f"{__name__}.eval_frame", f"{__name__}.decorators", "disable is_dynamo_supported=is_supported")
show(f"{__name__}.exc", f"{_ROOT}.compiler.errors", _ERRORS)
eval_frame, exc = load(f"{__name__}.eval_frame"), load(f"{__name__}.exc")

config, utils = load(f"{__name__}.config"), load(f"{__name__}.utils")


def optimize(backend: Any = "inductor", **settings: Any) -> Callable[[Any], Any]:
    """A decorator that compiles; see ``torch.compile``."""
    known = {name: value for name, value in settings.items() if name in ("dynamic", "disable")}
    return lambda model: compile(model, backend=backend, fullgraph=bool(settings.get("nopython")), **known)


def explain(f: Any, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """What ``torch.compile.explain`` says of a function: of a call with these arguments, or the caller's."""

    def told(*args: Any, **kwargs: Any) -> Any:
        compiled = compile(f)
        compiled(*args, **kwargs)
        return compile.explain(compiled)  # type: ignore[attr-defined]

    return told(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else told
