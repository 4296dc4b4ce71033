"""Changed calls of every operation do the same in both engines; ``--count`` for more, see ``changed_calls.py``."""

import pytest

from tests.counts import seeds
from tests.property.changed_calls import drawn
from tests.property.replaced_arguments import look

pytestmark = [pytest.mark.torch, pytest.mark.once]

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_same_as_torch(part):
    for seed in seeds(400)[part::PARTS]:
        lines, found = drawn(seed)
        assert not found, "\n".join([f"# {seed}: {found[0]}", *lines, f"# {found[1]}"])


@pytest.mark.parametrize("part", range(PARTS))
def test_what_replaces_an_argument_is_taken_or_refused_alike(part):
    """But of what PyTorch refuses for its type some is taken here: ``excused.TYPES``."""
    for seed in seeds(32)[part::PARTS]:
        for what, lines, found in look(seed * 23):
            raise AssertionError("\n".join([f"# {seed}: {found[0]}, {what}", *lines, f"# {found[1]}"]))
