"""A picture of the ratios to torch, a bar for each row on a logarithmic scale."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from .timing import Result

__all__ = ["plot"]

_COLOURS = {"glassgrad": "#2f6db3", "glassgrad.compile": "#e08a1e"}
_MARKS = {"torch.compile": ("s", "#8c2d2d"), "jax.jit": ("D", "#4d4d4d")}


def plot(results: Sequence[Result], path: str, note: str) -> None:
    """Write a picture: how many times as fast (or small) as torch eager each row is; ``note`` stands under it.

    Raises ModuleNotFoundError where Matplotlib is absent, ValueError where no row has torch's figure.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = [result for result in results if result.ratio("torch", "glassgrad") is not None]
    if not shown:
        raise ValueError("no row was measured beside torch: nothing to draw")
    ours = [name for name in _COLOURS if any(result.ratio("torch", name) for result in shown)]
    marks = [name for name in _MARKS if any(result.ratio("torch", name) for result in shown)]
    figure = Figure(figsize=(10, 1.7 + 0.42 * len(shown)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    thick = 0.78 / len(ours)
    for name in ours:
        for line, result in enumerate(shown):
            ratio, pairs = result.ratio("torch", name), result.ratios("torch", name)
            if ratio is None or pairs is None:
                continue
            here = [one for one in ours if result.ratio("torch", one) is not None]
            height = line + (here.index(name) - (len(here) - 1) / 2) * thick
            low, high = _middle(pairs)
            axes.barh(
                height, ratio - 1, thick * 0.92, left=1, color=_COLOURS[name],
                xerr=[[ratio - low], [high - ratio]], error_kw={"elinewidth": 0.8, "ecolor": "#333333"},
                label=name if line == _first(shown, name) else None, zorder=2,
            )  # fmt: skip
            right = ratio >= 1
            axes.annotate(
                f"{ratio:.0f}x" if ratio >= 10 else f"{ratio:.1f}x" if ratio >= 1.95 else f"{ratio:.2f}x",
                (high if right else low, height), xytext=(4 if right else -4, 0),
                textcoords="offset points", ha="left" if right else "right", va="center", fontsize=8, zorder=5,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
            )  # fmt: skip
    for name in marks:
        shape, colour = _MARKS[name]
        points = [(ratio, line) for line, result in enumerate(shown) if (ratio := result.ratio("torch", name))]
        across, down = zip(*points, strict=True)
        axes.scatter(
            across, down, 26, color=colour, marker=shape, edgecolors="white", linewidths=0.6, label=name, zorder=4
        )
    axes.axvline(1, color="black", linewidth=1.2, zorder=3)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(min(low / 1.4, 0.5), max(high * 1.6, 4))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    if axes.get_xlim()[1] / axes.get_xlim()[0] < 200:
        axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}x" if f"{value:e}"[0] in "25" else "")
    else:  # there is no room for more numbers
        axes.xaxis.set_minor_formatter("")
    axes.tick_params(axis="x", which="both", labelsize=8, labelcolor="#555555")
    axes.set_yticks(range(len(shown)), [result.row.title.replace("`", "") for result in shown], fontsize=9)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.grid(axis="x", color="#dddddd", zorder=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("times as fast (or as small) as torch eager;\nlines: the middle half of the rounds", fontsize=9)
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: [*ours, *marks].index(labels[i]))
    figure.legend(
        [handles[i] for i in order], [labels[i] for i in order],
        loc="outside upper right", ncols=len(order), frameon=False, fontsize=9,
    )  # fmt: skip
    figure.supxlabel(note, fontsize=7, color="#555555")
    figure.savefig(path, dpi=160)


def _middle(pairs: Sequence[float]) -> tuple[float, float]:
    """Where the middle half of the rounds lies."""
    if len(pairs) < 2:
        return pairs[0], pairs[0]
    quarters = statistics.quantiles(pairs, n=4, method="inclusive")
    return quarters[0], quarters[2]


def _first(shown: Sequence[Result], name: str) -> int:
    """The first line that has a bar of the column."""
    return next(line for line, result in enumerate(shown) if result.ratio("torch", name) is not None)
