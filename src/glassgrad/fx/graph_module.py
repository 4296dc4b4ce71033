"""Modules made of graphs: their ``forward`` is the graph as printed, and compiled."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import count
from typing import Any

from ..core.tensor import Tensor
from ..ground.source_text import run_text
from ..nn.modules.module import Module
from ..nn.modules.tree import KINDS
from ..tensor.parameter import Parameter
from .graph import Graph, PythonCode, attribute
from .names import HOME, custom_builtins, is_ours

_number = count()
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"  # of a module's meta, in PyTorch


def _compiled(source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function of a printed graph; tracebacks show its lines."""
    key = f"<eval_with_key>.{next(_number)}"
    space = dict(names)
    run_text(source, key, space)
    forward: Callable[..., Any] = space["forward"]
    return forward


_get_attr = attribute


def _holder(module: Any, path: list[str]) -> Any:
    """The module at the end of a path, with empty ones made on the way; None where something else is in the way."""
    for piece in path:
        if getattr(module, piece, None) is None:
            setattr(module, piece, Module())
        module = getattr(module, piece)
        if not isinstance(module, Module):
            return None
    return module


def _assign_attr(value: Any, module: Module, target: str) -> None:
    *path, name = target.split(".")
    holder = _holder(module, path)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        holder.register_buffer(name, value)
    else:
        setattr(holder, name, value)


def _copy_attr(source: Module, module: Module, target: str) -> None:
    path = target.rpartition(".")[0]
    if not path or attribute(source, path) is not attribute(module, path, None):
        _assign_attr(attribute(source, target), module, target)


class _CodeOnlyModule(Module):
    """A module of given attributes."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        Module.__setstate__(self, body)


class GraphModule(Module):
    """A module whose ``forward`` runs a graph.

    root    a module, or a dictionary, with what the graph's get_attr and call_module nodes name
    graph   the graph; assigning another one prints it anew, and after changes within it call :meth:`recompile`
    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.GraphModule
    """

    _code: str
    _graph: Graph

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        for kind in cls.__mro__:  # each instance has a class of its own, for its forward
            if kind.__qualname__.split(".")[-1] != "GraphModuleImpl":
                cls = kind  # type: ignore[assignment]
                break

        class GraphModuleImpl(cls):  # type: ignore[valid-type,misc]
            pass

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        nodes = [node for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            targets = [node.target for node in nodes]
            if isinstance(root, _CodeOnlyModule):
                members = (root.named_children(), root.named_buffers(), root.named_parameters())
                targets = [name for kind in members for name, _ in kind] + targets
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in nodes:
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
            for target in sorted((node.target for node in nodes), key=lambda target: target.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = tracer if tracer is not None and "<locals>" not in tracer.__qualname__ else None
        self.meta: dict[str, Any] = {}

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The graph as Python."""
        if "_code" not in self.__dict__:
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def recompile(self) -> PythonCode:
        """Print and compile the graph anew, after it was changed."""
        trees = self._graph._pytree_info
        if trees is not None:
            self._in_spec, self._out_spec = trees.in_spec, trees.out_spec
        printed = self._graph.python_code(root_module="self")
        self._code = printed.src
        type(self).forward = _compiled(printed.src, printed.globals)  # type: ignore[method-assign]
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()
        return printed

    # -- modules within -------------------------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path, with empty ones made on the way; False where something else is in the way."""
        *path, name = target.split(".")
        holder = _holder(self, path)
        if holder is not None:
            holder.add_module(name, m)
        return holder is not None

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a path away; False where there is none."""
        path, _, name = target.rpartition(".")
        holder = attribute(self, path, None) if path else self
        if not isinstance(holder, Module) or not isinstance(getattr(holder, name, None), Module):
            return False
        delattr(holder, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take all modules away that the graph does not use."""
        used = {""}
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                pieces = node.target.split(".")
                used.update(".".join(pieces[:number]) for number in range(1, len(pieces) + 1))
            if node.op == "call_module" and isinstance(attribute(self, node.target, None), Module):
                used.update(name for name, _ in self.get_submodule(node.target).named_modules(prefix=node.target))
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # -- copies and files -----------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        printed = self.recompile()
        body = {key: value for key, value in Module.__getstate__(self).items() if key != "_graph"}
        return reduce_graph_module, (body, "\n".join(sorted({_import(*item) for item in printed.globals.items()})))

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        body = _CodeOnlyModule(copy.deepcopy(Module.__getstate__(self), memo))
        GraphModule.__init__(copied, body, body.__dict__["_graph"])
        copied.meta = copy.deepcopy(self.meta, memo)
        _take_attributes(copied, body)
        return copied

    def __copy__(self) -> GraphModule:
        copied = GraphModule(self, self.graph)
        copied.meta = self.meta
        return copied

    def print_readable(self, print_output: bool = True, *settings: Any, **more: Any) -> str:
        """The code as that of a class, with the shapes that were seen; printed, unless told otherwise."""
        text = self._readable(self._get_name())
        if print_output:
            print(text)
        return text

    def _readable(self, name: str) -> str:
        code = self._graph.python_code(root_module="self", verbose=True).src.lstrip("\n")
        text = _indented(f"class {name}(torch.nn.Module):\n{code}")
        inner = [child._readable(key) for key, child in self.named_children() if isinstance(child, GraphModule)]
        return text + _indented("\n".join(["", *inner]))

    def __str__(self) -> str:
        reminder = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, reminder])


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *("    " + line if line.strip() else "" for line in rest)])


def _take_attributes(module: GraphModule, source: Module) -> None:
    """Give a module what another one has besides parameters, buffers and children."""
    for key, value in vars(source).items():
        if key not in vars(module) and key not in KINDS:
            vars(module)[key] = value


def _import(name: str, obj: Any) -> str:
    """The statement that brings a name that printed code uses."""
    if name in custom_builtins:
        return custom_builtins[name].import_str
    if is_ours(obj):
        return "import torch"
    home = "operator" if obj.__module__ == "_operator" else obj.__module__
    return f"from {home} import {obj.__qualname__} as {name}"


def _localized(imports: str) -> str:
    """The same statements where ``torch`` is this package."""
    for module in ("import torch.fx._pytree", "import torch.utils._pytree", "from torch"):
        imports = imports.replace(module, module.replace("torch", HOME))
    return "\n".join(f"import {HOME} as torch" if line == "import torch" else line for line in imports.split("\n"))


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """The module of what was saved of it: its graph is traced anew, from its code."""
    from ._symbolic_trace import Tracer

    class Pickled(_CodeOnlyModule):
        forward = _compiled(_localized(import_block) + body["_code"], {})

    class KeepModules(body.get("_tracer_cls") or Tracer):  # type: ignore[misc]
        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    source = Pickled(body)
    graph = KeepModules().trace(source)
    graph._tracer_cls = body.get("_tracer_cls")
    read = GraphModule(source, graph)
    _take_attributes(read, source)
    return read
