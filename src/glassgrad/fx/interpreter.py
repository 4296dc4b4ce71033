"""Runs graphs node by node, so that one can look in, or do something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ground import listening
from ..nn.modules.module import Module
from ..utils._pytree import tree_leaves, tree_unflatten
from ._symbolic_trace import Tracer
from .graph import Graph, last_uses
from .graph_module import GraphModule
from .names import traced_functions
from .node import Node, map_aggregate, map_arg
from .proxy import Proxy, trace_call


class Interpreter:
    """Runs the graph of a module; override the method of a kind of node to do something else for it.

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Interpreter
    """

    def __init__(self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses = last_uses(list(self.graph.nodes)) if garbage_collect_values else {}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """Run the graph with these arguments; ``initial_env`` has values of nodes that need not run."""
        self.env = initial_env if initial_env is not None else {}
        trees = self.graph._pytree_info if enable_io_processing else None
        if trees is not None:
            args = tuple(tree_leaves(args))
        self.args_iter: Iterator[Any] = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _say_where(error, node)
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            for used in self.user_to_last_uses.get(node, ()):
                del self.env[used]
            if node.op == "output":
                result = self.env[node]
                if trees is None or trees.out_spec is None:
                    return result
                return tree_unflatten(result if isinstance(result, (list, tuple)) else [result], trees.out_spec)
        return None

    def run_node(self, n: Node) -> Any:
        """The value of a node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of an argument."""
        if target.startswith("*"):
            return list(self.args_iter)
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!")

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value of an attribute."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a function gives."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a method gives."""
        self_obj, *rest = args
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a module gives."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """An attribute of the module by its path."""
        value, path = self.module, ""
        for piece in target.split("."):
            path = f"{path}.{piece}" if path else piece
            if not hasattr(value, piece):
                raise RuntimeError(f"Node referenced nonexistent target {path}")
            value = getattr(value, piece)
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The values of a node's arguments."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """The same with values in the place of nodes."""

        def value(used: Node) -> Any:
            if used not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {used}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[used]

        return map_arg(args, value)


def _say_where(error: Exception, node: Node) -> None:
    """Add to an error's words at which node it was raised, unless one said so before."""
    words = f"While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}"
    if error.args:
        if isinstance(error.args[0], str) and "While executing" in error.args[0]:
            return
        words = f"{error.args[0]}\n\n{words}"
    error.args = (words, *error.args[1:])


class _Leaves(Tracer):
    """A tracer that looks into no module."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Makes another graph by running one on proxies; override the method of a kind of node to change what it becomes.

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Transformer
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph._pytree_info = module.graph._pytree_info
        self.tracer = _Leaves()
        self.tracer.graph, self.tracer.root = self.new_graph, module

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """A placeholder of the new graph."""
        default = next(iter(args), None)
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """An attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A module's call in the new graph."""
        return self.tracer.call_module(self.fetch_attr(target), self.fetch_attr(target).forward, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function's call in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        with listening.listening(trace_call, traced_functions()):
            result = super().run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
        return GraphModule(self.module, self.new_graph)
