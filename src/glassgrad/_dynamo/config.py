"""The ``torch._dynamo.config`` settings: scripts make them; they are kept, and change nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

suppress_errors = verbose = capture_scalar_outputs = capture_dynamic_output_shape_ops = False
dynamic_shapes = automatic_dynamic_shapes = assume_static_by_default = optimize_ddp = guard_nn_modules = True
inline_inbuilt_nn_modules = specialize_int = allow_rnn = compiled_autograd = error_on_recompile = False
skip_fwd_side_effects_in_bwd_under_checkpoint = force_parameter_static_shapes = allow_unspec_int_on_nn_module = False
cache_size_limit = recompile_limit = 8
accumulated_cache_size_limit = accumulated_recompile_limit = 256


class _Patch:
    """Other settings for a block, or for the calls of a function that it decorates."""

    def __init__(self, changes: dict[str, Any]) -> None:
        self.changes = changes

    def __enter__(self) -> None:
        self.before = {name: globals().get(name) for name in self.changes}
        globals().update(self.changes)

    def __exit__(self, *exception: object) -> None:
        globals().update(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            with _Patch(self.changes):
                return function(*args, **kwargs)

        return call


def patch(name: str | dict[str, Any] | None = None, value: Any = None, /, **changes: Any) -> _Patch:
    """Other settings for a block: ``patch(verbose=True)``, ``patch("verbose", True)``, ``patch({"verbose": True})``."""
    if isinstance(name, dict):
        changes = name
    elif name is not None:
        changes = {name: value}
    return _Patch(changes)
