"""The ``torch.jit`` namespace: what is scripted or traced runs as the Python it is, and gives the same."""

from __future__ import annotations

import functools
import inspect
import typing
import warnings
from builtins import isinstance as _is
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin
from typing import Final as Final

from ..core.tensor import Tensor
from ..futures import Future
from ..ground.paths import show
from ..nn.modules.module import Module

__all__ = [
    "Attribute", "CompilationUnit", "Error", "Final", "Future", "RecursiveScriptModule", "ScriptFunction",
    "ScriptModule", "TopLevelTracedModule", "TracedModule", "TracerWarning", "TracingCheckError", "annotate",
    "enable_onednn_fusion", "export", "fork", "freeze", "fuser", "ignore", "interface", "is_scripting", "is_tracing",
    "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution", "save", "script",
    "script_if_tracing", "script_method", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused",
    "wait",
]  # fmt: skip
show(f"{__name__}.annotations", "typing", "Any Dict Final List Optional Tuple Type Union")  # words of annotations
show(
    f"{__name__}.annotations", f"{__name__.partition('.')[0]}._jit_internal",
    "BroadcastingList1 BroadcastingList2 BroadcastingList3 BroadcastingListCls Future ignore is_scripting",
)  # fmt: skip

F = TypeVar("F")
Attribute = namedtuple("Attribute", ["value", "type"])
_tracing = 0


class Error(RuntimeError):
    """What a scripted function raises in PyTorch."""


class TracerWarning(Warning):
    """Something that a trace would not keep."""


class TracingCheckError(Exception):
    """A traced function gave something else when it was called again."""


def _no_text(what: str) -> NoReturn:
    raise RuntimeError(
        f"there is no {what}: TorchScript is not compiled here, and the program runs as Python; see "
        "inspect.getsource, or torch.fx.symbolic_trace(module).code for the operations of a module"
    )


def _no_file(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError(
        "TorchScript archives are neither written nor read here: use torch.save(module.state_dict(), path) and "
        "module.load_state_dict(torch.load(path))"
    )


class _Texts:
    """What a compiled program would have, and this has not."""

    save = save_to_buffer = _save_for_lite_interpreter = staticmethod(_no_file)

    @property
    def code(self) -> str:
        """An error: the program runs as Python."""
        _no_text("TorchScript code")

    @property
    def graph(self) -> Any:
        """An error: the program runs as Python."""
        _no_text("TorchScript graph")

    inlined_graph = graph
    code_with_constants = code


class ScriptFunction(_Texts):
    """A function as it was scripted or traced: it calls it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._torchdynamo_inline = function
        self.name, self.qualified_name = function.__name__, "__torch__." + function.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return object.__repr__(self)

    @property
    def code(self) -> str:
        """An error: the program runs as Python."""
        _no_text("TorchScript code")


class ScriptModule(Module, _Texts):
    """A module as it was scripted; a class of one's own may inherit from it too."""

    original_name: str


class RecursiveScriptModule(ScriptModule):
    """A scripted module: a twin of the original, with the same parameters and buffers, whose children are twins too."""

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        """The class of the original."""
        return f"original_name={self.original_name}"


class TracedModule(RecursiveScriptModule):
    """A traced module."""

    def _get_name(self) -> str:
        return self.original_name


class TopLevelTracedModule(TracedModule):
    """The module that was traced, as its children are not."""


@functools.cache
def _class_of(kind: type, original: type) -> type:
    """The class of the twins of ``original``: it computes what that does, and shows itself as ``kind`` does."""
    shown = {"_get_name": kind._get_name, "extra_repr": kind.extra_repr, "__module__": kind.__module__}  # type: ignore[attr-defined]
    bases = (original,) if issubclass(original, ScriptModule) else (original, kind)
    return type(kind.__name__, bases, {**shown, "original_name": original.__name__})


def _twin(module: Module, kind: type, inner: type) -> Module:
    if _is(module, ScriptModule):
        return module
    twin: Module = object.__new__(_class_of(kind, type(module)))  # type: ignore[arg-type]
    Module.__setstate__(twin, Module.__getstate__(module))
    twin.__dict__["_non_persistent_buffers_set"] = set(module._non_persistent_buffers_set)
    for name, child in module._modules.items():
        if child is not None:
            twin._modules[name] = _twin(child, inner, inner)
    return twin


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """A function, module or class that does the same; nothing is compiled.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.jit.script.html
    """
    if _is(obj, (ScriptModule, ScriptFunction, type)):
        return obj
    if _is(obj, Module):
        return _twin(obj, RecursiveScriptModule, RecursiveScriptModule)
    if inspect.isfunction(obj) or inspect.isbuiltin(obj) or inspect.ismethod(obj):
        return ScriptFunction(obj)
    return obj


@contextmanager
def _while_tracing() -> Iterator[None]:
    global _tracing
    _tracing += 1
    try:
        yield
    finally:
        _tracing -= 1


def _tuple(value: Any) -> tuple[Any, ...]:
    if _is(value, tuple):
        return value
    return tuple(value) if _is(value, list) else (value,)


def trace(
    func: Any, example_inputs: Any = None, optimize: Any = None, check_trace: bool = True, check_inputs: Any = None,
    check_tolerance: float = 1e-5, strict: bool = True, _force_outplace: bool = False, _module_class: Any = None,
    _compilation_unit: Any = None, example_kwarg_inputs: dict[str, Any] | None = None, _store_inputs: bool = True,
) -> Any:  # fmt: skip
    """A function or module that does the same; it is called on ``example_inputs``, and checked by calling it again.

    Unlike PyTorch's trace it keeps the program's branches: it is the program.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.jit.trace.html
    """
    if _is(func, (ScriptModule, ScriptFunction)):
        warnings.warn(
            "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the object as is.",
            stacklevel=2,
        )
        return func
    if not callable(func):
        raise TypeError(f"a function or module is expected, not {type(func)}")
    args: tuple[Any, ...] = ()
    if example_kwarg_inputs is None:
        if example_inputs is None:
            raise RuntimeError("example_kwarg_inputs should be a dict")
        args = _tuple(example_inputs)
    elif not _is(example_kwarg_inputs, dict):
        raise RuntimeError("example_kwarg_inputs should be a dict")
    _check(func, args, example_kwarg_inputs or {}, check_trace, check_inputs, check_tolerance)
    if _is(func, Module):
        return _twin(func, TopLevelTracedModule, TracedModule)
    return ScriptFunction(func)


def _check(func: Any, args: Any, kwargs: Any, again: bool, others: Any, tolerance: float) -> None:
    """Call what is traced as often as PyTorch does, and warn where the results differ."""
    with _while_tracing():
        first = func(*args, **kwargs)
        if not again:
            return
        for inputs in others or [args]:
            results = [func(*_tuple(inputs), **kwargs) for _ in range(3 if others else 2)]
            if not others:
                results.insert(0, first)
            results.append(func(*_tuple(inputs), **kwargs))
            if not all(_close(results[-1], other, tolerance) for other in results):
                warnings.warn(
                    "Output of the traced function does not match the corresponding output of the Python function: "
                    "it gives something else when called again with the same inputs",
                    TracerWarning,
                    stacklevel=4,
                )
                return


def _close(a: Any, b: Any, tolerance: float) -> bool:
    if _is(a, Tensor) and _is(b, Tensor):
        near: Any = a
        same = a.shape == b.shape and a.dtype == b.dtype
        return same and bool(near.isclose(b, rtol=tolerance, atol=tolerance, equal_nan=True).all())
    if _is(a, (tuple, list)) and _is(b, (tuple, list)):
        return len(a) == len(b) and all(_close(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if _is(a, dict) and _is(b, dict):
        return a.keys() == b.keys() and all(_close(a[key], b[key], tolerance) for key in a)
    return True


def trace_module(mod: Module, inputs: dict[str, Any], *args: Any, check_trace: bool = True, **kwargs: Any) -> Any:
    """A module that does the same; the methods named in ``inputs`` are called with what stands there."""
    if not _is(mod, Module):
        raise AttributeError("expected torch.nn.Module as the first argument")
    if not _is(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    for name, example in inputs.items():
        method = mod if name == "forward" else getattr(mod, name)
        _check(method, _tuple(example), {}, check_trace, None, kwargs.get("check_tolerance", 1e-5))
    return _twin(mod, TopLevelTracedModule, TracedModule)


def is_scripting() -> bool:
    """False: nothing is compiled."""
    return False


def is_tracing() -> bool:
    """Whether :func:`trace` calls the program now."""
    return _tracing > 0


def script_method(fn: F) -> F:
    """The method as it is."""
    return fn


def export(fn: F) -> F:
    """The method as it is."""
    return fn


unused = script_if_tracing = _script_if_tracing = export


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function as it is; also as ``@ignore(drop=...)``."""
    return drop if callable(drop) else export


def interface(obj: Any) -> Any:
    """The class as it is."""
    if not inspect.isclass(obj):
        raise RuntimeError("interface must be applied to a class")
    return obj


def annotate(the_type: Any, the_value: Any) -> Any:
    """``the_value``."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:  # noqa: A001  PyTorch's name
    """Whether an object is of a type, its elements too where the type names theirs (``list[int]``)."""
    if _is(target_type, tuple):
        return any(isinstance(obj, one) for one in target_type)
    origin, inner = get_origin(target_type), get_args(target_type)
    if origin is None:
        if target_type in (typing.List, typing.Dict, typing.Tuple, list, dict, tuple):  # noqa: UP006  older programs
            raise RuntimeError(
                f"Attempted to use {target_type} without a contained type. Please add a contained type, e.g. "
                f"{target_type.__name__}[int]"
            )
        return _is(obj, target_type)
    if origin is Union or origin is type(int | str):
        return any(isinstance(obj, type(None) if one is None else one) for one in inner)
    if not _is(obj, origin):
        return False
    if origin is list:
        return all(isinstance(piece, inner[0]) for piece in obj)
    if origin is dict:
        return all(isinstance(key, inner[0]) and isinstance(value, inner[1]) for key, value in obj.items())
    if origin is tuple:
        return len(obj) == len(inner) and all(isinstance(a, b) for a, b in zip(obj, inner, strict=True))
    return True


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """The Future of ``func(*args, **kwargs)``, which is called at once."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """The value of a Future."""
    return future.wait()


_fork, _wait = fork, wait


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """The module as it is; like PyTorch's it must be scripted and in evaluation mode."""
    if not _is(mod, ScriptModule):
        raise RuntimeError(
            "Freezing expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to script your "
            "'nn.Module'."
        )
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() on your module "
            "before freezing."
        )
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """The module as it is."""
    return mod


save = load = CompilationUnit = _no_file


def enable_onednn_fusion(enabled: bool) -> None:
    """Accepted without effect."""


def onednn_fusion_enabled() -> bool:
    """False."""
    return False


def set_fusion_strategy(strategy: Any) -> Any:
    """Accepted without effect."""
    return strategy


_set_fusion_strategy = set_fusion_strategy


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block; it changes nothing."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """A block; it changes nothing."""
    yield


class strict_fusion:  # noqa: N801  PyTorch's name
    """A block; it changes nothing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        return None


def _overload(func: F) -> F:
    return func


_overload_method = _overload
