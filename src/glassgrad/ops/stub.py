"""What editors and type checkers read: the names that arrive from the table at run time, with their signatures.

The texts of ``core/tensor.pyi``, of the package's ``__init__.pyi``, and of the namespaces of ``nn``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..core.row import TABLE, Row
from ..core.tensor import Tensor, is_read_only
from ..ground import later
from .declare import COMPOSITES

PACKAGE = Path(__file__).resolve().parents[1]
HEAD = '"""Written by ``python -m glassgrad.ops.publish``: do not edit."""\n\n# ruff: noqa'
NUMBER = "int | float | complex"

#: The words that annotations in a stub may use; anything else becomes Any.
WORDS = {
    "Any", "None", "Tensor", "bool", "bytes", "complex", "dict", "float", "int", "list", "object", "str", "tuple",
    "type", "Callable", "Iterable", "Iterator", "Node", "RemovableHandle", "Sequence", "Size", "device", "dtype",
    "dtypes",
}  # fmt: skip

#: What functions give that answer in several ways, but for these arguments always the same.
TENSORS = {
    "__floordiv__", "__ifloordiv__", "__imod__", "__ipow__", "__matmul__", "__mod__", "__pow__", "__rfloordiv__",
    "__rlshift__", "__rmatmul__", "__rmod__", "__rpow__", "__rrshift__", "__rsub__", "__rtruediv__", "all",
    "alpha_dropout", "alpha_dropout_", "amax", "amin", "any", "cdist", "cosine_similarity", "count_nonzero", "cumprod",
    "cumprod_", "cumsum", "cumsum_", "cumulative_trapezoid", "diff", "dropout", "dropout_", "embedding", "layer_norm",
    "log_softmax", "logcumsumexp", "logsumexp", "matmul", "mean", "nanmean", "nanquantile", "nansum", "norm",
    "pairwise_distance", "pdist", "prod", "quantile", "rsub", "softmax", "std", "sum", "trapezoid", "unfold", "var",
}  # fmt: skip
TUPLES = {"chunk", "split", "split_with_sizes", "unsafe_chunk", "unsafe_split"}


def published_by_families() -> Iterator[tuple[str, Any]]:
    """The families by name, each with what its own file says that it publishes."""
    for path in sorted((PACKAGE / "families").glob("*/__init__.py")):
        yield path.parent.name, importlib.import_module(f"{PACKAGE.name}.families.{path.parent.name}")


def tensor_stub() -> str:
    """The text of ``core/tensor.pyi``: the file's own names, and in the class what ``bind`` installs."""
    tree = ast.parse((PACKAGE / "core" / "tensor.py").read_text(encoding="utf-8"))
    lines = [HEAD, "import builtins as _b", "from collections.abc import Iterable, Iterator, Sequence"]
    for node in tree.body:  # also what is imported for type checkers alone
        statements = node.body if isinstance(node, ast.If) else [node]
        lines += [ast.unparse(statement) for statement in statements if _is_import(statement)]
    lines += ["from ..ground.device import device as _device", "from ..ground.handle import RemovableHandle"]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "Tensor":
            lines += ["", "class Tensor:"]
            own = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            members = _members(node.body)
            members += [line for name, text in sorted(methods().items()) if name not in own for line in text]
            lines += [f"    {_without_shadows(line, {'device': '_device'})}" for line in members]
        elif isinstance(node, ast.ClassDef):
            lines += ["", f"class {node.name}:", *(f"    {line}" for line in _members(node.body) or ["..."])]
        else:
            lines += _members([node])
    return "\n".join(lines) + "\n"


def package_stub() -> str:
    """The text of the package's ``__init__.pyi``: what it imports, its modules, and every function of the table."""
    tree = ast.parse((PACKAGE / "namespace.py").read_text(encoding="utf-8"))
    lines = [HEAD, "import builtins as _b", "from collections.abc import Callable, Iterable, Iterator, Sequence"]
    taken = {"Any", "alias"}
    lines.append("from typing import Any")
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                name = alias.asname or alias.name
                taken.add(name)
                lines.append(f"from .{node.module or ''} import {alias.name} as {name}")
    lines += [
        "",
        "RELEASE: str",
        "__version__: str",
        "bool: dtype",
        "int: dtype",
        "float: dtype",
    ]
    modules = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/__init__.py")
    }
    modules -= {"__init__", "__main__", "cli", "demo", "torch_alias", "ground", "core", "fast", "kernels", "tensor",
                "ops", "absent", "namespace", "promised"}  # fmt: skip
    lines += [f"from . import {name} as {name}" for name in sorted(modules)]
    package, promised = (importlib.import_module(f"{PACKAGE.name}{part}") for part in ("", ".promised"))
    for table, names in promised._TABLES.items():  # there each is a class
        lines += [f"from .{table} import {name} as {name}" for name in names.split() if name in promised._ANSWERED]
    parts = promised._PART_OF | package._PARTS_BESIDE
    lines += [f"from .{home} import {name} as {name}" for name, home in sorted(parts.items())]
    taken |= parts.keys()
    lines += ["", "def __getattr__(name: str) -> Any: ...", "def __dir__() -> list[str]: ..."]
    for name, text in sorted(functions().items()):
        if name not in taken and name not in ("bool", "int", "float"):
            lines += [_without_shadows(line, {}) for line in text]
    return "\n".join(lines) + "\n"


def functional_stub() -> str:
    """The text of ``nn/functional.pyi``: what families publish there."""
    lines = [HEAD]
    for family, published in published_by_families():
        for file, names in getattr(published, "FUNCTIONAL", {}).items():
            for name, attribute in later.published(names):
                lines.append(f"from ..families.{family}.{file} import {attribute} as {attribute}")
                lines += [f"{name} = {attribute}"] * (name != attribute)
    return "\n".join(lines) + "\n"


def modules_stub() -> str:
    """The text of ``nn/modules/__init__.pyi``: the layers of families, and what stands beside it."""
    lines = [HEAD]
    for family, published in published_by_families():
        for file, homes in getattr(published, "LAYERS", {}).items():
            names = " ".join(homes.values()).split()
            lines += [f"from ...families.{family}.{file} import {name} as {name}" for name in names]
    for file, names in importlib.import_module(f"{PACKAGE.name}.nn.modules")._HERE.items():
        lines += [f"from {file} import {name} as {name}" for name in names.split()]
    lines += ["", "__all__: list[str]"]
    return "\n".join(lines) + "\n"


FILES: dict[str, Callable[[], str]] = {
    "core/tensor.pyi": tensor_stub,
    "__init__.pyi": package_stub,
    "nn/functional.pyi": functional_stub,
    "nn/modules/__init__.pyi": modules_stub,
}


# -- the table ------------------------------------------------------------------------------------------------------


def methods() -> dict[str, list[str]]:
    """Every method, in-place variant, operator and property that ``bind`` gives to Tensor."""
    members: dict[str, list[str]] = {}
    for row in TABLE.values():
        if row.public and row.inputs and row.inputs[0] == "self":
            for name in (row.name, *row.aliases):
                members[name] = _def(
                    name, ["self", *_row_parameters(row, row.out is not None)], _row_answer(row), row.kernel.__doc__
                )
                if row.inplace:
                    members[f"{name}_"] = _def(f"{name}_", ["self", *_row_parameters(row, False)], "Tensor", None)
        if row.operator is not None:
            members.update(_operators(row.operator, row.inplace, len(row.inputs)))
    for composite in COMPOSITES.values():
        if composite.method:
            for name in composite.names:
                members[name] = _member(name, composite.function)
        if composite.operator is not None:
            members.update(_operators(composite.operator, False, 2 if _has_other(composite.function) else 1))
    for name in [*vars(Tensor)]:  # what floors above add, such as ``backward``
        getattr(Tensor, name, None)  # what stands for a method that is not there yet gives way to it
        value = vars(Tensor)[name]
        if name not in members and (inspect.isfunction(value) or isinstance(value, property)):
            members[name] = _member(name, value)
    return members


def functions() -> dict[str, list[str]]:
    """Every function of the package."""
    texts: dict[str, list[str]] = {}
    for row in TABLE.values():
        if row.public:
            for name in (row.name, *row.aliases):
                texts[name] = _def(
                    name, _row_parameters(row, row.out is not None, True), _row_answer(row), row.kernel.__doc__
                )
                if row.inplace:
                    texts[f"{name}_"] = _def(f"{name}_", _row_parameters(row, False, True), "Tensor", None)
    for composite in COMPOSITES.values():
        for name in composite.names if composite.is_function else ():
            if isinstance(composite.function, type) or not inspect.isfunction(composite.function):
                texts[name] = [f"{name}: Any"]
            else:
                parameters, answer = _signature(name, composite.function)
                texts[name] = _def(name, parameters, answer, composite.function.__doc__)
    return {name: text for name, text in texts.items() if name.isidentifier()}


def _row_parameters(row: Row, out: bool, with_first: bool = False) -> list[str]:
    """A row's parameters: inputs, settings, ``out=``."""
    operand = f"Tensor | {NUMBER}" if row.typed is not None and not getattr(row, "strict", False) else "Tensor"
    parts = []
    for index, name in enumerate(row.inputs):
        if index == 0 and not with_first:
            continue
        kind = "Sequence[Tensor]" if row.listed else "Tensor" if index == 0 or name in row.auxiliary else operand
        shown = "input" if name == "self" else name
        parts.append(f"{shown}: {kind} | None = ..." if name in row.optional else f"{shown}: {kind}")
    late = any(part.endswith("= ...") for part in parts)
    for name in row.settings:
        kind = _words(row.kernel.__annotations__.get(name))
        default = f" = {_shown(row.defaults[name])}" if name in row.defaults else " = ..." if late else ""
        parts.append(f"{name}: {kind}{default}")
    return [*parts, "*", "out: Any = None"] if out else parts


def _row_answer(row: Row) -> str:
    if row.outputs:
        return f"tuple[{', '.join(['Tensor'] * len(row.outputs))}]"
    return "tuple[Tensor, ...]" if any("grads" in wanted for _, _, wanted in row.rules) else "Tensor"


def _operators(name: str, inplace: bool, inputs: int) -> dict[str, list[str]]:
    """The special methods behind an operator."""
    if inputs == 1:
        return {f"__{name}__": [f"def __{name}__(self) -> Tensor: ..."]}
    ignored = "  # type: ignore[override]" if name in ("eq", "ne") else ""
    prefixes = ["", *(["r"] if name in ("add", "mul", "and", "or", "xor") else []), *(["i"] if inplace else [])]
    return {
        f"__{p}{name}__": [f"def __{p}{name}__(self, other: Tensor | {NUMBER}) -> Tensor: ...{ignored}"]
        for p in prefixes
    }


# -- composites and the file's own members -----------------------------------------------------------------------------


def _member(name: str, member: Any) -> list[str]:
    """A composite as a member of the class."""
    if isinstance(member, property):
        answer = _words(member.fget.__annotations__.get("return"))
        lines = ["@property", *_closed(f"def {name}(self) -> {answer}:", member.__doc__)]
        if member.fset is not None and not is_read_only(member):
            lines += [f"@{name}.setter", f"def {name}(self, value: Any) -> None: ..."]
        return lines
    row = getattr(member, "row", None)  # a caller's own signature shows once its code is printed
    if row is not None:
        return _def(name, ["self", *_row_parameters(row, row.out is not None)], _row_answer(row), member.__doc__)
    parameters, answer = _signature(name, member)
    first = parameters.pop(0) if parameters and parameters[0] not in ("*", "/") else ""
    if first.startswith("*"):
        parameters.insert(0, first)
    if hasattr(object, name) and "*" in parameters:  # type checkers know no keywords of special methods
        parameters = ["*args: Any", "**kwargs: Any"]
    return _def(name, ["self", *parameters], answer, member.__doc__)


def _signature(name: str, function: Any) -> tuple[list[str], str]:
    """The parameters of a function as text, and what it gives."""
    parts: list[str] = []
    starred = False
    for p in inspect.signature(function).parameters.values():
        kind = _words(p.annotation)
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        if p.kind is p.VAR_POSITIONAL:
            parts.append(f"*{p.name}: {kind}")
            starred = True
        elif p.kind is p.VAR_KEYWORD:
            parts.append(f"**{p.name}: {kind}")
        elif p.default is p.empty:
            parts.append(f"{p.name}: {kind}")
        else:
            parts.append(f"{p.name}: {kind} = {_shown(p.default)}")
    answer = _words(inspect.signature(function).return_annotation)
    if answer == "Any":
        answer = "Tensor" if name in TENSORS else "tuple[Tensor, ...]" if name in TUPLES else "Any"
    return parts, answer


def _has_other(function: Any) -> bool:
    return len(inspect.signature(function).parameters) > 1


def _members(body: Iterable[ast.stmt]) -> list[str]:
    """Definitions as a stub shows them: signatures and annotations, no values, no private helpers of the file."""
    lines: list[str] = []
    for node in body:
        if isinstance(node, ast.AnnAssign):
            lines.append(f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name not in ("__slots__", "__hash__", "ndarray"):
                lines.append(f"{name}: Any")
        elif isinstance(node, ast.FunctionDef) and (node.name[0] != "_" or node.name[1] == "_" or _is_property(node)):
            lines += [f"@{ast.unparse(d)}" for d in node.decorator_list]
            answer = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
            arguments = ast.unparse(node.args)
            if node.name.startswith("__") and node.args.kwonlyargs:  # type checkers know no keywords of special methods
                arguments = "self, *args: Any, **kwargs: Any"
            lines += _closed(f"def {node.name}({arguments}){answer}:", ast.get_docstring(node))
        elif isinstance(node, ast.FunctionDef):
            answer = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
            lines.append(f"def {node.name}({ast.unparse(node.args)}){answer}: ...")
    return lines


def _is_property(node: ast.FunctionDef) -> bool:
    parts = ("property", "setter", "deleter")
    return any(part in ast.unparse(decorator) for decorator in node.decorator_list for part in parts)


def _is_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module != "__future__"
    return isinstance(node, ast.Import) and node.names[0].name != "warnings"


# -- text -------------------------------------------------------------------------------------------------------------


def _def(name: str, parameters: Iterable[str], answer: str, doc: str | None) -> list[str]:
    parts = list(parameters)
    if parts and parts[-1] == "*":
        parts.pop()
    return _closed(f"def {name}({', '.join(parts)}) -> {answer}:", doc)


def _closed(line: str, doc: str | None) -> list[str]:
    """A definition with the first line of its doc, which editors show, as its body."""
    if not doc:
        return [f"{line} ..."]
    first = doc.strip().split("\n")[0].replace("\\", "\\\\")
    return [line, f'    """{first}"""']


def _words(annotation: Any) -> str:
    """An annotation, where it uses only words that the stub knows; else Any."""
    if annotation is None or annotation is inspect.Parameter.empty:
        return "Any"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    names = set(re.findall(r"[A-Za-z_]\w*", text.replace("dtypes.dtype", "dtype")))
    return text.replace("dtypes.dtype", "dtype").replace("dtype", "dtypes.dtype") if names <= WORDS else "Any"


def _shown(default: Any) -> str:
    """A default as text, where it is short and plain."""
    plain = default is None or isinstance(default, (bool, int, str))
    return repr(default) if plain or (isinstance(default, float) and default - default == 0) else "..."


class _Shadows(ast.NodeTransformer):
    """Names of types that have another meaning nearby: ``int`` is a dtype of the package and a method of Tensor."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802  the name ast asks for
        if node.id in ("bool", "int", "float", "complex", "str", "list", "tuple", "dict", "type", "object", "bytes"):
            return ast.Attribute(ast.Name("_b", ast.Load()), node.id, ast.Load())
        return ast.Name(self.renamed.get(node.id, node.id), ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:  # noqa: N802
        return ast.Name("dtype", ast.Load()) if not self.renamed and ast.unparse(node) == "dtypes.dtype" else node


def _without_shadows(line: str, renamed: dict[str, str]) -> str:
    if not line.startswith("def "):
        return line
    line, remark, comment = line.partition("  # ")
    closed = line.endswith(" ...")
    tree = ast.parse(line if closed else f"{line} ...")
    text = ast.unparse(_Shadows(renamed).visit(tree)).replace(":\n    ...", ":")
    return (f"{text} ..." if closed else text) + remark + comment
