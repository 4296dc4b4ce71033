"""``python -m benchmarks``; chooses rows and rivals, runs them, and prints tables, JSON and a picture."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from . import rows as catalogue
from .conditions import cores, environment, limit, prepared, restarted
from .engines import COLUMNS, ENVIRONMENT, OURS
from .fresh import FRESH, fresh
from .growth import growth
from .load import busy
from .plot import plot
from .seats import Process
from .table import data, tables, verdicts
from .timing import Different, measure

__all__ = ["arguments", "main"]

DESCRIPTION = """Measure glassgrad beside PyTorch and other engines: the same work, seeds and threads, results compared
before timing, runs in turns, medians, ratios round by round with their spread. Above 1x glassgrad is faster."""


def _rivals(text: str) -> list[str]:
    names = [name for name in (part.strip() for part in text.split(",")) if name]
    for name in names:
        if name not in COLUMNS[len(OURS) :]:
            raise argparse.ArgumentTypeError(f"{name!r} is no rival: choose from {', '.join(COLUMNS[len(OURS) :])}")
    return names


def _columns(rivals: Sequence[str] | None, short: bool) -> tuple[list[str], dict[str, str]]:
    """The columns to measure, a rival's name standing for its compiled columns too, and those left out."""
    named = set(COLUMNS if rivals is None else rivals)
    wanted = [name for name in COLUMNS if name in OURS or {name, name.partition(".")[0]} & named]
    if short and "torch.compile" in wanted and "torch.compile" not in (rivals or ()):
        wanted.remove("torch.compile")
        return wanted, {"torch.compile": "left out of the short mode unless --rivals names it"}
    return wanted, {}


def _companies(columns: Sequence[str]) -> list[list[str]]:
    """Which columns share a process: those of a family, but for those that need an environment of their own."""
    companies: dict[str, list[str]] = {}
    for name in columns:
        companies.setdefault(name if name in ENVIRONMENT else name.partition(".")[0], []).append(name)
    return list(companies.values())


def arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of the benchmark."""
    parser.add_argument("what", nargs="?", choices=("goals", "scaling"), default="goals", help="(default: %(default)s)")
    parser.add_argument("--scaling", action="store_true", help="the same as `scaling`")
    parser.add_argument(
        "--short",
        action="store_true",
        help="few rounds and smaller sizes, under 3 minutes, without torch.compile unless --rivals names it: "
        "to see that it runs, not for its figures",
    )
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose name or workload contains this text")
    parser.add_argument(
        "--rivals",
        metavar="LIST",
        type=_rivals,
        help="names with commas between them, such as torch,jax (default: all that are installed)",
    )
    parser.add_argument(
        "--threads", metavar="N", type=int, default=cores(), help="for every engine (default: %(default)s)"
    )
    parser.add_argument("--busy", action="store_true", help="with each core kept busy by another process")
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    parser.add_argument("--plot", metavar="FILE", help="draw the ratios there, .png or .svg (needs matplotlib)")
    parser.add_argument(
        "--page", metavar="FILE", help="write what is printed there as Markdown, its picture beside it (as --plot)"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0, 1 where engines computed different things, 2 for wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=DESCRIPTION)
    arguments(parser)
    options = parser.parse_args(words)
    if options.threads < 1:
        parser.error("--threads: at least 1")
    for name in ("json", "plot", "page"):  # before minutes have gone into measuring
        path = getattr(options, name)
        if path and not Path(path).absolute().parent.is_dir():
            parser.error(f"--{name}: there is no folder {str(Path(path).parent)!r}")
    listed = catalogue.scaling if options.scaling or options.what == "scaling" else catalogue.rows
    chosen = [
        row
        for row in listed(options.short)
        if options.only.lower() in f"{row.title} {row.workload}".lower()
    ]
    if not chosen:
        parser.error(f"--only: no row contains {options.only!r}")
    if not prepared(options.threads):
        return restarted(words, options.threads)
    try:
        with busy(cores() if options.busy else 0):
            _run(options, chosen, words)
    except (Different, RuntimeError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace, chosen: Sequence[catalogue.Row], words: Sequence[str]) -> None:
    start = time.perf_counter()
    page = [f"# Measured by `{' '.join(['python -m benchmarks', *words])}`\n"]

    def tell(text: str) -> None:
        print(text, flush=True)
        page.append(text)

    limit(options.threads)
    wanted, absent = _columns(options.rivals, options.short)
    processes = [Process(columns, options.threads) for columns in _companies(wanted)]
    seats = [seat for process in processes for seat in process.seats]
    for process in processes:
        absent |= process.absent
    conditions = environment(options.threads, list(dict.fromkeys(name.partition(".")[0] for name in wanted)))
    if options.busy:
        conditions["load"] = f"{cores()} other processes that keep a core busy each"
    tell("\n".join(f"- {key}: {value}" for key, value in conditions.items()))
    tell("\n".join(f"- {name}: {reason}" for name, reason in absent.items() if reason))
    tell("- ratios: torch / glassgrad, medians over rounds (min..max)\n")
    results = []
    groups = list(dict.fromkeys(row.group for row in chosen))
    for group in groups:
        part = []
        for row in chosen:
            if row.group == group:
                print(f"measuring: {row.title}", file=sys.stderr, end="", flush=True)
                begin = time.perf_counter()
                part.append(fresh(row, [seat.name for seat in seats]) if row.workload in FRESH else measure(row, seats))
                print(f" ({time.perf_counter() - begin:.1f} s)", file=sys.stderr, flush=True)
        tell(tables(group, part))
        results += part
    for process in processes:
        process.close()
    goals = [one for result in results for one in verdicts(result)]
    taken = time.perf_counter() - start
    met = f"{sum(one['verdict'] == 'met' for one in goals)} of {len(goals)} goals met; " if goals else ""
    short = " (short mode: its figures are not for comparing)" if options.short else ""
    tell(f"{met}{taken:.0f} s in all{short}")
    if options.json:
        whole: dict[str, Any] = {"environment": conditions, "absent": absent, "short": options.short, "seconds": taken}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({**whole, "rows": data(results)}, file, indent=1)
    pictures = [options.plot] if options.plot else []
    if options.page:
        picture = Path(options.page).with_suffix(".png")
        drawn = find_spec("matplotlib") is not None and any(result.ratio("torch", "glassgrad") for result in results)
        page.append(f"\n![Ratios to PyTorch]({picture.name})" if drawn else "- no picture: no Matplotlib, or no torch")
        Path(options.page).write_text("\n".join([*page, ""]), encoding="utf-8")
        pictures += [str(picture)] * drawn
    named = [name for name in ("glassgrad", "torch", "jax", "numpy", "BLAS", "numba") if name in conditions]
    versions = ", ".join(f"{name} {conditions[name]}" for name in named)
    machine = f"{conditions['processor']}, threads: {options.threads}, {conditions['python']}"
    for path in pictures:
        draw = growth if all(row.along for row in chosen) else plot
        draw(results, path, f"{machine}\n{versions}")
