"""Switching recording on and off: context managers that are decorators too, of functions, generators and classes."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from ..ground import modes
from ..ground.dtypes import need_bool


class _Switch:
    """A context manager that a decorated function enters anew at each call (a generator at each step)."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    def clone(self) -> _Switch:
        """A fresh one of the same setting, for each call of a decorated function."""
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Any:
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
            function.__init__ = self(function.__init__)  # type: ignore[method-assign]
            return function
        if inspect.isgeneratorfunction(function):
            return _each_step(function, self.clone)

        @functools.wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return switched


def _each_step(function: Callable[..., Any], switch: Callable[[], _Switch]) -> Callable[..., Any]:
    """A generator function whose body runs switched, while its caller keeps its own setting."""

    @functools.wraps(function)
    def stepped(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        try:
            with switch():
                answer = generator.send(None)
            while True:
                try:
                    request = yield answer
                except GeneratorExit:
                    with switch():
                        generator.close()
                    raise
                except BaseException as error:
                    with switch():
                        answer = generator.throw(error)
                else:
                    with switch():
                        answer = generator.send(request)
        except StopIteration as stop:
            return stop.value

    return stepped


class no_grad(_Switch):
    """Record nothing inside. Source: https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html"""

    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)

    def __init__(self, orig_func: Any = None) -> None:
        self.before = False

    def __enter__(self) -> None:
        self.before = modes.local.grad
        modes.set_grad(False)

    def __exit__(self, *exc: object) -> None:
        modes.off |= modes.local.me
        modes.local.grad = self.before
        modes.settle()


class enable_grad(no_grad):
    """Record inside, even within ``no_grad``."""

    def __enter__(self) -> None:
        self.before = modes.local.grad
        modes.set_grad(True)


class set_grad_enabled(_Switch):
    """Record or not, by ``mode``: at once as a function, until the end as a context manager."""

    def __init__(self, mode: bool) -> None:
        need_bool("set_grad_enabled", "enabled", 1, mode)
        self.mode = mode
        self.before = modes.local.grad
        modes.set_grad(mode)

    def clone(self) -> _Switch:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        modes.set_grad(self.mode)

    def __exit__(self, *exc: object) -> None:
        modes.off |= modes.local.me
        modes.local.grad = self.before
        modes.settle()

    def __call__(self, function: Callable[..., Any]) -> Any:
        modes.off |= modes.local.me
        modes.local.grad = self.before
        modes.settle()
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}(mode={self.mode})"


class inference_mode(_Switch):
    """Record nothing and count no versions inside; what is made there can never be recorded."""

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode

    def clone(self) -> _Switch:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self.before = modes.local.inference, modes.local.grad
        modes.expect_unusual()
        modes.off |= modes.local.me
        modes.local.inference, modes.local.grad = self.mode, not self.mode and self.before[1]

    def __exit__(self, *exc: object) -> None:
        modes.off |= modes.local.me
        modes.local.inference, modes.local.grad = self.before
        modes.settle()


_multithreading = True


class set_multithreading_enabled(_Switch):
    """Kept for compatibility: a backward call runs in the thread that makes it."""

    def __init__(self, mode: bool) -> None:
        global _multithreading
        need_bool("set_multithreading_enabled", "enabled", 1, mode)
        self.mode = mode
        self.before, _multithreading = _multithreading, mode

    def clone(self) -> _Switch:
        return type(self)(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        global _multithreading
        _multithreading = self.before


def is_multithreading_enabled() -> bool:
    """What ``set_multithreading_enabled`` set."""
    return _multithreading


def is_view_replay_enabled() -> bool:
    """False: a view that is read anew is a window of its base."""
    return False


def is_grad_enabled() -> bool:
    """Whether this thread records operations."""
    return modes.grad_enabled()


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode."""
    return modes.local.inference
