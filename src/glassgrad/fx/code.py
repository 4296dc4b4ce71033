"""Prints a graph as a Python function: one line a node, and values forgotten after their last use."""

from __future__ import annotations

import enum
import types
import typing
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..utils import _pytree as pytree
from .names import Namespace, custom_builtins, is_ours, qualified, type_repr
from .node import Node

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
