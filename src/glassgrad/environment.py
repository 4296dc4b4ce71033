"""Roof: puts a package ``torch`` that is glassgrad into this Python's environment, and takes it out; knows files only.

What it puts there is what ``standing`` holds, as ``pip`` would have installed it, stubs for editors, and settings by
which ``pip`` keeps it: no package that it installs later brings another torch.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import sys
import sysconfig
from collections.abc import Iterator
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

from .ground.names import OURS, is_internal
from .ground.output import write
from .torch_alias import FUNCTIONS, PICTURES, STANDING, THEIRS

_SETTINGS = "pip.ini" if os.name == "nt" else "pip.conf"
_CONSTRAINT = "glassgrad-constraint.txt"


class Refused(Exception):
    """Why nothing was done, in a sentence."""


def put_alias() -> str:
    """Put ``torch`` into this environment; gives the folder. Refused where another ``torch`` is there, OSError."""
    folder = _folder()
    if _ours(folder) is not None:
        take_alias()  # an older one
    path = [place for place in sys.path if place != STANDING]
    there = PathFinder.find_spec(THEIRS, path)
    if there is not None:
        raise Refused(f"another torch is installed: {there.origin or list(there.submodule_search_locations or ())[0]}")
    files = {**_standing(with_pictures=PathFinder.find_spec(PICTURES, path) is None), **_stubs()}
    info = next(name for name in files if name.endswith("METADATA")).rpartition("/")[0]
    files |= _constraint(folder, info)
    rows = [(name, f"sha256={_digest(content)}", len(content)) for name, content in files.items()]
    record = io.StringIO(newline="")
    csv.writer(record).writerows([*rows, (f"{info}/RECORD", "", "")])
    files = {f"{info}/RECORD": record.getvalue().encode(), f"{info}/INSTALLER": files[f"{info}/INSTALLER"], **files}
    try:
        for name, content in files.items():  # first what all of them are found by
            write(os.path.join(folder, name), content)
    except BaseException:  # a full disk, Ctrl-C
        if _ours(folder) is not None:
            take_alias()
        raise
    return folder


def take_alias() -> str:
    """Take it out again; gives the folder. Refused where there is none, OSError."""
    folder = _folder()
    ours = _ours(folder)
    if ours is None:
        raise Refused(f"there is no torch of glassgrad in {folder}")
    homes = set()
    last = {_SETTINGS: -1, "RECORD": 1, "INSTALLER": 2}  # what may fail first, then what the others are found by
    for file in sorted(ours.files or (), key=lambda file: last.get(file.name, 0)):
        place = os.path.join(folder, str(file))
        if os.path.basename(place) == _SETTINGS:
            _release(place)
        elif os.path.exists(place):
            os.remove(place)
        homes.add(os.path.dirname(place))
        if place.endswith("__init__.py"):
            cache = os.path.join(os.path.dirname(place), "__pycache__")
            for compiled in os.listdir(cache) if os.path.isdir(cache) else ():
                if compiled.startswith("__init__."):
                    os.remove(os.path.join(cache, compiled))
            homes.add(cache)
    for home in sorted(homes, key=len, reverse=True):
        if os.path.isdir(home) and not os.listdir(home):
            os.rmdir(home)
    return folder


def _folder() -> str:
    """The folder of this environment's packages; Refused where it is the operating system's."""
    if sys.prefix == sys.base_prefix and os.path.exists(
        os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    ):
        raise Refused(f"{sys.prefix} is managed by the operating system: use a virtual environment")
    return sysconfig.get_path("purelib")


def _ours(folder: str) -> metadata.Distribution | None:
    """The ``torch`` that was put into a folder."""
    for known in metadata.distributions(name=THEIRS, path=[folder]):
        if (known.read_text("INSTALLER") or "").strip() == OURS:
            return known
    return None


def _standing(with_pictures: bool) -> dict[str, bytes]:
    """The files that stand where PyTorch would, by their paths; ``torchviz`` where there is none."""
    files = {}
    for home, folders, names in os.walk(STANDING):
        folders[:] = [name for name in folders if name != "__pycache__" and (with_pictures or name != PICTURES)]
        for name in names:
            with open(os.path.join(home, name), "rb") as file:
                files[os.path.relpath(file.name, STANDING).replace(os.sep, "/")] = file.read()
    if not with_pictures:
        top = next(name for name in files if name.endswith("top_level.txt"))
        files[top] = f"{FUNCTIONS}\n{THEIRS}\n".encode()
    return files


def _constraint(folder: str, info: str) -> dict[str, bytes]:
    """This environment's settings of pip, where it has none: torch stays the version that was put here."""
    settings = os.path.join(sys.prefix, _SETTINGS)
    if os.path.exists(settings):
        return {}
    file = f"{info}/{_CONSTRAINT}"
    version = info.partition("-")[2].removesuffix(".dist-info")
    place = Path(folder, file).as_uri()  # pip parts its settings at spaces
    return {
        file: f"{THEIRS}=={version}\n".encode(),
        os.path.relpath(settings, folder).replace(os.sep, "/"): f"[install]\nconstraint = {place}\n".encode(),
    }


def _release(settings: str) -> None:
    """Take our line out of pip's settings, and the file where nothing else has been written into it."""
    if os.path.exists(settings):
        with open(settings, encoding="utf-8") as file:
            rest = [line for line in file if not (line.startswith("constraint") and _CONSTRAINT in line)]
        if "".join(rest).strip() != "[install]":
            write(settings, "".join(rest))
        else:
            os.remove(settings)


def _stubs() -> dict[str, bytes]:
    """What editors and type checkers read: each module of torch has the names of ours."""
    stubs = {f"{THEIRS}/py.typed": b""}
    for path, module in _modules():
        stubs[f"{THEIRS}/{path}i"] = f"from {module} import *\n".encode()
    return stubs


def _modules() -> Iterator[tuple[str, str]]:
    """The files of the package that are modules of torch, and their modules."""
    root = os.path.dirname(os.path.abspath(__file__))
    for home, folders, names in os.walk(root):
        folders[:] = [name for name in folders if os.path.exists(os.path.join(home, name, "__init__.py"))]
        for name in names:
            path = os.path.relpath(os.path.join(home, name), root).replace(os.sep, "/")
            module = f"{OURS}/{path.removesuffix('.py').removesuffix('__init__')}".strip("/").replace("/", ".")
            if name.endswith(".py") and not is_internal(module):
                yield path, module


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
