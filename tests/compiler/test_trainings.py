"""Random trainings, of which a few run here: what is compiled gives what it gives as it is written."""

import pytest

from glassgrad.kernels import compiled
from tests import counts

from .trainings import difference


@pytest.mark.parametrize("part", range(4))
def test_trainings_are_the_same_compiled(part, recwarn):
    count = counts.chosen or 24
    with compiled.serving(compiled.NEVER):
        for seed in range(counts.first + part, counts.first + count, 4):
            assert difference(seed) is None
