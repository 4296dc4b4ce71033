"""``__torch_function__``: who else has a say in a call, in which order they are asked, and what a subclass says.

Nobody asks before an everyday call. A row asks when it meets a type that is none of its own, a function in Python when
it fails on one (``ground/listening.py``); then the outermost function that was handed the stranger is what he is asked
about, as if he had been asked at once. Instances of subclasses are asked when an attribute of theirs is read.
"""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from types import FrameType, FunctionType
from typing import Any

from ..core import call
from ..core import tensor as tensors
from ..core.row import Row
from ..core.tensor import Tensor, alias, new, number_of, wrap
from ..ground import dtypes, listening
from ..ground.meta import blank
from ..ground.names import OURS, home_of, is_own, is_own_frame, torch_name
from ..tensor.heard import spelled
from ..tensor.parameter import Parameter
from .in_python import handed


class _Switch(threading.local):
    """Whether subclasses of Tensor have no say in this thread."""

    off = False


_switch = _Switch()


class DisableTorchFunctionSubclass:
    """A block in which ``__torch_function__`` of types is not asked."""

    def __enter__(self) -> None:
        self._before = _switch.off
        _switch.off = True

    def __exit__(self, *error: Any) -> None:
        _switch.off = self._before


def _disabled_torch_function_impl(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_function__`` of types that have no say: the function as it is."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def _keep_type(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The ``__torch_function__`` of Tensor: results of calls with a subclass are of that subclass."""
    if not all(issubclass(cls, other) for other in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if func in as_they_are() else _converted(result, cls)


def as_they_are() -> tuple[Any, ...]:
    """What is read of a subclass, and not made one of it."""
    return Tensor._base.__get__, Tensor.grad.__get__  # type: ignore[attr-defined]


def _converted(result: Any, cls: Any) -> Any:
    if cls is Tensor:
        return result
    if isinstance(result, Tensor):  # at a level of a transform its type says what it stands for
        return result if isinstance(result, cls) or result._lifted else result.as_subclass(cls)  # type: ignore[attr-defined]
    if isinstance(result, (tuple, list)):
        return type(result)(_converted(part, cls) for part in result)
    return result


# -- who has a say ----------------------------------------------------------------------------------------------------


def overrides(value: Any) -> bool:
    """Whether a value's type has a say in the calls that it is handed to."""
    kind = type(value)
    if kind == Tensor or kind is Parameter or _switch.off:  # equal to Tensor is the type of what is deferred, too
        return False
    say = _say_of(kind)
    return say is not None and say is not _disabled_torch_function_impl and not is_inner(kind)


def _is_custom(value: Any) -> bool:
    return overrides(value) and _say_of(type(value)) is not _keep_type


def _say_of(kind: type) -> Any:
    """The function behind a type's ``__torch_function__``; a tensor at a level of a transform has no say."""
    if getattr(kind, "_lifted", False):
        return _disabled_torch_function_impl
    say = getattr(kind, "__torch_function__", None)
    return getattr(say, "__func__", say)


def is_stranger(value: Any) -> bool:
    """The same of values handed to a function of the user's own: what stands for a tensor in tracing has a say."""
    return overrides(value) or (not isinstance(value, Tensor) and is_inner(type(value)))


def is_inner(kind: type) -> bool:
    """Whether a type's ``__torch_function__`` is that of a class of this package, which is asked about rows alone."""
    say = _say_of(kind)
    if say is None or say is _keep_type or say is _disabled_torch_function_impl:
        return False
    return str(getattr(say, "__module__", "")).partition(".")[0] == OURS


def _values(args: Iterable[Any], kwargs: dict[str, Any] | None) -> Iterable[Any]:
    for value in (*args, *(kwargs or {}).values()):
        if type(value) in (list, tuple):
            yield from value
        else:
            yield value


def overloaded(relevant: Iterable[Any], has_say: Callable[[Any], bool] = overrides) -> list[Any]:
    """One of each type that has a say, subclasses before their parents, else in order."""
    overriding: list[Any] = []
    for value in relevant:
        if has_say(value) and type(value) not in map(type, overriding):
            parents = (n for n, other in enumerate(overriding) if issubclass(type(value), type(other)))
            overriding.insert(next(parents, len(overriding)), value)
    return overriding


def ask(
    function: Any, asked: Sequence[Any], args: Any, kwargs: Any, words: Callable[[Any, Any], str] | None = None
) -> Any:
    """What the first of those that were ``overloaded`` answers; TypeError, in these words, where none knows."""
    types = tuple(map(type, asked))
    function, args, kwargs = handed(function, args, kwargs)
    for value in asked:
        answer = value.__torch_function__(function, types, args, *([] if kwargs is None else [kwargs]))
        if answer is not NotImplemented:
            return answer
    error: Any = TypeError((words or _unanswered)(function, types))
    error.nobody_answered = True  # by which an operator lets Python ask the other operand
    raise error


def no_implementation(function: Any, types: Any) -> str:
    """That nobody answered, in the words of PyTorch's functions in Python."""
    home, name = torch_name(home_of(function), function.__name__)
    return f"no implementation found for '{home}.{name}' on types that implement __torch_function__: {list(types)}"


def _unanswered(function: Any, types: Any) -> str:
    home, name = torch_name(home_of(function), function.__name__)
    if home == "torch.nn.functional":
        return no_implementation(function, types)
    if not home or name.endswith("_"):  # a method
        home = "torch.Tensor"
    listed = "\n".join(f"  - tensor subclass {kind}" for kind in types)
    return (
        f"Multiple dispatch failed for '{home}.{name}'; all __torch_function__ handlers returned NotImplemented:\n\n"
        f"{listed}\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )


# -- where they are asked ---------------------------------------------------------------------------------------------


def row_overridden(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
    """What a stranger among the inputs of a row answers; NOT_TAKEN where none has a say."""
    flat = tensors[0] if row.listed else tensors
    asked = overloaded(flat)
    if not asked:
        return call.NOT_TAKEN
    heed(flat)
    args, named = spelled(row, tensors, settings, out)
    return ask(row.caller, asked, args, named or None)


def heed(values: Iterable[Any]) -> None:
    """Leave the function in Python that was handed a stranger, if one is under way: he is asked about that."""
    for value in values:
        if _is_custom(value):
            frame = _outermost(value)
            if frame is not None:
                raise listening.Overridden(frame)


def _ask_first(args: Any, kwargs: Any) -> None:
    for value in _values(args, kwargs):
        if type(value) not in call.ORDINARY and overrides(value):
            frame = _outermost(value)
            if frame is not None:
                raise listening.Overridden(frame)


def _outermost(stranger: Any) -> FrameType | None:
    """The frame of the outermost function under way in this package that can be heard and was handed the stranger."""
    outermost = None
    frame: Any = sys._getframe(1)
    while frame is not None and is_own_frame(frame):
        if frame.f_code is listening.CALL:
            names = frame.f_locals
            if names["asks"] and any(value is stranger for value in _values(names["args"], names["kwargs"])):
                outermost = frame
        frame = frame.f_back
    return outermost


def _is_answered(error: Exception, frame: Any, args: Any, kwargs: Any) -> bool:
    """Whether what a function in Python failed by is that a stranger was not asked about it."""
    if type(error) is listening.Overridden:
        return error.frame is frame
    return any(_is_custom(value) and _outermost(value) is frame for value in _values(args, kwargs))


def _overridden(function: Any, args: Any, kwargs: Any) -> Any:
    """What the strangers among the arguments of a function in Python answer."""
    return ask(function, overloaded(_values(args, kwargs)), args, kwargs or None)


_NO_NUMBER = re.compile("Tensor|bool|str|tuple")  # of what is declared
_FAILURES = (TypeError, AttributeError, ValueError)  # what comes of a tensor in the place of a number


_signature = lru_cache(inspect.signature)


def _with_numbers(function: Any, args: Any, kwargs: Any, error: Exception) -> Any:
    """What a call that failed gives with numbers for 0-d tensors, where those are declared or nothing; or NOT_TAKEN."""
    if not isinstance(error, _FAILURES) or all(number_of(value) is value for value in (*args, *kwargs.values())):
        return call.NOT_TAKEN
    signature = _signature(function)
    try:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            parameter = signature.parameters[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                bound.arguments[name] = tuple(map(number_of, value))
            elif not _NO_NUMBER.search(str(parameter.annotation)):
                bound.arguments[name] = number_of(value)
        return function(*bound.args, **bound.kwargs)
    except Exception:
        return call.NOT_TAKEN


listening.is_answered, listening.overridden, listening.ask_first = _is_answered, _overridden, _ask_first
listening.with_numbers = _with_numbers


# -- subclasses of Tensor ---------------------------------------------------------------------------------------------


def prepare(cls: type, **more: Any) -> None:
    """Let reading attributes of a new subclass's instances ask it, if it has a say."""
    super(Tensor, cls).__init_subclass__(**more)  # type: ignore[misc]
    if is_own(cls):
        return
    cls._printed_as = cls.__name__  # type: ignore[attr-defined]
    if _say_of(cls) is not _disabled_torch_function_impl and not is_inner(cls):
        if cls.__getattribute__ is object.__getattribute__:
            cls.__getattribute__ = _read  # type: ignore[assignment]
        for name in _LOOKED_UP:
            if next(base for base in cls.__mro__ if name in vars(base)) is Tensor:
                setattr(cls, name, _asked(name))


#: What Python looks up in the type, without reading it of the instance.
_LOOKED_UP = "__len__", "__repr__", "__array_wrap__", "__dlpack__", "__dlpack_device__", "__reduce_ex__"


def _asked(name: str) -> Callable[..., Any]:
    """The method of a subclass that asks it about Tensor's method of this name."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        getattr(Tensor, name)
        member: Any = vars(Tensor)[name]
        call_it = member if is_own_frame(sys._getframe(1)) else partial(_call_method, member)
        return call_it(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def _read(self: Any, name: str) -> Any:
    """An attribute of an instance of a subclass: of what is Tensor's, the subclass is asked."""
    if name.startswith("__") or _switch.off or is_own_frame(sys._getframe(1)):
        return object.__getattribute__(self, name)
    owner = next((base for base in type(self).__mro__ if name in vars(base)), None)
    if owner is not Tensor or name in ("as_subclass", "__torch_function__"):
        return object.__getattribute__(self, name)
    getattr(Tensor, name)  # what stands for a method that is not there yet gives way to it
    member: Any = vars(Tensor)[name]
    if isinstance(member, property):
        return ask(member.__get__, [self], (self,), None)
    if isinstance(member, FunctionType):
        return partial(_call_method, member, self)
    return object.__getattribute__(self, name)


def _call_method(method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    asked = overloaded(_values(args, kwargs))
    return ask(method, asked, args, kwargs or None) if asked else method(*args, **kwargs)


def _make_subclass(cls: Any, data: Tensor, require_grad: bool = False, **_: Any) -> Any:
    """A tensor of a subclass on the memory of ``data``, a leaf."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"cls must be a subclass of Tensor, but got {cls!r}")
    source, out = alias(data), new(cls)
    out._array, out._edge, out._counter = source._array, None, source._counter
    if require_grad:
        tensors.require_grad(out, True)
    return out


def _make_wrapper_subclass(
    cls: Any, size: Any, strides: Any = None, *, dtype: Any = None, requires_grad: bool = False, **_: Any
) -> Any:
    """A tensor of a subclass that has a size and a dtype, and no data: its ``__torch_function__`` knows of that."""
    kind = dtypes.get_default_dtype() if dtype is None else dtype
    return _make_subclass(cls, wrap(blank(tuple(size), kind.numpy)), requires_grad)


Tensor._make_subclass = staticmethod(_make_subclass)  # type: ignore[attr-defined]
Tensor._make_wrapper_subclass = staticmethod(_make_wrapper_subclass)  # type: ignore[attr-defined]
Tensor.__torch_function__ = classmethod(_keep_type)  # type: ignore[attr-defined]
Tensor.__init_subclass__ = classmethod(prepare)  # type: ignore[assignment]
Parameter.__torch_function__ = classmethod(_disabled_torch_function_impl)  # type: ignore[attr-defined]
