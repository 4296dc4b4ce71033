"""The explorer's proof on models written here; ``tests/explore/proof.py`` holds other people's to it."""

import pytest

from tests.explore.proof import prove
from tests.explore.test_healthy import HEALTHY


@pytest.mark.parametrize("build", HEALTHY, ids=lambda build: build.__name__)
def test_the_graph_is_what_the_engine_knows_of_it(engine, build):
    engine.manual_seed(0)
    before = engine.get_default_dtype()
    engine.set_default_dtype(engine.float64)
    try:
        model, compute = build(engine)
        verdict = prove(build.__name__, model, compute, engine)
    finally:
        engine.set_default_dtype(before)
    assert verdict.nodes > 5
    assert not verdict.unattributed and not verdict.false and not verdict.replay, verdict
