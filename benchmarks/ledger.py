"""What each compiled kernel earns: the same calls with it and on NumPy alone: ``python -m benchmarks.ledger``.

In turns, wall time, the median of the rounds' ratios, once on the machine as it is and once with every core kept busy
by another process. A kernel whose best row gains less than 10 % in both does not pay for its lines.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import glassgrad as torch
from glassgrad.ground.runtime import cores
from glassgrad.kernels import compiled

from .load import busy

F = torch.nn.functional
WORTH = 1.1
BATCH, WIDE = (128, 256), (1024, 1024)


def both_ways(
    call: Callable[..., Any], *shapes: tuple[int, ...], positive: bool = False
) -> Callable[[], Callable[[], Any]]:
    """A workload: the call on tensors of these shapes and the way back to all of them."""

    def prepare() -> Callable[[], Any]:
        torch.manual_seed(0)
        draw = torch.rand if positive else torch.randn
        tensors = [draw(*shape, requires_grad=True) for shape in shapes]
        seed = torch.ones_like(call(*tensors))

        def run() -> None:
            torch.autograd.grad(call(*tensors), tensors, seed)

        return run

    return prepare


def back(call: Callable[..., Any], shape: tuple[int, ...]) -> Callable[[], Callable[[], Any]]:
    """A workload: the way back alone."""

    def prepare() -> Callable[[], Any]:
        torch.manual_seed(0)
        tensor = torch.randn(*shape, requires_grad=True)
        answer = call(tensor)
        seed = torch.ones_like(answer)
        return lambda: torch.autograd.grad(answer, tensor, seed, retain_graph=True)

    return prepare


def forward(
    call: Callable[..., Any], *shapes: tuple[int, ...], positive: bool = False, dtype: Any = None
) -> Callable[[], Callable[[], Any]]:
    """A workload: the call alone."""

    def prepare() -> Callable[[], Any]:
        torch.manual_seed(0)
        tensors = [(torch.rand if positive else torch.randn)(*shape, dtype=dtype) for shape in shapes]
        return lambda: call(*tensors)

    return prepare


def layer(make: Callable[[], Any], *shape: int) -> Callable[[], Callable[[], Any]]:
    """A workload: a layer's output and the gradients of its parameters and input."""

    def prepare() -> Callable[[], Any]:
        torch.manual_seed(0)
        module, x = make(), torch.randn(*shape, requires_grad=True)

        def run() -> None:
            answer = module(x)
            (answer[0] if isinstance(answer, tuple) else answer).sum().backward()

        return run

    return prepare


def steps(make: Callable[[Any], Any]) -> Callable[[], Callable[[], Any]]:
    """A workload: a step of an optimizer over a perceptron's parameters."""

    def prepare() -> Callable[[], Any]:
        torch.manual_seed(0)
        parameters = [torch.randn(*shape, requires_grad=True) for shape in ((784, 256), (256,), (256, 10), (10,))]
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        optimizer = make(parameters)
        return lambda: optimizer.step()

    return prepare


def _elementwise(name: str) -> dict[str, Any]:
    call = getattr(F, name) if hasattr(F, name) else getattr(torch, name)
    return {f"{name} {rows}x{columns}": both_ways(call, (rows, columns)) for rows, columns in (BATCH, WIDE)}


#: For each file of kernels the rows it serves.
LEDGER: dict[str, dict[str, Callable[[], Callable[[], Any]]]] = {
    "families/activation/native.py": {
        title: workload
        for name in (
            "gelu silu softplus mish logsigmoid elu leaky_relu relu hardswish sigmoid tanh".split()
        )
        for title, workload in _elementwise(name).items()
    },
    "families/arithmetic/native.py": {
        "remainder 1024x1024": forward(torch.remainder, WIDE, WIDE, positive=True),
        "floor_divide 1024x1024": forward(torch.floor_divide, WIDE, WIDE, positive=True),
    },
    "families/attention/native.py": {
        "attention 4x4x64x32": both_ways(F.scaled_dot_product_attention, *[(4, 4, 64, 32)] * 3),
        "attention 8x8x256x64": both_ways(F.scaled_dot_product_attention, *[(8, 8, 256, 64)] * 3),
    },
    "families/batchnorm/native.py": {
        "BatchNorm2d 32x32x16x16": layer(lambda: torch.nn.BatchNorm2d(32), 32, 32, 16, 16),
        "BatchNorm1d 128x256": layer(lambda: torch.nn.BatchNorm1d(256), *BATCH),
    },
    "families/convolution/native.py, tiles.py, lowering.py, outer.py": {
        "Conv2d 8->16, 32x8x28x28": layer(lambda: torch.nn.Conv2d(8, 16, 3, padding=1), 32, 8, 28, 28),
        "Conv2d 64->64, 8x64x16x16": layer(lambda: torch.nn.Conv2d(64, 64, 3, padding=1), 8, 64, 16, 16),
        "Conv2d depthwise 16x64x16x16": layer(lambda: torch.nn.Conv2d(64, 64, 3, padding=1, groups=64), 16, 64, 16, 16),
    },
    "families/linalg/native.py": {
        "lu_factor 256": forward(torch.linalg.lu_factor, (256, 256)),
        "solve_triangular 256": forward(lambda a: torch.linalg.solve_triangular(a, a, upper=True), (256, 256)),
        "cholesky 1000x8x8": forward(lambda a: torch.linalg.cholesky(a @ a.mT + 8 * torch.eye(8)), (1000, 8, 8)),
    },
    "families/matrix/native.py; kernels/native/tiles.py": {
        "linear 128x256 by 256x256": both_ways(F.linear, BATCH, (256, 256), (256,)),
        "linear 128x784 by 256x784": both_ways(F.linear, (128, 784), (256, 784), (256,)),
        "matmul 512": both_ways(torch.matmul, (512, 512), (512, 512)),
    },
    "families/norm/native.py": {
        "layer_norm 128x256": both_ways(lambda x: F.layer_norm(x, (256,)), BATCH),
        "layer_norm 1024x1024": both_ways(lambda x: F.layer_norm(x, (1024,)), WIDE),
        "rms_norm 1024x1024": both_ways(lambda x: F.rms_norm(x, (1024,)), WIDE),
        "group_norm 32x32x16x16": both_ways(lambda x: F.group_norm(x, 8), (32, 32, 16, 16)),
    },
    "families/random/native.py": {
        "randn 1M": forward(lambda: torch.randn(1_000_000)),
        "rand 1M": forward(lambda: torch.rand(1_000_000)),
        "randperm 100,000": forward(lambda: torch.randperm(100_000)),
        "dropout 1024x1024": both_ways(lambda x: F.dropout(x, 0.5), WIDE),
        "poisson 100,000": forward(torch.poisson, (100_000,), positive=True),
    },
    "families/recurrent/native.py, gates.py": {
        "LSTM 32x20x64, 128": layer(lambda: torch.nn.LSTM(64, 128, batch_first=True), 32, 20, 64),
        "GRU 32x20x64, 128": layer(lambda: torch.nn.GRU(64, 128, batch_first=True), 32, 20, 64),
        "RNN 32x20x64, 128": layer(lambda: torch.nn.RNN(64, 128, batch_first=True), 32, 20, 64),
    },
    "families/reduce/native.py": {
        "sum 1024x1024": forward(torch.sum, WIDE),
        "sum 16 rows of 131,072": forward(lambda x: x.sum(1), (16, 131_072)),
        "var 1024x1024": forward(torch.var, WIDE),
        "amax rows": forward(lambda x: x.amax(1), WIDE),
        "prod rows": forward(lambda x: x.prod(1), WIDE),
    },
    "families/scan/native.py": {
        "cumsum rows": both_ways(lambda x: x.cumsum(1), WIDE),
        "cumprod rows": both_ways(lambda x: x.cumprod(1), WIDE, positive=True),
        "cummax rows": forward(lambda x: x.cummax(1), WIDE),
    },
    "families/scatter/native.py": {
        "embedding 10,000x64, 4,096": both_ways(
            lambda w: F.embedding(torch.arange(4096) * 7 % 10_000, w), (10_000, 64)
        ),
        "gather 1024x1024": both_ways(lambda x: x.gather(1, x.detach().argsort(1)), (256, 256)),
        "back of max_pool2d 32x16x28x28": back(lambda x: F.max_pool2d(x, 2), (32, 16, 28, 28)),
        "back of max_pool2d 3/2 16x32x32x32": back(lambda x: F.max_pool2d(x, 3, 2, 1), (16, 32, 32, 32)),
        "scatter_add 1024x1024": forward(
            lambda x: torch.zeros_like(x).scatter_add(1, (x * 512).long(), x), WIDE, positive=True
        ),
    },
    "families/softmax/native.py": {
        "softmax 128x256": both_ways(lambda x: F.softmax(x, 1), BATCH),
        "softmax 1024x1024": both_ways(lambda x: F.softmax(x, 1), WIDE),
        "log_softmax 1024x1024": both_ways(lambda x: F.log_softmax(x, 1), WIDE),
    },
    "families/sort/native.py": {"topk 5 of 1024 rows": forward(lambda x: x.topk(5, 1), WIDE)},
    "families/special/native.py": {
        f"{name} 100,000": forward(getattr(torch, name), (100_000,), positive=True)
        for name in ("erf", "erfc", "erfinv", "lgamma", "digamma")
    },
    "kernels/native/optimizer.py": {
        "Adam, MLP": steps(lambda parameters: torch.optim.Adam(parameters)),
        "SGD momentum, MLP": steps(lambda parameters: torch.optim.SGD(parameters, lr=0.01, momentum=0.9)),
        "RMSprop, MLP": steps(lambda parameters: torch.optim.RMSprop(parameters)),
        "Adagrad, MLP": steps(lambda parameters: torch.optim.Adagrad(parameters)),
    },
    "kernels/native/elementwise.py": {
        "sqrt 1024x1024": forward(torch.sqrt, WIDE, positive=True),
        "columns by rows 64x128x128": forward(torch.bmm, (64, 128, 1), (64, 1, 128)),
    },
    "kernels/native/elementary.py": {
        title: forward(getattr(torch, name), shape)
        for name in ("exp", "sin", "cos")
        for title, shape in ((f"{name} 1024x1024", WIDE), (f"{name} 128x256", BATCH))
    } | {"tanh of float64 1024x1024": forward(lambda x: x.tanh(), WIDE, dtype=torch.float64)},
}  # fmt: skip


def gain(prepare: Callable[[], Callable[[], Any]], rounds: int) -> float:
    """How much faster the workload is with compiled kernels: the median of the rounds' ratios."""
    least = compiled.least
    run = prepare()
    timings: dict[int, list[float]] = {least: [], compiled.NEVER: []}
    for elements in timings:
        with compiled.serving(elements):
            run()
            start = time.perf_counter()
            run()
            once = time.perf_counter() - start
    calls = max(1, int(0.003 / max(once, 1e-6)))
    for _ in range(rounds):
        for elements, seconds in timings.items():
            with compiled.serving(elements):
                start = time.perf_counter()
                for _ in range(calls):
                    run()
                seconds.append(time.perf_counter() - start)
    return statistics.median(plain / native for native, plain in zip(*timings.values(), strict=True))


def first_calls(workloads: Iterable[Callable[[], Callable[[], Any]]]) -> float:
    """Processor seconds that first calls take beyond second ones: to compile, where nothing is kept on disk."""
    import numba  # noqa: F401 - what importing it takes is not the kernels'

    total = 0.0
    for prepare in workloads:
        start = time.process_time()
        run = prepare()
        run()
        middle = time.process_time()
        prepare()()
        total += 2 * middle - start - time.process_time()
    return total


def compiling(title: str) -> float:
    """Processor seconds to compile all that an entry's rows call, in a fresh process with an empty directory."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "GLASSGRAD_NUMBA": "now", "NUMBA_CACHE_DIR": empty}
        code = f"from benchmarks.ledger import LEDGER, first_calls; print(first_calls(LEDGER[{title!r}].values()))"
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, env=environment)
        return float(done.stdout)


def lines(title: str) -> int:
    """The lines of the files that an entry names."""
    package = Path(torch.__file__).parent
    total, folder = 0, package
    for name in title.replace(";", ",").split(", "):
        path = package / name if "/" in name else folder / name
        folder = path.parent
        total += len(path.read_text(encoding="utf-8").splitlines())
    return total


def main() -> int:
    """Print the ledger as a table; gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", metavar="TEXT", default="", help="entries whose title contains this text")
    parser.add_argument("--rounds", metavar="N", type=int, default=15, help="(default: %(default)s)")
    options = parser.parse_args()
    if compiled.least == compiled.NEVER:
        print("Numba is not installed: there is nothing to measure", file=sys.stderr)
        return 2
    print("| Kernels | Lines | Compiled in | Gain of each row: quiet/busy |\n| --- | --- | --- | --- |")
    for title, workloads in LEDGER.items():
        if options.only not in title:
            continue
        quiet = {name: gain(prepare, options.rounds) for name, prepare in workloads.items()}
        with busy(cores()):
            loaded = {name: gain(prepare, options.rounds) for name, prepare in workloads.items()}
        gains = ", ".join(f"{name} {quiet[name]:.2f}/{loaded[name]:.2f}" for name in workloads)
        if max(*quiet.values(), *loaded.values()) < WORTH:
            gains += f"; **does not earn {WORTH - 1:.0%}**"
        print(f"| `{title}` | {lines(title)} | {compiling(title):.1f} s | {gains} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
