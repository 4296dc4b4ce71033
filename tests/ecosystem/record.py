"""Runs the scripts of ``work/`` and reads what they show; under PyTorch it writes the numbers that tests compare with.

``python -m tests.ecosystem.record --python PYTHON einops`` runs under one that has PyTorch and the packages.
``--measure OURS`` runs a second interpreter too, which has glassgrad and no PyTorch, and prints the cells that
docs/ecosystem.md has of what both cost; ``--one-thread`` keeps both to one. Where OURS has Numba, it runs with an empty
cache first ("cold"), and then with what that left ("warm").
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from typing import NamedTuple

from tests.ecosystem.packages import NEEDS, WORK

RECORDED = WORK.parent / "recorded.json"
MARK = "SHOWN "


def script(name):
    """The script of a name."""
    return WORK / f"run_{name}.py"


def shown(text):
    """What a script printed, by name."""
    return dict(json.loads(line[len(MARK) :]) for line in text.splitlines() if line.startswith(MARK))


def run(command, name, **environment):
    """Run a script: what it shows, the processor's seconds, the clock's, and the peak of memory in MiB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            [*command, str(script(name))], stdout=out, stderr=err, cwd=tempfile.gettempdir(),
            env={**os.environ, **environment},
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
        out.seek(0)
        err.seek(0)
        if child.returncode:
            raise RuntimeError(f"{name} ended with {child.returncode}:\n{err.read()[-3000:]}")
        return shown(out.read()), usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024


class Cost(NamedTuple):
    """The processor's seconds of a whole process, the clock's, and the peak of memory in MiB."""

    processor: float
    clock: float
    memory: float

    def __str__(self):
        return f"{self.processor:.1f} s, {self.memory:.0f} MiB"


def measured(ours, theirs, name, repeats, **environment):
    """What a script costs: ours with an empty cache of kernels and with a full one, and theirs; of each the least."""
    costs = []
    with tempfile.TemporaryDirectory() as cache:
        environment["NUMBA_CACHE_DIR"] = cache
        cold = Cost(*run(ours, name, **environment)[1:])
        for _ in range(repeats):  # in turn
            costs.append([Cost(*run(command, name, **environment)[1:]) for command in (ours, theirs)])
    return cold, *(Cost(*map(min, zip(*runs, strict=True))) for runs in zip(*costs, strict=True))


def differences(ours, theirs, path=""):
    """Where two values differ: numbers by more than one in 10,000 (or 0.00001), all else at all."""
    if type(ours) in (int, float) and type(theirs) in (int, float):
        both_nan = ours != ours and theirs != theirs
        return [] if both_nan or abs(ours - theirs) <= 1e-5 + 1e-4 * abs(theirs) else [f"{path}: {ours} != {theirs}"]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [line for index, pair in pairs for line in differences(*pair, f"{path}[{index}]")]
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [line for key in ours for line in differences(ours[key], theirs[key], f"{path}[{key!r}]")]
    return [] if ours == theirs else [f"{path}: {ours!r} != {theirs!r}"]


def main(argv=None):
    """Record, or measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(NEEDS))
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="what starts a script under PyTorch")
    parser.add_argument("--measure", metavar="OURS", help="a Python that has glassgrad")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--one-thread", action="store_true")
    options = parser.parse_args(argv)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1") if options.one_thread else {}
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    for name in options.names or sorted(NEEDS):
        if options.measure:
            command = [options.measure, "-m", "glassgrad", "run"]
            try:
                costs = measured(command, options.python, name, options.repeats, **threads)
            except RuntimeError as failure:
                costs = (failure,)
            print(name, *costs, sep=" | ", flush=True)
            continue
        package = NEEDS[name][0].partition("==")[0]
        recorded[name] = {"torch": metadata.version("torch"), package: metadata.version(package),
                          "shown": run(options.python, name)[0]}  # fmt: skip
        text = json.dumps(recorded, sort_keys=True, separators=(",", ":"))
        RECORDED.write_text(text.replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    sys.exit(main())
