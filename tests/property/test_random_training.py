"""Random networks train alike in both engines; ``--count`` for more, and see ``random_training.py``."""

import pytest

from tests.counts import seeds
from tests.property.random_training import drawn

pytestmark = pytest.mark.torch

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_same_as_torch(part):
    for seed in seeds(40)[part::PARTS]:
        lines, found, _ = drawn(seed)
        assert not found or found[0] in ("words", "type"), "\n".join([f"# {seed}: {found[0]}", *lines, f"# {found[1]}"])
