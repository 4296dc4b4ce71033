"""A picture of how figures grow with a size, a panel for each group of rows, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .table import readable
from .timing import Result

__all__ = ["growth"]

_LINES = {  # drawn from last to first, so that ours lie on top
    "glassgrad": ("#2f6db3", "o", 2.2), "glassgrad.compile": ("#e08a1e", "o", 2.2), "torch": ("#222222", "s", 1.4),
    "torch.compile": ("#8c2d2d", "s", 1.4), "jax": ("#9a9a9a", "D", 1.0), "jax.jit": ("#5d5d5d", "D", 1.4),
    "autograd": ("#5b9a68", "^", 1.0), "mygrad": ("#8d6bb0", "v", 1.0), "micrograd": ("#c78ba5", "<", 1.0),
    "tinygrad": ("#5aa7b0", ">", 1.0),
}  # fmt: skip


def growth(results: Sequence[Result], path: str, note: str) -> None:
    """Write a picture: every engine's medians over the size that a group of rows grows along; ``note`` stands under it.

    Raises ModuleNotFoundError where Matplotlib is absent, ValueError where no rows grow along a size.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.row.along and result.figures:
            groups.setdefault(result.row.group, []).append(result)
    if not groups:
        raise ValueError("no row grows along a size: nothing to draw")
    across = min(len(groups), 2)
    down = -(-len(groups) // across)
    figure = Figure(figsize=(5.2 * across, 0.9 + 3.6 * down), layout="constrained")
    FigureCanvasAgg(figure)
    drawn: dict[str, Any] = {}
    for number, (group, rows) in enumerate(groups.items(), 1):
        drawn |= _panel(figure.add_subplot(down, across, number), group, rows)
    names = [name for name in _LINES if name in drawn]
    figure.legend(
        [drawn[name] for name in names], names,
        loc="outside upper center", ncols=min(len(names), 6), frameon=False, fontsize=9,
    )  # fmt: skip
    figure.supxlabel(note, fontsize=7, color="#555555")
    figure.savefig(path, dpi=160)


def _panel(axes: Any, group: str, rows: Sequence[Result]) -> dict[str, Any]:
    """Draw one group; gives a line for each engine in it."""
    along, unit = rows[0].row.along, rows[0].row.unit
    drawn = {}
    for name, (colour, mark, width) in reversed(_LINES.items()):
        points = [(result.row.sizes[along], value) for result in rows if (value := result.median(name)) is not None]
        if points:
            (drawn[name],) = axes.plot(
                *zip(*points, strict=True), color=colour, marker=mark, markersize=3 + width, linewidth=width,
                markeredgecolor="white", markeredgewidth=0.6,
            )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = sorted({result.row.sizes[along] for result in rows})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_title(group.removeprefix("Scaling: "), fontsize=10)
    axes.set_xlabel(along, fontsize=9)
    low, high = axes.get_ylim()
    axes.yaxis.set_major_formatter(lambda value, _: readable(value, unit))
    few = high < 100 * low  # then powers of ten alone are too few to read a figure by
    axes.yaxis.set_minor_formatter(lambda value, _: readable(value, unit) if few and f"{value:e}"[0] in "25" else "")
    if unit == "s/operation":
        axes.set_ylabel("for each operation", fontsize=9)
    axes.tick_params(which="both", labelsize=8, labelcolor="#555555")
    axes.grid(which="major", color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return drawn
