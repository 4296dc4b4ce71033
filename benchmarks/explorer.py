"""What the explorer costs, next to torchviz with dot, torchview and torchlens: ``python -m benchmarks.explorer``.

Three graphs of one kind, a GPT of layers written by hand, of about 1,500, 10,000 and 100,000 nodes; and how much longer
a forward pass takes inside ``record()``. Every tool draws the same PyTorch model; one that is not installed is named.
All times are processor time, that of ``dot`` included; a tool is given sixty seconds by the clock.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.metadata
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

LIMIT = 60.0
#: Blocks of the GPT that give about 1,500, 10,000 and 100,000 nodes.
SIZES = (20, 137, 1_370)


def gpt(engine: Any, blocks: int, width: int = 16, heads: int = 2, length: int = 8, batch: int = 2) -> Any:
    """A GPT with attention written out, and a batch for it."""
    nn, functional = engine.nn, engine.nn.functional

    class Attention(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            b, n, d = x.shape
            q, k, v = (t.view(b, n, heads, d // heads).transpose(1, 2) for t in self.qkv(x).split(d, dim=2))
            weights = functional.softmax(q @ k.transpose(-2, -1) * (d // heads) ** -0.5, dim=-1)
            return self.out((weights @ v).transpose(1, 2).reshape(b, n, d))

    class Block(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.attention, self.norm2 = nn.LayerNorm(width), Attention(), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attention(self.norm1(x))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.token, self.position = nn.Embedding(65, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(blocks)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 65)

        def forward(self, x: Any) -> Any:
            x = self.token(x) + self.position(engine.arange(x.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    engine.manual_seed(0)
    return GPT(), engine.randint(0, 65, (batch, length))


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """The processor time that something takes, and what it gives; rubbish is collected before."""
    gc.collect()
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def explored(engine: Any, size: int) -> list[str]:
    """The row of one graph: nodes, the time of each part, the sizes of page and data."""
    from glassgrad.explore import read, record
    from glassgrad.explore.page.contents import contents
    from glassgrad.explore.page.write import page_html

    model, batch = gpt(engine, size)
    with record(model) as recording:
        loss = model(batch).float().mean()
    gc.freeze()
    took, graph = seconds(lambda: read(loss, model=model, record=recording))
    laid, _ = seconds(lambda: contents(graph))
    wrote, page = seconds(lambda: page_html(graph))
    gc.unfreeze()
    return [
        f"{len(graph.nodes):,} ({graph.totals['ops']:,} operations)", readable(took), readable(laid), readable(wrote),
        f"{took + wrote:.2f} s", f"{len(page) / 1000:,.0f} KB",
    ]  # fmt: skip


def readable(value: float) -> str:
    """Seconds with a fitting unit."""
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.0f} ms"


# -- the others, each in a process of its own ------------------------------------------------------------------------

PROGRAMS = {
    "torchviz + dot": (
        ("torchviz", "graphviz"),
        "import torchviz\ndot = torchviz.make_dot(model(batch).float().mean(), params=dict(model.named_parameters()))\n"
        "dot.render(folder + '/graph', format='svg')\n",
    ),
    "torchview": (
        ("torchview", "graphviz"),
        "import torchview\ndrawn = torchview.draw_graph(model, input_data=batch, expand_nested=True, depth=9)\n"
        "drawn.visual_graph.render(folder + '/graph', format='svg')\n",
    ),
    "torchlens": (
        ("torchlens",),
        "import torchlens\nlog = torchlens.trace(model, batch)\n",
    ),
}  # fmt: skip
PROGRAM = """
import os, resource, sys, time, warnings
warnings.simplefilter("ignore")
sys.setrecursionlimit(10_000)
import torch
torch.set_num_threads(1)
from benchmarks.explorer import gpt
model, batch = gpt(torch, {blocks})
folder = {folder!r}
start = time.process_time()
{program}
below = resource.getrusage(resource.RUSAGE_CHILDREN)
print("took", time.process_time() - start + below.ru_utime + below.ru_stime)
"""


def other(tool: str, size: int) -> str:
    """The seconds that another tool takes for the same PyTorch model, or why there are none."""
    needed, program = PROGRAMS[tool]
    for package in needed:
        try:
            importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return f"not installed ({package})"
    if "graphviz" in needed and shutil.which("dot") is None:
        return "not installed (dot)"
    with tempfile.TemporaryDirectory() as folder:
        text = PROGRAM.format(blocks=size, folder=folder, program=program)
        process = subprocess.Popen(
            [sys.executable, "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)  # with the ``dot`` that it started
            process.communicate()
            return f"> {LIMIT:.0f} s"
    for line in out.splitlines():
        if line.startswith("took "):
            return f"{float(line[5:]):.2f} s"
    last = errors.strip().splitlines()[-1] if errors.strip() else f"ended with {process.returncode}"
    return f"failed: {last[:60]}"


# -- what record() costs ----------------------------------------------------------------------------------------------


def loop(engine: Any) -> Callable[[], Any]:
    """Two hundred operations on single numbers."""
    x, z = (engine.tensor(v, requires_grad=True) for v in (0.3, 0.4))

    def step() -> Any:
        y = x
        for _ in range(100):
            y = y * z + x
        return y

    return step


def tinynet(engine: Any) -> Callable[[], Any]:
    """TinyNet 2-3-1 and its loss, batch 10."""
    nn = engine.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    criterion, x, y = nn.MSELoss(), engine.randn(10, 2), engine.randn(10, 1)
    return lambda: criterion(model(x), y)


def mlp(engine: Any) -> Callable[[], Any]:
    """An MLP 784-256-10 and its loss, batch 64."""
    nn = engine.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    criterion, x, y = nn.CrossEntropyLoss(), engine.randn(64, 784), engine.randint(10, (64,))
    return lambda: criterion(model(x), y)


def transformer(engine: Any) -> Callable[[], Any]:
    """A GPT of 4 layers, 128 wide, batch 12 of 64."""
    model, batch = gpt(engine, 4, 128, 4, 64, 12)
    return lambda: model(batch)


RECORDED = {
    "200 operations on numbers": loop, "TinyNet 2-3-1, batch 10": tinynet, "MLP 784-256-10, batch 64": mlp,
    "GPT, 4 layers, 128 wide, batch 12 x 64": transformer,
}  # fmt: skip


def factor(step: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Processor seconds of a forward pass outside and inside ``record()``: the best of many, taken in turns."""
    from glassgrad.explore import record

    def once(times: int) -> float:
        start = time.process_time()
        for _ in range(times):
            step()
        return (time.process_time() - start) / times

    step()
    times = max(int(0.005 / max(min(once(2) for _ in range(3)), 1e-6)), 1)
    outside, inside = [], []
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        outside += [once(times) for _ in range(3)]
        with record():
            step()
            inside += [once(times) for _ in range(3)]
    gc.unfreeze()
    return min(outside), min(inside)


# -- graphs of other forms, to a million nodes, in a process each ---------------------------------------------------


def chain(engine: Any, nodes: int) -> tuple[Any, Any]:
    """One operation after the other."""
    x = y = engine.ones(3, requires_grad=True)
    for _ in range(nodes):
        y = y * 1.5
    return y.sum(), x


def wide(engine: Any, nodes: int) -> tuple[Any, Any]:
    """Many parameters side by side, each of a few operations, added up two by two."""
    leaves = [engine.ones(4, requires_grad=True) for _ in range(nodes // 8)]
    ends = [((leaf * 2 + 1).tanh() * leaf).exp() for leaf in leaves]
    while len(ends) > 1:
        ends = [a + b for a, b in zip(ends[::2], ends[1::2], strict=False)] + ends[len(ends) & ~1 :]
    return ends[0].sum(), leaves[0]


def unrolled(engine: Any, nodes: int) -> tuple[Any, Any]:
    """One weight, used in every step."""
    w, y = engine.ones(3, requires_grad=True), engine.ones(3)
    for _ in range(nodes // 3):
        y = (y * w).sin() + w
    return y.sum(), w


FORMS = {"chain": chain, "wide": wide, "unrolled": unrolled}
STAGES = ("build", "text", "why", "paths", "read", "page")


def scaled(engine: str, form: str, nodes: int) -> str:
    """The row of one graph, which a process of its own prints: seconds of each question, and the most memory."""
    code = f"from benchmarks.explorer import measured; measured({engine!r}, {form!r}, {nodes})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or f"failed: {done.stderr.strip().splitlines()[-1:]}"


def measured(name: str, form: str, nodes: int) -> None:
    """Print the cells of :func:`scaled`."""
    import resource

    from glassgrad.explore import graph_text, paths, read, why
    from glassgrad.explore.page.write import page_html

    engine = importlib.import_module(name)
    engine.set_num_threads(1)
    took, (loss, leaf) = seconds(lambda: FORMS[form](engine, nodes))
    times = [took, seconds(lambda: graph_text(loss))[0], seconds(lambda: why(loss, leaf))[0]]
    times.append(seconds(lambda: paths(loss, leaf, limit=1))[0])
    took, graph = seconds(lambda: read(loss))
    page, _ = seconds(lambda: page_html(graph))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(" | ".join([*map(readable, [*times, took, page]), f"{most:.1f} GB"]))
    sys.stdout.flush()
    os._exit(0)  # freeing a million nodes is none of the questions


def versions() -> list[str]:
    """What the figures depend on."""
    import glassgrad

    lines = [f"python: {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"]
    lines += [f"glassgrad: {glassgrad.__version__}"]
    for package in ("numpy", "torch", "torchviz", "torchview", "torchlens", "graphviz"):
        try:
            lines.append(f"{package}: {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            lines.append(f"{package}: not installed")
    dot = shutil.which("dot")
    if dot is None:
        return [*lines, "dot: not installed"]
    process = subprocess.run([dot, "-V"], capture_output=True, text=True, check=False)
    return [*lines, f"dot: {process.stderr.strip()}"]


def main() -> None:
    """Print the tables."""
    import torch

    import glassgrad

    parser = argparse.ArgumentParser(prog="python -m benchmarks.explorer", description=__doc__)
    parser.add_argument("--short", action="store_true", help="the smallest graph and few rounds, to see that it runs")
    parser.add_argument(
        "--only", default="", choices=["", "graphs", "record", "others", "scale"], help="one of the tables"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("\n".join(versions()))
    sizes = SIZES[:1] if options.short else SIZES
    if options.only in ("", "graphs"):
        print("\n| graph of | engine | nodes | model | layout | page with layout | in all | file |\n|" + "---|" * 8)
        for size in sizes:
            for engine in (glassgrad, torch):
                row = explored(engine, size)
                print(f"| {size:,} blocks | {engine.__name__} | {' | '.join(row)} |", flush=True)
    if options.only in ("", "others"):
        print(f"\n| graph of | {' | '.join(PROGRAMS)} |\n|" + "---|" * (1 + len(PROGRAMS)))
        for size in sizes:
            print(f"| {size:,} blocks | {' | '.join(other(tool, size) for tool in PROGRAMS)} |", flush=True)
    if options.only in ("", "scale"):
        print(f"\n| form | engine | nodes | {' | '.join(STAGES)} | most memory |\n|" + "---|" * (4 + len(STAGES)))
        for nodes in (1_000,) if options.short else (100_000, 1_000_000):
            for form in FORMS:
                for name in ("glassgrad", "torch"):
                    print(f"| {form} | {name} | {nodes:,} | {scaled(name, form, nodes)} |", flush=True)
    if options.only in ("", "record"):
        print("\n| forward pass | engine | outside | inside record() | factor |\n|" + "---|" * 5)
        factors = []
        for name, make in RECORDED.items():
            for engine in (glassgrad, torch):
                outside, inside = factor(make(engine), 2 if options.short else 30 if make is not transformer else 6)
                factors.append(inside / outside)
                print(
                    f"| {name} | {engine.__name__} | {outside * 1e6:,.0f} us | {inside * 1e6:,.0f} us "
                    f"| {inside / outside:.2f}x |",
                    flush=True,
                )
        print(f"\nmiddle factor: {statistics.median(factors):.2f}x")


if __name__ == "__main__":
    main()
