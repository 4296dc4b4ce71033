"""Deferred operations as one loop over memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .lazy import Cell


def structure(cells: list[Cell], wanted: list[Cell]) -> tuple[Any, list[tuple[int, int]]]:
    """What two groups of cells have in common that one loop computes; and where its inputs stand among the operands.

    Of each cell: its row, formula and settings, and its operands: the number of another cell, or of an input.
    """
    numbers = {id(cell): n for n, cell in enumerate(cells)}
    inputs: dict[Any, int] = {}
    places: list[tuple[int, int]] = []
    singles: list[bool] = []
    parts = []
    for n, cell in enumerate(cells):
        operands: list[Any] = []
        for place, piece in enumerate(cell.operands):
            other = numbers.get(id(piece))
            if other is None:
                array = piece.array if type(piece) is Cell else piece
                is_array = type(array) is np.ndarray
                number = inputs.setdefault(id(array) if is_array else (n, place), len(inputs))
                if number == len(places):
                    places.append((n, place))
                    singles.append(not is_array)
                operands.append(("x", number))
            else:
                operands.append(("t", other))
        settings = tuple([(type(value), repr(value)) for value in cell.settings])
        parts.append((cell.row, cell.formula.text, settings, tuple(operands)))
    kind, results = cells[0].kind, tuple([("t", numbers[id(cell)]) for cell in wanted])
    return (kind, tuple(parts), tuple(singles), results), places


class Loop:
    """One loop, compiled for a structure of operations."""

    def __init__(self, key: Any, places: list[tuple[int, int]]) -> None:
        from ..kernels.native.loops import loop_of

        kind, parts, singles, results = key
        self._places, self._count = places, len(results)
        operations: list[tuple[str, dict[str, Any], Any]] = []
        for n, (row, formula, settings, operands) in enumerate(parts):
            names = dict(zip(row.inputs, operands, strict=True))
            given = zip(row.settings, settings, strict=True)
            names |= {name: what(text) for name, (what, text) in given if what in (int, float)}
            operations.append((formula, names, ("t", n)))
        self.names = [row.name for row, *_ in parts]
        inputs = {("x", n): single for n, single in enumerate(singles)}
        self._work = loop_of(operations, inputs, results, kind, " ".join(self.names))
        self.source = self._work.text

    def run(self, cells: list[Cell]) -> list[Any]:
        """The arrays of the cells that are wanted."""
        pieces = [cells[n].operands[place] for n, place in self._places]
        answer = self._work(*[piece.array if type(piece) is Cell else piece for piece in pieces])
        return [answer] if self._count == 1 else list(answer)

    def described(self) -> list[str]:
        """The lines that tell of it."""
        return [f"one loop for {len(self.names)} operations: {' '.join(self.names)}"]
