"""Random programs of dual tensors agree with PyTorch's; ``--count`` for more, and see ``dual_programs.py``."""

import pytest

from tests.counts import seeds
from tests.property.dual_programs import look

pytestmark = pytest.mark.torch

PARTS = 2


@pytest.mark.parametrize("part", range(PARTS))
def test_same_as_torch(part):
    for seed in seeds(200)[part::PARTS]:
        lines, found = look(seed)
        assert not found, "\n".join([f"# {seed}: {found[0]}", *lines, f"# {found[1]}"])
