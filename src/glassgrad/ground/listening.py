"""Listening to calls: the profiler, recordings, ``torch.fx``, function modes and ``compile`` hear them here.

A function that can be heard tests ``modes.watch`` before anything else, and goes to :func:`heard` where it is not zero:
functions in Python are marked :func:`audible`, callers of rows are written so.  Knows no Tensor.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from . import modes
from .errors import ValuesHidden
from .synonyms import in_pytorchs_words, parameters, synonyms_in

#: ``listener(function, proceed, args, kwargs)`` answers for a call; ``proceed(*args, **kwargs)`` is the call itself.
Listener = Callable[[Any, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
Function = TypeVar("Function", bound=Callable[..., Any])


class Ear:
    """A listener, and what it hears: all calls, or functions by identity.

    The functions themselves are kept, so that their identities stay their own.
    """

    __slots__ = ("listener", "functions", "chosen")

    def __init__(self, listener: Listener, functions: Iterable[Any] | None = None) -> None:
        self.listener = listener
        self.functions = None if functions is None else tuple(functions)
        self.chosen = None if self.functions is None else frozenset(map(id, self.functions))


listeners: tuple[Ear, ...] = ()  # in the order they came; replaced as a whole, as other threads read it
between = {__name__}  # modules whose frames lie between a call and ``heard``
_lock = threading.Lock()
#: ``hidden(function, args, kwargs, refusal)``: a call of a function that asked a batch for its values; from func/.
hidden: Callable[..., Any] = NotImplemented


class Overridden(Exception):
    """Leads out of a function in Python that an argument's type has a say in, to the frame that called it."""

    def __init__(self, frame: FrameType) -> None:
        self.frame = frame


#: ``is_answered(error, frame, args, kwargs)``: whether an argument's type is to be asked about a call that failed, and
#: ``overridden(function, args, kwargs)``, what it answers; from ops/torch_function.py.
is_answered: Callable[..., bool] = NotImplemented
overridden: Callable[..., Any] = NotImplemented
NOT_TAKEN = object()
#: ``with_numbers(function, args, kwargs, error)``: a call that failed, with numbers for 0-d tensors, or NOT_TAKEN.
with_numbers: Callable[..., Any] = NotImplemented
#: ``refuse_sooner(function, args, kwargs, error)``: raises PyTorch's error where it would have refused a call, which
#: failed here, for another reason; from ops/arguments.py.
refuse_sooner: Callable[..., None] = NotImplemented


ask_first: Callable[..., None] = NotImplemented  # ``ask_first(args, kwargs)``: leaves a call that a type has a say in
silent: set[type] = set()  # types that have none


def asking(function: Function) -> Function:
    """A decorator below that which makes a function audible: types with a say are asked before it begins.

    For what would finish without a row that meets them, or has drawn numbers by then.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            ask_first(args, kwargs)
            return function(*args, **kwargs)
        if not silent.issuperset(map(type, args)):
            ask_first(args, kwargs)
        return function(*args)  # an empty dictionary would cost time

    return call  # type: ignore[return-value]


def audible(function: Function, asks: bool = True) -> Function:
    """A decorator: the function can be heard; NumPy's names of its parameters are taken too.

    Where it asks for the values of a batch, it is called for each example.  ``asks``: whether types of its arguments
    have a say in it, and it may be called again with numbers for 0-d tensors; not where it calls a user's own method.
    """
    synonyms = synonyms_in(parameters(inspect.unwrap(function)))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            for name in kwargs:
                if name in synonyms:
                    kwargs = in_pytorchs_words(kwargs, synonyms)
                    break
        try:
            if modes.watch:
                return heard(call, function, args, kwargs)
            return function(*args, **kwargs) if kwargs else function(*args)  # an empty dictionary would cost time
        except ValuesHidden as refusal:
            return hidden(function, args, kwargs, refusal)
        except Exception as error:
            if not asks:
                raise
            if not is_answered(error, sys._getframe(), args, kwargs):
                answer = with_numbers(function, args, kwargs, error)
                if answer is NOT_TAKEN:
                    refuse_sooner(call, args, kwargs, error)
                    raise
                return answer
        return overridden(call, args, kwargs)

    return call  # type: ignore[return-value]


CALL = audible(lambda: None).__code__  # of every function that can be heard


def heard(function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of ``function``: the listeners that hear it are asked, the last to come first, and then ``proceed``."""
    policy = modes.local.autocast
    if policy is not None:
        if kwargs.get("out") is not None:
            return policy.outside(heard, function, proceed, args, kwargs)
        args, kwargs = policy.of_call(function.__name__, args, kwargs)
    if len(listeners) == 1 and listeners[0].chosen is None:
        return listeners[0].listener(function, proceed, args, kwargs)
    hearing = [ear.listener for ear in listeners if ear.chosen is None or id(function) in ear.chosen]
    if not hearing:
        if not listeners:
            _tidy()
        return proceed(*args, **kwargs)
    for listener in hearing[:-1]:
        proceed = functools.partial(_ask, listener, function, proceed)
    return hearing[-1](function, proceed, args, kwargs)


def _tidy() -> None:
    """Have nobody asked: an interrupt may have come before the last line of ``end``."""
    with _lock:
        if not listeners:
            modes.watch.difference_update([who for who in modes.watch if isinstance(who, Ear)])


def _ask(listener: Listener, function: Any, proceed: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    return listener(function, proceed, args, kwargs)


def calling_frame() -> FrameType:
    """The frame from which a listener's function was called."""
    frame: Any = sys._getframe(1)
    while frame.f_code is not heard.__code__:
        frame = frame.f_back
    while frame.f_globals.get("__name__") in between:
        frame = frame.f_back
    return frame  # type: ignore[no-any-return]


def start(listener: Listener, functions: Iterable[Any]) -> None:
    """Let ``listener`` hear calls of these functions, until :func:`stop`."""
    begin(Ear(listener, functions))


def begin(ear: Ear) -> None:
    """Let an ear hear, until :func:`end`."""
    global listeners
    with _lock:
        listeners = (*listeners, ear)
        modes.watch.add(ear)


def stop(listener: Listener) -> None:
    """Let ``listener`` hear no more."""
    last = next((ear for ear in reversed(listeners) if ear.listener == listener), None)
    if last is not None:
        end(last)


def end(ear: Ear) -> None:
    """Let an ear hear no more."""
    global listeners
    with _lock:
        listeners = tuple([other for other in listeners if other is not ear])
    modes.watch.discard(ear)


@contextmanager
def listening(listener: Listener, functions: Iterable[Any] | None = None) -> Iterator[None]:
    """A block in which ``listener`` hears calls of these functions, or all."""
    try:
        begin(Ear(listener, functions))
        yield
    finally:
        stop(listener)
