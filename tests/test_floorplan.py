"""The floor plan of the house, as a test: imports go down, rules are mathematics, no file outgrows its room."""

import ast
import re
from pathlib import Path
from types import CodeType, FunctionType

import pytest

import glassgrad
from glassgrad.core.row import TABLE
from glassgrad.ops.declare import COMPOSITES

SOURCE = Path(glassgrad.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
LONGEST = 600
FARTHEST = 60  # lines between an operation's kernel and the last of its rules
ROOF = 9
FLOORS = {
    "ground": 0,
    "core": 1, "kernels": 1,
    "tensor": 2,
    "fast": 3, "ops": 3,
    "autograd": 4,
    "func": 5, "serialization": 5, "amp": 5, "multiprocessing": 5,
    "nn": 6, "optim": 6, "utils": 6, "distributions": 6,
    "compiler": 7, "distributed": 7, "fx": 7, "profiler": 7,
    "explore": 8,
}  # fmt: skip


def name_of(path):
    """The dotted name of a file's module."""
    parts = ("glassgrad", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}
EVERY_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))


def floor(module):
    """The floor of a module: that of its package, or the roof for what lies beside the packages."""
    parts = module.split(".")
    return FLOORS.get(parts[1], ROOF) if len(parts) > 1 else ROOF


def imports(path, inside_functions=True):
    """The modules of the package that a file imports, each with the line where it does."""
    own = name_of(path)
    package = own if path.name == "__init__.py" else own.rpartition(".")[0]
    waiting = [ast.parse(path.read_text(encoding="utf-8"))]
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue  # never run
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and not inside_functions:
            continue
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                base = package.split(".")
                base = base[: len(base) - node.level + 1]
                home = ".".join([*base, home] if home else base)
            for alias in node.names:  # a module of its own, or a name of the module it is taken from
                inner = f"{home}.{alias.name}"
                found.append((inner if inner in MODULES else home, node.lineno))
        waiting.extend(ast.iter_child_nodes(node))
    return [(name, line) for name, line in found if name in MODULES]


def excused(lines, line):
    """Whether a comment at an import, or right above it, gives a reason."""
    return "#" in lines[line - 1].split("# noqa")[0] or (line > 1 and lines[line - 2].lstrip().startswith("#"))


@EVERY_FILE
def test_imports_go_down(path):
    """Nobody imports from a floor above, not even inside a function, unless a comment there says why."""
    own = floor(name_of(path))
    lines = path.read_text(encoding="utf-8").splitlines()
    upward = [
        f"line {line}: {name}" for name, line in imports(path) if floor(name) > own and not excused(lines, line)
    ]
    assert not upward, upward


def test_no_circle():
    """The modules can be put in an order in which each imports only earlier ones."""
    waiting = {name: {other for other, _ in imports(path, False)} - {name} for name, path in MODULES.items()}
    for name, wanted in waiting.items():  # a package's own file may gather its modules; they may not ask for it
        wanted -= {other for other in wanted if name.startswith(other + ".")}
    while True:
        free = [name for name, wanted in waiting.items() if not wanted & waiting.keys()]
        if not free:
            break
        for name in free:
            del waiting[name]
    assert not waiting, {name: wanted & waiting.keys() for name, wanted in waiting.items()}


@EVERY_FILE
def test_no_file_outgrows_its_room(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


@EVERY_FILE
def test_every_module_says_what_it_is(path):
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert doc and re.match(r"\S.*[.:]", doc.split("\n\n")[0].replace("\n", " ")), "a module opens with one sentence"


def test_only_numpy_and_ml_dtypes_at_run_time():
    """Importing the package brings in nothing but the standard library and its two dependencies."""
    wrong = {}
    for path in FILES:
        allowed = {"numpy", "ml_dtypes", "glassgrad"}
        if "native" in path.parts:  # loaded by kernels/compiled.py, only where Numba is
            allowed |= {"numba", "llvmlite"}
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:  # what a function imports when it is called is its own affair
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                top = name.split(".")[0]
                if top not in allowed and top not in __import__("sys").stdlib_module_names:
                    wrong.setdefault(name_of(path), []).append(name)
    assert not wrong


# -- the catalogue ------------------------------------------------------------------------------------------------

EVERY_ROW = pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
COMPOSED = {made.function: name for name, made in COMPOSITES.items()}


def names_in(code):
    """Every name that a piece of code reads, those of the functions inside it too."""
    found, waiting = set(), [code]
    while waiting:
        piece = waiting.pop()
        found.update(piece.co_names)
        waiting.extend(const for const in piece.co_consts if isinstance(const, CodeType))
    return found


@EVERY_ROW
def test_rules_are_mathematics(row):
    """A rule calls rows and operators: no NumPy, no composite, no private function that uses them."""
    for names, rule, _ in row.rules:
        seen, waiting = set(), [rule]
        while waiting:
            function = waiting.pop()
            seen.add(function)
            for name in names_in(function.__code__):
                value = function.__globals__.get(name)
                assert name != "np" or value is None, f"the rule of {names} uses np (in {function.__name__})"
                if not isinstance(value, FunctionType):
                    continue
                assert value not in COMPOSED or hasattr(value, "row"), (
                    f"the rule of {names} calls the composite {name}"
                )
                if not hasattr(value, "row") and value not in seen:
                    waiting.append(value)


@EVERY_ROW
def test_every_row_has_a_doc_and_a_rule(row):
    assert row.kernel.__doc__, "a row says what it gives"
    assert row.constant or row.rules, "a row has a rule, or says that it is constant"
    assert not (row.constant and row.rules), "a constant row has no rule"


@pytest.mark.parametrize("path", sorted((SOURCE / "ops" / "primitive").glob("*.py")), ids=lambda path: path.name)
def test_an_operation_stands_in_one_place(path):
    """The rules of a row follow its kernel: none stands far below, none stands above."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    ends = {node.name: node.end_lineno for node in body if isinstance(node, ast.FunctionDef)}
    far = []
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and node.attr == "derivative" and isinstance(node.value, ast.Name):
                below = node.lineno - ends.get(node.value.id, node.lineno)
                if not 0 <= below <= FARTHEST:
                    far.append(f"line {node.lineno}: {node.value.id}, {below} lines below its kernel")
    assert not far, far


def test_every_composite_has_a_doc():
    assert not [name for name, made in COMPOSITES.items() if not made.function.__doc__]


def test_no_operation_in_class_tensor():
    """Tensor's own file defines no method that is in the table, and computes nothing."""
    tree = ast.parse((SOURCE / "core" / "tensor.py").read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor").body
    own = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    table = {name for row in TABLE.values() for name in (row.name, *row.aliases)}
    table |= {name for made in COMPOSITES.values() for name in made.names}
    operators = {f"__{prefix}{row.operator}__" for row in TABLE.values() if row.operator for prefix in ("", "i", "r")}
    assert not own & (table | operators)
