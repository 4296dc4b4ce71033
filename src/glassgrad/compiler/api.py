"""``torch.compile`` as scripts call it, for functions and modules, and ``torch.compiler``."""

from __future__ import annotations

import functools
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


def is_compiling() -> bool:
    """Whether Python runs a function that is compiled, in this thread: its first calls, or one that is not captured."""
    return function.inside.call() is not None


def is_supported() -> bool:
    """True: programs are compiled, or run as they are written."""
    return True


def is_dynamo_compiling() -> bool:
    """The same as :func:`is_compiling`."""
    return function.inside.call() is not None


def is_exporting() -> bool:
    """False: nothing is exported."""
    return False


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


def reset() -> None:
    """Forget what was compiled."""
    function.reset()


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
    from ..core.tensor import Tensor
    from ..ops.catalogue import FUNCTIONS

    @functools.wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        arrays = [arg.numpy() if isinstance(arg, Tensor) else arg for arg in args]  # type: ignore[attr-defined]
        named = {key: arg.numpy() if isinstance(arg, Tensor) else arg for key, arg in kwargs.items()}  # type: ignore[attr-defined]
        result = fn(*arrays, **named)
        return FUNCTIONS["from_numpy"](result) if hasattr(result, "__array__") else result

    return wrapped
