"""The built tables of the catalogue, and their building where a clone has never been built."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]
_BUILDING = "GLASSGRAD_BUILDING"


def tables() -> tuple[dict[str, Any], ...]:
    """Rows, functions over rows, names of ``nn.functional``, layers and sparse methods, as ``contents.py`` has them.

    Raises ImportError where they are not there and cannot be written.
    """
    if os.environ.get(_BUILDING):  # the process that writes them: it imports all files, and needs no table
        return {}, {}, {}, {}, {}
    try:
        contents = import_module(f"{__package__}.contents")
    except ModuleNotFoundError:
        _build()
        invalidate_caches()
        contents = import_module(f"{__package__}.contents")
    return contents.ROWS, contents.COMPOSED, contents.FUNCTIONAL, contents.LAYERS, contents.SPARSE


def unpublished(name: str) -> str:
    """The rest of a message about a name that is not there: what to do, where a file of a clone declares it."""
    if not (PACKAGE.parents[1] / "pyproject.toml").is_file():  # an installed package is whole
        return ""
    file = _declared().get(name)
    if file is None:
        return ""
    where = "its family's LAYERS name it, and " if file.endswith("layers.py") else ""
    return f": {file} declares it, but it is not published; {where}python -m glassgrad.ops.publish does that"


@cache
def _declared() -> dict[str, str]:
    """Where the families' files declare operations and layers, by name."""
    operation = re.compile(r"^@(?:op|composite)\b(?:.*\n)+?def (\w+)", re.MULTILINE)
    layer = re.compile(r"^class ([A-Z]\w*)", re.MULTILINE)
    files = sorted((PACKAGE / "families").glob("*/*.py"))
    return {
        name: str(file.relative_to(PACKAGE))
        for file in files
        for name in (layer if file.name == "layers.py" else operation).findall(file.read_text("utf-8"))
    }


def _build() -> None:
    path = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))
    child = subprocess.run(
        [sys.executable, "-m", f"{PACKAGE.name}.ops.publish"],
        env={**os.environ, _BUILDING: "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if child.returncode:
        raise ImportError(f"{PACKAGE} was not built, and cannot be: pip install it.\n{child.stderr}")
