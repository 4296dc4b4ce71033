"""Builds what the package computes of its families: which file brings which names, and what editors read.

``python -m glassgrad.ops.publish`` writes ``contents.py`` and ``layers.py``, by which names are imported when they are
first wanted, the derivative rules as text, and the stubs. Installing the package does so too, and so does the first
import of a clone that nobody has built. An operation that was declared since is found when it is built anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import families
from ..core.row import TABLE, Row
from ..tensor import sparse
from . import built, catalogue, derivations, stub
from .declare import COMPOSITES, spelled_by_composite, spelled_by_row

PACKAGE = Path(__file__).resolve().parents[1]
#: Files of families that declare no operation.
_OTHERS = {"__init__", "native", "outer", "gates", "tiles", "lowering", "layers", "transformer"}


def family_files() -> Iterator[str]:
    """The files of families that may declare operations ("loss.rows")."""
    for path in sorted(Path(families.__file__).parent.glob("*/*.py")):
        if path.stem not in _OTHERS:
            yield f"{path.parent.name}.{path.stem}"


def contents() -> tuple[dict[str, list[list[str]]], dict[str, list[list[str]]]]:
    """For each file the names it declares: function and method, function, method, property, neither.

    First those of files with rows, then those of files with functions over rows.
    """
    tables: tuple[dict[str, list[list[str]]], ...] = {}, {}
    owners: tuple[dict[str, tuple[str, Any]], ...] = {}, {}
    keys: dict[str, list[str]] = {}
    registers: tuple[Any, Any] = TABLE, COMPOSITES
    for register, table in zip(registers, tables, strict=True):
        for key, entry in sorted(dict.items(register), key=lambda pair: _home(pair[1])):
            home = _home(entry)
            table.setdefault(home, [[], [], [], [], []])
            keys.setdefault(home, []).append(key)
            spelled = spelled_by_row(entry) if register is TABLE else spelled_by_composite(entry)
            for owner, pairs in zip(owners, spelled, strict=True):
                for name, function in pairs:
                    owner[name] = home, function
    functions, methods = owners
    by_file = tables[0] | tables[1]
    for name in sorted({*functions, *methods}):
        function, method = functions.get(name, ("", None)), methods.get(name, ("", None))
        is_property = isinstance(method[1], property)
        if function[0] == method[0] and not is_property:
            by_file[function[0]][0].append(name)
            continue
        if function[0]:
            by_file[function[0]][1].append(name)
        if method[0]:
            by_file[method[0]][3 if is_property else 2].append(name)
    for home, lists in by_file.items():
        known = {name for names in lists for name in names}
        lists[4] = sorted(key for key in keys[home] if key not in known and " " not in key)
    return tables[0], tables[1]


def _home(entry: Any) -> str:
    module = entry.kernel.__module__ if isinstance(entry, Row) else entry.home
    return module.removeprefix(f"{families.__name__}.")  # type: ignore[no-any-return]


def contents_text() -> str:
    """The text of ``contents.py``."""
    rows, composed = contents()
    lines = [
        '"""What families publish: built by ``publish.py``, read by ``catalogue.py``.',
        "",
        "For each file its names: function and method | function only | method only | property | neither.",
        '"""',
        "",
    ]
    for title, table in (("ROWS", rows), ("COMPOSED", composed)):
        lines += [f"{title} = {{"]
        for file, lists in table.items():
            lines += _entry(file, " | ".join(" ".join(names) for names in lists))
        lines += ["}  # fmt: skip"]
    lines += ["#: The methods of sparse tensors, by class.", "SPARSE = {"]
    for owner in (sparse.SparseTensor, sparse.CooTensor, sparse.CompressedTensor):
        homes = {name: getattr(value, "__module__", None) or "" for name, value in vars(owner).items()}
        names = sorted(name for name, home in homes.items() if home.startswith(f"{families.__name__}."))
        key = next(name for name, value in vars(sparse).items() if value is owner)
        lines += _entry(key, " ".join(names))
    return "\n".join([*lines, "}  # fmt: skip"]) + "\n"


def layers_text() -> str:
    """The text of ``layers.py``."""
    lines = [
        '"""What families publish in ``nn``: built by ``publish.py``, read when somebody comes to ``nn``."""',
        "",
        "#: What ``torch.nn.functional`` has, by file.",
        "FUNCTIONAL = {",
    ]
    for family, published in stub.published_by_families():
        for file, names in getattr(published, "FUNCTIONAL", {}).items():
            lines += _entry(f"{family}.{file}", names)
    lines += ["}  # fmt: skip", "#: What PyTorch keeps in the files of ``torch.nn.modules``, by file.", "LAYERS = {"]
    for family, published in stub.published_by_families():
        for file, homes in getattr(published, "LAYERS", {}).items():
            entries = [line for home in homes.items() for line in _entry(*home)]
            lines += [f'    "{family}.{file}": {{', *entries, "    },"]
    return "\n".join([*lines, "}  # fmt: skip"]) + "\n"


def _entry(key: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(text, 108, break_long_words=False, break_on_hyphens=False) or [""]
    return [f'    "{key}":', *(f'        "{line} "' for line in wrapped[:-1]), f'        "{wrapped[-1]}",']


def texts() -> dict[str, str]:
    """What is built, by file."""
    for file in family_files():
        catalogue.load(file)
    tables = {"ops/contents.py": contents_text(), "ops/layers.py": layers_text()}
    tables["explore/derivatives.py"] = derivations.derivatives_text()
    return tables | {name: text() for name, text in stub.FILES.items()}


def write(arguments: list[str]) -> int:
    """Write what is stale, each file at once; with ``--check`` only tell. Gives the exit status."""
    stale = 0
    for name, text in texts().items():
        path = PACKAGE / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale = 1
        if "--check" in arguments:
            print(f"{name} is stale: run python -m glassgrad.ops.publish")
            continue
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".new", delete=False, encoding="utf-8") as new:
            new.write(text)
        os.chmod(new.name, 0o644)  # readable by all, as files of a package are
        os.replace(new.name, path)
        print(f"wrote {name}")
    return stale if "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(write(sys.argv[1:]) if built.is_building() else built.publish(*sys.argv[1:]).returncode)
