"""The floor plan of the house, as a test: imports go down, rules are mathematics, no file outgrows its room."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

import glassgrad
from glassgrad.core.row import TABLE
from glassgrad.ops.declare import COMPOSITES

SOURCE = Path(glassgrad.__file__).parent
#: All but those which stand in other packages' places: programs that import ours.
FILES = sorted(path for path in SOURCE.rglob("*.py") if "standing" not in path.parts)
LONGEST = 600
FARTHEST = 60  # lines between an operation's kernel and the last of its rules
ROOF = 9
FLOORS = {
    "ground": 0,
    "core": 1, "kernels": 1,
    "tensor": 2,
    "fast": 3, "ops": 3, "families": 3,
    "autograd": 4, "func": 4,
    "serialization": 5, "amp": 5, "multiprocessing": 5, "library": 5,
    "nn": 6, "optim": 6, "utils": 6, "distributions": 6,
    "compiler": 7, "distributed": 7, "fx": 7, "profiler": 7,
    "explore": 8, "watch": 9,
}  # fmt: skip

#: Rooms for other packages alone: nothing else imports them.
ROOMS_APART = {"fx"}

#: The files of families that stand on another floor than rows and functions do.
FAMILY_FLOORS = {
    "native": 1, "outer": 1, "gates": 1, "kernels": 1, "uniform": 1, "counts": 1, "scipy_special": 1,
    "tiles": 1, "lowering": 1, "layers": 6, "transformer": 6,
}  # fmt: skip

#: Who may import ``fast``: taking that folder away must change no result.
USERS_OF_FAST = {"families"}


def name_of(path):
    """The dotted name of a file's module."""
    parts = ("glassgrad", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


@cache
def tree_of(path):
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def assert_none(violations):
    """Fail with every violation in the message, one in a line."""
    assert not violations, "\n".join(["", *violations])


def floor(module):
    """The floor of a module: that of its package, or the roof for what lies beside the packages."""
    parts = module.split(".")
    if len(parts) == 4 and parts[1] == "families":
        return FAMILY_FLOORS.get(parts[3], FLOORS["families"])
    return FLOORS.get(parts[1], ROOF) if len(parts) > 1 else ROOF


def imports(path, inside_functions=True):
    """The modules of the package that a file imports, each with the line where it does."""
    return [(name, line) for name, line in all_imports(path, inside_functions) if name in MODULES]


@cache
def all_imports(path, inside_functions=True):
    """The modules that a file imports, each with the line where it does."""
    own = name_of(path)
    package = own if path.name == "__init__.py" else own.rpartition(".")[0]
    waiting, imported = [tree_of(path)], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue  # never run
        if isinstance(node, ast.FunctionDef) and not inside_functions:
            continue
        if isinstance(node, ast.Import):
            imported += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            if node.level:
                base = package.split(".")
                base = base[: len(base) - node.level + 1]
                home = ".".join([*base, home] if home else base)
            for alias in node.names:  # a module of its own, or a name of the module it is taken from
                inner = f"{home}.{alias.name}"
                imported.append((inner if inner in MODULES else home, node.lineno))
        waiting += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return imported


def excused(lines, line):
    """Whether a comment at an import, or right above it, gives a reason."""
    return "#" in lines[line - 1].split("# noqa")[0] or (line > 1 and lines[line - 2].lstrip().startswith("#"))


def test_imports_go_down():
    """Nobody imports from a floor above, not even inside a function, unless a comment there says why."""
    upward = []
    for module, path in MODULES.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        for name, line in imports(path):
            if floor(name) > floor(module) and not excused(lines, line):
                upward.append(f"{path}:{line}: {module} imports {name}")
    assert_none(upward)


def test_core_stands_on_numpy_and_ground():
    """``core`` imports NumPy, the standard library, ``ground`` and itself; no comment excuses more."""
    allowed = {"numpy", *sys.stdlib_module_names}
    strangers = []
    for module, path in MODULES.items():
        if not f"{module}.".startswith("glassgrad.core."):
            continue
        for name, line in all_imports(path):
            top, _, inner = name.partition(".")
            if top in allowed or inner.partition(".")[0] in ("ground", "core"):
                continue
            strangers.append(f"{path}:{line}: {module} imports {name}")
    assert_none(strangers)


#: What ``x * x`` has no use for: it is imported behind a door, when somebody first comes to it.
BEHIND_DOORS = (
    "autograd", "core.engine", "core.fit", "core.gradients", "core.leaf", "core.promotion", "core.saved", "core.views",
    "core.write", "fast.generate", "fast.text", "func", "ground.device", "ground.hidden", "ground.later",
    "ground.layout", "ground.limits", "ground.meta", "ground.names", "ground.paths", "ground.runtime", "ground.window",
    "kernels", "ops.built", "ops.layers", "ops.override", "ops.torch_function", "promised", "tensor.heard",
    "tensor.hooks", "tensor.lifted", "tensor.members", "tensor.node", "tensor.out", "tensor.overwritten",
    "tensor.packed", "tensor.parameter", "tensor.refusals", "tensor.writable", "torch_alias",
)  # fmt: skip


def test_an_everyday_call_opens_no_door():
    code = "import sys, glassgrad; x = glassgrad.tensor(2.0); x * x; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    opened = [door for door in BEHIND_DOORS if f"glassgrad.{door}" in loaded]
    assert "glassgrad.core.call" in loaded and not opened
    modules = [name for name in loaded if name.partition(".")[0] == "glassgrad"]
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(modules) <= int(re.search(r"`x \* x` loads (\d+) modules", page)[1])


def test_fast_may_be_taken_away():
    """Only the places that hand it in import ``fast``, so that what remains does not miss it."""
    wrong, users = [], set()
    for module, path in MODULES.items():
        if f"{module}.".startswith("glassgrad.fast."):
            continue
        for name, line in imports(path):
            if f"{name}.".startswith("glassgrad.fast."):
                own = module.removeprefix("glassgrad.")
                users.add(own)
                if own not in USERS_OF_FAST:
                    wrong.append(f"{path}:{line}: {module} imports {name}")
    wrong += [f"{own} does not import fast: take it out of USERS_OF_FAST" for own in USERS_OF_FAST - users]
    assert_none(wrong)


def test_rooms_apart():
    """What stands for other packages alone is imported by nothing in the house."""
    wrong = [
        f"{path}:{line}: {module} imports {name}"
        for module, path in MODULES.items()
        for name, line in imports(path)
        for room in ROOMS_APART
        if f"{name}.".startswith(f"glassgrad.{room}.") and not f"{module}.".startswith(f"glassgrad.{room}.")
    ]
    assert_none(wrong)


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


def test_no_file_outgrows_its_room():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert_none([f"{path}: {length} lines" for path, length in lengths.items() if length > LONGEST])


def test_every_module_says_what_it_is():
    docs = {path: ast.get_docstring(tree_of(path)) or "" for path in FILES}
    opened = re.compile(r"\S.*[.:]")
    assert_none([
        f"{path}: a module opens with one sentence"
        for path, doc in docs.items()
        if not opened.match(doc.split("\n\n")[0].replace("\n", " "))
    ])  # fmt: skip


def test_only_numpy_and_ml_dtypes_at_run_time():
    """Importing the package brings in nothing but the standard library and its two dependencies."""
    wrong = {}
    for path in FILES:
        allowed = {"numpy", "ml_dtypes", "glassgrad"}
        # Loaded by kernels/compiled.py, only where Numba is.
        if "native" in path.parts or path.stem in ("native", "outer", "gates", "tiles"):
            allowed |= {"numba", "llvmlite"}
        for node in tree_of(path).body:  # what a function imports when it is called is its own affair
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                top = name.split(".")[0]
                if top not in allowed and top not in sys.stdlib_module_names:
                    wrong.setdefault(name_of(path), []).append(name)
    assert not wrong


# -- the catalogue ------------------------------------------------------------------------------------------------

COMPOSED = {composite.function: name for name, composite in COMPOSITES.items()}


def names_in(code):
    """Every name that a piece of code reads, those of the functions inside it too."""
    found, waiting = set(), [code]
    while waiting:
        piece = waiting.pop()
        found.update(piece.co_names)
        waiting.extend(const for const in piece.co_consts if isinstance(const, CodeType))
    return found


def test_rules_are_mathematics():
    """A rule calls rows and operators: no NumPy, no composite, no private function that uses them."""
    wrong = []
    for row in TABLE.values():
        for names, rule, _ in row.rules:
            seen, waiting = set(), [rule]
            while waiting:
                function = waiting.pop()
                seen.add(function)
                for name in names_in(function.__code__):
                    value = function.__globals__.get(name)
                    if name == "np" and value is not None:
                        wrong.append(f"{row.name}: the rule of {names} uses np (in {function.__name__})")
                    if not isinstance(value, FunctionType) or hasattr(value, "row"):
                        continue
                    if value in COMPOSED:
                        wrong.append(f"{row.name}: the rule of {names} calls the composite {name}")
                    elif value not in seen:
                        waiting.append(value)
    assert_none(wrong)


def test_every_row_has_a_doc_and_a_rule():
    wrong = []
    for row in TABLE.values():
        if not (row.kernel.__doc__ or "").strip():
            wrong.append(f"{row.name}: a row says what it gives")
        if not (row.constant or row.rules):
            wrong.append(f"{row.name}: a row has a rule, or says that it is constant")
        if row.constant and row.rules:
            wrong.append(f"{row.name}: a constant row has no rule")
    assert_none(wrong)


def test_an_operation_stands_in_one_place():
    """The rules of a row follow its kernel: none stands far below, none stands above."""
    far = []
    for path in sorted((SOURCE / "families").glob("*/*.py")):
        body = tree_of(path).body
        ends = {node.name: node.end_lineno for node in body if isinstance(node, ast.FunctionDef)}
        for node in (node for statement in body for node in ast.walk(statement)):
            if isinstance(node, ast.Attribute) and node.attr == "derivative" and isinstance(node.value, ast.Name):
                below = node.lineno - ends.get(node.value.id, node.lineno)
                if not 0 <= below <= FARTHEST:
                    far.append(f"{path}:{node.lineno}: {node.value.id}, {below} lines below its kernel")
    assert_none(far)


def test_every_composite_has_a_doc():
    assert_none([name for name, composite in COMPOSITES.items() if not composite.function.__doc__])


def test_no_operation_in_class_tensor():
    """Tensor's own file defines no method that is in the table, and computes nothing."""
    tree = tree_of(SOURCE / "core" / "tensor.py")
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Tensor").body
    own = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    table = {name for row in TABLE.values() for name in (row.name, *row.aliases)}
    table |= {name for made in COMPOSITES.values() for name in made.names}
    operators = {f"__{prefix}{row.operator}__" for row in TABLE.values() if row.operator for prefix in ("", "i", "r")}
    assert not own & (table | operators)
