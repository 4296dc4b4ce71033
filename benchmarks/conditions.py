"""What figures depend on; the same threads for every engine, and the environment to print with the results."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import glassgrad
from glassgrad.ground.runtime import cores

__all__ = ["cores", "environment", "limit", "prepared", "restarted"]

_MARK = "GLASSGRAD_BENCH_THREADS"
_LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NUM_CPU_THREADS")


def prepared(threads: int) -> bool:
    """Whether this process was started for so many threads."""
    return os.environ.get(_MARK) == str(threads)


def restarted(arguments: Sequence[str], threads: int) -> int:
    """The exit code of a fresh process whose libraries read the number of threads as they start."""
    environment = dict(os.environ, **dict.fromkeys((_MARK, *_LIBRARIES), str(threads)))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # imports are timed with their bytecode
    environment.setdefault("GLASSGRAD_NUMBA", "now")  # rows are measured as they are once kernels are compiled
    if threads == 1:
        flags = environment.get("XLA_FLAGS", "")
        environment["XLA_FLAGS"] = f"{flags} --xla_cpu_multi_thread_eigen=false".strip()
    paths = [*filter(None, [environment.get("PYTHONPATH")]), str(Path(__file__).resolve().parents[1])]
    home = str(Path(glassgrad.__file__).resolve().parents[1])
    if home not in map(sysconfig.get_path, ("purelib", "platlib")):  # a clone, perhaps not installed
        paths.append(home)
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    return subprocess.call([sys.executable, "-m", "benchmarks", *arguments], env=environment)


def limit(threads: int) -> None:
    """Keep this process to so many cores, where the system can, and tell the engines that ask to be told."""
    if hasattr(os, "sched_setaffinity") and threads < cores():
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])  # JAX and tinygrad count these
    glassgrad.set_num_threads(threads)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(threads)


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _linear_algebra() -> str:
    built: Any = np.show_config(mode="dicts")
    blas = built["Build Dependencies"]["blas"]
    text = f"{blas.get('name', 'unknown')} {blas.get('version', '')}".rstrip()
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return text
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas" and "numpy" in pool["filepath"]]
    return text + "".join(f", {pool.get('architecture')}, threads: {pool['num_threads']}" for pool in pools[:1])


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def environment(threads: int, families: Sequence[str]) -> dict[str, str]:
    """What the figures depend on."""
    rivals = {name: _version(name) for name in families if name != "glassgrad"}
    numba = os.environ.get("GLASSGRAD_NUMBA")
    return {
        "glassgrad": glassgrad.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.platform(),
        "processor": f"{_processor()} ({platform.machine()}), cores: {os.cpu_count()}",
        "threads": f"{threads} for every engine"
        + ("" if hasattr(os, "sched_setaffinity") or threads == cores() else "; JAX and tinygrad use all cores here"),
        "numpy": np.__version__,
        "BLAS": _linear_algebra(),
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE", "(unset)"),
        "numba": _version("numba") + (f", GLASSGRAD_NUMBA={numba}" if numba else ""),
        **rivals,
    }
