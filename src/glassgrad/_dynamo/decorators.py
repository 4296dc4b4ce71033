"""The ``torch._dynamo.decorators`` names: what steers compiling, and what is accepted without effect."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..compiler import function
from ..compiler.api import _DEBUG_BACKENDS, OptimizedModule, is_compiling
from ..core.tensor import Tensor
from ..ops.catalogue import FUNCTIONS


def _innermost(fn: Any) -> Any:
    """The function that was compiled, behind everything that compiling put around it."""
    while True:
        inner = fn._orig_mod if isinstance(fn, OptimizedModule) else getattr(fn, "_torchdynamo_orig_callable", None)
        if inner is None:
            return fn
        fn = inner


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True) -> Any:
    """A decorator that keeps a function from being compiled by itself: what is given back is the function."""
    if fn is None:
        return disable
    if not callable(_innermost(fn)):
        raise AssertionError("fn must be callable")
    return _innermost(fn)


def allow_in_graph(fn: Any) -> Any:
    """The function, or the functions in a list or tuple, as they are: what they do is captured like all else."""
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(one) for one in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function as it is: what it reads is looked at, so that nothing need be assumed."""
    fn._dynamo_marked_constant = True
    return fn


def is_supported() -> bool:
    """True: programs are compiled, or run as they are written."""
    return True


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """False: nothing is exported."""
    return False


def cudagraph_mark_step_begin() -> None:
    """Accepted without effect."""


class set_stance:  # noqa: N801  PyTorch's name
    """Another policy of compiling, from now on, in a block, or in the calls of a function that this decorates.

    stance  "default"; "force_eager" runs everything as it is written; "eager_on_recompile" replays programs and
            captures no new ones; "fail_on_recompile" raises RuntimeError where no program fits a call;
            "eager_then_compile" is what the default does anyway
    Source: https://docs.pytorch.org/docs/stable/generated/torch.compiler.set_stance.html
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if force_backend is not None and stance != "default":
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.stance = "force_eager" if force_backend in _DEBUG_BACKENDS else stance
        self.before = function.stance
        function.stance = self.stance

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        function.stance = self.before

        @functools.wraps(fn)
        def in_block(*args: Any, **kwargs: Any) -> Any:
            with set_stance(self.stance):
                return fn(*args, **kwargs)

        return in_block

    def __enter__(self) -> None:
        function.stance = self.stance

    def __exit__(self, *_: object) -> None:
        function.stance = self.before


def nested_compile_region(fn: Any = None, options: Any = None) -> Any:
    """The function as it is."""
    return nested_compile_region if fn is None else fn


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays as a function of tensors."""
    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        arrays = [arg.numpy() if isinstance(arg, Tensor) else arg for arg in args]  # type: ignore[attr-defined]
        named = {key: arg.numpy() if isinstance(arg, Tensor) else arg for key, arg in kwargs.items()}  # type: ignore[attr-defined]
        result = fn(*arrays, **named)
        return FUNCTIONS["from_numpy"](result) if hasattr(result, "__array__") else result

    return wrapped


def run(fn: Any = None) -> Any:
    """The function as it is."""
    return (lambda function: function) if fn is None else fn


def graph_break(msg: str = "") -> None:
    """Accepted without effect: there is no graph to break."""


def mark_dynamic(t: Any, index: Any, **settings: Any) -> None:
    """Accepted without effect: every size may change."""


mark_static = maybe_mark_dynamic = mark_static_address = mark_unbacked = mark_dynamic
