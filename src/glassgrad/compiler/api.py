"""``torch.compile`` as scripts call it, for functions and modules, and ``torch.compiler``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn.modules.module import Module
from . import function
from .errors import InvalidBackend
from .function import Compiled, Explanation

_BACKENDS = ("cudagraphs", "inductor", "openxla", "tvm")
_DEBUG_BACKENDS = (
    "eager", "aot_eager", "aot_eager_decomp_partition", "aot_ts", "torchxla_trace_once", "eager_noexcept",
    "aot_eager_default_partitioner", "pre_dispatch_eager", "eager_debug",
)  # fmt: skip
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


class OptimizedModule(Module):
    """A compiled module: it holds the module as ``_orig_mod``, calls it by programs, and passes attributes on to it."""

    _opt_mod_attributes = frozenset({"_orig_mod", "training"})

    def __init__(self, mod: Module, **settings: Any) -> None:
        super().__init__()
        self.__dict__["_settings"] = settings
        self._orig_mod = mod
        self.train(mod.training)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives."""
        call = self.__dict__.get("_program_call")
        if call is None:
            call = self.__dict__["_program_call"] = function.compiled(
                self._orig_mod.__call__, **self.__dict__["_settings"]
            )
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

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __len__(self) -> int:
        if hasattr(self._orig_mod, "__len__"):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __bool__(self) -> bool:
        return True

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
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
    pure: bool = False,
    verify: int = 0,
) -> Any:
    """A function or module that computes what ``model`` computes, in fewer steps; without ``model``, a decorator.

    ``model`` is a function of tensors, a loss function, a module, or a whole training step: forward, backward and the
    optimizer's step. Its Python runs at every call; elementwise operations on large arrays are deferred, and computed
    together where their values are wanted. ``compile.explain`` tells where that was, and ``.source`` of a compiled
    function shows its last loop or program.

    pure             the promise that nothing changes between calls but the arguments and the contents of the tensors
                     that are reached: the whole is traced, and run without the function's Python
    fullgraph        raise where the function hands numbers to Python, or, if pure, cannot be replayed
    verify           every so manieth call is compared with the function as it is written; a difference is warned of,
                     and ends all deferring and replaying
    recompile_limit  how many loops it may have (64); if pure, how many programs (8)
    backend          one of PyTorch's: "eager" and its like leave the function as it is, others make no difference, and
                     neither do the other settings

    Raises RuntimeError where ``mode`` and ``options`` are both given, or the mode is unknown;
    ``torch._dynamo.exc.InvalidBackend`` for unknown backends, ``torch._dynamo.exc.Unsupported`` from calls of what
    cannot be captured with ``fullgraph=True``.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.compile.html
    """
    backend = get_default_backend() if backend is None else backend
    if model is None:
        settings = {
            "fullgraph": fullgraph, "dynamic": dynamic, "backend": backend, "mode": mode, "options": options,
            "disable": disable, "recompile_limit": recompile_limit, "pure": pure, "verify": verify,
        }  # fmt: skip

        def decorate(decorated: Any) -> Any:
            if decorated is None:
                raise RuntimeError("Model can't be None")
            return compile(decorated, **settings)  # type: ignore[arg-type]

        return decorate
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode is not None and backend == "inductor" and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if dynamic is not None and not isinstance(dynamic, bool):
        raise AssertionError(f"Expected enable to be a bool, got {type(dynamic)}")
    if isinstance(backend, str) and backend not in _BACKENDS + _DEBUG_BACKENDS:
        raise InvalidBackend(backend)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if disable or isinstance(model, type):
        return model
    kept: dict[str, Any] = {"fullgraph": fullgraph, "limit": recompile_limit, "pure": pure, "verify": verify}
    kept["as_written"] = backend in _DEBUG_BACKENDS
    if isinstance(model, OptimizedModule):
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, **kept)
    return model if backend in _DEBUG_BACKENDS else function.compiled(model, **kept)


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


def is_compiling() -> bool:
    """Whether Python runs a function that is compiled, in this thread: its first calls, or one that is not captured."""
    return function.inside.call() is not None


_default_backend: list[Any] = ["inductor"]


def set_default_backend(backend: str | Callable[..., Any] | None) -> None:
    """Set what ``compile`` takes where no backend is given; None sets PyTorch's, "inductor"."""
    if isinstance(backend, str) and backend not in _BACKENDS + _DEBUG_BACKENDS:
        raise InvalidBackend(backend)
    _default_backend[0] = "inductor" if backend is None else backend


def get_default_backend() -> str | Callable[..., Any]:
    """What ``compile`` takes where no backend is given."""
    return _default_backend[0]  # type: ignore[no-any-return]


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Names that ``compile(backend=...)`` takes."""
    return sorted(_BACKENDS if exclude_tags and "debug" in exclude_tags else _BACKENDS + _DEBUG_BACKENDS)
