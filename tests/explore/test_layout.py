"""The layout: layers, crossings, places and wires, on numbers alone."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassgrad.explore.layers import (
    arrange_in_layers,
    count_crossings,
    layer_of,
    nearest_in_order,
    neighbours,
    reduce_crossings,
)
from glassgrad.explore.sheet import lay_out
from tests.counts import generated

EPS = 1e-3


@st.composite
def graphs(draw, most=14):
    """Sizes of boxes and arrows that go from earlier to later ones."""
    count = draw(st.integers(1, most))
    pairs = [(i, j) for j in range(count) for i in range(j)]
    arrows = draw(st.lists(st.sampled_from(pairs), max_size=2 * count)) if pairs else []
    sizes = draw(st.lists(st.tuples(st.integers(20, 160), st.integers(15, 120)), min_size=count, max_size=count))
    return sizes, arrows


def along(points, pieces=12):
    """Points on the way of a wire: straight parts, and curves upright at both ends."""
    for (x, y), (u, v) in zip(points, points[1:], strict=False):
        for i in range(pieces + 1):
            t = i / pieces
            slow, even = t * t * (3 - 2 * t), 1.5 * t * (1 - t) + t**3
            yield x + (u - x) * slow, y + (v - y) * even


def check(layout, sizes, arrows):
    places = layout.places
    for place in places:
        assert -EPS <= place.x <= place.x + place.width <= layout.width + EPS
        assert -EPS <= place.y <= place.y + place.height <= layout.height + EPS
    for a, b in combinations(places, 2):
        apart = (
            a.x + a.width <= b.x + EPS
            or b.x + b.width <= a.x + EPS
            or a.y + a.height <= b.y + EPS
            or b.y + b.height <= a.y + EPS
        )
        assert apart, (a, b)
    assert [wire.arrow for wire in layout.wires] == list(range(len(arrows)))
    drawn = {place.box: place for place in places if not place.repeats}
    assert sorted(drawn) == list(range(len(sizes)))
    for wire in layout.wires:
        x, y = wire.points[-1]
        target = drawn[arrows[wire.arrow][1]]
        assert target.x - EPS <= x <= target.x + target.width + EPS
        assert abs(y - target.y) < EPS
        for px, py in along(wire.points):
            for place in places:
                inside = place.x + EPS < px < place.x + place.width - EPS
                assert not (inside and place.y + EPS < py < place.y + place.height - EPS), (wire, place)


@given(graphs())
@generated(150)
def test_boxes_are_apart_and_lines_go_around_them(graph):
    sizes, arrows = graph
    check(lay_out(sizes, arrows), sizes, arrows)


@given(graphs(), st.integers(0, 6))
@generated(100)
def test_a_budget_of_bends_gives_repeated_boxes_instead(graph, budget):
    sizes, arrows = graph
    layers = arrange_in_layers(len(sizes), arrows, [""] * len(arrows), budget)
    assert sum(map(len, layers.rows)) - len(sizes) - len(layers.stand_ins) <= budget
    small = [(10.0, 10.0)] * len(sizes)
    check(lay_out(sizes, arrows, budget=budget, stand_in_sizes=small), sizes, arrows)


@given(graphs())
@generated(100)
def test_every_line_goes_from_one_layer_to_the_next(graph):
    sizes, arrows = graph
    layers = arrange_in_layers(len(sizes), arrows, [""] * len(arrows))
    row_of = {item: r for r, row in enumerate(layers.rows) for item in row}
    assert sorted(row_of) == list(range(len(row_of)))
    assert all(row_of[lower] == row_of[upper] + 1 for upper, lower in layers.links())
    assert all(layers.rows)
    assert [path[-1] for path in layers.paths] == [dst for _, dst in arrows]


def test_leaves_stand_by_their_consumer():
    # a chain 0 -> 1 -> 2 -> 3, and a leaf with its sink, 4 -> 5 -> 3
    assert layer_of(6, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 3)]) == [0, 1, 2, 3, 1, 2]


def test_uses_of_one_leaf_stand_by_their_consumers():
    # the leaf 0 is used by 1 and 2, and the chain 1 -> 3 -> 4 -> 5 needs 2 only at its end
    layer = layer_of(6, [(0, 1), (0, 2), (1, 3), (3, 4), (4, 5), (2, 5)])
    assert layer[2] == layer[5] - 1


def test_one_trunk_carries_all_uses():
    arrows = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 2), (0, 3), (0, 4)]
    layers = arrange_in_layers(5, arrows, [""] * 7)
    assert sum(map(len, layers.rows)) - 5 == 3  # not 1 + 2 + 3
    unlike = arrange_in_layers(5, arrows, [""] * 6 + ["saved"])
    assert sum(map(len, unlike.rows)) - 5 == 2 + 3


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="circle"):
        lay_out([(10, 10)] * 2, [(0, 1), (1, 0)])


def test_nothing_is_laid_out_as_nothing():
    assert lay_out([], []).places == ()


@pytest.mark.parametrize("direction", ["TB", "BT", "LR", "RL"])
def test_directions(direction):
    layout = lay_out([(40, 20), (60, 30)], [(0, 1)], direction=direction)
    first, second = layout.places
    assert (first.width, first.height, second.width, second.height) == (40, 20, 60, 30)
    ahead = {
        "TB": second.y - first.y - first.height,
        "BT": first.y - second.y - second.height,
        "LR": second.x - first.x - first.width,
        "RL": first.x - second.x - second.width,
    }
    assert ahead[direction] > 20
    start, end = layout.wires[0].points[0], layout.wires[0].points[-1]
    assert start[0] == pytest.approx(end[0]) if direction in ("TB", "BT") else start[1] == pytest.approx(end[1])


def test_the_main_way_is_straight():
    # a spine 0..5 with a leaf at each step
    arrows = [(i, i + 1) for i in range(5)] + [(6 + i, i + 1) for i in range(5)]
    places = lay_out([(80, 20)] * 11, arrows).places
    centres = {place.x + place.width / 2 for place in places if place.box <= 5}
    assert max(centres) - min(centres) < 1


@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(0.1, 10), st.floats(0, 30)), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
@generated(100)
def test_nearest_places_keep_distances_and_cannot_be_improved(items, random):
    wishes, weights, gaps = zip(*items, strict=True)
    offsets = [sum(gaps[1 : i + 1]) for i in range(len(items))]
    places = nearest_in_order(wishes, weights, offsets)

    def cost(xs):
        return sum(w * (x - wish) ** 2 for x, wish, w in zip(xs, wishes, weights, strict=True))

    def allowed(xs):
        return all(xs[i + 1] - xs[i] >= offsets[i + 1] - offsets[i] - 1e-9 for i in range(len(xs) - 1))

    assert allowed(places)
    for _ in range(50):
        other = [x + random.uniform(-1, 1) for x in places]
        assert not allowed(other) or cost(other) >= cost(places) - 1e-6


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20))
def test_crossings_are_counted(pairs):
    links = [(upper, 7 + lower) for upper, lower in pairs]
    _, below = neighbours(14, links)
    brute = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(pairs, 2))
    assert count_crossings([list(range(7)), list(range(7, 14))], below) == brute


def test_crossings_that_need_not_be_are_gone():
    links = [(0, 7), (1, 6), (2, 5), (3, 4)]
    rows = reduce_crossings([[0, 1, 2, 3], [4, 5, 6, 7]], links)
    assert count_crossings(rows, neighbours(8, links)[1]) == 0


def test_a_long_chain_is_laid_out_straight():
    count = 50_000
    layout = lay_out([(80.0, 20.0)] * count, [(i, i + 1) for i in range(count - 1)])
    assert {place.x for place in layout.places} == {layout.places[0].x}
    assert all(len(wire.points) == 2 for wire in layout.wires)


def test_a_wide_fan_is_laid_out():
    count = 5_000
    layout = lay_out([(80.0, 20.0)] * (count + 1), [(i, count) for i in range(count)])
    lefts = sorted(place.x for place in layout.places if place.box < count)
    assert all(b - a >= 80 for a, b in zip(lefts, lefts[1:], strict=False))
