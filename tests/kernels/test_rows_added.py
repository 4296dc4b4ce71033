"""Rows added into rows: by turns, alone, or element by element, always in their order, so to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from glassgrad.families.scatter import kernels
from glassgrad.kernels import compiled


@pytest.mark.parametrize("named, rows", [(70, 3), (500, 100), (5000, 2), (65, 65), (3000, 10_000), (10, 4)])
@pytest.mark.parametrize("width", [40, 7])
def test_the_order_of_additions_is_kept(named, rows, width):
    draw = np.random.default_rng(named)
    index, values = draw.integers(0, rows, named), draw.standard_normal((named, width)).astype("f4")
    summed = draw.standard_normal((rows, width)).astype("f4")
    expected = summed.copy()
    for row, value in zip(index, values, strict=True):
        expected[row] += value
    with compiled.serving(compiled.NEVER):
        kernels.add_rows(summed, index, values)
    assert summed.tobytes() == expected.tobytes()


def test_rows_that_are_named_from_the_end_are_the_same_rows():
    summed, index = np.zeros((4, 40), "f4"), np.array([-1, 3] * 50)
    with compiled.serving(compiled.NEVER):
        kernels.add_rows(summed, index, np.ones((100, 40), "f4"))
    assert summed.sum(axis=1).tolist() == [0, 0, 0, 4000]
