"""Calling a module: straight to ``forward`` where nobody listens, else between its hooks, in PyTorch's order."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable
from itertools import chain, count
from typing import Any

from ...core.tensor import Tensor
from ...ground.handle import RemovableHandle
from .backward_hooks import Passage, warn_of_old_hooks

BOTH = "Cannot use both regular backward hooks and full backward hooks {where}. Please use only one of them."
_next_id = count().__next__


class Handle(RemovableHandle):
    """What registering a hook at a module gives; unlike its parent it can be copied and pickled with the module."""

    def __init__(self, hooks: dict[int, Any], *marks: dict[int, Any]) -> None:
        self.hooks, self.marks, self.id = hooks, marks, _next_id()
        while self.id in hooks:  # hooks that were pickled brought their ids along
            self.id = _next_id()

    def hooks_dict_ref(self) -> dict[int, Any]:
        """The dictionary that the hook is in."""
        return self.hooks

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        for entries in (self.hooks, *self.marks):
            entries.pop(self.id, None)


class Everywhere:
    """Hooks at every module."""

    def __init__(self) -> None:
        self.forward_pre: dict[int, Any] = OrderedDict()
        self.forward: dict[int, Any] = OrderedDict()
        self.forward_with_kwargs: dict[int, bool] = {}
        self.forward_always: dict[int, bool] = {}
        self.backward_pre: dict[int, Any] = OrderedDict()
        self.backward: dict[int, Any] = OrderedDict()
        self.full: bool | None = None

    def __bool__(self) -> bool:
        return bool(self.forward_pre or self.forward or self.backward_pre or self.backward)


everywhere = Everywhere()
_NOTHING: Any = object()  # no argument
_listening: dict[int, Any] = {}  # one entry for each hook in ``everywhere``: what a call looks at


def _add(hooks: dict[int, Any], hook: Any, *marks: dict[int, Any], prepend: bool = False) -> Handle:
    handle = Handle(hooks, *marks)
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)  # type: ignore[attr-defined]
    return handle


class Calls:
    """What makes a Module callable."""

    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _is_full_backward_hook: bool | None
    _compiled_call_impl: Callable[..., Any] | None = None  # what :meth:`compile` made
    _hooked: bool = True  # whether a hook was ever added; False from ``__init__`` on

    def forward(self, *input: Any) -> Any:
        """Compute the module's output; every subclass has its own."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, input: Any = _NOTHING, /, *args: Any, **kwargs: Any) -> Any:
        if self._hooked or _listening or kwargs or args or input is _NOTHING:
            args = args if input is _NOTHING else (input, *args)
            if self._hooked or _listening:
                if self._compiled_call_impl is not None:
                    return self._compiled_call_impl(*args, **kwargs)
                return _Call(self, args, kwargs).run()
            return self.forward(*args, **kwargs)
        return self.forward(input)  # the everyday call: handing on ``*args`` would cost as much again

    def _listen(self, hooks: dict[int, Any], hook: Any, *marks: dict[int, Any], prepend: bool = False) -> Handle:
        """Add a hook to one of the dictionaries; from now on calls look at them."""
        self.__dict__["_hooked"] = True
        return _add(hooks, hook, *marks, prepend=prepend)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """What a call does that is not compiled; for classes with a ``__call__`` of their own."""
        if self._hooked or _listening:
            return _Call(self, args, kwargs).run()
        return self.forward(*args, **kwargs)

    def _wrapped_call_impl(self, *args: Any, **kwargs: Any) -> Any:
        return Calls.__call__(self, *args, **kwargs)

    def _slow_forward(self, *input: Any, **kwargs: Any) -> Any:
        return self.forward(*input, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Have calls of this module go through ``torch.compile``, which takes the arguments; its keys stay as they are.

        Copies and pickles of the module are not compiled.
        """
        from ...compiler.api import compile  # a floor above: loaded by those who ask for it

        self.__dict__["_compiled_call_impl"] = compile(self._call_impl, *args, **kwargs)
        self.__dict__["_hooked"] = True  # calls look for more than ``forward``

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The full backward hooks and the others that a call minds, those at every module first."""
        own = self._backward_hooks.values()
        full = [*everywhere.backward.values()] if everywhere.full is True else []
        old = [*everywhere.backward.values()] if everywhere.full is False else []
        if self._is_full_backward_hook is True:
            full += own
        elif self._is_full_backward_hook is False:
            old += own
        return full, old

    def _get_backward_pre_hooks(self) -> list[Any]:
        return [*everywhere.backward_pre.values(), *self._backward_pre_hooks.values()]

    def _listens(self) -> bool:
        """Whether any hook is there now."""
        return any((self._forward_hooks, self._forward_pre_hooks, self._backward_hooks, self._backward_pre_hooks))

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> Handle:
        """Call ``hook(module, args)`` before ``forward``; what it returns replaces the arguments."""
        marks = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        return self._listen(self._forward_pre_hooks, hook, *marks, prepend=prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> Handle:
        """Call ``hook(module, args, output)`` after ``forward``; what it returns replaces the output."""
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return self._listen(self._forward_hooks, hook, *marks, prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(module, grad_output)`` before the gradients of the module are computed."""
        return self._listen(self._backward_pre_hooks, hook, prepend=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> Handle:
        """Call ``hook(module, grad_input, grad_output)`` once the gradients of the module's inputs are there.

        What it returns replaces ``grad_input``.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(BOTH.format(where="on a single Module"))
        self._is_full_backward_hook = True
        return self._listen(self._backward_hooks, hook, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> Handle:
        """Deprecated: a hook at the last node of the module; use :meth:`register_full_backward_hook`."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(BOTH.format(where="on a single Module"))
        self._is_full_backward_hook = False
        return self._listen(self._backward_hooks, hook)


class _Call:
    """One call of a module that has hooks."""

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.backward: tuple[Any, ...] = tuple(map(tuple, module._get_backward_hooks()))
        self.result: Any = None
        self.called: set[int] = set()

    def run(self) -> Any:
        """Hooks, ``forward``, hooks; where one raises, the rest of those marked ``always_call`` still see it."""
        try:
            return self._run()
        except Exception:
            self._after_error()
            raise

    def _run(self) -> Any:
        module = self.module
        full, old = self.backward
        pre = tuple(module._get_backward_pre_hooks())
        self._before()
        passage = None
        if full or pre:
            passage = Passage(module, full, pre)
            self.args = passage.enter(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for number, hook in list(chain(everywhere.forward.items(), module._forward_hooks.items())):
            if number in module._forward_hooks_always_called or number in everywhere.forward_always:
                self.called.add(number)
            self._after(number, hook)
        if passage is not None:
            if not isinstance(self.result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(self.result)}",
                    stacklevel=4,
                )
            self.result = passage.leave(self.result)
        if old:
            self._old_hooks(old)
        return self.result

    def _before(self) -> None:
        module = self.module
        for number, hook in list(chain(everywhere.forward_pre.items(), module._forward_pre_hooks.items())):
            if number in module._forward_pre_hooks_with_kwargs:
                answer = hook(module, self.args, self.kwargs)
                if answer is None:
                    continue
                if not isinstance(answer, tuple) or len(answer) != 2:
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {answer}."
                    )
                self.args, self.kwargs = answer
            else:
                answer = hook(module, self.args)
                if answer is not None:
                    self.args = answer if isinstance(answer, tuple) else (answer,)

    def _after(self, number: int, hook: Callable[..., Any]) -> None:
        module = self.module
        if number in module._forward_hooks_with_kwargs or number in everywhere.forward_with_kwargs:
            answer = hook(module, self.args, self.kwargs, self.result)
        else:
            answer = hook(module, self.args, self.result)
        if answer is not None:
            self.result = answer

    def _after_error(self) -> None:
        module = self.module
        for start, hooks, marked in (
            ("global ", everywhere.forward, everywhere.forward_always),
            ("", module._forward_hooks, module._forward_hooks_always_called),
        ):
            for number, hook in list(hooks.items()):
                if number in marked and number not in self.called:
                    try:
                        self._after(number, hook)
                    except Exception as error:  # noqa: BLE001  the first error is the one to report
                        warnings.warn(
                            f"{start}module forward hook with ``always_call=True`` raised an exception that was "
                            f"silenced as another error was raised in forward: {error}",
                            stacklevel=4,
                        )

    def _old_hooks(self, hooks: tuple[Callable[..., Any], ...]) -> None:
        output = self.result
        while not isinstance(output, Tensor):
            if isinstance(output, dict):
                output = next(value for value in output.values() if isinstance(value, Tensor))
            else:
                output = output[0]
        node = output.grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(lambda inputs, outputs, hook=hook: hook(self.module, inputs, outputs))
            warn_of_old_hooks(self.args, self.result, node)


# -- hooks at every module ----------------------------------------------------------------------------------------


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> Handle:
    """Call ``hook(module, args)`` before the ``forward`` of every module."""
    return _add_everywhere(everywhere.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> Handle:
    """Call ``hook(module, args, output)`` after the ``forward`` of every module."""
    marks = [everywhere.forward_with_kwargs] if with_kwargs else []
    marks += [everywhere.forward_always] if always_call else []
    return _add_everywhere(everywhere.forward, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> Handle:
    """Call ``hook(module, grad_output)`` before the gradients of every module are computed."""
    return _add_everywhere(everywhere.backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> Handle:
    """Call ``hook(module, grad_input, grad_output)`` when the gradients of any module's inputs are there."""
    if everywhere.full is False:
        raise RuntimeError(BOTH.format(where="as a global Module hook"))
    everywhere.full = True
    return _add_everywhere(everywhere.backward, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> Handle:
    """Deprecated: a hook at the last node of every module."""
    if everywhere.full is True:
        raise RuntimeError(BOTH.format(where="as a global Module hook"))
    everywhere.full = False
    return _add_everywhere(everywhere.backward, hook)


def _add_everywhere(hooks: dict[int, Any], hook: Any, *marks: dict[int, Any]) -> Handle:
    return _add(hooks, hook, *marks, _listening)
