"""The graph as text."""

import itertools

from glassgrad.explore import graph_lines, graph_text


def test_the_five_operations_as_text(engine):
    x = engine.tensor(2.0, requires_grad=True)
    z = engine.tensor(3.0, requires_grad=True)
    y = x * z + x + z
    assert graph_text(y, {"x": x, "z": z, "y": y}).splitlines() == [
        "y ()  <- #0",
        "#0  AddBackward0        <- #1, #3",
        "#1  AddBackward0        <- #2, #4",
        "#2  MulBackward0        <- #4, #3",
        "#3  AccumulateGrad      -> z.grad ()",
        "#4  AccumulateGrad      -> x.grad ()",
    ]


def test_inputs_without_gradient_and_second_outputs(engine):
    x = engine.ones(2, 3, requires_grad=True)
    _, second = x.unbind(0)
    assert graph_text((second * 2, x, engine.ones(1))).splitlines() == [
        "output (3)  <- #0",
        "output (2, 3)  a leaf",
        "output (1)  needs no gradient",
        "#0  MulBackward0        <- #1[1], -",
        "#1  UnbindBackward0     <- #2",
        "#2  AccumulateGrad      -> leaf.grad (2, 3)",
    ]


def test_the_limit_counts_the_rest(engine):
    x = engine.ones(1, requires_grad=True)
    y = x
    for _ in range(10):
        y = y * 2
    text = graph_text(y, limit=3).splitlines()
    assert text[0] == "output (1)  <- #0"
    assert text[1].split() == ["#0", "MulBackward0", "<-", "#1,", "-"]
    assert text[3:] == ["... and 9 more"]
    assert graph_text(y, limit=0) == "... and 12 more"


def test_lines_come_one_by_one(engine):
    x = engine.ones(1, requires_grad=True)
    lines = graph_lines(x * 2, {"x": x})
    assert list(itertools.islice(lines, 1)) == ["output (1)  <- #0"]
    assert list(lines)[-1].endswith("x.grad (1)")


def test_names_cannot_break_lines(engine):
    x = engine.ones(1, requires_grad=True)
    assert len(graph_text(x * 2, {"a\nb\x00": x}).splitlines()) == 3
