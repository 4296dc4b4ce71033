"""``torch.compile`` as scripts call it: what is compiled runs as it is, with the same results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..nn.modules.module import Module

_BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
_DEBUG_BACKENDS = ("eager", "aot_eager", "aot_eager_decomp_partition", "aot_ts", "torchxla_trace_once")
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


class InvalidBackend(RuntimeError):
    """A backend that nobody registered."""


class OptimizedModule(Module):
    """A compiled module: it holds the module as ``_orig_mod``, calls it, and passes attributes on to it."""

    _opt_mod_attributes = frozenset({"_orig_mod", "training"})

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._orig_mod = mod
        self.train(mod.training)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        return self._orig_mod(*args, **kwargs)

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
    """A function or module that computes what ``model`` computes; without ``model``, a decorator.

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
    if isinstance(model, type):
        return model

    @functools.wraps(model)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return model(*args, **kwargs)

    compiled._torchdynamo_orig_callable = model  # type: ignore[attr-defined]
    return compiled


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


def cudagraph_mark_step_begin() -> None:
    """Accepted without effect."""


@contextmanager
def set_stance(stance: str = "default", **settings: Any) -> Iterator[None]:
    """A block with another policy of compiling; it changes nothing."""
    yield


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
