"""``torch.compile`` as scripts call it: functions and modules whose calls are captured, and replayed as programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..nn.modules.module import Module
from . import function
from .function import Compiled, Explanation

_BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
_DEBUG_BACKENDS = ("eager", "aot_eager", "aot_eager_decomp_partition", "aot_ts", "torchxla_trace_once")
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


class InvalidBackend(RuntimeError):
    """A backend that nobody registered."""


class OptimizedModule(Module):
    """A compiled module: it holds the module as ``_orig_mod``, calls it by programs, and passes attributes on to it."""

    _opt_mod_attributes = frozenset({"_orig_mod", "training"})

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._orig_mod = mod
        self.train(mod.training)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        call = self.__dict__.get("_program_call")
        if call is None:
            call = self.__dict__["_program_call"] = function.compiled(self._orig_mod.__call__)
        return call(*args, **kwargs)

    @property
    def source(self) -> str:
        """The text of the last program."""
        call = self.__dict__.get("_program_call")
        return "# not captured yet\n" if call is None else call.source

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_program_call", None)  # programs are made anew
        return state

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_orig_mod", "training") or name in self.__dict__ or "_orig_mod" not in self.__dict__.get(
            "_modules", {}
        ):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def train(self, mode: bool = True) -> OptimizedModule:
        """Set training mode in the module too."""
        self.__dict__["training"] = mode
        self._orig_mod.train(mode)
        return self


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
    **kwargs: Any,
) -> Any:
    """A function or module that computes what ``model`` computes, in fewer steps; without ``model``, a decorator.

    ``model`` is a function of tensors, a loss function, a module, or a whole training step: forward, backward and the
    optimizer's step. Its first call runs as it is written, the next one is captured and replayed from then on, as long
    as shapes, dtypes, modes and the Python values that it reads stay the same. What cannot be captured runs as it is
    written; ``compile.explain`` tells why, and ``.source`` of a compiled function shows its last program. ``dynamic``,
    ``fullgraph``, ``mode`` and ``options`` make no difference.

    Raises RuntimeError where ``mode`` and ``options`` are both given, or one of them or the backend is unknown.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        settings = {"fullgraph": fullgraph, "dynamic": dynamic, "backend": backend, "mode": mode, "options": options}
        return lambda found: compile(found, disable=disable, **settings)  # type: ignore[arg-type]
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if isinstance(backend, str) and backend not in _BACKENDS + _DEBUG_BACKENDS:
        raise InvalidBackend(
            f"Invalid backend: '{backend}', see `torch._dynamo.list_backends()` for available backends."
        )
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable:
        return model
    if isinstance(model, OptimizedModule):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model)
    if isinstance(model, type) or backend in _DEBUG_BACKENDS:
        return model
    return function.compiled(model)


def explain(fn: Any) -> Explanation:
    """How often a compiled function or module was captured, and why it runs as it is written where it does."""
    call = fn.__dict__.get("_program_call") if isinstance(fn, OptimizedModule) else fn
    state = getattr(call, "program_state", None)
    if isinstance(fn, OptimizedModule) and state is None:
        return Explanation(type(fn._orig_mod).__name__, [], ["it was not called yet"])
    if not isinstance(state, Compiled):
        raise TypeError(f"compile.explain() takes what compile() gave, not a {type(fn).__name__}")
    return state.explanation()


compile.explain = explain  # type: ignore[attr-defined]


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A decorator that keeps a function from being compiled: it is given back as it is."""
    return (lambda found: found) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """The function as it is."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function as it is."""
    return fn


def is_compiling() -> bool:
    """False: code runs as it is written."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Names that ``compile(backend=...)`` takes."""
    return sorted(_BACKENDS if exclude_tags else _BACKENDS + _DEBUG_BACKENDS)


def reset() -> None:
    """Forget what was compiled."""
    function.reset()


def cudagraph_mark_step_begin() -> None:
    """Accepted without effect."""


@contextmanager
def set_stance(stance: str = "default", **settings: Any) -> Iterator[None]:
    """A block with another policy of compiling: "force_eager" runs everything as it is written."""
    before = function.stance
    function.stance = stance
    try:
        yield
    finally:
        function.stance = before


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays as a function of tensors."""
    from ..ops.catalogue import FUNCTIONS
    from ..tensor.tensor import Tensor

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        given = [arg.numpy() if isinstance(arg, Tensor) else arg for arg in args]  # type: ignore[attr-defined]
        named = {key: arg.numpy() if isinstance(arg, Tensor) else arg for key, arg in kwargs.items()}  # type: ignore[attr-defined]
        made = fn(*given, **named)
        return FUNCTIONS["from_numpy"](made) if hasattr(made, "__array__") else made

    return wrapped
