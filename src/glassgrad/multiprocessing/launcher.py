"""The launcher: ``glassgrad launch -n 4 train.py`` has ``mpiexec`` start the ranks, by the options of torchrun.

Each runs the script with its place in the environment: RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
Source: https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..ground import launched
from .failures import ChildFailedError, ProcessFailure
from .spawn import _die_with_parent

__all__ = ["former_main", "get_args_parser", "launch", "main", "parse_args", "parse_former_args", "run"]

_OPTIONS = (  # of torchrun, and two of mpiexec: name, short name, default, help
    ("nproc-per-node", "-n", "1", "ranks on each machine: a number, auto or cpu"),
    ("nnodes", "", "1", "number of machines, where --hosts does not name them"),
    ("hosts", "", "", "the machines, as in a,b: this one's mpiexec starts all"),
    ("hostfile", "", "", "a file that names them"),
    ("master-addr", "", "", "what MASTER_ADDR says"),
    ("master-port", "", "29500", "what MASTER_PORT says"),
    ("max-restarts", "", "0", "how often to start the job again after a failure"),
    ("rdzv-id", "", "none", "name of the job"),
    ("role", "", "default", "name for the ranks"),
    ("log-dir", "", "", "folder for the files of --redirects and --tee"),
    ("redirects", "-r", "0", "write output to files: 1 stdout, 2 stderr, 3 both, or by local rank as in 0:1,1:3"),
    ("tee", "-t", "0", "the same, and show it too"),
    ("local-ranks-filter", "", "", "show output of these local ranks only"),
)
_ACCEPTED = (  # what torchrun's own agent needs
    "node-rank", "rdzv-backend", "rdzv-endpoint", "rdzv-conf", "monitor-interval", "start-method", "event-log-handler",
    "duplicate-stdout-filters", "duplicate-stderr-filters", "local-addr", "logs-specs", "numa-binding",
    "signals-to-handle", "shutdown-timeout",
)  # fmt: skip
_SWITCHES = ("standalone", "run-path", "virtual-local-rank", "no-python")


def get_args_parser() -> argparse.ArgumentParser:
    """The parser of the launcher's command line; a default also comes from ``PET_<NAME>`` in the environment."""
    parser = argparse.ArgumentParser(prog="glassgrad launch", description="Start a script in several processes.")

    def add(name: str, *short: str, **settings: object) -> None:
        names = dict.fromkeys((f"--{name}", f"--{name.replace('-', '_')}"))
        parser.add_argument(*filter(None, short), *names, **settings)  # type: ignore[arg-type]

    for name, short, default, words in _OPTIONS:
        add(name, short, default=os.environ.get("PET_" + name.upper().replace("-", "_"), default), help=words)
    for name in _ACCEPTED:
        add(name, default="", help=argparse.SUPPRESS)
    for name in _SWITCHES:
        add(name, action="store_true", help="run a program that is no script" if name == "no-python" else "accepted")
    parser.add_argument("-m", "--module", action="store_true", help="the script is the name of a module")
    parser.add_argument("training_script", help="the script, or with -m the module")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """The options in a command line."""
    return get_args_parser().parse_args(args)


def _per_machine(count: str) -> int:
    if count.isdigit():
        return int(count)
    if count in ("auto", "cpu"):
        return os.cpu_count() or 1
    raise ValueError("Cuda is not available." if count == "gpu" else f"Unsupported nproc_per_node value: {count}")


def _line(options: argparse.Namespace) -> list[str]:
    """mpiexec's command line, as far as it says where ranks run and how many."""
    count, machines = _per_machine(options.nproc_per_node), int(options.nnodes.partition(":")[0])
    where: list[str] = []
    if options.hosts:
        where, machines = ["-hosts", options.hosts], len(options.hosts.split(","))
    elif options.hostfile:
        lines = Path(options.hostfile).read_text().splitlines()
        where, machines = ["-f", options.hostfile], sum(bool(line.strip()) for line in lines)
    elif machines > 1:
        raise ValueError(
            f"--nnodes {options.nnodes}: start the job once, with --hosts or --hostfile; mpiexec starts all ranks"
        )
    return [mpiexec(), "-n", str(count * machines), *(["-ppn", str(count)] if where else []), *where]


def _environment(options: argparse.Namespace, attempt: int) -> dict[str, str]:
    here = "127.0.0.1" if not (options.hosts or options.hostfile) else socket.gethostname()
    settings = {
        "MASTER_ADDR": options.master_addr or here, "MASTER_PORT": options.master_port, "ROLE_NAME": options.role,
        "TORCHELASTIC_RESTART_COUNT": str(attempt), "TORCHELASTIC_MAX_RESTARTS": options.max_restarts,
        "TORCHELASTIC_RUN_ID": options.rdzv_id,
        "GLASSGRAD_OUTPUT": "|".join((options.redirects, options.tee, options.local_ranks_filter, options.log_dir)),
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # which Open MPI asks for
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }  # fmt: skip
    if _per_machine(options.nproc_per_node) > 1:
        settings["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")
    return {**os.environ, **settings}


def run(args: argparse.Namespace) -> None:
    """Start the ranks, again after failures as often as ``max_restarts`` says; ChildFailedError in the end."""
    if args.no_python and args.module:
        raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
    runner = ["glassgrad.multiprocessing.rank"] if args.no_python else ["glassgrad", "run", *["-m"] * args.module]
    command = [sys.executable, "-m", *runner, args.training_script, *args.training_script_args]
    for left in reversed(range(int(args.max_restarts) + 1)):
        failure = Job(_line(args), command, _environment(args, int(args.max_restarts) - left)).wait()
        if failure is None:
            return
        print(f"glassgrad launch: {failure.words()}", file=sys.stderr)
        if not left:
            raise ChildFailedError(args.training_script, {failure.rank: failure})


def main(args: Sequence[str] | None = None) -> None:
    """The command."""
    try:
        run(parse_args(args))
    except KeyboardInterrupt:
        sys.exit(130)
    except (ValueError, RuntimeError) as error:
        sys.exit(f"glassgrad launch: {error}")
    except ChildFailedError as error:
        (failure,) = error.failures.values()
        sys.exit(failure.exitcode if failure.exitcode > 0 else 128 - failure.exitcode)


def parse_former_args(args: Sequence[str] | None) -> argparse.Namespace:
    """The options in a command line of the launcher before."""
    parser = get_args_parser()
    parser.add_argument("--use-env", "--use_env", action="store_true", help="tell the local rank by LOCAL_RANK only")
    return parser.parse_args(args)


def launch(args: argparse.Namespace) -> None:
    """Start the ranks as the launcher before did: ``--local-rank`` tells each where it is, unless ``--use-env``."""
    if args.no_python and not args.use_env:
        raise ValueError("When using the '--no-python' flag, you must also set the '--use-env' flag.")
    if not args.use_env:
        args.training_script_args = ["--local-rank={local_rank}", *args.training_script_args]
    run(args)


def former_main(args: Sequence[str] | None = None) -> None:
    """The command of the launcher before."""
    warnings.warn(
        "The module torch.distributed.launch is deprecated\nand will be removed in future. Use torchrun.\n"
        "Note that --use-env is set by default in torchrun.\nIf your script expects `--local-rank` argument to be "
        "set, please\nchange it to read from `os.environ['LOCAL_RANK']` instead. See \n"
        "https://pytorch.org/docs/stable/distributed.html#launch-utility for \nfurther instructions\n",
        FutureWarning,
        stacklevel=2,
    )
    launch(parse_former_args(args))


# -- a job of ranks that ``mpiexec`` starts ----------------------------------------------------------------------------
# Its command line, what the ranks print, who fails first, and its end.

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
