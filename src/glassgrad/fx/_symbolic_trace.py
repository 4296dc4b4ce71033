"""Tracing: a module or function is called with proxies, and what it does becomes a graph."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType, ModuleType
from typing import Any

from ..core.tensor import Tensor
from ..ground import listening
from ..ground.names import home_of, is_own
from ..nn.modules.calls import Calls
from ..nn.modules.container import Sequential
from ..nn.modules.module import Module
from ..tensor.parameter import Parameter
from ..utils import _pytree as pytree
from .graph import Graph, PyTreeInfo
from .graph_module import GraphModule
from .names import HOME, custom_builtins, traced_functions
from .node import base_types
from .proxy import ParameterProxy, Proxy, Scope, TracerBase, proxies_in, trace_call

HAS_VARSTUFF = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_is_fx_tracing_flag = False
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}


def is_fx_tracing() -> bool:
    """Whether a program is being traced now."""
    return _is_fx_tracing_flag


class PHBase:
    """Stands for a value that is not known at tracing."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


def _without_packing(fn: Any, count: int) -> Any:
    """The function with ``count`` plain arguments: ``*args`` and ``**kwargs`` are given as they are."""
    flags = fn.__code__.co_flags & ~HAS_VARSTUFF
    code = fn.__code__.replace(co_flags=flags, co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0)
    return FunctionType(code, fn.__globals__, fn.__name__, None, fn.__closure__)


def _annotations(function: Any) -> dict[str, Any]:
    """The annotations of a user's function; those of our own modules are not PyTorch's, which has none there."""
    if is_own(function):
        return {}
    return getattr(function, "__annotations__", {})


def _wrapped(function: Any) -> Any:
    """The function, whose calls with proxies become nodes."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxies = proxies_in(args, kwargs)
        if not proxies:
            return function(*args, **kwargs)
        proxy = proxies[-1].tracer.create_proxy("call_function", function, args, kwargs)
        proxy.node.meta["is_wrapped"] = True
        return proxy

    return wrapped


def _put(undo: ExitStack, space: dict[str, Any], name: str, value: Any) -> None:
    """Give a namespace another value, until ``undo`` is closed."""
    if name in space:
        undo.callback(space.__setitem__, name, space[name])
    else:
        undo.callback(space.pop, name, None)
    space[name] = value


class ProxyableClassMeta(type):
    """A metaclass: objects made with proxies among their arguments become nodes that make them."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxies = proxies_in(args, kwargs)
        if proxies and _is_fx_tracing_flag:
            return proxies[-1].tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


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
        super().__init__()
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
        self.num_calls: dict[str, int] = {}
        self.tensor_attrs: dict[Any, str] = {}
        self.root: Any = None

    def get_fresh_qualname(self, prefix: str) -> str:
        """An attribute's name that the root does not have yet."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    def _path_of(self, member: Any) -> str | None:
        """The path of a parameter, buffer or module below the root; None where it is not there."""
        kinds = {"parameters": Parameter, "buffers": Tensor, "modules": Module}
        for kind, cls in kinds.items():
            if isinstance(member, cls):
                for name, value in getattr(self.root, f"named_{kind}")():
                    if value is member:
                        return str(name)
        return None

    def create_arg(self, a: Any) -> Any:
        """A value as an argument: parameters, tensors and modules become attributes of the root."""
        if isinstance(a, (Tensor, Module)):
            path = self._path_of(a)
            if path is None and isinstance(a, Parameter):
                raise NameError("parameter is not a member of this module")
            if path is None and isinstance(a, Tensor):
                path = self.tensor_attrs.get(a)
                if path is None:
                    path = self.tensor_attrs[a] = self.get_fresh_qualname("_tensor_constant")
                    setattr(self.root, path, a)
            if path is not None:
                return self.create_node("get_attr", path, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(piece) for piece in a), {})
        return super().create_arg(a)

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a module is one step of the graph: those of ``torch.nn`` are, but for Sequential."""
        home = home_of(type(m))
        return home.startswith((f"{HOME}.nn", "torch.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a module below the root; NameError where it is not there."""
        path = self.submodule_paths.get(mod) if self.submodule_paths else self._path_of(mod)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a module gives: a node of a leaf, else what ``forward`` gives."""
        path = self.path_of_module(m)
        before, self.scope = self.scope, Scope(path, type(m))
        try:
            count = self.num_calls.get(path, 0)
            self.num_calls[path] = count + 1
            self.module_stack[f"{path}@{count}" if count else path] = (path, type(m))
            if self.is_leaf_module(m, path):
                result = self.create_proxy("call_module", path, args, kwargs)
            else:
                result = forward(*args, **kwargs)
            self.module_stack.popitem(last=True)
        finally:
            self.scope = before
        return result

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """What an attribute of a module gives: a node of a parameter, else its value."""
        if not isinstance(attr_val, Tensor if self.proxy_buffer_attributes else Parameter):
            return attr_val
        path = self._path_of(attr_val)
        if path is None:
            return attr_val
        if path not in parameter_proxy_cache:
            factory: dict[str, Any] = {}  # none is named unless it is wanted: create_proxy may be overridden without it
            if self.param_shapes_constant:
                factory["proxy_factory_fn"] = lambda node: ParameterProxy(self, node, path, attr_val)
            parameter_proxy_cache[path] = self.create_proxy("get_attr", path, (), {}, **factory)
        return parameter_proxy_cache[path]

    def create_args_for_root(self, root_fn: Any, is_module: bool, concrete_args: Any = None) -> tuple[Any, list[Any]]:
        """The function to call, and a placeholder for each of its arguments that is not concrete."""
        analysed = inspect.unwrap(root_fn)
        code = analysed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        if is_module and total == 0:
            raise RuntimeError("``self`` argument cannot be part of *args expansion!")
        own = names[1:total] if is_module else names[:total]
        if isinstance(concrete_args, tuple):
            if len(own) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(own)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(own, concrete_args, strict=True))
        packed = iter(names[total:])
        stars = {"*": inspect.CO_VARARGS, "**": inspect.CO_VARKEYWORDS}
        own += [star + next(packed) for star, flag in stars.items() if code.co_flags & flag]
        args: list[Any] = [self.root] if is_module else []
        args += [self._placeholder(name, concrete_args, analysed) for name in own]
        if code.co_kwonlyargcount > 0 or code.co_flags & HAS_VARSTUFF:
            root_fn = _without_packing(root_fn, len(args))
        leaves, shape = pytree.tree_flatten(tuple(args))
        if all(child.is_leaf() for child in shape.children_specs):
            return root_fn, args
        self.graph._pytree_info = PyTreeInfo(names[:total], shape, None)

        def flat(*flat_args):  # type: ignore[no-untyped-def]  # an annotation would be printed
            results, out_spec = pytree.tree_flatten(root_fn(*pytree.tree_unflatten(flat_args, shape)))
            self.graph._pytree_info = PyTreeInfo(names[:total], shape, out_spec)
            return results

        return flat, leaves

    def _placeholder(self, name: str, concrete: Any, function: Any) -> Any:
        """A placeholder of an argument; of a concrete one, placeholders of the values in it, and the values."""
        default: tuple[Any, ...] = ()
        if not name.startswith("*"):
            value = inspect.signature(function).parameters[name].default
            default = () if value is inspect.Parameter.empty else (value,)
        if concrete is None or name not in concrete:
            annotated = _annotations(function).get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=annotated)
        count = 0

        def one(value: Any) -> Any:
            nonlocal count
            count += 1
            proxy = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(value, PHBase):
                return proxy
            words = f"{name} has been specialized to have value {value} but got another value"
            if value is None:
                self.create_proxy("call_function", _assert_is_none, (proxy, words), {})
            elif type(value) in base_types:
                custom_builtins["torch"].obj._assert(proxy == value, words)
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
        cache: dict[str, Proxy] = {}
        searched: list[dict[str, Any]] = []
        before = {name: vars(Module)[name] for name in ("__getattribute__", "__call__") if name in vars(Module)}
        look, call = before.get("__getattribute__", object.__getattribute__), before.get("__call__", Calls.__call__)

        def attribute(module: Module, name: str) -> Any:
            value = look(module, name)
            return self.getattr(name, value, cache) if isinstance(value, Tensor) else value

        def called(module: Module, /, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return call(module, *args, **kwargs)

            autowrap(getattr(getattr(type(module), "forward", None), "__globals__", {}))
            return self.call_module(module, forward, args, kwargs)

        def autowrap(space: dict[str, Any]) -> None:
            if any(space is known for known in searched):
                return
            searched.append(space)
            for name, value in list(space.items()):
                if not name.startswith("_") and callable(value) and id(value) in self._autowrap_function_ids:
                    _put(undo, space, name, _wrapped(value))

        with ExitStack() as undo:
            for name, method in (("__getattribute__", attribute), ("__call__", called)):
                if name in before:
                    undo.callback(setattr, Module, name, before[name])
                else:
                    undo.callback(delattr, Module, name)
                setattr(Module, name, method)
            for (_, name), holder in list(_wrapped_fns_to_patch.items()):
                _put(undo, holder, name, _wrapped(holder[name] if name in holder else getattr(builtins, name)))
            for searching in (space, *map(vars, self._autowrap_search)):
                autowrap(searching)
            yield

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
