"""Prints a graph as a Python function: one line a node, and values forgotten after their last use."""

from __future__ import annotations

import enum
import re
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..utils import _pytree as pytree
from .names import is_ours, qualified, type_repr
from .namespace import Namespace, custom_builtins
from .node import Node

_COUNTER = re.compile(r"# COUNTER: (\d+)")

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
_OLD_GENERICS = {list: list, dict: dict, set: set, frozenset: frozenset, tuple: tuple}


@dataclass
class PythonCode:
    """A printed graph: its text, and the objects that the text names."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int = 0


class PyTreeInfo(NamedTuple):
    """How the arguments and the result of a graph are made of leaves."""

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


def format_target(base: str, target: str) -> str:
    """``self.layers.0`` as Python may write it."""
    for piece in target.split("."):
        base = f"{base}.{piece}" if piece.isidentifier() else f'getattr({base}, "{piece}")'
    return base


class CodeGen:
    """Prints graphs whose arguments are those of the function."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The first line of the function."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, repr_fn: Callable[[Any], str] = repr) -> str:
        """The line that returns."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The function's arguments as those of the graph."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """The graph's result as the function's."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Further names that the text needs, with what they are."""
        return []

    def _gen_python_code(
        self, nodes: Sequence[Node], root_module: str, namespace: Namespace, *, verbose: bool = False
    ) -> PythonCode:
        return _Printer(self, list(nodes), root_module, namespace, verbose).code()


class PyTreeCodeGen(CodeGen):
    """Prints graphs whose arguments are taken from containers."""

    def __init__(self, pytree_info: PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        """The leaves of the arguments."""
        return pytree.tree_leaves(inputs)

    def process_outputs(self, out: Any) -> Any:
        """The result, put together of its leaves."""
        if self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(out if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The first lines of the function: its arguments are taken apart."""
        own = self.pytree_info.orig_args
        if own and own[0] == "self":
            free_vars.insert(0, "self")
        text = super().gen_fn_def(own[:], maybe_return_annotation)
        if free_vars:
            annotated = [name for name in free_vars if ":" in name]
            if annotated:
                text += "\n    " + "".join(name + "; " for name in annotated) + "\n"
            names = ", ".join(name.split(":")[0].split("#")[0] for name in free_vars)
            text += f"\n    {names}, = fx_pytree.tree_flatten_spec([{', '.join(own)}], self._in_spec)"
        return text

    def generate_output(self, output_args: Any, *, repr_fn: Callable[[Any], str] = repr) -> str:
        """The line that returns the leaves put together."""
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"


class _Printer:
    """One printing of one graph."""

    def __init__(self, gen: CodeGen, nodes: list[Node], root: str, namespace: Namespace, verbose: bool) -> None:
        self.gen, self.nodes, self.root, self.namespace, self.verbose = gen, nodes, root, namespace, verbose
        self.body: list[str] = []
        self.free_vars: list[str] = []
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.returns = ""
        for name, builtin in custom_builtins.items():
            self.add_global(name, builtin.obj)
        self.last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node in reversed(nodes):
            for used in node._input_nodes:
                if used not in seen:
                    seen.add(used)
                    self.last_uses.setdefault(node, []).append(used)

    def add_global(self, hint: str, obj: Any) -> str:
        """The name by which the text may call an object."""
        if is_ours(obj) and obj is not custom_builtins["device"].obj:
            return qualified(obj)
        name = self.namespace.create_name(hint, obj)
        if name in self.globals:
            if self.globals[name] is not obj and self.globals[name] != obj:
                raise AssertionError(f"Global name {name} already assigned to different object")
            return name
        self.globals[name] = obj
        return name

    def type_text(self, kind: Any) -> str:
        """A type, as an annotation names it."""
        if kind == ():
            return "()"
        name = type_repr(kind)
        if isinstance(kind, types.UnionType) and "|" in name:
            return "|".join(map(self.type_text, typing.get_args(kind)))
        origin = getattr(kind, "__origin__", None)
        if origin is not None:
            old = isinstance(kind, typing._GenericAlias)  # type: ignore[attr-defined]
            if old and origin in _OLD_GENERICS:
                name = origin.__name__.capitalize()
                shown = self.add_global(f"typing_{name}", getattr(typing, name))
            else:
                shown = self.add_global(type_repr(origin), origin)
            inner = typing.get_args(kind)
            return f"{shown}[{','.join(map(self.type_text, inner))}]" if inner else shown
        return self.add_global(name, kind)

    def text(self, arg: Any) -> str:
        """An argument, as the text writes it."""
        if isinstance(arg, Node):
            return repr(arg)
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

    def arguments(self, args: Any, kwargs: Any) -> str:
        """The arguments of a call."""
        return ", ".join([*map(self.text, args), *(f"{key} = {self.text(value)}" for key, value in kwargs.items())])

    def emit(self, node: Node) -> None:
        """Write the line of one node, without its end."""
        typed = "" if node.type is None else f" : {self.type_text(node.type)}"
        if self.verbose:
            typed = _shape_of(node) or typed
        op = node.op
        if op == "placeholder":
            default = f" = {self.text(node.args[0])}" if node.args else ""
            self.free_vars.append(f"{node.target}{typed}{default}")
            bare = node.target.replace("*", "")
            if bare != repr(node):
                self.body.append(f"{node!r} = {bare}\n")
            return
        if op == "output":
            if node.type is not None:
                self.returns = f" -> {self.type_text(node.type)}"
            self.body.append(self.gen.generate_output(node.args[0], repr_fn=self.text))
            return
        start = f"{node!r}{typed} = "
        if op == "get_attr":
            self.body.append(start + format_target(self.root, node.target))
        elif op == "call_module":
            call = self.arguments(node.args, node.kwargs)
            self.body.append(f"{start}{format_target(self.root, node.target)}({call})")
        elif op == "call_method":
            call = self.arguments(node.args[1:], node.kwargs)
            self.body.append(f"{start}{format_target(self.text(node.args[0]), node.target)}({call})")
        else:
            self.body.append(self.function(node, start, typed))

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

    def forget(self, node: Node) -> None:
        """End the line, forgetting the values that nobody uses any more."""
        if node.op == "placeholder":
            return
        gone = list(self.last_uses.get(node, ())) if node.op != "output" else []
        if node.op != "output" and not node.users:
            gone.append(node)
        self.body.append(f";  {' = '.join([*map(repr, gone), 'None'])}\n" if gone else "\n")

    def code(self) -> PythonCode:
        """The whole text."""
        summary = None
        for number, node in enumerate(self.nodes):
            if self.verbose and node.op not in ("placeholder", "output"):
                line = f"\n# {_place_of(node)}\n"
                if line != summary:
                    summary = line
                    self.body.append(line)
            self.body.append(f"# COUNTER: {number}\n")
            self.emit(node)
            self.forget(node)
        body = self.body or ["pass\n"]
        wraps = ""
        if self.wrapped:
            from ._symbolic_trace import wrap

            marker = self.add_global("wrap", wrap)
            wraps = "\n".join(f'{marker}("{name}")' for name in self.wrapped)
        if self.gen._body_transformer is not None:
            body = self.gen._body_transformer(body)
        for name, value in self.gen.additional_globals():
            self.add_global(name, value)
        prologue = self.gen.gen_fn_def(self.free_vars, self.returns)
        numbers: dict[int, int | None] = {}
        lines: list[str] = []
        current: int | None = None
        for line in "".join(body).split("\n"):
            counted = _COUNTER.search(line)
            if counted is not None:
                current = int(counted[1])
            else:
                numbers[len(lines) + prologue.count("\n") + 1] = current
                lines.append(line)
        text = "\n".join("    " + line for line in "\n".join(lines).lstrip("\n").split("\n"))
        return PythonCode(f"\n{wraps}\n\n{prologue}\n{text}", self.globals, numbers, wraps.count("\n") + 4)


def _shape_of(node: Node) -> str:
    """The shape that a node's value was seen to have, as an annotation."""
    found: Any = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
    if not (hasattr(found, "shape") and hasattr(found, "dtype")):
        return ""
    kind = str(found.dtype).split(".")[-1]
    return f': "{dtype_abbrs.get(kind, kind)}[{", ".join(map(str, found.shape))}]"'


def _place_of(node: Node) -> str:
    """Where in the program a node comes from, if that was recorded."""
    lines = (node.stack_trace or "").strip().split("\n")
    for place in range(len(lines) - 2, -1, -1):
        found = re.match(r"^File \"(.+)\", line (\d+), in (.+)$", lines[place].strip())
        if found:
            return f"File: {found[1]}:{found[2]} in {found[3]}, code: {lines[place + 1].strip()}"
    return "No stacktrace found for following nodes"
