"""The module as a tree of named parameters, buffers and children: registering, finding, listing them."""

from __future__ import annotations

import inspect
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...core.tensor import Tensor
from ...tensor.typename import typename
from ..parameter import Buffer, Parameter

#: Functions that see (and may replace) whatever any module registers, by handle id.
buffer_registered: dict[int, Callable[..., Any]] = OrderedDict()
module_registered: dict[int, Callable[..., Any]] = OrderedDict()
parameter_registered: dict[int, Callable[..., Any]] = OrderedDict()


#: Where the members of each kind are.
KINDS = ("_parameters", "_buffers", "_modules")


class Tree:
    """What a Module owns, by name."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]

    # -- registering ----------------------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make ``param`` (or None, a place kept empty) a parameter of this module."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name(self, name, "parameter", self._parameters)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created "
                    f"explicitly. To express '{name}' as a function of another Tensor, compute the value in the "
                    "forward() method."
                )
            param = _seen(parameter_registered, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make ``tensor`` (or None) a buffer; one that is not persistent stays out of the ``state_dict``."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, name, "buffer", self._buffers)
        if tensor is not None and not _is_tensor(tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = _seen(buffer_registered, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Make ``module`` (or None) a child of this module."""
        if not isinstance(module, Tree) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {typename(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = _seen(module_registered, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """The same as :meth:`add_module`."""
        self.add_module(name, module)

    # -- attributes -----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in KINDS:
            members = own.get(kind)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters, modules = own.get("_parameters"), own.get("_modules")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, self._buffers, self._modules)
            if name not in parameters:
                own.pop(name, None)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Tree):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, self._parameters, self._buffers)
            own.pop(name, None)
            modules[name] = _seen(module_registered, self, name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = _seen(module_registered, self, name, value)
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            self._set_buffer(name, value)
        elif name in KINDS:
            old = own.get(name)
            if old is not None:
                for member in old:
                    own.pop(member, None)
            own[name] = Members(self, value)
        else:
            object.__setattr__(self, name, value)
            if name.endswith("_hooks"):
                own["_hooked"] = True

    def _forget(self, name: str, *homes: dict[str, Any]) -> None:
        for home in homes:
            home.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not _is_tensor(value):
            raise TypeError(
                f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if isinstance(value, Buffer):
            persistent = value.persistent
        else:
            persistent = name not in self._non_persistent_buffers_set
        register = self.register_buffer
        if getattr(register, "__func__", None) is Tree.register_buffer:
            register(name, value, persistent)
        elif "persistent" in inspect.signature(register).parameters:
            register(name, value, persistent)
        elif not persistent:
            raise RuntimeError(
                "Registering a non-persistent buffer on a Module subclass that implements register_buffer() without "
                "the persistent argument is not allowed."
            )
        else:
            register(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted({name for name in names if not name[0].isdigit()})

    # -- finding by name --------------------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Any:
        """The module below this one that ``target`` names, as ``"body.1"``; AttributeError where there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            if not isinstance(module, Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put ``module`` where ``target`` names; ``strict`` wants one to be there already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Tree):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            if not isinstance(_attribute(parent, name), Tree):
                raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter that ``target`` names, as ``"body.1.weight"``; AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        parameter = _attribute(self.get_submodule(path), name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer that ``target`` names; AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        buffer: Tensor = _attribute(owner, name)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    # -- listing --------------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all below it, with their names; each once, unless told otherwise."""
        seen: set[Any] = set() if memo is None else memo
        ahead: list[tuple[str, Any]] = [(prefix, self)]
        while ahead:
            name, module = ahead.pop()
            if module in seen:
                continue
            if remove_duplicate:
                seen.add(module)
            yield name, module
            start = f"{name}." if name else ""
            ahead += [(start + key, child) for key, child in reversed(module._modules.items()) if child is not None]

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it; each once."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules right below this one, with their names."""
        seen: set[Any] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """The modules right below this one."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters of this module and, unless told otherwise, of all below it, with their names."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and of all below it."""
        if not recurse or type(self).named_parameters is not Tree.named_parameters:
            for _, parameter in self.named_parameters(recurse=recurse):
                yield parameter
            return
        seen: set[Any] = set()  # the same without names, in half the time
        ahead: list[Any] = [self]
        while ahead:
            module = ahead.pop()
            if module not in seen:
                seen.add(module)
                for parameter in module._parameters.values():
                    if parameter is not None and parameter not in seen:
                        seen.add(parameter)
                        yield parameter
                ahead += [child for child in reversed(module._modules.values()) if child is not None]

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers of this module and of all below it, with their names."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and of all below it."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[Any] = set()
        modules: Any = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            start = f"{path}." if path else ""
            for name, member in get_members_fn(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield start + name, member


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__torch_function__")


def _check_name(module: Tree, name: Any, kind: str, members: dict[str, Any]) -> None:
    """Raise PyTorch's error unless ``module`` can have a parameter or buffer of this name."""
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if hasattr(module, name) and name not in members:
        raise KeyError(f"attribute '{name}' already exists")


def _attribute(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)


def _seen(hooks: dict[int, Callable[..., Any]], module: Tree, name: str, member: Any) -> Any:
    """What the global registration hooks make of a member."""
    for hook in hooks.values():
        answer = hook(module, name, member)
        if answer is not None:
            member = answer
    return member


# -- a module's members of one kind by name, shown among its attributes ------------------------------------------------
# What Python finds there costs no search.


class Members(dict[str, Any]):
    """A dictionary that keeps its owner's attributes in step; copied, pickled and taken apart as a plain one.

    Python asks ``__getattr__`` only after a search that failed, which takes longer than a small layer's arithmetic.
    """

    __slots__ = ("_owner",)
    _tree_kind = dict  # for ``utils._pytree``

    def __init__(self, owner: Any, members: Iterable[Any] = ()) -> None:
        super().__init__(members)
        self._owner = weakref.ref(owner)
        for name, member in self.items():
            self._show(name, member)

    def _show(self, name: str, member: Any) -> None:
        owner = self._owner()
        if owner is None or type(owner).__getattr__ is not Tree.__getattr__:  # a search of its own is asked each time
            return
        if not hasattr(type(owner), name):  # what the class has is found first, as in PyTorch
            owner.__dict__[name] = member

    def hide(self, *names: str) -> None:
        """Take members out of the owner's attributes."""
        owner = self._owner()
        for name in names if owner is not None else ():
            owner.__dict__.pop(name, None)

    def __setitem__(self, name: str, member: Any) -> None:
        super().__setitem__(name, member)
        self._show(name, member)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self.hide(name)

    def pop(self, name: str, *default: Any) -> Any:
        if name in self:
            self.hide(name)
        return super().pop(name, *default)

    def popitem(self) -> tuple[str, Any]:
        name, member = super().popitem()
        self.hide(name)
        return name, member

    def clear(self) -> None:
        self.hide(*self)
        super().clear()

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, member in dict(*args, **kwargs).items():
            self[name] = member

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, others: Any) -> Members:  # type: ignore[override,misc]
        self.update(others)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (), None, None, iter(self.items())
