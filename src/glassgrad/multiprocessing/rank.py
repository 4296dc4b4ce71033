"""What each process of ``glassgrad launch`` does first: say where it stands, send output on, tell of its end."""

from __future__ import annotations

import atexit
import faulthandler
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..ground import launched
from .mpi import failed
from .spawn import _die_with_parent

__all__ = ["Rank"]


class Rank:
    """This process as one of a job."""

    def __init__(self, folder: str) -> None:
        self.folder, place = Path(folder), launched.place()
        if place is None:
            raise RuntimeError("this process has a job (GLASSGRAD_JOB), and no MPI launcher started it")
        self.rank, self.local_rank = place.rank, place.local_rank
        launched.announce(os.environ)
        _die_with_parent()
        self._note("pid", os.getpid())
        self._send_output()
        faulthandler.enable()  # a fault in compiled code has a traceback too

    def _note(self, ending: str, value: int) -> None:
        file = self.folder / f"{self.rank}.{ending}"
        if self.folder.exists() and not file.exists():  # on this machine, where the launcher reads it; the first counts
            file.write_text(str(value))

    def own(self, arguments: Sequence[str]) -> list[str]:
        """A command line in which ``{local_rank}`` stands for this one's."""
        return [argument.replace("{local_rank}", str(self.local_rank)) for argument in arguments]

    def ended(self, error: BaseException, text: str) -> None:
        """Tell of the error that ends this process, with its traceback, and end the others."""
        code = getattr(error, "code", None) if isinstance(error, SystemExit) else 1
        if code in (None, 0):
            return
        self._note("failed", code if isinstance(code, int) else 1)
        if isinstance(error, SystemExit):
            print(f"[rank{self.rank}]: SystemExit: {code}", file=sys.stderr, flush=True)
        else:
            failed(self.rank, error, text)

    def _send_output(self) -> None:
        """Send standard output and error to files, or nowhere, or to both a file and where they went."""
        redirects, tee, shown, log_dir = os.environ.get("GLASSGRAD_OUTPUT", "0|0||").split("|")
        written, both = _streams(redirects, self.local_rank), _streams(tee, self.local_rank)
        quiet = bool(shown) and str(self.local_rank) not in shown.split(",")
        for bit, name in ((1, "stdout"), (2, "stderr")):
            if not (written | both) & bit:
                if quiet:
                    os.dup2(os.open(os.devnull, os.O_WRONLY), bit)
                continue
            run, attempt = os.environ["TORCHELASTIC_RUN_ID"], os.environ["TORCHELASTIC_RESTART_COUNT"]
            top = Path(log_dir or os.path.join(tempfile.gettempdir(), f"{self.folder.name}-logs"))
            folder = top / run / f"attempt_{attempt}" / str(self.local_rank)
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(folder / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            if both & bit and not quiet:
                _double(bit, file, f"[{os.environ.get('ROLE_NAME', 'default')}{self.local_rank}]:".encode())
            else:
                os.dup2(file, bit)


def _streams(choice: str, local: int) -> int:
    """Which streams ``1``, ``3`` or ``0:1,1:3`` names for a local rank."""
    if ":" not in choice:
        return int(choice)
    return int(dict(pair.split(":") for pair in choice.split(",")).get(str(local), 0))


def _double(stream: int, file: int, start: bytes) -> None:
    """Write what goes to a stream into a file too; where it went, each line begins with ``start``."""
    before = os.dup(stream)
    source, target = os.pipe()
    os.dup2(target, stream)
    os.close(target)

    def copy() -> None:
        with os.fdopen(source, "rb") as lines:
            for line in lines:
                os.write(file, line)
                os.write(before, start + line)

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()

    def close() -> None:
        {1: sys.stdout, 2: sys.stderr}[stream].flush()
        os.dup2(before, stream)
        thread.join(5.0)

    atexit.register(close)


def current() -> Any:
    """This process as one of a job; None where it is none."""
    folder = os.environ.get("GLASSGRAD_JOB")
    if folder is None or launched.place() is None:
        launched.announce(os.environ)
        return None
    return Rank(folder)


def _program(line: list[str]) -> int:
    """The exit code of another program than a script, run as this rank (``--no-python``)."""
    rank = current()
    below = _die_with_parent if sys.platform == "linux" else None
    code = subprocess.run(line if rank is None else rank.own(line), preexec_fn=below, check=False).returncode
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(_program(sys.argv[1:]))
