"""A job of ranks that ``mpiexec`` starts: its command line, what the ranks print, who fails first, and its end."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..ground import launched
from .failures import ProcessFailure
from .spawn import _die_with_parent

__all__ = ["Job", "mpiexec"]

_REPORT = b"\n" + 83 * b"=" + b"\n=   BAD TERMINATION"  # with which mpiexec tells of one rank that ended, not the first
# each rank's shell notes how it ended, also by a signal, before mpiexec hears of it
_NOTING = """"$@"; code=$?; [ $code = 0 ] || { set -C; echo $code > \
"$GLASSGRAD_JOB/${PMI_RANK-$OMPI_COMM_WORLD_RANK}.failed"; } 2>&-; exit $code"""


def mpiexec() -> str:
    """The launcher of the MPI that is installed beside this Python, or the system's."""
    beside = Path(sys.executable).parent
    command = shutil.which("mpiexec", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if command is None or importlib.util.find_spec("mpi4py") is None:
        missing = "mpiexec" if command is None else "mpi4py"
        raise RuntimeError(f"{missing} is missing: pip install 'glassgrad[mpi]' brings an MPI, its launcher and mpi4py")
    return command


def without_report(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What ranks print, as soon as it comes, and not the report of mpiexec, which ends it."""
    kept = b""
    for piece in pieces:
        shown, start, kept = (kept + piece).partition(_REPORT)
        begun = next((n for n in range(len(_REPORT), 0, -1) if not start and shown.endswith(_REPORT[:n])), 0)
        yield shown[: len(shown) - begun]
        kept = shown[len(shown) - begun :] + start + kept
    if not kept.startswith(_REPORT):
        yield kept


class Job:
    """mpiexec with all ranks: its own command line, that of each rank, and the environment of all.

    Ranks write notes into a folder of the job: their numbers, and how they ended.
    """

    def __init__(self, line: Sequence[str], command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="glassgrad-job-")
        self.folder = Path(self._folder.name)
        noting = ["sh", "-c", _NOTING, "rank"] if sys.platform != "win32" else []
        below = _die_with_parent if sys.platform == "linux" else None  # killed itself, it leaves nothing behind
        self.process = subprocess.Popen(
            [*line, *noting, *command], env={**environment, "GLASSGRAD_JOB": self._folder.name},
            stdout=subprocess.PIPE, start_new_session=True, preexec_fn=below,  # noqa: PLW1509
        )  # fmt: skip
        self.copier = threading.Thread(target=self._copy, daemon=True)
        self.copier.start()

    def _copy(self) -> None:
        """Show what ranks print at once."""
        assert self.process.stdout is not None and sys.__stdout__ is not None
        source = self.process.stdout.fileno()
        for piece in without_report(iter(lambda: os.read(source, 1 << 16), b"")):
            sys.__stdout__.buffer.write(piece)
            sys.__stdout__.flush()

    def wait(self) -> ProcessFailure | None:
        """None once all have ended well, or how the first failed, whether or not mpiexec noticed that."""
        seen = 0.0
        with self._folder:
            try:
                while (code := self.process.poll()) is None:
                    if not seen and list(self.folder.glob("*.failed")):
                        seen = time.monotonic()
                    if seen and time.monotonic() - seen > 1.0:
                        self._end()
                    time.sleep(0.02)
            finally:
                self._end()
            self.copier.join(5.0)
            return self._failure(code) if code else None

    def _end(self) -> None:
        """End mpiexec, which ends its ranks; then whatever of them is still there."""
        pids = [file.read_text() for file in self.folder.glob("*.pid")]
        for pid in pids:
            launched.take_names_away(pid)
        for way in (self.process.terminate, self.process.kill):
            if self.process.poll() is None:
                way()
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(2.0)
        for pid in pids:
            with suppress(OSError, ValueError):
                os.kill(int(pid), signal.SIGKILL)

    def _failure(self, code: int) -> ProcessFailure:
        """Which rank of this machine failed first, as its notes tell; else how mpiexec ended."""
        notes = sorted(self.folder.glob("*.failed"), key=lambda each: each.stat().st_mtime_ns)
        if not notes:
            return ProcessFailure(-1, -1, -1, code)
        rank, code = int(notes[0].stem), int(notes[0].read_text() or code)
        started = self.folder / f"{rank}.pid"
        pid = int(started.read_text()) if started.exists() else -1
        return ProcessFailure(rank, rank, pid, code if code < 128 else 128 - code)
