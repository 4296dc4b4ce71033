"""``nn.Module``, put together: a tree of parameters (tree.py) that is called (calls.py), converted and saved.

The parts are classes of their own for the reader's sake; ``Module`` is the only one meant to be inherited from.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any, TypeVar

from ...ground.listening import audible
from .calls import (
    Calls,
    Handle,
    _add,
    everywhere,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from .conversion import Conversion
from .state import _EXTRA, State, _IncompatibleKeys
from .tree import KINDS, Members, Tree, buffer_registered, module_registered, parameter_registered

#: The dictionaries of hooks that every module is born with; ordered, because hooks can be prepended.
_HOOKS = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


T_destination = TypeVar("T_destination", bound=dict[str, Any])

# Names that scripts take from here.
_EXTRA_STATE_KEY_SUFFIX = _EXTRA
_global_forward_hooks = everywhere.forward
_global_forward_pre_hooks = everywhere.forward_pre
_global_backward_hooks = everywhere.backward
_global_backward_pre_hooks = everywhere.backward_pre
_global_parameter_registration_hooks = parameter_registered
_global_buffer_registration_hooks = buffer_registered
_global_module_registration_hooks = module_registered


class Module(Calls, Conversion, State, Tree):
    """The base of all networks: holds parameters, buffers and other modules, and computes something of its input.

    A subclass makes its members in ``__init__``, after ``super().__init__()``; ``forward`` says what it computes.
    """

    T_destination = T_destination
    dump_patches: bool = False
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        own = self.__dict__
        own["training"] = True
        for name in KINDS:
            own[name] = Members(self)
        for name in _HOOKS:
            own[name] = OrderedDict()
        own["_non_persistent_buffers_set"] = set()
        own["_is_full_backward_hook"] = None
        own["_hooked"] = False
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        for kind in KINDS:
            for name, member in state[kind].items():
                if state.get(name) is member:
                    del state[name]
            state[kind] = dict(state[kind])  # in checkpoints a plain one, which needs no leave to be loaded
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = self.__dict__
        own.update(state)
        for name in _HOOKS:
            own.setdefault(name, OrderedDict())
        own.setdefault("_non_persistent_buffers_set", set())
        own.setdefault("_is_full_backward_hook", None)
        own.setdefault("_hooked", True)
        for kind in KINDS:
            own[kind] = Members(self, own[kind])

    def train(self, mode: bool = True) -> Any:
        """Put this module and all below it in training mode, or out of it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Any:
        """Put this module and all below it in evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Say of all parameters whether gradients are recorded."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    @audible
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Take the gradients of all parameters away, or fill them with zeros."""
        if getattr(self, "_is_replica", False):
            warnings.warn(
                "Calling .zero_grad() from a module created with nn.DataParallel() has no effect. The parameters are "
                "copied (in a differentiable manner) from the original module. This means they are not leaf nodes in "
                "autograd and so don't accumulate gradients. If you need gradients in your forward method, consider "
                "using autograd.grad instead.",
                stacklevel=2,
            )
        for parameter in self.parameters():
            grad: Any = parameter._grad
            if grad is not None and set_to_none:
                parameter._grad = None
            elif grad is not None:
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What the printed form says besides the children; one line, or several."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        single = len(lines) == 1 and not self._modules
        for name, module in self._modules.items():
            lines.append(f"({name}): {indented(repr(module))}")
        if single:
            return f"{self._get_name()}({lines[0]})"
        body = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({body})"


def indented(text: str) -> str:
    """A text of several lines, all but the first moved in by two."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])


def _addindent(s_: str, numSpaces: int) -> str:  # noqa: N803  PyTorch's name
    """A text of several lines, all but the first moved in."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def register_module_parameter_registration_hook(hook: Any) -> Handle:
    """Call ``hook(module, name, parameter)`` when any module registers a parameter; what it returns replaces it."""
    return _add(parameter_registered, hook)


def register_module_buffer_registration_hook(hook: Any) -> Handle:
    """Call ``hook(module, name, buffer)`` when any module registers a buffer."""
    return _add(buffer_registered, hook)


def register_module_module_registration_hook(hook: Any) -> Handle:
    """Call ``hook(module, name, submodule)`` when any module registers a child."""
    return _add(module_registered, hook)


__all__ = [
    "Module", "_IncompatibleKeys", "indented", "register_module_backward_hook",
    "register_module_buffer_registration_hook", "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip
