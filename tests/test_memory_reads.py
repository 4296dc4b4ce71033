"""Nothing reads or writes the interpreter's memory: objects are asked by public interfaces, never looked into."""

import ast

import pytest

from .test_floorplan import FILES, SOURCE

#: Files that may, each with its reason. Do not add to them.
ALLOWED: dict[str, str] = {}
#: Compiled code that reads at addresses: of arrays' data, or what it says.
ADDRESSED = {
    "kernels/native/elementwise.py": "arrays",
    "kernels/native/optimizer.py": "arrays",
    "kernels/native/interpreter.py": "arrays of a tape",
}
#: Attributes and functions that look into memory at an address, or at what an object refers to.
LOOKS = {
    "from_address", "string_at", "wstring_at", "memmove", "memset", "cast", "py_object", "pythonapi", "PyDLL",
    "state_address", "get_referents", "get_referrers", "__basicsize__",
}  # fmt: skip
PUBLIC = {("typing", "cast")}  # names above that are another thing where they come from there


def reads(tree):
    """The places that look into memory: line, and what stands there."""
    harmless = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (node.module, alias.name) in PUBLIC:
                    harmless.add(alias.asname or alias.name)
                elif alias.name in LOOKS and node.module in ("ctypes", "gc"):
                    yield node.lineno, f"from {node.module} import {alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in LOOKS:
            if node.attr != "cast" or ast.unparse(node.value) == "ctypes":
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Name) and node.id in LOOKS - harmless - {"cast"}:
            yield node.lineno, node.id
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            if any(map(is_identity, (node.left, node.right))):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.ClassDef) and any("Structure" in ast.unparse(base) for base in node.bases):
            yield node.lineno, f"class {node.name}"


def is_identity(node):
    """Whether an expression is ``id(x)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "id"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_reads_the_interpreters_memory(path):
    found = [f"line {line}: {what}" for line, what in reads(ast.parse(path.read_text(encoding="utf-8")))]
    if str(path.relative_to(SOURCE).as_posix()) in ALLOWED:
        assert found, "it no longer does: take it from the list"
    else:
        assert not found


def test_compiled_code_that_reads_at_addresses_is_known():
    users = {
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and any(alias.name in ("numbers_at", "word_at") for alias in node.names)
    }
    assert users == set(ADDRESSED)


@pytest.mark.parametrize(
    "text",
    [
        "ctypes.c_size_t.from_address(id(x) + 16).value", "word = ctypes.c_size_t.from_address", "id(frame) + 24",
        "16 + id(x)", "ctypes.string_at(id(x), 16)", "from ctypes import memmove", "gc.get_referents(vars(A))",
        "ctypes.cast(p, ctypes.py_object)", "ctypes.pythonapi.Py_IncRef(x)", "class Head(ctypes.Structure): pass",
        "(c * 4).from_address(bits.ctypes.state_address)",
    ],
)  # fmt: skip
def test_reads_are_seen(text):
    assert list(reads(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "a.ctypes.data + 16", "a.__array_interface__['data'][0]", "seen[id(x)] = x", "sys.getrefcount(x)",
        "ctypes.addressof(ctypes.c_char.from_buffer(a))", "from typing import cast\ncast(int, x)", "x.cast(y)",
    ],
)  # fmt: skip
def test_public_interfaces_are_not(text):
    assert not list(reads(ast.parse(text)))
