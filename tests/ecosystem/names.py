"""The names of torch that a package mentions in its source and glassgrad lacks: where, and whether on import.

``python -m tests.ecosystem.names --site DIR einops timm`` reads the packages that lie in DIR (default: where this
Python looks); no package is imported. Where PyTorch is installed, names that it lacks itself are left out.
"""

import argparse
import ast
import importlib
import importlib.util
import inspect
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Mention(NamedTuple):
    """A name of torch, the line that mentions it, and when that line runs: "import", "guarded" import, or "call"."""

    name: str
    line: int
    when: str


class Reader(ast.NodeVisitor):
    """Collects the mentions of one file."""

    def __init__(self):
        self.bound = {}  # what the file's own names stand for: nn -> torch.nn
        self.mentions = []
        self.depth = self.guards = 0

    def note(self, name, line):
        """Keep a mention."""
        when = "call" if self.depth else "guarded" if self.guards else "import"
        self.mentions.append(Mention(name, line, when))

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name.split(".")[0] == "torch":
                self.bound[alias.asname or "torch"] = alias.name if alias.asname else "torch"
                self.note(alias.name, node.lineno)

    def visit_ImportFrom(self, node):
        if not node.level and (node.module or "").split(".")[0] == "torch":
            self.note(node.module, node.lineno)
            for alias in node.names:
                if alias.name != "*":
                    self.bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                    self.note(f"{node.module}.{alias.name}", node.lineno)

    def visit_Attribute(self, node):
        parts, value = [node.attr], node.value
        while isinstance(value, ast.Attribute):
            parts.append(value.attr)
            value = value.value
        if isinstance(value, ast.Name) and value.id in self.bound and isinstance(node.ctx, ast.Load):
            self.note(".".join([self.bound[value.id], *reversed(parts)]), node.lineno)
        self.generic_visit(value)

    def visit_If(self, node):
        test = ast.dump(node.test)
        if "TYPE_CHECKING" in test:
            for child in node.body:  # bind the names, which annotations use; nothing of it runs
                kept = len(self.mentions)
                self.visit(child)
                del self.mentions[kept:]
        else:
            self.visit(node.test)
            self.guarded(node.body, True)
        self.guarded(node.orelse, True)

    def visit_Try(self, node):
        self.guarded(node.body, bool(node.handlers))
        for handler in node.handlers:
            self.guarded(handler.body, True)
        self.guarded([*node.orelse, *node.finalbody], False)

    def guarded(self, body, is_guard):
        """Visit statements that run under a condition, if it is one."""
        self.guards += is_guard
        for child in body:
            self.visit(child)
        self.guards -= is_guard

    def visit_function(self, node):
        """A function's decorators and defaults run where it is defined, its body when it is called."""
        for child in [*getattr(node, "decorator_list", []), node.args]:
            self.visit(child)
        self.depth += 1
        for child in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(child)
        self.depth -= 1

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_function


def mentions(path):
    """The mentions of a file; none of one that this Python cannot read."""
    reader = Reader()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
    except SyntaxError:
        return []
    reader.visit(tree)
    return reader.mentions


def lacks(name, home):
    """The part of a dotted name at which it ends in ``home`` ("torch" or "glassgrad"); None if it is there."""
    parts = name.split(".")
    found = importlib.import_module(home)
    for index, part in enumerate(parts[1:], 2):
        if not (inspect.ismodule(found) or inspect.isclass(found)):
            return None  # a value's attributes are its type's affair
        if part.startswith("__"):
            return None
        try:
            found = getattr(found, part)
        except Exception:  # AttributeError, and what PyTorch raises for its own
            if inspect.isclass(found) and found.__module__.split(".")[0] not in ("torch", "glassgrad"):
                return None
            path = ".".join([home, *parts[1:index]])
            try:
                found = importlib.import_module(path)
            except ImportError:
                return ".".join(parts[:index])
    return None


def files_of(package, site):
    """The Python files of an installed package, its tests left out."""
    if site:
        root = Path(site, package.replace("-", "_"))
        root = root if root.exists() else root.with_suffix(".py")
    else:
        spec = importlib.util.find_spec(package)
        root = Path(spec.origin)
        root = root.parent if root.name == "__init__.py" else root
    if root.is_file():
        return [root]
    return [path for path in sorted(root.rglob("*.py")) if not {"tests", "test"} & set(path.relative_to(root).parts)]


def missing(package, site=None):
    """For each name that is missing, its mentions as (file:line, when), those of imports first."""
    there = importlib.util.find_spec("torch") is not None
    seen, rows = {}, defaultdict(list)
    for path in files_of(package, site):
        for mention in mentions(path):
            if mention.name not in seen:
                lacking = lacks(mention.name, "glassgrad")
                seen[mention.name] = lacking if lacking and not (there and lacks(lacking, "torch")) else None
            if seen[mention.name]:
                rows[seen[mention.name]].append((f"{path.name}:{mention.line}", mention.when, str(path)))
    for found in rows.values():
        found.sort(key=lambda row: ("import", "guarded", "call").index(row[1]))
    return rows


def main(argv=None):
    """Print a line for each name: the packages that need it when they are imported, then the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--site", help="the folder in which the packages lie")
    parser.add_argument("--imports", action="store_true", help="only what stands outside of functions")
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    by_name = defaultdict(list)
    for package in options.packages:
        for name, found in missing(package, options.site).items():
            if not options.imports or found[0][1] != "call":
                by_name[name].append((package, *found[0], len(found)))
    for name, found in sorted(by_name.items(), key=lambda item: (-len(item[1]), item[0])):
        places = ", ".join(f"{package}/{place} ({when}, {count})" for package, place, when, _, count in found[:4])
        print(f"{len(found)}  {name}  {places}")


if __name__ == "__main__":
    sys.exit(main())
