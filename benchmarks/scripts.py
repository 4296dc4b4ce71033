"""Whole scripts, from the start of Python to its end: ``python -m benchmarks.scripts [--steps 20 200] [NAME ...]``.

Each example runs as a user would run it: on PyTorch; on glassgrad without Numba, with Numba and an empty directory of
compiled kernels (cold), and again (warm). Wall seconds of the whole process, imports included; the less of two runs,
but for the cold one, which there is only once.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NAMES = (
    "names_bigram", "names_mlp", "digits_mlp", "digits_cnn", "lstm_names", "char_gpt", "vae", "graph_network",
    "reinforce",
)  # fmt: skip
NO_NUMBA = {"GLASSGRAD_NUMBA": "0"}


def seconds(name: str, steps: int, engine: str, **environment: str) -> float:
    """Wall seconds of an example on ``torch`` or ``glassgrad``; RuntimeError with what it wrote, where it fails."""
    script = [str(EXAMPLES / f"{name}.py"), "--steps", str(steps)]
    command = [sys.executable, *(["-m", "glassgrad", "run"] if engine == "glassgrad" else []), *script]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    taken = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"{name} on {engine}: {done.stderr}")
    return taken


def row(name: str, steps: int) -> str:
    """A row of the table."""
    torch = numba = cold = warm = None
    if find_spec("torch") is not None:
        torch = min(seconds(name, steps, "torch") for _ in range(2))
    plain = min(seconds(name, steps, "glassgrad", **NO_NUMBA) for _ in range(2))
    if find_spec("numba") is not None:
        with tempfile.TemporaryDirectory() as numba:
            kept = {"GLASSGRAD_NUMBA": "", "NUMBA_CACHE_DIR": numba}
            cold = seconds(name, steps, "glassgrad", **kept)
            warm = min(seconds(name, steps, "glassgrad", **kept) for _ in range(2))
    cells = ["-" if figure is None else f"{figure:.1f} s" for figure in (torch, cold, warm, plain)]
    return f"| {name} | {steps:,} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scripts", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="+", default=[20, 200, 2000])
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"examples: {', '.join(NAMES)}")
    options = parser.parse_args()
    print("| script | steps | PyTorch | Numba, cold | Numba, warm | NumPy alone |\n|---|---|---|---|---|---|")
    for name in options.names or NAMES:
        for steps in options.steps:
            print(row(name, steps), flush=True)


if __name__ == "__main__":
    main()
