"""Compiled convolutions against those of NumPy, over geometries, layouts, element types and threads."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled kernels need Numba")

from hypothesis import given
from hypothesis import strategies as st

from glassgrad.families.convolution import kernels, lowering, native
from glassgrad.ground import runtime
from glassgrad.kernels import compiled
from tests.counts import generated

BOUNDS = {np.dtype("f4"): 4e-6, np.dtype("f8"): 1e-14}

#: samples, channels, sizes, output channels, kernel, stride, padding, dilation, groups
GEOMETRIES = [
    (2, 3, (9, 11), 5, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    (2, 3, (32, 32), 8, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    (5, 16, (4, 16), 7, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    (37, 6, (14, 14), 16, (5, 5), (1, 1), (0, 0), (1, 1), 1),
    (16, 4, (9, 10), 6, (3, 2), (2, 3), (1, 1), (1, 1), 2),
    (3, 4, (9, 10), 6, (3, 2), (2, 3), (1, 1), (1, 1), 2),
    (2, 4, (19, 20), 4, (3, 3), (2, 2), (1, 1), (2, 2), 4),
    (2, 4, (20,), 6, (5,), (1,), (2,), (1,), 1),
    (2, 4, (40,), 6, (1,), (2,), (0,), (1,), 1),
    (17, 4, (40,), 6, (5,), (3,), (4,), (2,), 1),
    (2, 2, (6, 7, 8), 4, (3, 3, 3), (1, 2, 1), (1, 0, 1), (1, 1, 1), 1),
    (20, 2, (6, 7, 8), 4, (3, 3, 3), (2, 2, 1), (1, 2, 1), (1, 1, 2), 1),
    (1, 1, (1, 1), 1, (1, 1), (1, 1), (0, 0), (1, 1), 1),
    (40, 1, (5, 5), 1, (5, 5), (1, 1), (4, 4), (1, 1), 1),
    (3, 300, (8, 8), 20, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    (2, 1, (3,), 2, (2,), (1,), (9,), (1,), 1),
    (16, 2, (23,), 3, (2,), (4,), (0,), (1,), 1),  # ends beyond what the last tap sees
    (2, 4, (7,), 6, (2,), (2,), (3,), (2,), 2),  # an input as wide as what taps see, but not the same
    (16, 2, (17,), 3, (1,), (1,), (4,), (2,), 1),
    (5, 16, (9, 11), 16, (3, 3), (1, 1), (1, 1), (1, 1), 1),  # from here on channels fill lanes
    (3, 32, (9, 11), 48, (3, 2), (2, 1), (1, 1), (1, 2), 1),
    (37, 64, (4, 4), 32, (1, 1), (1, 1), (0, 0), (1, 1), 2),
    (33, 80, (5, 4), 96, (3, 3), (1, 1), (1, 1), (1, 1), 1),
    (20, 144, (4, 4), 256, (3, 3), (1, 1), (1, 1), (1, 1), 1),  # channels are shared out, not samples
    (3, 16, (6, 7, 8), 32, (3, 3, 2), (2, 1, 1), (1, 2, 1), (1, 1, 2), 1),
    (2, 32, (40,), 16, (5,), (3,), (9,), (2,), 1),
]


def _case(geometry, kind, seed=0):
    n, c, sizes, o, kernel, *_, groups = geometry
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, c, *sizes)).astype(kind)
    w = rng.standard_normal((o, c // groups, *kernel)).astype(kind)
    return x, w, rng.standard_normal(o).astype(kind), rng


def _all_three(module, x, w, bias, g, geometry):
    _, _, sizes, _, kernel, stride, padding, dilation, groups = geometry
    return (
        module.convolve(x, w, bias, stride, kernels.both_sides(padding), dilation, groups),
        module.input_gradient(g, w, sizes, stride, padding, dilation, groups),
        module.weight_gradient(x, g, kernel, stride, padding, dilation, groups),
    )


def _assert_close(found, wanted):
    for ours, reference in zip(found, wanted, strict=True):
        assert ours.dtype == reference.dtype
        assert ours.shape == reference.shape
        assert ours.flags.c_contiguous
        assert np.abs(ours - reference).max(initial=0) <= BOUNDS[ours.dtype] * np.abs(reference).max(initial=1)


def _outputs(geometry, rng, kind):
    n, _, sizes, o, kernel, stride, padding, dilation, _ = geometry
    outs = kernels.output_sizes(sizes, kernel, stride, padding, dilation)
    return rng.standard_normal((n, o, *outs)).astype(kind)


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_agrees_with_numpy(geometry, kind):
    x, w, bias, rng = _case(geometry, kind)
    g = _outputs(geometry, rng, kind)
    with compiled.serving(compiled.NEVER):
        wanted = _all_three(kernels, x, w, bias, g, geometry)
    _assert_close(_all_three(native, x, w, bias, g, geometry), wanted)


@generated(60)
@given(st.data())
def test_any_geometry_agrees_with_numpy(data):
    dims = data.draw(st.integers(1, 3), "dimensions")
    each = {name: [] for name in ("sizes", "kernel", "stride", "padding", "dilation")}
    for _ in range(dims):
        kernel, dilation = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
        padding = data.draw(st.integers(0, 4))
        least = max(1, dilation * (kernel - 1) + 1 - 2 * padding)
        each["sizes"].append(data.draw(st.integers(least, least + (20 if dims < 3 else 6))))
        for name, value in (("kernel", kernel), ("padding", padding), ("dilation", dilation)):
            each[name].append(value)
        each["stride"].append(data.draw(st.integers(1, 4)))
    groups = data.draw(st.integers(1, 3), "groups")
    n = data.draw(st.sampled_from([1, 2, 5, 16, 19]), "samples")
    c, o = groups * data.draw(st.integers(1, 4)), groups * data.draw(st.integers(1, 9))
    sizes, kernel, stride, padding, dilation = map(tuple, each.values())
    geometry = (n, c, sizes, o, kernel, stride, padding, dilation, groups)
    x, w, bias, rng = _case(geometry, "f4")
    g = _outputs(geometry, rng, "f4")
    with compiled.serving(compiled.NEVER):
        wanted = _all_three(kernels, x, w, bias, g, geometry)
    _assert_close(_all_three(native, x, w, bias, g, geometry), wanted)


_LARGE = (40, 16, (20, 20), 24, (3, 3), (2, 2), (1, 1), (1, 1), 1)


_MANY_CHANNELS = (49, 48, (6, 5), 64, (3, 3), (1, 1), (1, 1), (1, 1), 1)


@pytest.mark.parametrize("geometry", [GEOMETRIES[1], GEOMETRIES[3], _LARGE, _MANY_CHANNELS], ids=str)
def test_threads_do_not_change_a_bit(geometry):
    x, w, bias, rng = _case(geometry, "f4")
    g = _outputs(geometry, rng, "f4")
    before = runtime.get_num_threads()
    try:
        runtime.set_num_threads(1)
        alone = _all_three(native, x, w, bias, g, geometry)
        for threads in (2, 3):
            runtime.set_num_threads(threads)
            for one, other in zip(alone, _all_three(native, x, w, bias, g, geometry), strict=True):
                assert one.tobytes() == other.tobytes()
    finally:
        runtime.set_num_threads(before)


def test_operands_may_lie_in_any_way():
    geometry = (4, 6, (9, 12), 8, (3, 3), (1, 2), (1, 1), (1, 1), 2)
    x, w, bias, rng = _case(geometry, "f4")
    g = _outputs(geometry, rng, "f4")
    wanted = _all_three(native, x, w, bias, g, geometry)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    apart = np.repeat(g, 2, axis=3)[..., ::2]
    turned = np.ascontiguousarray(w[..., ::-1])[..., ::-1]
    for array in (last, apart, turned):
        assert not array.flags.c_contiguous
    fixed = bias.copy()
    fixed.flags.writeable = False
    for one, other in zip(wanted, _all_three(native, last, turned, fixed, apart, geometry), strict=True):
        assert one.tobytes() == other.tobytes()


def test_what_is_not_finite_reaches_only_those_who_see_it():
    geometry = (2, 3, (9, 21), 5, (3, 3), (1, 1), (1, 1), (1, 1), 1)
    x, w, bias, rng = _case(geometry, "f4")
    x[0, 1, 4, 20] = np.nan
    x[1, 2, 8, 0] = np.inf
    with compiled.serving(compiled.NEVER):
        wanted = kernels.convolve(x, w, bias, (1, 1), [(1, 1), (1, 1)], (1, 1), 1)
    found = native.convolve(x, w, bias, (1, 1), [(1, 1), (1, 1)], (1, 1), 1)
    assert np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.array_equal(np.isinf(found), np.isinf(wanted))
    assert np.isfinite(found).sum() == found.size - 2 * 5 * 6 + 5 * 0 + (6 - 4) * 5


def test_taps_that_see_only_padding_are_passed_over():
    geometry = (32, 1, (1, 8, 8), (1, 3, 3), (1, 8, 8), (1, 1, 1), (0, 1, 1), (1, 1, 1))
    group = lowering.Group(16, 16, True)
    for make in (lowering.forward, lowering.backward):
        plan = make(group, *geometry)
        vectors = lowering.work(plan, 1) * 16 * lowering.WIDTH / 9
        assert 22 * 22 / 9 <= vectors < 58  # of 64 places; at best (22 / 24) ** 2 of their taps are needed
        held = plan.origins // 16
        assert sorted(held.tolist()) == sorted(set(held.tolist()))
    alike = lowering.forward(group, *geometry, True)
    assert lowering.work(alike, 1) * 16 * lowering.WIDTH / 9 == 66


@pytest.mark.parametrize("dilation", [1, 2, 5])
def test_outputs_that_see_only_padding_are_the_bias(dilation):
    geometry = (16, 3, (5, 4), 2, (2, 3), (1, 2), (6, 7), (dilation, 1), 1)
    x, w, bias, _ = _case(geometry, "f4")
    with compiled.serving(compiled.NEVER):
        wanted = kernels.convolve(x, w, bias, (1, 2), [(6, 6), (7, 7)], (dilation, 1), 1)
    found = native.convolve(x, w, bias, (1, 2), [(6, 6), (7, 7)], (dilation, 1), 1)
    assert np.array_equal(found == bias[:, None, None], wanted == bias[:, None, None])
    _assert_close([found], [wanted])


@pytest.mark.parametrize("kind", ["i8", "f2", "c8"])
def test_other_kinds_are_left_to_numpy(kind):
    x, w = np.ones((1, 1, 4, 4), kind), np.ones((1, 1, 2, 2), kind)
    assert native.convolve(x, w, None, (1, 1), [(0, 0)] * 2, (1, 1), 1) is None
    assert native.input_gradient(x, w, (5, 5), (1, 1), (0, 0), (1, 1), 1) is None
    assert native.weight_gradient(x, x, (1, 1), (1, 1), (0, 0), (1, 1), 1) is None


def test_small_images_of_large_batches_take_samples_as_lanes():
    n = lowering.Group(16, 16, True).n
    geometry = (6, 1, (1, 14, 14), (1, 5, 5), (1, 10, 10), (1, 1, 1), (0, 0, 0), (1, 1, 1))
    chosen = native._group(lowering.forward, n, 64, 6, 16, geometry, (1, 14, 14), (1, 10, 10))
    assert chosen.lanes
    wide = (6, 1, (1, 32, 32), (1, 3, 3), (1, 32, 32), (1, 1, 1), (0, 1, 1), (1, 1, 1))
    assert not native._group(lowering.forward, n, 64, 6, 16, wide, (1, 32, 32), (1, 32, 32)).lanes


def test_rows_ask_from_a_size_on():
    x, w = np.ones((1, 1, 64, 64), "f4"), np.ones((1, 1, 1, 1), "f4")
    asked = []
    before = native.convolve
    try:
        native.convolve = lambda *_: asked.append(1)
        for least in (compiled.NEVER, x.size + 1, x.size):
            with compiled.serving(least):
                kernels.convolve(x, w, None, (1, 1), [(0, 0)] * 2, (1, 1), 1)
    finally:
        native.convolve = before
    assert len(asked) == 1
