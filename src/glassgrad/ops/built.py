"""The built tables of the catalogue, and their building where a clone has never been built."""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from importlib import import_module, invalidate_caches
from typing import Any

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # importing Path would take every start 2 ms
_BUILDING = "GLASSGRAD_BUILDING"


def tables() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Rows, functions over rows and sparse methods, as ``contents.py`` has them.

    Raises ImportError where they are not there and cannot be written, as do the tables below.
    """
    return _table("contents", "ROWS"), _table("contents", "COMPOSED"), _table("contents", "SPARSE")


def layers() -> dict[str, dict[str, str]]:
    """What PyTorch keeps in the files of ``torch.nn.modules``, by file of the families, as ``layers.py`` has it."""
    return _table("layers", "LAYERS")


def functional() -> dict[str, str]:
    """What ``torch.nn.functional`` has, by file of the families, as ``layers.py`` has it."""
    return _table("layers", "FUNCTIONAL")


def _table(file: str, name: str) -> dict[str, Any]:
    if is_building():
        return {}
    try:
        built = import_module(f"{__package__}.{file}")
    except ModuleNotFoundError:
        build()
        built = import_module(f"{__package__}.{file}")
    return getattr(built, name)  # type: ignore[no-any-return]


def unpublished(name: str) -> str:
    """The rest of a message about a name that is not there: what to do, where a file of a clone declares it."""
    if not os.path.isfile(os.path.join(PACKAGE, "..", "..", "pyproject.toml")):  # an installed package is whole
        return ""
    file = _declared().get(name)
    if file is None or any(name in names.split() for table in tables() for names in table.values()):
        return ""  # what is in the tables has no name of its own there
    where = "its family's LAYERS name it, and " if file.endswith("layers.py") else ""
    return f": {file} declares it, but it is not published; {where}python -m glassgrad.ops.publish does that"


@cache
def _declared() -> dict[str, str]:
    """Where the families' files declare operations and layers, by name."""
    from pathlib import Path

    operation = re.compile(r"^@(?:op|composite)\b(?:.*\n)+?def (\w+)", re.MULTILINE)
    layer = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)
    files = sorted(Path(PACKAGE, "families").glob("*/*.py"))
    return {
        name: str(file.relative_to(PACKAGE))
        for file in files
        for name in (layer if file.name == "layers.py" else operation).findall(file.read_text("utf-8"))
    }


def build() -> None:
    """Write the tables; ImportError where that fails."""
    child = publish(capture_output=True, text=True)
    if child.returncode:
        raise ImportError(f"{PACKAGE} was not built, and cannot be: pip install it.\n{child.stderr}")
    invalidate_caches()


def is_building() -> bool:
    """Whether this process writes the tables: it imports all files, and reads no table."""
    return bool(os.environ.get(_BUILDING))


def publish(*arguments: str, **how: Any) -> Any:
    """Run ``publish.py`` in a process of its own: the tables may be missing here, or name files that are gone."""
    import subprocess  # 8 ms, which only the first import of a clone pays

    home, name = os.path.split(PACKAGE)
    path = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", f"{name}.ops.publish", *arguments]
    return subprocess.run(command, env={**os.environ, _BUILDING: "1", "PYTHONPATH": path}, check=False, **how)
