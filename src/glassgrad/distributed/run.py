"""The launcher: ``glassgrad run -m torch.distributed.run --nproc-per-node 2 train.py`` starts and watches processes.

Each runs the script with its place in the environment: RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT.
Source: https://docs.pytorch.org/docs/stable/elastic/run.html
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from .elastic.multiprocessing.errors import ChildFailedError, ProcessFailure

__all__ = ["get_args_parser", "main", "parse_args", "run"]

log = logging.getLogger(__name__)

_TAKEN = (  # options of the launcher: name, default, help
    ("nnodes", "1:1", "number of machines"),
    ("nproc-per-node", "1", "processes on this machine: a number, auto, cpu or gpu"),
    ("rdzv-backend", "static", "static, or c10d where there is one machine"),
    ("rdzv-endpoint", "", "host:port where processes meet"),
    ("rdzv-id", "none", "name of the job"),
    ("rdzv-conf", "", "accepted, without effect"),
    ("max-restarts", "0", "how often to start again after a failure"),
    ("monitor-interval", "0.1", "seconds between looks at the processes"),
    ("start-method", "spawn", "accepted: processes always start afresh"),
    ("event-log-handler", "null", "accepted, without effect"),
    ("role", "default", "name for the processes"),
    ("log-dir", None, "folder for the files of --redirects and --tee"),
    ("redirects", "0", "write output to files: 1 stdout, 2 stderr, 3 both, or by rank as in 0:1,1:3"),
    ("tee", "0", "the same, and show it too"),
    ("local-ranks-filter", "", "show output of these local ranks only"),
    ("duplicate-stdout-filters", "", "accepted, without effect"),
    ("duplicate-stderr-filters", "", "accepted, without effect"),
    ("local-addr", None, "accepted: the address of this machine"),
    ("logs-specs", None, "accepted, without effect"),
    ("numa-binding", None, "accepted, without effect"),
    ("signals-to-handle", "SIGTERM,SIGINT,SIGHUP,SIGQUIT", "accepted: these end the processes"),
    ("shutdown-timeout", "30", "seconds for processes to end before they are killed"),
)
_SWITCHES = (
    ("standalone", "one machine, at a free port"),
    ("no-python", "run a program that is no Python script"),
    ("run-path", "accepted: the script always runs as __main__"),
    ("virtual-local-rank", "accepted, without effect"),
)
_SHORT = {"redirects": "-r", "tee": "-t"}


def get_args_parser() -> argparse.ArgumentParser:
    """The parser of the launcher's command line; a default also comes from ``PET_<NAME>`` in the environment."""
    parser = argparse.ArgumentParser(prog="torchrun", description="Start a script in several processes.")

    def names(name: str) -> list[str]:
        short = [_SHORT[name]] if name in _SHORT else []
        return [*short, *dict.fromkeys((f"--{name}", f"--{name.replace('-', '_')}"))]

    for name, default, told in _TAKEN:
        default = os.environ.get("PET_" + name.upper().replace("-", "_"), default)
        parser.add_argument(*names(name), default=default, help=told)
    for name, told in _SWITCHES:
        given = os.environ.get("PET_" + name.upper().replace("-", "_"), "0") == "1"
        parser.add_argument(*names(name), action="store_true", default=given, help=told)
    parser.add_argument("-m", "--module", action="store_true", help="the script is the name of a module")
    node = int(os.environ.get("PET_NODE_RANK", "0"))
    parser.add_argument("--node-rank", "--node_rank", type=int, default=node, help="which of the machines this is")
    address = os.environ.get("PET_MASTER_ADDR", "127.0.0.1")
    parser.add_argument("--master-addr", "--master_addr", default=address, help="where rank 0 runs")
    port = os.environ.get("PET_MASTER_PORT")
    parser.add_argument("--master-port", "--master_port", type=int, default=port, help="its port (default: 29500)")
    parser.add_argument("training_script", help="the script, or with -m the module")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None) -> argparse.Namespace:
    """The options in a command line."""
    return get_args_parser().parse_args(args)


def _processes(given: str) -> int:
    if given.isdigit():
        return int(given)
    if given in ("auto", "cpu"):
        return os.cpu_count() or 1
    if given == "gpu":
        raise ValueError("Cuda is not available.")
    raise ValueError(f"Unsupported nproc_per_node value: {given}")


def _machines(given: str) -> int:
    fewest, _, most = given.partition(":")
    if most and most != fewest:
        raise ValueError(f"--nnodes {given}: a number of machines that changes is not possible here, give one number")
    return int(fewest)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def _meeting(options: argparse.Namespace, machines: int) -> tuple[str, int]:
    """Where the processes meet."""
    if options.standalone or (options.rdzv_backend != "static" and machines == 1):
        return "127.0.0.1", _free_port()
    if options.rdzv_backend != "static":
        raise ValueError(
            f"--rdzv-backend {options.rdzv_backend} over several machines is not possible here: "
            "use --node-rank, --master-addr and --master-port"
        )
    if options.rdzv_endpoint:
        host, _, port = options.rdzv_endpoint.partition(":")
        return host, int(port or 29500)
    return options.master_addr, 29500 if options.master_port is None else options.master_port


def _by_rank(given: str, local: int) -> int:
    """Which streams ``1``, ``3`` or ``0:1,1:3`` names for a local rank."""
    if ":" not in given:
        return int(given)
    return int(dict(pair.split(":") for pair in given.split(",")).get(str(local), 0))


class _Job:
    """The processes of one start."""

    def __init__(self, options: argparse.Namespace, command: list[str], attempt: int) -> None:
        self.options, self.count = options, _processes(options.nproc_per_node)
        machines = _machines(options.nnodes)
        host, port = _meeting(options, machines)
        run_id = uuid.uuid4().hex if options.standalone else options.rdzv_id
        self.folder: Path | None = None
        if options.redirects != "0" or options.tee != "0":
            top = options.log_dir or tempfile.mkdtemp(prefix="torchelastic_")
            self.folder = Path(top) / run_id / f"attempt_{attempt}"
        self.files: list[IO[bytes]] = []
        self.threads: list[threading.Thread] = []
        self.children: list[subprocess.Popen[bytes]] = []
        for local in range(self.count):
            rank = options.node_rank * self.count + local
            place = {
                "LOCAL_RANK": local, "RANK": rank, "GROUP_RANK": options.node_rank, "ROLE_RANK": rank,
                "ROLE_NAME": options.role, "LOCAL_WORLD_SIZE": self.count, "WORLD_SIZE": self.count * machines,
                "GROUP_WORLD_SIZE": machines, "ROLE_WORLD_SIZE": self.count * machines, "MASTER_ADDR": host,
                "MASTER_PORT": port, "TORCHELASTIC_RESTART_COUNT": attempt,
                "TORCHELASTIC_MAX_RESTARTS": options.max_restarts, "TORCHELASTIC_RUN_ID": run_id,
                "TORCHELASTIC_USE_AGENT_STORE": False,
            }  # fmt: skip
            environment = {**os.environ, **{name: str(value) for name, value in place.items()}}
            if self.count > 1:
                environment.setdefault("OMP_NUM_THREADS", "1")
            line = [argument.replace("{local_rank}", str(local)) for argument in command]
            self.children.append(self._start(line, environment, local))

    def _start(self, line: list[str], environment: dict[str, str], local: int) -> subprocess.Popen[bytes]:
        written, shown = _by_rank(self.options.redirects, local), _by_rank(self.options.tee, local)
        chosen = self.options.local_ranks_filter
        quiet = bool(chosen) and str(local) not in chosen.split(",")
        streams: dict[str, Any] = {}
        copies = []
        for bit, name, own in ((1, "stdout", sys.__stdout__), (2, "stderr", sys.__stderr__)):
            if not (written | shown) & bit:
                streams[name] = subprocess.DEVNULL if quiet else None
                continue
            assert self.folder is not None
            place = self.folder / str(local)
            place.mkdir(parents=True, exist_ok=True)
            file = open(place / f"{name}.log", "wb")  # noqa: SIM115 - closed when the job is over
            self.files.append(file)
            streams[name] = subprocess.PIPE if shown & bit and not quiet else file
            if streams[name] is subprocess.PIPE:
                copies.append((name, file, own))
        child = subprocess.Popen(line, env=environment, **streams)  # noqa: S603 - the user's own script
        for name, file, own in copies:
            start = f"[{self.options.role}{local}]:".encode()
            thread = threading.Thread(target=_copy, args=(getattr(child, name), file, own, start), daemon=True)
            thread.start()
            self.threads.append(thread)
        return child

    def watch(self) -> ProcessFailure | None:
        """Wait until all ended well (None), or one did not: the others are ended then."""
        try:
            while True:
                codes = [child.poll() for child in self.children]
                for local, code in enumerate(codes):
                    if code:
                        return ProcessFailure(local, self.options.node_rank * self.count + local,
                                              self.children[local].pid, code)  # fmt: skip
                if None not in codes:
                    return None
                time.sleep(float(self.options.monitor_interval))
        finally:
            self.end()

    def end(self) -> None:
        """End the processes that are still there."""
        for child in self.children:
            if child.poll() is None:
                log.warning("Sending process %s closing signal SIGTERM", child.pid)
                child.terminate()
        deadline = time.monotonic() + float(self.options.shutdown_timeout)
        for child in self.children:
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for thread in self.threads:
            thread.join(5.0)
        for file in self.files:
            file.close()


def _copy(stream: IO[bytes], file: IO[bytes], shown: Any, start: bytes) -> None:
    for line in stream:
        file.write(line)
        shown.buffer.write(start + line)
        shown.flush()


def run(args: argparse.Namespace) -> None:
    """Start the processes, again after failures as often as ``max_restarts`` says; ChildFailedError in the end."""
    if args.no_python:
        if args.module:
            raise ValueError("Don't use both the '--no-python' flag and the '--module' flag at the same time.")
        command = [args.training_script]
    else:
        # a script that imports torch means this package, as its launcher did
        command = [sys.executable, "-m", "glassgrad", "run"]
        command += ["-m", args.training_script] if args.module else [args.training_script]
    command += args.training_script_args
    attempts = int(args.max_restarts) + 1
    failures: dict[int, ProcessFailure] = {}
    for attempt in range(attempts):
        failure = _Job(args, command, attempt).watch()
        if failure is None:
            return
        log.error("failed (exitcode: %s) local_rank: %s (pid: %s)", failure.exitcode, failure.local_rank, failure.pid)
        failures = {failure.rank: failure}
    raise ChildFailedError(args.training_script, failures)


def _interrupted(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)


def main(args: Sequence[str] | None = None) -> None:
    """The command."""
    options = parse_args(args)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _interrupted)
    run(options)


if __name__ == "__main__":
    main()
