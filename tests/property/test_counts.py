"""How generators tell who ended a process."""

import os

import glassgrad
from tests import counts


def _ends(seed):
    """Nothing for an even seed; an odd one ends the process, half of them within a line."""
    if seed % 4 == 1:
        with counts.working(glassgrad):
            os._exit(3)
    if seed % 4 == 3:
        os._exit(4)
    return seed


def test_who_ended_a_process_is_told():
    seen = [(*each, counts.ender()) for each in counts.outlived(range(4), _ends)]
    assert [each[:3] for each in seen] == [(0, 0, 0), (1, None, 3), (2, 2, 0), (3, None, 4)]
    assert seen[1][3] == "glassgrad"
    assert {seen[0][3], seen[2][3], seen[3][3]} == {"the generator"}
