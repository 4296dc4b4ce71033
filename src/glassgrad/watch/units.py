"""Units that are dead, and batch norm that sees one sample: what layers show over several looks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..explore.measure import array_of
from ..explore.model import SourceLoc
from ..explore.walk import Walk, op_name
from .patterns import line_of, saved

ROWS = 8  # fewer rows of a batch say nothing of a unit


NEARLY_ALL, HALF = 0.95, 0.5


class Dead(NamedTuple):
    """The units of one layer: at how many looks in a row each gave zero for every row, and whether it ever did not."""

    runs: Any
    alive: Any
    loc: SourceLoc | None

    def how_many(self) -> int:
        """How many are dead, where nearly all are, or half of them died; else 0: some are in every healthy network."""
        dead = self.runs >= 3
        died = int((dead & self.alive).sum())
        return int(dead.sum()) if dead.mean() >= NEARLY_ALL or died >= HALF * len(dead) else 0


class Units:
    """What was seen of the layers, by their order in the graph and their number of units."""

    def __init__(self) -> None:
        self.dead: dict[tuple[int, int], Dead] = {}
        self.single: list[SourceLoc | None] = []  # looks at which batch norm had one sample
        self.looks = 0

    def look(self, walked: Walk, recording: Any, engine: str) -> None:
        """One graph."""
        self.looks += 1
        single, number = False, 0
        for i, node in enumerate(walked.nodes):
            name = op_name(node)
            if name == "ReluBackward0":
                result = saved(node, "result")
                array = array_of(result) if result is not None else None
                if array is not None and array.ndim >= 2:
                    self._relu(number, array, line_of(walked, i, recording, engine))
                number += 1
            elif "BatchNorm" in name and not single and saved(node, "training"):
                taken = saved(node, "input")
                # instance norm is batch norm of one sample too, with as many weights as no sample has channels
                weight = saved(node, "weight")
                single = taken is not None and weight is not None and int(taken.shape[0]) == 1
                if single:
                    self.single.append(line_of(walked, i, recording, engine))

    def _relu(self, number: int, array: Any, loc: SourceLoc | None) -> None:
        units = np.moveaxis(array, 1 if array.ndim >= 4 else -1, 0).reshape(
            array.shape[1 if array.ndim >= 4 else -1], -1
        )
        if units.shape[1] < ROWS:
            return
        key, dead = (number, len(units)), ~units.any(1)
        before = self.dead.get(key)
        if before is None:
            self.dead[key] = Dead(dead.astype(int), ~dead, loc)
        else:
            self.dead[key] = Dead(np.where(dead, before.runs + 1, 0), before.alive | ~dead, before.loc or loc)
