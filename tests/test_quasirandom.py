"""Sobol points are PyTorch's, plain and scrambled, to the last bit."""

import pytest

from tests.agreement import check

pytest.importorskip("scipy.stats")
pytestmark = [pytest.mark.torch, pytest.mark.once]


@pytest.mark.parametrize(
    ("dimension", "scramble"), [(1, False), (3, False), (21201, False), (1, True), (3, True), (17, True), (400, True)]
)
def test_points(dimension, scramble):

    def program(torch, show):
        engine = torch.quasirandom.SobolEngine(dimension, scramble, 5)
        show("repr", repr(engine))
        for n in (1, 5, 64):
            points = engine.draw(n)
            show(f"{n} points", [points[:, :40], points.double().sum()])
        show("state", [engine.quasi, engine.shift, engine.num_generated])
        show("next", engine.fast_forward(9).draw(2, dtype=torch.float64))
        show("again", engine.reset().draw(3))
        show("from the start", torch.quasirandom.SobolEngine(dimension, scramble, 5).fast_forward(7).draw(2))
        show("powers", [engine.reset().draw_base2(2), engine.draw_base2(2)])

    check(program)


def test_the_global_stream():
    def program(torch, show):
        torch.manual_seed(3)
        show("points", torch.quasirandom.SobolEngine(4, scramble=True).draw(4))
        show("the stream goes on", torch.rand(2))
        torch.set_default_dtype(torch.float64)
        show("in double precision", torch.quasirandom.SobolEngine(4, True, 1).draw(3))

    check(program)


def test_refusals():
    def program(torch, show):
        kind = torch.quasirandom.SobolEngine
        drawn = kind(2)
        drawn.draw(3)
        for call in [
            lambda: kind(0),
            lambda: kind(21202),
            lambda: kind(2).draw(0),
            lambda: kind(2).draw(-1),
            lambda: drawn.draw_base2(2),
            lambda: kind(2).draw(3, dtype=torch.int64),
            lambda: kind(2).draw(3, dtype=torch.float16),
            lambda: kind(2).draw(1, dtype=torch.float16),
            lambda: kind(2).draw(2, out=torch.empty(0)),
            lambda: kind(2).fast_forward(0).num_generated,
        ]:
            show.error(call, "refused")

    check(program)
