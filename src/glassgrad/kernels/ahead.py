"""Kernels compiled ahead: another process fills Numba's directory while NumPy serves, so that nobody waits for it.

It begins when a file of kernels has been asked for a quarter of the work that earns it (``earned.py``).  That only
moves when something is compiled, never what computes: compiled code takes over at the same call with and without.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import TYPE_CHECKING

from ..ground.runtime import cores

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

_compiling: dict[str, subprocess.Popen[bytes]] = {}


def begin(name: str) -> None:
    """Have the file of kernels of that name compiled by another process, unless it was, or there is no core for it."""
    if name in _compiling or cores() == 1 or not sys.executable:
        return
    import subprocess  # slow to import, and most programs never ask for so much work

    command = [sys.executable, "-m", "glassgrad", "warm", "--only", name]
    quiet = subprocess.DEVNULL
    try:
        os.makedirs(_folder(), exist_ok=True)
        if os.access(_folder(), os.W_OK) and not is_kept(name):
            _compiling[name] = process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
            if hasattr(os, "setpriority"):  # what computes goes first, and waits for nothing until the count
                os.setpriority(os.PRIO_PROCESS, process.pid, 10)
    except OSError:  # no process may be started, no folder made: it is compiled where it is wanted
        pass


def wait(name: str) -> None:
    """Return when the other process has compiled that file, or has failed to."""
    if name in _compiling:
        _compiling[name].wait()


def is_kept(name: str) -> bool:
    """Whether that file was compiled before, by what is installed now."""
    return _mark(name).exists()


def keep(name: str) -> None:
    """Note that it was."""
    try:
        _mark(name).touch()
    except OSError:
        pass


def _folder() -> str:
    return os.environ.get("NUMBA_CACHE_DIR") or os.path.join(os.path.dirname(__file__), "__pycache__")


def _mark(name: str) -> Path:
    import hashlib  # slow to import, as in ``begin``
    from importlib import metadata
    from pathlib import Path

    here = Path(__file__).parent
    digest = hashlib.sha256()
    for distribution in ("numba", "numpy"):
        digest.update(metadata.version(distribution).encode())
    digest.update(sys.version.encode())
    for source in sorted([*here.glob("native/*.py"), *here.glob(f"../families/{name}/*.py")]):
        digest.update(source.read_bytes())
    return Path(_folder(), f"glassgrad-{name}-{digest.hexdigest()[:16]}.compiled")


def _end() -> None:
    for process in _compiling.values():
        if process.poll() is None:
            process.terminate()
            process.wait()


def _forget() -> None:
    _compiling.clear()  # they are the parent's


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
