"""Tracing: a module or function is called with proxies, and what it does becomes a graph."""

from __future__ import annotations

import builtins
import collections
import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from ..core.tensor import Tensor
from ..ground import listening
from ..nn.modules.calls import Calls
from ..nn.modules.container import Sequential
from ..nn.modules.module import Module
from ..tensor.parameter import Parameter
from ..utils import _pytree as pytree
from .code import PyTreeCodeGen, PyTreeInfo
from .graph import Graph
from .graph_module import GraphModule
from .names import HOME, traced_functions
from .node import base_types
from .proxy import ParameterProxy, Proxy, Scope, TracerBase, _assert, find_proxy, trace_call

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_is_fx_tracing_flag = False
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []
_MISSING: Any = object()


def is_fx_tracing() -> bool:
    """Whether a program is being traced now."""
    return _is_fx_tracing_flag


class PHBase:
    """A place for a value that is not known at tracing."""

    def __repr__(self) -> str:
        return "PH"


class PHWithMeta(PHBase):
    """A place for a value, with attributes that its node gets."""

    def __init__(self, ph_key: str | None = None) -> None:
        self.ph_key = ph_key


PH = PHBase()


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


def _without_packing(fn: Any, count: int) -> Any:
    """The function with ``count`` plain arguments: ``*args`` and ``**kwargs`` are given as they are."""
    code: CodeType = fn.__code__
    made = code.replace(
        co_flags=code.co_flags & ~HAS_VARSTUFF, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0
    )
    return FunctionType(made, fn.__globals__, fn.__name__, None, fn.__closure__)


def _annotations(function: Any) -> dict[str, Any]:
    """The annotations of a user's function; those of our own modules are not PyTorch's, which has none there."""
    if (function.__module__ or "").partition(".")[0] == HOME:
        return {}
    return getattr(function, "__annotations__", {})


class _Patches:
    """Replacements in dictionaries and classes, taken back in the end."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], None]] = []
        self.visited: set[int] = set()

    def name(self, space: dict[str, Any], name: str, value: Any) -> None:
        """Replace a global name."""
        before = space.get(name, _MISSING)
        space[name] = value
        if before is _MISSING:
            self.undo.append(lambda: space.pop(name, None) and None)
        else:
            self.undo.append(lambda: space.__setitem__(name, before))

    def method(self, cls: type, name: str, value: Any) -> None:
        """Replace a method of a class."""
        before = vars(cls).get(name, _MISSING)
        setattr(cls, name, value)
        self.undo.append(lambda: delattr(cls, name) if before is _MISSING else setattr(cls, name, before))

    def autowrap(self, space: dict[str, Any], chosen: set[int]) -> None:
        """Replace the functions that are always wrapped, once in each dictionary."""
        if id(space) in self.visited or not chosen:
            return
        self.visited.add(id(space))
        for name, value in list(space.items()):
            if not name.startswith("_") and callable(value) and id(value) in chosen:
                self.name(space, name, _wrapped(value))

    def wrapped(self) -> None:
        """Replace what ``wrap`` named."""
        for (_, name), space in list(_wrapped_fns_to_patch.items()):
            original = space[name] if name in space else getattr(builtins, name)
            self.name(space, name, _wrapped(original))
        for cls, name in _wrapped_methods_to_patch:
            self.method(cls, name, _wrapped_method(cls, name))

    def revert(self) -> None:
        """Put everything back."""
        while self.undo:
            self.undo.pop()()


def _wrapped(function: Any) -> Any:
    """The function, whose calls with proxies become nodes."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


def _wrapped_method(cls: type, name: str) -> Any:
    method = getattr(cls, name)

    @functools.wraps(method)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return method(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


class ProxyableClassMeta(type):
    """A metaclass: objects made with proxies among their arguments become nodes that make them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = cls.__new__(cls)  # type: ignore[call-overload]
        found = find_proxy(args, kwargs)
        if found is not None and _is_fx_tracing_flag:
            return found.tracer.create_proxy("call_function", cls, args, kwargs)
        cls.__init__(made, *args, **kwargs)  # type: ignore[misc]
        return made


def wrap(fn_or_name: Any) -> Any:
    """Have calls of a function become nodes, instead of being looked into; said at the top of a module.

    The function, or the name of it, is one of the module's; as a decorator too.
    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.wrap
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame: Any = inspect.currentframe()
    frame = frame.f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


class Tracer(TracerBase):
    """Traces modules and functions; override its methods to change what is looked into.

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Tracer
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        } | {id(function) for function in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}
        self.tensor_attrs: dict[Any, str] = {}
        self.root: Any = None

    def get_fresh_qualname(self, prefix: str) -> str:
        """An attribute's name that the root does not have yet."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def create_arg(self, a: Any) -> Any:
        """A value as an argument: parameters, tensors and modules become attributes of the root."""
        if isinstance(a, Parameter) and type(a) is not Tensor:
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
        elif isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(piece) for piece in a), {})
        if isinstance(a, Tensor):
            name = self.tensor_attrs.get(a) or self.get_fresh_qualname("_tensor_constant")
            if a not in self.tensor_attrs:
                self.tensor_attrs[a] = name
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module is one step of the graph: those of ``torch.nn`` are, but for Sequential."""
        home = type(m).__module__
        return home.startswith((f"{HOME}.nn", "torch.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a module below the root; NameError where it is not there."""
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
        else:
            path = next((name for name, module in self.root.named_modules() if module is mod), None)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a module gives: a node of a leaf, else what ``forward`` gives."""
        path = self.path_of_module(m)
        before, self.scope = self.scope, Scope(path, type(m))
        try:
            count = self.num_calls.get(path, 0)
            key = f"{path}@{count}" if count else path
            self.module_stack[key] = (path, type(m))
            self.num_calls[path] = count + 1
            if self.is_leaf_module(m, path):
                made = self.create_proxy("call_module", path, args, kwargs)
            else:
                made = forward(*args, **kwargs)
            self.module_stack.popitem(last=True)
        finally:
            self.scope = before
        return made

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """What an attribute of a module gives: a node of a parameter, else its value."""
        if isinstance(attr_val, Parameter):
            members = self.root.named_parameters()
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            members = self.root.named_buffers()
        else:
            return attr_val
        for name, member in members:
            if member is attr_val:
                if name not in parameter_proxy_cache:
                    given: dict[str, Any] = {}
                    if self.param_shapes_constant:
                        given["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, name, attr_val)
                    parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {}, **given)
                return parameter_proxy_cache[name]
        return attr_val

    def create_args_for_root(
        self, root_fn: Any, is_module: bool, concrete_args: Any = None
    ) -> tuple[Any, list[Any]]:
        """The function to call, and a placeholder for each of its arguments that is not concrete."""
        analysed = inspect.unwrap(root_fn)
        code = analysed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        args: list[Any] = []
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            next(names)
            args.append(self.root)
        signature = inspect.signature(analysed)
        own = [next(names) for _ in range(len(args), total)]
        if isinstance(concrete_args, tuple):
            if len(own) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(own)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(own, concrete_args, strict=True))
        args += [self._placeholder(name, concrete_args, signature, analysed) for name in own]
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self._placeholder("*" + next(names), concrete_args, signature, analysed))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._placeholder("**" + next(names), concrete_args, signature, analysed))
            root_fn = _without_packing(root_fn, len(args))
        leaves, shape = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in shape.children_specs):
            return root_fn, args
        gen = PyTreeCodeGen(PyTreeInfo(list(code.co_varnames)[:total], shape, None))
        self.graph._codegen = gen

        def flat(*given):  # type: ignore[no-untyped-def]  # an annotation would be printed
            made, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(given, shape)))
            gen.pytree_info = gen.pytree_info._replace(out_spec=out_spec)
            return made

        return flat, leaves

    def _placeholder(self, name: str, concrete: Any, signature: inspect.Signature, function: Any) -> Any:
        def default() -> tuple[Any, ...]:
            value = inspect.Parameter.empty if name[0] == "*" else signature.parameters[name].default
            return () if value is inspect.Parameter.empty else (value,)

        if concrete is None or name not in concrete:
            annotated = _annotations(function).get(name)
            return self.create_proxy("placeholder", name, default(), {}, type_expr=annotated)
        count = 0

        def one(value: Any) -> Any:
            nonlocal count
            count += 1
            made = self.create_proxy("placeholder", f"{name}_{count}", default(), {})
            if isinstance(value, PHBase):
                if value is not PH:
                    for key, extra in vars(value).items():
                        setattr(made.node, key, extra)
                return made
            if type(value) is bool or type(value) in base_types:
                _assert(made == value, f"{name} has been specialized to have value {value} but got another value")
            elif value is None:
                words = f"{name} has been specialized to have value None but got another value"
                self.create_proxy("call_function", _assert_is_none, (made, words), {})
            else:
                warnings.warn(
                    f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is "
                    "up to the user to make sure that your inputs match the inputs you specialized the function with.",
                    stacklevel=4,
                )
            return value

        return pytree.tree_map(one, concrete[name])

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """The graph of what ``root``, a module or a function, does.

        ``concrete_args`` are arguments that are known: values, or containers with :data:`PH` in the place of others.
        """
        global _is_fx_tracing_flag
        before, _is_fx_tracing_flag = _is_fx_tracing_flag, True
        try:
            is_module = isinstance(root, Module)
            if is_module:
                self.root = root
                if not hasattr(type(root), self.traced_func_name):
                    raise AssertionError(
                        f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}"
                    )
                fn = getattr(type(root), self.traced_func_name)
                self.root_module_name = root._get_name()
                self.submodule_paths = {module: name for name, module in root.named_modules()}
            else:
                self.root, fn = Module(), root
            self.graph = Graph(tracer_cls=type(self))
            self.tensor_attrs = {}
            self._collect_tensors(self.root, [])
            if not isinstance(fn, FunctionType):
                raise AssertionError(f"Expected FunctionType, got {type(fn)}")
            space = fn.__globals__
            fn, args = self.create_args_for_root(fn, is_module, concrete_args)
            annotations = _annotations(inspect.unwrap(fn))
            with self._patched(space), listening.listening(trace_call, traced_functions()):
                result = self.create_arg(fn(*args))
                self.create_node("output", "output", (result,), {}, type_expr=annotations.get("return"))
            self.submodule_paths = None
        finally:
            _is_fx_tracing_flag = before
        return self.graph

    def _collect_tensors(self, module: Module, path: list[str]) -> None:
        """Note the tensors that modules hold as plain attributes."""
        for name, value in vars(module).items():
            if isinstance(value, Tensor) and name not in module._parameters and name not in module._buffers:
                self.tensor_attrs[value] = ".".join([*path, name])
        for name, child in module.named_children():
            self._collect_tensors(child, [*path, name])

    @contextmanager
    def _patched(self, space: dict[str, Any]) -> Iterator[None]:
        """A block in which modules tell this tracer of calls and of attributes that are asked for."""
        patches = _Patches()
        cache: dict[str, Proxy] = {}
        look = vars(Module).get("__getattribute__", object.__getattribute__)
        call = vars(Module).get("__call__", Calls.__call__)

        def attribute(module: Module, name: str) -> Any:
            value = look(module, name)
            return self.getattr(name, value, cache) if isinstance(value, Tensor) else value

        def called(module: Module, /, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return call(module, *args, **kwargs)

            own = getattr(getattr(type(module), "forward", None), "__globals__", {})
            patches.autowrap(own, self._autowrap_function_ids)
            return self.call_module(module, forward, args, kwargs)

        try:
            patches.method(Module, "__getattribute__", attribute)
            patches.method(Module, "__call__", called)
            patches.wrapped()
            patches.autowrap(space, self._autowrap_function_ids)
            for module in self._autowrap_search:
                patches.autowrap(vars(module), self._autowrap_function_ids)
            yield
        finally:
            patches.revert()

    def __deepcopy__(self, memo: Any) -> Tracer:
        return type(self)()


def symbolic_trace(root: Any, concrete_args: Any = None) -> GraphModule:
    """A module that does what ``root``, a module or a function, does, as a graph that can be changed.

    Branches and loops are followed once: what they ask of values that are not known is an error, a TraceError.
    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.symbolic_trace
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
