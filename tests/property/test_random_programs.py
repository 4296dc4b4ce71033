"""Random programs do the same in both engines; ``--count`` for more of them, see ``random_programs.py``."""

import pytest

from tests.counts import seeds
from tests.property.random_programs import judged

pytestmark = [pytest.mark.torch, pytest.mark.once]

PARTS = 6
#: Where both refuse, a line with several faults may be told another of them.
FREE = {"words", "type"}


@pytest.mark.parametrize("part", range(PARTS))
def test_same_as_torch(part):
    for seed in seeds(600)[part::PARTS]:
        lines, found, _ = judged(seed)
        if found and found[0] not in FREE:
            pytest.fail("\n".join([f"# {seed}: {found[0]}", *lines, f"# {found[1]}"]))
