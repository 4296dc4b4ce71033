"""Modules made of graphs: their ``forward`` is the graph as printed, and compiled."""

from __future__ import annotations

import copy
import linecache
import sys
import traceback
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from ..core.tensor import Tensor
from ..nn.modules.module import Module
from ..nn.modules.tree import KINDS
from ..serialization import save as save_file
from ..tensor.parameter import Parameter
from .code import PythonCode, PyTreeCodeGen
from .graph import Graph
from .names import HOME, is_ours
from .namespace import custom_builtins

_number = count()
_FILE = "<eval_with_key>"


def _compiled(source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function of a printed graph."""
    key = f"{_FILE}.{next(_number)}"
    linecache.cache[key] = (len(source), None, source.splitlines(keepends=True), key)
    space = dict(names)
    exec(compile(source, key, "exec", dont_inherit=True), space)
    made: Callable[..., Any] = space.pop("forward")
    return made


def _attr(module: Any, path: str) -> Any:
    for piece in path.split("."):
        module = getattr(module, piece)
    return module


_get_attr = _attr


def _holder(module: Module, path: list[str]) -> Any:
    """The module at the end of a path, with empty ones made on the way."""
    for piece in path:
        found = getattr(module, piece, None)
        if found is None:
            found = Module()
            setattr(module, piece, found)
        module = found
    return module


def _assign_attr(value: Any, module: Module, target: str) -> None:
    *path, name = target.split(".")
    holder = _holder(module, path)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        holder.register_buffer(name, value)
    else:
        setattr(holder, name, value)


def _copy_attr(source: Module, module: Module, target: str) -> None:
    *path, name = target.split(".")
    found: Any = source
    for piece in path:
        given = getattr(found, piece, None)
        if given is found:
            return
        found = given
    if path:
        holder = _holder(module, path)
        if holder is found:
            return
    _assign_attr(getattr(found, name), module, target)


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
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = root.training
            if isinstance(root, _CodeOnlyModule):
                for name in [*dict(root.named_children()), *dict(root.named_buffers()), *dict(root.named_parameters())]:
                    _copy_attr(root, self, name)
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
            for target in sorted(targets, key=lambda target: target.count(".")):
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
        gen = self._graph._codegen
        if isinstance(gen, PyTreeCodeGen):
            self._in_spec, self._out_spec = gen.pytree_info.in_spec, gen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self._code = made.src
        self._lineno_map, self._prologue_start = made._lineno_map, made._prologue_start
        cls: Any = type(self)
        cls.forward = _compiled(made.src, made.globals)
        inner = vars(cls).get("_own_call") or (vars(cls)["__call__"] if "__call__" in vars(cls) else None)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return inner(self, *args, **kwargs) if inner is not None else super(cls, self).__call__(*args, **kwargs)
            except Exception as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                if _FILE not in frame.filename:
                    raise
                print(_message(frame), file=sys.stderr)
                raise error.with_traceback(None) from None

        cls._own_call = inner
        cls.__call__ = call
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()
        return made

    # -- modules within -------------------------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path, with empty ones made on the way; False where something else is in the way."""
        *path, name = target.split(".")
        holder: Any = self
        for piece in path:
            found = getattr(holder, piece, None)
            if found is None:
                found = Module()
                setattr(holder, piece, found)
            if not isinstance(found, Module):
                return False
            holder = found
        holder.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a path away; False where there is none."""
        *path, name = target.split(".")
        holder: Any = self
        for piece in path:
            holder = getattr(holder, piece, None)
            if not isinstance(holder, Module):
                return False
        if not isinstance(getattr(holder, name, None), Module):
            return False
        delattr(holder, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take all modules away that the graph does not use."""
        used = {""}
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                pieces = node.target.split(".")
                used.update(".".join(pieces[: place + 1]) for place in range(len(pieces)))
                if node.op == "call_module":
                    try:
                        inner = self.get_submodule(node.target)
                    except AttributeError:
                        continue
                    used.update(f"{node.target}.{name}" for name, _ in inner.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

    # -- copies and files -----------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        made = self.recompile()
        body = {key: value for key, value in Module.__getstate__(self).items() if key not in ("_graph", "_lineno_map")}
        return reduce_graph_module, (body, "\n".join(sorted({_import(*item) for item in made.globals.items()})))

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        body = _CodeOnlyModule(copy.deepcopy(Module.__getstate__(self), memo))
        GraphModule.__init__(made, body, body.__dict__["_graph"])
        made.meta = copy.deepcopy(self.meta, memo)
        for name, value in body.__dict__.items():
            if name not in made.__dict__ and name not in KINDS:
                made.__dict__[name] = value
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, self.graph)
        made.meta = self.meta
        return made

    def to_folder(self, folder: Any, module_name: str = "FxModule") -> None:
        """Write the module as a Python package: its code, and its parameters and buffers beside it."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        save_file(self.state_dict(), place / "state_dict.pt")
        lines = ["import torch", "from math import inf, nan", "from torch import device, nn", "NoneType = type(None)"]
        lines += sorted({_import(*item) for item in self.recompile().globals.items()} - set(lines))
        lines += ["", f"class {module_name}(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        for name, child in self.named_children():
            save_file(child, place / f"{name}.pt")
            path = repr(str(place / f"{name}.pt"))
            lines.append(f"        setattr(self, {name!r}, torch.load({path}, weights_only=False))")
        for name, parameter in self.named_parameters(recurse=False):
            lines.append(f"        setattr(self, {name!r}, nn.Parameter(torch.empty({list(parameter.shape)})))")
        for name, buffer in self.named_buffers(recurse=False):
            lines.append(f"        self.register_buffer({name!r}, torch.empty({list(buffer.shape)}))")
        lines.append(f"        self.load_state_dict(torch.load({str(place / 'state_dict.pt')!r}))")
        body = "\n".join("    " + line if line else line for line in self.code.strip("\n").split("\n"))
        (place / "module.py").write_text("\n".join(lines) + "\n\n" + body + "\n", encoding="utf-8")
        (place / "__init__.py").write_text("from .module import *\n", encoding="utf-8")

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


def _message(frame: traceback.FrameSummary) -> str:
    """What is said of an error in a module's own code."""
    lines = linecache.getlines(frame.filename)
    number = frame.lineno or 1
    marker = "~" * len(frame.line or "") + "~~~ <--- HERE"
    head = f"Call using an FX-traced Module, line {number} of the traced Module's generated forward function:"
    before, after = "".join(lines[max(number - 2, 0) : number]), "\n".join(lines[number : number + 2])
    return "\n".join([traceback.format_exc(), head, before, marker, after])


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
    made = imports.replace("import torch.fx._pytree", f"import {HOME}.fx._pytree")
    made = made.replace("import torch.utils._pytree", f"import {HOME}.utils._pytree")
    made = made.replace("from torch", f"from {HOME}")
    return "\n".join(f"import {HOME} as torch" if line == "import torch" else line for line in made.split("\n"))


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
    made = GraphModule(source, graph)
    for key, value in source.__dict__.items():
        if key not in made.__dict__:
            made.__dict__[key] = value
    return made
