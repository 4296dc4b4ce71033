"""Measurements side by side: a table with a row for each statement and a column for each description."""

from __future__ import annotations

from collections.abc import Iterable

from .measurement import Measurement, select_unit, unit_to_english


class Compare:
    """A table of measurements, one for each label.

    Source: https://docs.pytorch.org/docs/stable/benchmark_utils.html#torch.utils.benchmark.Compare
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, but got {type(result)} instead.")
            self._results.append(result)

    def trim_significant_figures(self) -> None:
        """Show only digits that mean something."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted without effect."""

    def highlight_warnings(self) -> None:
        """Accepted without effect."""

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        tables: dict[str | None, list[Measurement]] = {}
        for result in Measurement.merge(self._results):
            tables.setdefault(result.task_spec.label, []).append(result)
        return "\n".join(self._table(label, results) for label, results in tables.items())

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        unit, scale = select_unit(min(result.median for result in results))
        columns = list(dict.fromkeys(result.task_spec.description or "" for result in results))
        threads = list(dict.fromkeys(result.task_spec.num_threads for result in results))
        names = list(dict.fromkeys(result.as_row_name for result in results))
        by_cell = {
            (result.task_spec.num_threads, result.as_row_name, result.task_spec.description or ""): result
            for result in results
        }
        grid: list[list[str] | str] = [["", *columns]]
        for number in threads:
            grid.append(f"{number} threads: ")
            for name in names:
                cells = [self._cell(by_cell.get((number, name, column)), scale) for column in columns]
                if any(cells):
                    grid.append(["      " + name, *cells])
        widths = [
            max(len(line[column]) for line in grid if not isinstance(line, str)) for column in range(len(columns) + 1)
        ]
        lines = []
        for line in grid:
            if isinstance(line, str):
                lines.append(line)
                continue
            first = line[0].ljust(widths[0])
            rest = (cell.center(width) if line is grid[0] else cell.rjust(width)
                    for cell, width in zip(line[1:], widths[1:], strict=True))  # fmt: skip
            lines.append("  |  ".join([first, *rest]))
        length = max(map(len, lines))
        lines = [line + "-" * (length - len(line)) if line.endswith("threads: ") else line for line in lines]
        title = f" {label} " if label else ""
        head = "[" + title.center(length - 2, "-") + "]"
        return "\n".join([head, *lines, "", f"Times are in {unit_to_english(unit)}s ({unit}).", ""])

    def _cell(self, result: Measurement | None, scale: float) -> str:
        if result is None:
            return ""
        value = result.median / scale
        if self._trim:
            value = float(f"{value:.{result.significant_figures}g}")
        return f"{value:.1f}"
