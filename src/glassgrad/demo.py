"""Roof: ``glassgrad demo``; a graph read aloud, derivatives as sums over paths, training on real digit scans."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

import glassgrad

from .explore.dot import make_dot
from .explore.explain import explain
from .explore.paths import paths
from .explore.text import graph_text
from .ground.output import replacing

__all__ = ["demo"]

SEED = 0
HELD_OUT = 360  # of the 1,797 scans
EPOCHS, BATCH = 30, 32
RATE, MOMENTUM, DECAY = 0.1, 0.9, 1e-4
NOISE = 0.3  # added to the grey values 0 ... 1 while training, so that no single pixel decides

Tensors = dict[str, Any]
torch: Any = glassgrad  # its functions come from a table, where type checkers do not see them


def demo(out: str) -> int:
    """Print the whole demonstration, write its files to the folder ``out``, and give the exit code."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"glassgrad demo: cannot make the folder {out!r}: {error.strerror}", file=sys.stderr)
        return 1
    files = read_a_graph(folder)
    sum_over_paths()
    try:
        files += train(folder)
    except ModuleNotFoundError as error:
        print(
            f"glassgrad demo: the training part needs {error.name}: pip install 'glassgrad[demo]' brings it",
            file=sys.stderr,
        )
        return 1
    _title("Files")
    for file in files:
        print(f"  {file.resolve()}")
    return 0


def read_a_graph(folder: Path) -> list[Path]:
    """Print and read aloud the graph of ``y = x*z + x + z``, check its paths against backward, draw it."""
    x = torch.tensor(2.0, requires_grad=True)
    z = torch.tensor(3.0, requires_grad=True)
    y = x * z + x + z
    names = {"x": x, "z": z, "y": y}
    _title("The graph of y = x*z + x + z, with x = 2 and z = 3")
    print("Each line is a node; behind <- stand the nodes to which it hands gradients, one for each of its inputs.\n")
    print(graph_text(y, names))
    print(f"\n{_wrapped(str(explain(y, names=names)))}")
    _title("Its derivatives: multiply along each path, add over the paths")
    _compare(names, "y", ("x", "z"))
    return _draw(y, names, folder)


def sum_over_paths() -> None:
    """The same for four lines with three weights, where the paths to ``w1`` part and meet again."""
    x1, x2 = torch.tensor(1.0), torch.tensor(2.0)
    w1, w2, w3 = (torch.tensor(value, requires_grad=True) for value in (1.0, 2.0, 3.0))
    x3 = w1 * x1
    x4 = w1 * x2
    x5 = w2 * x3 + w3 * x4
    L = 1 - x5
    names = {"x1": x1, "x2": x2, "w1": w1, "w2": w2, "w3": w3, "x3": x3, "x4": x4, "x5": x5, "L": L}
    _title("The same for x3 = w1*x1, x4 = w1*x2, x5 = w2*x3 + w3*x4, L = 1 - x5")
    print("with x1 = 1, x2 = 2, w1 = 1, w2 = 2, w3 = 3\n")
    _compare(names, "L", ("w1", "w2", "w3"))


def train(folder: Path) -> list[Path]:
    """Train a network on scikit-learn's scans of handwritten digits; print its losses and held-out accuracy."""
    import matplotlib  # noqa: F401 - if it is missing that should show before the training
    from sklearn.datasets import load_digits
    from tqdm import tqdm

    digits = load_digits()
    _title(f"Training on {len(digits.target):,} scans of handwritten digits, {HELD_OUT} of them held out")
    images = torch.tensor(digits.data, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    torch.manual_seed(SEED)
    order = torch.randperm(len(labels))
    held_out, training = order[:HELD_OUT], order[HELD_OUT:]

    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
    measure = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    print(model)
    losses: list[float] = []
    with tqdm(range(EPOCHS), desc="training", unit="epoch") as epochs:
        for epoch in epochs:
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1 - epoch / EPOCHS)
            shuffled = training[torch.randperm(len(training))]
            total = 0.0
            for start in range(0, len(shuffled), BATCH):
                batch = shuffled[start : start + BATCH]
                seen = images[batch] + NOISE * torch.randn(len(batch), 64)
                optimizer.zero_grad()
                loss = measure(model(seen), labels[batch])
                loss.backward()
                optimizer.step()
                total += loss.item() * len(batch)
            losses.append(total / len(training))
            epochs.set_postfix(loss=f"{losses[-1]:.4f}")

    with torch.no_grad():
        guesses = model(images[held_out]).argmax(1)
    right = int((guesses == labels[held_out]).sum().item())
    print(f"loss: {losses[0]:.4f} after the first epoch, {losses[-1]:.4f} after the last of {EPOCHS}")
    print(f"held-out accuracy: {100 * right / HELD_OUT:.2f} % ({right} of {HELD_OUT} scans it never saw)")
    return [_loss_curve(losses, folder / "loss.svg")]


def _compare(names: Tensors, root: str, ends: tuple[str, ...]) -> None:
    """Print the path sums of ``root`` by each of ``ends`` beside what backward puts into ``.grad``."""
    sums = [paths(names[root], names[end], names=names) for end in ends]
    names[root].backward()
    for end, by_paths in zip(ends, sums, strict=True):
        print(by_paths)
        print(f"  backward() put into {end}.grad: {names[end].grad.item():g}\n")


def _draw(y: Any, names: Tensors, folder: Path) -> list[Path]:
    """The graph as SVG, and as PNG where that can be made."""
    picture = make_dot(y, params=names)
    files = [Path(picture.render(folder / "graph", format="svg", cleanup=True))]
    try:
        files.append(Path(picture.render(folder / "graph", format="png", cleanup=True)))
    except ImportError as error:
        print(f"no PNG of the graph: {error}", file=sys.stderr)
    return files


def _loss_curve(losses: list[float], file: Path) -> Path:
    """The loss of each epoch as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot(xlabel="epoch", ylabel="cross-entropy", title="Loss on the training scans", yscale="log")
    axes.plot(range(1, len(losses) + 1), losses, marker=".")
    axes.grid(visible=True, alpha=0.3)
    with replacing(file) as picture:
        figure.savefig(picture, format="svg")
    return file


def _wrapped(text: str) -> str:
    """``text`` with its long lines broken, each continued under its own beginning."""
    lines = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        lines.append(textwrap.fill(line, 100, subsequent_indent=indent + "  ", break_on_hyphens=False))
    return "\n".join(lines)


def _title(words: str) -> None:
    print(f"\n{words}\n{'=' * len(words)}")
