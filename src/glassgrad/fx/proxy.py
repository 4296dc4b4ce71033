"""Proxies: stand for values while a program is traced, and write down what is done with them."""

from __future__ import annotations

import collections
import dataclasses
import dis
import enum
import inspect
import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ..ground import dtypes, listening
from ..ground.device import device
from .graph import Graph, magic_methods, reflectable_magic_methods
from .names import known, normal_call, traced_functions
from .node import Node, base_types, map_aggregate, map_arg

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "TraceError", "TracerBase"]
_PLAIN = (*base_types, dtypes.dtype, device, dtypes.layout, dtypes.memory_format, enum.Enum, type(None), type(...))


class TraceError(ValueError):
    """A program does with a value what cannot be written down without knowing it."""


class Scope:
    """The module within which something happens: its path and its type."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class TracerBase:
    """What makes nodes of what is done with proxies."""

    graph: Graph
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def __init__(self) -> None:
        self.scope = Scope("", None)
        self.module_stack: Any = collections.OrderedDict()
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None, type_expr: Any = None
    ) -> Node:
        """A node of the graph that is being traced; override it to change what is written down."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if self.module_stack:
            node.meta["nn_module_stack"] = self.module_stack.copy()
        return node

    def proxy(self, node: Node) -> Proxy:
        """The proxy of a node."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any = None, proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:  # fmt: skip
        """A node whose arguments may be proxies, as a proxy."""
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """A value as an argument of a node; override it to allow for more types."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            pieces = [self.create_arg(piece) for piece in a]
            return type(a)(*pieces) if hasattr(a, "_fields") else type(a)(pieces)
        if isinstance(a, list):
            return [self.create_arg(piece) for piece in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, (slice, range)):
            return type(a)(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            fields = {field.name: self.create_arg(getattr(a, field.name)) for field in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, (*_PLAIN, Node)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        if isinstance(key, str):
            return key
        key = self.create_arg(key)

        def refuse(node: Node) -> None:
            raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {key}")

        map_arg(key, refuse)
        return key

    def to_bool(self, obj: Proxy) -> bool:
        """What a value is in an ``if``: an error, unless a tracer knows better."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What a loop over a value runs through: an error, unless a tracer knows better."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """What ``**value`` asks for."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Writes further nodes into a graph that is there; functions heed its proxies as long as it lives."""

    living = 0

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        if GraphAppendingTracer.living == 0:
            listening.start(trace_call, traced_functions())
        GraphAppendingTracer.living += 1
        weakref.finalize(self, GraphAppendingTracer._gone).atexit = False

    @staticmethod
    def _gone() -> None:
        GraphAppendingTracer.living -= 1
        if GraphAppendingTracer.living == 0:
            listening.stop(trace_call)


class Proxy:
    """Stands for the value of a node; what is done with it becomes nodes.

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Proxy
    """

    node: Node
    tracer: TracerBase

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        return Attribute(self, k)

    def __getstate__(self) -> Any:
        return self.__dict__

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)

    def __deepcopy__(self, memo: Any) -> Proxy:
        return Proxy(self.node, self.tracer)

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        frame: Any = inspect.currentframe()
        frame = frame.f_back
        running = next(step for step in dis.get_instructions(frame.f_code) if step.offset == frame.f_lasti)
        if running.opname == "UNPACK_SEQUENCE":
            return (self[number] for number in range(running.argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What ``**value`` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        args, kwargs = args or (), kwargs or {}
        tracers = dict.fromkeys(proxy.tracer for proxy in proxies_in(tuple(args), dict(kwargs)))
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        if id(orig_method) in known().methods:
            return tracer.create_proxy("call_method", known().methods[id(orig_method)], args, kwargs)
        if id(orig_method) in known().functions:
            orig_method, args, kwargs = normal_call(orig_method, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs)


class Attribute(Proxy):
    """An attribute of a value: a node once it is used, unless it is called as a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter whose shape is known while one traces."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    shape, ndim, size, dim, numel, nelement = (
        property(operator.attrgetter(f"param.{name}")) for name in ("shape", "ndim", "size", "dim", "numel", "nelement")
    )


def _operator(name: str, reflected: bool) -> Callable[..., Proxy]:
    """The method of proxies behind an operator."""
    target = getattr(operator, name, None) or operator.truediv  # of ``div``

    def operate(self: Proxy, *others: Any) -> Proxy:
        args = (*others, self) if reflected else (self, *others)
        return self.tracer.create_proxy("call_function", target, args, {})

    return operate


for _name in magic_methods:
    setattr(Proxy, f"__{_name.strip('_')}__", _operator(_name, reflected=False))
for _name in reflectable_magic_methods:
    setattr(Proxy, f"__r{_name.strip('_')}__", _operator(_name, reflected=True))


def proxies_in(*values: Any) -> list[Proxy]:
    """The proxies among these values and within their containers."""
    proxies: list[Proxy] = []
    map_aggregate(values, lambda value: proxies.append(value) if isinstance(value, Proxy) else None)
    return proxies


def trace_call(function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of one of our functions while somebody traces: a node, where a proxy is among its arguments."""
    proxies = proxies_in(args, kwargs)
    if not proxies:
        return proceed(*args, **kwargs)
    kind = type(proxies[-1])
    return kind.__torch_function__(function, (kind,), args, kwargs)
