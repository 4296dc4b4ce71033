"""Schemas of operations, ``name(Tensor x, float k=2.) -> Tensor``: read, inferred from annotations, and held to."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, NamedTuple

from ..core.tensor import Tensor
from ..ground.device import device
from ..ground.dtypes import dtype, layout, memory_format
from ..ground.generator import Generator

NOTHING: Any = inspect.Parameter.empty


class Argument(NamedTuple):
    """One argument of an operation."""

    name: str
    type: str  # as the schema has it, without marks of aliasing: "Tensor", "int[]", "float?"
    default: Any
    kwarg_only: bool
    is_write: bool
    mark: str  # "(a!)"

    def __str__(self) -> str:
        default = "" if self.default is NOTHING else f"={_written(self.default, self.type)}"
        head, tail = (self.type[:6], self.type[6:]) if self.mark else (self.type, "")
        return f"{head}{self.mark}{tail} {self.name}{default}"


@dataclass
class Schema:
    """An operation's name, arguments, and the types of what it returns."""

    name: str  # "mylib::sin"
    overload_name: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]

    def __str__(self) -> str:
        words: list[str] = []
        for argument in self.arguments:
            if argument.kwarg_only and "*" not in words:
                words.append("*")
            words.append(str(argument))
        returns = self.returns[0] if len(self.returns) == 1 else f"({', '.join(self.returns)})"
        overload = f".{self.overload_name}" if self.overload_name else ""
        return f"{self.name}{overload}({', '.join(words)}) -> {returns}"

    @property
    def is_mutable(self) -> bool:
        """Whether the operation writes to an argument."""
        return any(argument.is_write for argument in self.arguments)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional arguments, defaults among them, and those given by name; RuntimeError as PyTorch has it."""
        positional = [argument for argument in self.arguments if not argument.kwarg_only]
        if len(args) > len(positional):
            raise RuntimeError(
                f"{self.name}() expected at most {len(positional)} argument(s) but received {len(args) + len(kwargs)} "
                f"argument(s). Declaration: {self}"
            )
        values: dict[str, Any] = {}
        for index, argument in enumerate(self.arguments):
            if index < len(args):
                value = args[index]
            elif argument.name in kwargs:
                value = kwargs[argument.name]
            elif argument.default is not NOTHING:
                value = argument.default
            else:
                raise RuntimeError(
                    f"{self.name}() is missing value for argument '{argument.name}'. Declaration: {self}"
                )
            values[argument.name] = self._held(value, argument, index)
        unknown = [name for name in kwargs if name not in values]
        if unknown:
            raise RuntimeError(f"Unknown keyword argument '{unknown[0]}' for operator '{self.name}'. Schema: {self}")
        return tuple(values[a.name] for a in positional), {
            a.name: values[a.name] for a in self.arguments if a.kwarg_only
        }

    def _held(self, value: Any, argument: Argument, position: int) -> Any:
        if _fits(value, argument.type):
            return value
        if argument.type.startswith(("int[", "SymInt[")) and type(value) is int:
            return [value]
        shown = argument.type.replace("SymInt", "int")
        shown = re.sub(r"^(.*)\[\d*\]$", r"List[\1]", shown.rstrip("?"))
        shown = f"Optional[{shown}]" if argument.type.endswith("?") else shown
        raise RuntimeError(
            f"{self.name}() Expected a value of type '{shown}' for argument '{argument.name}' but instead found type "
            f"'{type(value).__name__}'.\nPosition: {position}\nValue: {value!r}\nDeclaration: {self}"
        )


_KINDS: dict[str, Any] = {
    "Tensor": Tensor, "int": int, "SymInt": int, "float": (int, float), "bool": bool, "str": str,
    "Scalar": (int, float, complex, bool), "ScalarType": dtype, "Device": (device, str),
    "complex": (int, float, complex), "Layout": layout, "MemoryFormat": memory_format, "Generator": Generator,
}  # fmt: skip


def _fits(value: Any, kind: str) -> bool:
    if kind.endswith("?"):
        return value is None or _fits(value, kind[:-1])
    if kind.endswith("]"):
        inner = kind[: kind.rindex("[")]
        return isinstance(value, (list, tuple)) and all(_fits(item, inner) for item in value)
    if kind not in _KINDS:
        return True
    if isinstance(value, Tensor) and kind in ("int", "float", "bool", "Scalar", "SymInt"):
        return value.ndim == 0
    if kind in ("int", "float", "SymInt") and isinstance(value, bool):
        return kind != "float"
    return isinstance(value, _KINDS[kind])


def _written(value: Any, kind: str) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return repr(value)[:-1] if value.is_integer() and "e" not in repr(value) else repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_written(item, kind) for item in value)}]"
    return str(value)


_ARGUMENT = re.compile(
    r"^(?P<kind>[A-Za-z]\w*)(?P<mark>\([a-z0-9]+!?( -> [a-z0-9*|]+)?\))?(?P<rest>(\[\d*\]|\?)*)\s+"
    r"(?P<name>\w+)\s*(=\s*(?P<default>.+))?$"
)


def parse(text: str, namespace: str = "") -> Schema:
    """The schema that is written so; RuntimeError where it is none."""
    head = re.match(r"^\s*(?:(\w+)::)?(\w+)(?:\.(\w+))?\s*\((.*)\)\s*->\s*(.+?)\s*$", text, re.DOTALL)
    if head is None:
        raise RuntimeError(f"expected a schema such as 'name(Tensor x, int n=1) -> Tensor', and got {text!r}")
    space, name, overload, inside, outside = head.groups()
    arguments, kwarg_only = [], False
    for piece in _split(inside):
        if piece == "*":
            kwarg_only = True
            continue
        parts = _ARGUMENT.match(piece)
        if parts is None:
            raise RuntimeError(f"the argument {piece!r} of {text!r} is none that a schema has")
        kind, mark = parts["kind"] + (parts["rest"] or ""), parts["mark"] or ""
        default = NOTHING if parts["default"] is None else _read(parts["default"].strip())
        if kind.startswith("float") and type(default) is int:
            default = float(default)
        arguments.append(Argument(parts["name"], kind, default, kwarg_only, "!" in mark, mark))
    outside = outside.strip()
    inner = outside[1:-1] if outside.startswith("(") else outside
    returns = tuple(re.sub(r"(?<=\S)\s+\w+$", "", piece) for piece in _split(inner))
    return Schema(f"{space or namespace}::{name}", overload or "", tuple(arguments), returns)


def _split(text: str) -> list[str]:
    pieces, depth, start = [], 0, 0
    for index, letter in enumerate(text + ","):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            pieces.append(text[start:index].strip())
            start = index + 1
    return [piece for piece in pieces if piece]


def _read(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text  # a name, as of a dtype


_TYPES: dict[Any, str] = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", dtype: "ScalarType", device: "Device",
    int | float | bool: "Scalar",
}  # fmt: skip


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """The schema of a function with annotations; ``mutates_args`` are the arguments to which it writes, or "unknown".

    Source: https://docs.pytorch.org/docs/stable/library.html#torch.library.infer_schema
    """
    signature = inspect.signature(prototype_function)
    hints = {name: hint for name, hint in _hints(prototype_function).items()}

    def refuse(what: str) -> None:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    words, starred, marked = [], False, 0
    for name, parameter in signature.parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            refuse("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        if parameter.annotation is NOTHING:
            refuse(f"Parameter {name} must have a type annotation.")
        kind = _kind(hints[name])
        if kind is None:
            refuse(f"Parameter {name} has unsupported type {parameter.annotation}.")
        assert kind is not None
        if kind.startswith("Tensor") and (mutates_args == "unknown" or name in mutates_args):
            kind = f"Tensor(a{marked}!){kind[6:]}"
            marked += 1
        default = parameter.default
        if default is not NOTHING and not isinstance(
            default, (int, float, bool, str, NoneType, dtype, device, list, tuple)
        ):
            refuse(f"Parameter {name} has an unsupported default value type {type(default)}. "
                   "Please file an issue on GitHub so we can prioritize this.")  # fmt: skip
        words.append(f"{kind} {name}" + ("" if default is NOTHING else f"={_inferred(default)}"))
    if mutates_args != "unknown":
        for name in mutates_args:
            if name not in signature.parameters:
                refuse(f"{set(mutates_args)} in mutates_args were not found in the custom op's signature. ")
    returned = hints.get("return", NOTHING)
    if returned is NOTHING and "return" not in hints:
        refuse("No return type annotation was provided. Please add one.")
    text = _returned(returned)
    if text is None:
        refuse(f"Return has unsupported type {returned}.")
    return f"{op_name or ''}({', '.join(words)}) -> {text}"


def _inferred(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else str(default).removeprefix("torch.")


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(function)


def _kind(hint: Any) -> str | None:
    """What a schema calls a type; None for one that it has no word for."""
    if hint in _TYPES:
        return _TYPES[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, UnionType):
        others = [one for one in inner if one is not NoneType]
        if len(others) < len(inner):
            kind = _kind(typing.Union[tuple(others)])  # noqa: UP007  the types are in a tuple
            return kind and f"{kind}?"
        return "Scalar" if set(others) <= {int, float, bool, complex} else None
    if origin is list or (origin is not None and getattr(origin, "__name__", "") == "Sequence"):
        kind = _kind(inner[0])
        return kind and f"{kind}[]"
    if origin is tuple and len(inner) == 2 and inner[1] is Ellipsis:
        kind = _kind(inner[0])
        return kind and f"{kind}[]"
    return None


def _returned(hint: Any) -> str | None:
    if hint is NoneType or hint is None:
        return "()"
    if typing.get_origin(hint) is tuple:
        kinds = [_kind(one) for one in typing.get_args(hint)]
        return None if None in kinds else f"({', '.join(kind or '' for kind in kinds)})"
    return _kind(hint)
