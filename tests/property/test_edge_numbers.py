"""Every operation's sample calls at edges give what PyTorch's do; ``--count`` for more, see ``edge_numbers.py``."""

import pytest

from tests.counts import seeds
from tests.property.edge_numbers import look, samples

pytestmark = pytest.mark.torch

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_same_as_torch(part):
    for seed in seeds(1600)[part::PARTS]:
        found = look(seed)
        assert not found, f"# {seed}: {samples()[seed % len(samples())].id}, {found[0][0]}\n{found[0][1]}"
