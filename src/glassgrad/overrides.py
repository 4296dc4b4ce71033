"""The ``torch.overrides`` namespace: types and blocks that give functions another meaning."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from .core.row import TABLE
from .core.tensor import Tensor
from .ground import listening
from .ground.later import whole
from .ops.bind import table_functions
from .ops.in_python import handed
from .ops.torch_function import as_they_are, ask, is_stranger, no_implementation, overloaded

_HOME = __name__.partition(".")[0]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether any of these gives functions another meaning, or a function mode is on.

    Source: https://docs.pytorch.org/docs/stable/torch.overrides.html
    """
    return bool(_modes.stack) or any(map(is_stranger, relevant_args))


def has_torch_function_unary(arg: Any) -> bool:
    """The same of one argument."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """The same of arguments."""
    return has_torch_function(args)


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the mode that is on, or the first ``__torch_function__`` that knows an answer, gives for a call."""
    asked = overloaded(relevant_args, is_stranger)
    if _modes.stack:
        answer = _ask_innermost(public_api, tuple(map(type, asked)), args, kwargs)
        if answer is not NotImplemented:
            return answer
    mode = f" nor in mode {_modes.stack[-1]}" if _modes.stack else ""
    return ask(public_api, asked, args, kwargs, lambda *what: no_implementation(*what) + mode)


def _assert(condition: Any, message: str) -> Any:
    """AssertionError unless ``condition`` holds; what stands for a tensor, as in tracing, sees to it itself."""
    if type(condition) is not Tensor and has_torch_function_unary(condition):
        return handle_torch_function(_assert, (condition,), condition, message)
    if not condition:
        raise AssertionError(message)
    return None


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor or has ``__torch_function__``."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function is a method of tensors, or the getter of a property."""
    return func in _methods() or getattr(func, "__name__", "") == "__get__"


@functools.cache
def _methods() -> frozenset[Any]:
    return frozenset(value for value in vars(Tensor).values() if isinstance(value, FunctionType))


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Any], Any]:
    """A decorator: the function may be overridden by what ``dispatcher(*args, **kwargs)`` gives."""

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


@functools.cache
def get_ignored_functions() -> set[Any]:
    """Public functions that cannot be overridden: those that take no tensors."""
    names = vars(import_module(_HOME))
    heard = {id(function) for function in _public()}
    return {value for value in names.values() if isinstance(value, FunctionType) and id(value) not in heard}


def _public() -> list[Any]:
    named = [value for space in _spaces() for value in whole(space).values() if isinstance(value, FunctionType)]
    return [*table_functions(), *named]


def _spaces() -> list[Any]:
    return [import_module(f"{_HOME}.{name}") for name in ("nn.functional", "linalg", "fft", "special")]


def get_overridable_functions() -> dict[Any, list[Any]]:
    """The functions that can be overridden, by the namespace that has them."""
    heard = {id(function) for function in _public()}
    return {
        space: [value for name, value in vars(space).items() if id(value) in heard and not name.startswith("__")]
        for space in (import_module(_HOME), *_spaces(), Tensor)
    }


@functools.cache
def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that can be overridden one of the same signature, which gives -1."""
    spaces = get_overridable_functions().values()
    return {function: _minus_one(function) for functions in spaces for function in functions}


def _minus_one(function: Any) -> Callable[..., Any]:
    def answer(*args: Any, **kwargs: Any) -> int:
        return -1

    answer.__name__ = function.__name__
    answer.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return answer


def resolve_name(f: Any) -> str | None:
    """The name that a function has among those that can be overridden; None of any other."""
    for space, functions in get_overridable_functions().items():
        for name, value in vars(space).items():
            if value is f and f in functions:
                where = space.__name__[len(_HOME) :] if isinstance(space, ModuleType) else ".Tensor"
                return f"torch{where}.{name}"
    return None


# -- modes --------------------------------------------------------------------------------------------------------


class _Modes(threading.local):
    """The modes that are on in a thread, innermost last."""

    stack: tuple[TorchFunctionMode, ...] = ()


_modes = _Modes()


class TorchFunctionMode:
    """A block in which ``__torch_function__`` of this object answers for every call of a function of tensors.

    Within it calls go on to the mode outside, or to the function itself.
    Source: https://docs.pytorch.org/docs/stable/torch.overrides.html#torch.overrides.TorchFunctionMode
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        if not _modes.stack:
            listening.start(_answer, _public())
        _modes.stack = (*_modes.stack, self)
        return self

    def __exit__(self, *error: Any) -> None:
        _modes.stack = _modes.stack[:-1]
        if not _modes.stack:
            listening.stop(_answer)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """The older way to make one."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that lets every call pass."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _answer(function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not _modes.stack:
        return proceed(*args, **kwargs)
    public = _of_operator().get(id(function), function)
    types = tuple(map(type, overloaded(args)))
    public, args, named = handed(public, args, kwargs or None)
    return _ask_innermost(public, types, args, named)


def _ask_innermost(function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """What the innermost mode answers; what it calls goes to the mode outside, and within the last runs as it is."""
    stack = _modes.stack
    try:
        _modes.stack = stack[:-1]
        return stack[-1].__torch_function__(function, types, args, kwargs)
    finally:
        _modes.stack = stack


@functools.cache
def _of_operator() -> dict[int, Any]:
    return {id(row.operate): row.caller for row in TABLE.values() if row.operator is not None}


def _get_current_function_mode() -> TorchFunctionMode | None:
    return _modes.stack[-1] if _modes.stack else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    return list(_modes.stack)


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """A block; it changes nothing."""
    yield


def get_default_nowrap_functions() -> set[Any]:
    """What is read of a subclass, and not made one of it: ``_base``, ``grad``."""
    return set(as_they_are())
