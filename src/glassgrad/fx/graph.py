"""Graphs: a list of nodes, how it is changed, checks of it, and its code as a Python function: one line a node."""

from __future__ import annotations

import enum
import types
import typing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.tensor import Tensor
from ..nn.modules.module import Module
from ..tensor.typename import typename
from ..utils import _pytree as pytree
from .names import Namespace, custom_builtins, is_ours, qualified, snake_case, type_repr
from .node import Node, _legal_ops, map_arg

if TYPE_CHECKING:
    from .graph_module import GraphModule


__all__ = ["Graph", "PythonCode", "attribute", "inplace_methods", "magic_methods", "reflectable_magic_methods"]


def attribute(module: Any, path: str, *default: Any) -> Any:
    """What a module has at a dotted path; the default, or AttributeError, where there is nothing."""
    for piece in path.split("."):
        module = getattr(module, piece, *default)
    return module


class _NodeList:
    """The nodes of a graph, in order; it may be changed while one walks over it."""

    def __init__(self, graph: Graph, backwards: bool = False) -> None:
        self.graph, self.backwards = graph, backwards

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = root._prev if self.backwards else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self.backwards else node._next

    def __reversed__(self) -> Iterator[Node]:
        return iter(_NodeList(self.graph, not self.backwards))


class _InsertPoint:
    """A block in which new nodes are put elsewhere; also without a block, for good."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: Any) -> None:
        self.graph._insert = self.before


class Graph:
    """A list of nodes that computes something.

    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.Graph
    """

    def __init__(
        self, owning_module: GraphModule | None = None, tracer_cls: type | None = None, tracer_extras: Any = None
    ) -> None:
        self.owning_module: Any = owning_module
        self._graph_namespace = Namespace()
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._tracer_cls = tracer_cls
        self._pytree_info: PyTreeInfo | None = None

    @property
    def nodes(self) -> Any:
        """The nodes, in order."""
        return _NodeList(self)

    def output_node(self) -> Node:
        """The node of the result."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"Expected output node, got {node.op}")
        return node

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of one kind, and of one target."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    # -- making nodes ---------------------------------------------------------------------------------------------

    def create_node(
        self, op: str, target: Any, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
        name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """A new node where nodes are put now."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        name = self._graph_namespace.create_name(name if name is not None else _name_for(target), None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._insert(node)
        self._len += 1
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = None) -> Node:
        """A node for an argument of the function."""
        args = (default_value,) if default_value is not None else ()
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A node for an attribute of the module, such as a parameter."""
        if self.owning_module is not None and attribute(self.owning_module, qualified_name, None) is None:
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
                "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the "
                "necessary Parameter, or nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A node that calls a child of the module."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None) -> Node:
        """A node that calls a method of its first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Any, args: Any = None, kwargs: Any = None, type_expr: Any = None, name: str | None = None
    ) -> Node:
        """A node that calls a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """The node of the result."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda node: node) -> Node:
        """A copy of a node, perhaps of another graph; ``arg_transform`` gives the nodes here for those it uses."""
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy all nodes of another graph; gives what its output would be, and notes the copies in ``val_map``."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: Any = None) -> Graph:
        copied = Graph(tracer_cls=self._tracer_cls)
        copied._pytree_info = self._pytree_info
        values: dict[Node, Node] = {}
        for node in self.nodes:
            values[node] = copied.node_copy(node, values.__getitem__)
        return copied

    # -- changing it ----------------------------------------------------------------------------------------------

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out; RuntimeError where others use it."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: "
                f"{to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        to_erase._unlink()
        to_erase._erased = True
        self._len -= 1
        to_erase.args, to_erase.kwargs = (), {}

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """A block in which new nodes are put before ``n``, or at the beginning."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """A block in which new nodes are put after ``n``, or at the end."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _InsertPoint(self, n.append)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out all nodes that nobody uses and that do nothing else; whether there were any."""
        self.lint()
        before = self._len
        for node in reversed(self.nodes):
            if not node.users and not (is_impure_node or Node.is_impure)(node):
                self.erase_node(node)
        return self._len < before

    # -- showing it -----------------------------------------------------------------------------------------------

    def python_code(self, root_module: str, *, verbose: bool = False) -> PythonCode:
        """The graph as a Python function; ``root_module`` is what the module is called in it."""
        namespace = Namespace()
        before = [(node, node._repr_fn) for node in self.nodes]
        for node, _ in before:
            node._repr_fn = lambda node: namespace.create_name(node.name, node)
        try:
            return Printer(list(self.nodes), root_module, namespace, self._pytree_info, verbose).code()
        finally:
            for node, shown in before:
                node._repr_fn = shown

    def __str__(self) -> str:
        placeholders: list[str] = []
        returns = [""]
        lines = [node.format_node(placeholders, returns) for node in self.nodes]
        head = f"graph({', '.join(placeholders)}){returns[0]}:"
        return head + "".join("\n    " + line for line in lines if line)

    def print_tabular(self) -> None:
        """Print the graph as a table, one line a node."""
        try:
            from tabulate import tabulate  # type: ignore[import-untyped,import-not-found]
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. Run `pip "
                "install tabulate` to install the library."
            )
            raise
        rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    def lint(self) -> None:
        """Raise RuntimeError where a node uses one that comes later or elsewhere, or what the module does not have."""
        names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.op not in _legal_ops:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for used in node._input_nodes:
                if used.graph is not self:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an "
                        "argument! If you are copying nodes from another graph, make sure to use ``arg_transform`` on "
                        f"node_copy() to remap values\n{self}"
                    )
                if used not in seen:
                    raise RuntimeError(
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check that "
                        f"Nodes in the graph are topologically ordered\n{self}"
                    )
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
        if self.owning_module is not None:
            for node in self.nodes:
                self._check_target(node)

    def _check_target(self, node: Node) -> None:
        target: Any = node.target
        words = f"Node {node} target {target}"
        if not (callable(target) if node.op == "call_function" else isinstance(target, str)):
            kind = "Callable" if node.op == "call_function" else "str"
            raise ValueError(f"{words} has type {typename(target)} but a {kind} is expected")
        if node.op not in ("get_attr", "call_module"):
            return
        holder, path = self.owning_module, ""
        for piece in target.split("."):
            holder = getattr(holder, piece, None)
            if holder is None:
                raise RuntimeError(f"{words} references nonexistent attribute {piece} of {path}")
            if node.op == "call_module" and not isinstance(holder, Module):
                raise RuntimeError(f"{words} {piece} of {path} does not reference an nn.Module")
            path = f"{path}.{piece}" if path else piece


def _name_for(target: Any) -> str:
    """What a node is called, until a number is put behind it."""
    if callable(target):
        name = target.__name__
        if type(target).__name__ == "function" and name != "<lambda>":
            name = qualified(target).rpartition(".")[2]
    else:
        name = target[2:-2] if target.startswith("__") and target.endswith("__") else target
    return snake_case(name)


# -- prints a graph as a Python function -------------------------------------------------------------------------------
# One line a node, and values forgotten after their last use.

reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}", "truediv": "{} / {}",
    "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}", "lshift": "{} << {}", "rshift": "{} >> {}",
    "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}", **reflectable_magic_methods,
}  # fmt: skip
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}  # fmt: skip
dtype_abbrs = {
    "bfloat16": "bf16", "float64": "f64", "float32": "f32", "float16": "f16", "complex64": "c64",
    "complex128": "c128", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "bool": "b8", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
_NO_STACKS = "# No stacktrace found for following nodes"  # nobody keeps any
_OLD_GENERICS = (list, dict, set, frozenset, tuple)


@dataclass
class PythonCode:
    """A printed graph: its text, and the objects that the text names."""

    src: str
    globals: dict[str, Any]


class PyTreeInfo(NamedTuple):
    """How the arguments and the result of a graph are made of leaves."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


def last_uses(nodes: list[Node]) -> dict[Node, list[Node]]:
    """For each node, the values that nobody uses after it."""
    last: dict[Node, list[Node]] = {}
    seen: set[Node] = set()
    for node in reversed(nodes):
        for used in node._input_nodes:
            if used not in seen:
                seen.add(used)
                last.setdefault(node, []).append(used)
    return last


def format_target(base: str, target: str) -> str:
    """``self.layers.0`` as Python may write it."""
    for piece in target.split("."):
        base = f"{base}.{piece}" if piece.isidentifier() else f'getattr({base}, "{piece}")'
    return base


class Printer:
    """One printing of one graph."""

    def __init__(
        self, nodes: list[Node], root: str, namespace: Namespace, trees: PyTreeInfo | None, verbose: bool
    ) -> None:
        self.nodes, self.root, self.namespace, self.trees, self.verbose = nodes, root, namespace, trees, verbose
        self.body: list[str] = []
        self.parameters: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.returns = ""
        for name, builtin in custom_builtins.items():
            self.add_global(name, builtin.obj)

    def code(self) -> PythonCode:
        """The whole text."""
        gone = last_uses(self.nodes)
        for node in self.nodes:
            line = self.line(node)
            if node.op not in ("placeholder", "output"):
                if self.verbose and _NO_STACKS not in self.body:
                    self.body += ["", _NO_STACKS] if self.body else [_NO_STACKS]
                forgotten = gone.get(node, []) + ([] if node.users else [node])
                line += f";  {' = '.join([*map(repr, forgotten), 'None'])}" if forgotten else ""
            if line:
                self.body.append(line)
        wraps = ""
        if self.wrapped:
            from ._symbolic_trace import wrap

            marker = self.add_global("wrap", wrap)
            wraps = "\n".join(f'{marker}("{name}")' for name in self.wrapped)
        text = "".join(f"    {line}\n" for line in self.body or ["pass"])
        return PythonCode(f"\n{wraps}\n\n{self.head()}\n{text}    ", self.globals)

    def head(self) -> str:
        """The first line of the function, and the one that takes containers among its arguments apart."""
        own = self.parameters if self.trees is None else self.trees.orig_args
        first = f"def forward({', '.join(own if own[:1] == ['self'] else ['self', *own])}){self.returns}:"
        if self.trees is None:
            return first
        names = [node.target for node in self.nodes if node.op == "placeholder"]
        if own[:1] == ["self"]:
            names.insert(0, "self")
        return f"{first}\n    {', '.join(names)}, = fx_pytree.tree_flatten_spec([{', '.join(own)}], self._in_spec)"

    def line(self, node: Node) -> str:
        """The line of one node, without what it forgets."""
        typed = "" if node.type is None else f" : {self.type_text(node.type)}"
        if self.verbose:
            typed = _shape_of(node) or typed
        if node.op == "placeholder":
            default = f" = {self.text(node.args[0])}" if node.args else ""
            self.parameters.append(f"{node.target}{typed}{default}")
            bare = node.target.replace("*", "")
            return "" if bare == repr(node) else f"{node!r} = {bare}"
        if node.op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type_text(node.type)}"
            result = self.text(node.args[0])
            whole = self.trees is None or self.trees.out_spec is None
            return f"return {result}" if whole else f"return pytree.tree_unflatten({result}, self._out_spec)"
        start = f"{node!r}{typed} = "
        if node.op == "call_function":
            return self.function(node, start, typed)
        if node.op == "call_method":
            called, args = format_target(self.text(node.args[0]), node.target), node.args[1:]
        else:
            called, args = format_target(self.root, node.target), node.args
        return start + called + ("" if node.op == "get_attr" else f"({self.arguments(args, node.kwargs)})")

    def function(self, node: Node, start: str, typed: str) -> str:
        """The line of a call of a function."""
        name = getattr(node.target, "__name__", "")
        if getattr(node.target, "__module__", "") == "_operator":
            shown = [self.text(arg) for arg in node.args]
            if name in magic_methods:
                return start + magic_methods[name].format(*shown)
            if name in inplace_methods:
                return f"{inplace_methods[name].format(*shown)};  {node!r}{typed} = {shown[0]}"
        called = self.add_global(qualified(node.target), node.target)
        if called == "getattr" and len(node.args) == 2:
            attribute = node.args[1]
            if isinstance(attribute, str) and attribute.isidentifier():
                return start + format_target(self.text(node.args[0]), attribute)
        if node.meta.get("is_wrapped", False):
            self.wrapped[called] = None
        return f"{start}{called}({self.arguments(node.args, node.kwargs)})"

    def arguments(self, args: Any, kwargs: Any) -> str:
        """The arguments of a call."""
        return ", ".join([*map(self.text, args), *(f"{key} = {self.text(value)}" for key, value in kwargs.items())])

    def text(self, arg: Any) -> str:
        """An argument, as the text writes it."""
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.add_global(qualified(type(arg)), type(arg))}{tuple(arg)!r}"
        if isinstance(arg, enum.Enum):
            return f"{self.add_global(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, Tensor):
            return f"torch.Tensor(size={list(arg.shape)}, dtype={str(arg.dtype).split('.')[-1]})"
        if isinstance(arg, tuple):
            return f"({self.text(arg[0])},)" if len(arg) == 1 else f"({', '.join(map(self.text, arg))})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.text, arg))}]"
        if isinstance(arg, slice):
            return f"slice({self.text(arg.start)}, {self.text(arg.stop)}, {self.text(arg.step)})"
        return repr(arg)

    def add_global(self, hint: str, obj: Any) -> str:
        """The name by which the text may call an object."""
        if is_ours(obj) and obj is not custom_builtins["device"].obj:
            return qualified(obj)
        name = self.namespace.create_name(hint, obj)
        self.globals.setdefault(name, obj)
        return name

    def type_text(self, kind: Any) -> str:
        """A type, as an annotation names it."""
        if kind == ():
            return "()"
        inner = typing.get_args(kind)
        if isinstance(kind, types.UnionType):
            return "|".join(map(self.type_text, inner))
        origin = getattr(kind, "__origin__", None)
        if origin is None:
            return self.add_global(type_repr(kind), kind)
        if isinstance(kind, typing._GenericAlias) and origin in _OLD_GENERICS:  # type: ignore[attr-defined]
            name = origin.__name__.capitalize()
            shown = self.add_global(f"typing_{name}", getattr(typing, name))
        else:
            shown = self.add_global(type_repr(origin), origin)
        return f"{shown}[{','.join(map(self.type_text, inner))}]" if inner else shown


def _shape_of(node: Node) -> str:
    """The shape that a node's value was seen to have, as an annotation."""
    seen: Any = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
    if not (hasattr(seen, "shape") and hasattr(seen, "dtype")):
        return ""
    kind = str(seen.dtype).split(".")[-1]
    return f': "{dtype_abbrs.get(kind, kind)}[{", ".join(map(str, seen.shape))}]"'
