"""Compiled normalisation against NumPy's form in float64: bounds from rounding alone, layouts, threads, NaN."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled kernels need Numba")

import glassgrad  # noqa: E402
from glassgrad.core.row import TABLE  # noqa: E402
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

RNG = np.random.default_rng(6)
#: Samples, channels and more: columns side by side, lines, long lines, one sample, odd numbers.
SHAPES = [(5, 4), (67, 6), (3, 2, 40), (4, 6, 5, 5), (1, 6, 70), (2, 2, 5000), (2, 4, 1), (3, 700)]
ALL = (True, True, True)


def drawn(shape, kind, middle=0.0, layout="C"):
    a = RNG.normal(middle, 2, shape).astype(kind)
    if layout == "turned":
        return np.ascontiguousarray(a.T).T
    if layout == "apart":
        return np.repeat(a, 2, axis=-1)[..., ::2]
    a.flags.writeable = layout != "fixed"
    return a


def agree(name, *inputs, **settings):
    """Compiled results are as near to NumPy's in float64 as rounding allows; those of the compiled form are given.

    In float32 the largest error, as a part of the largest result, is at most 24 units of rounding (3e-6), or twice that
    of NumPy's own; in float64 the reference itself is off by more.
    """
    kernel = TABLE[name].kernel
    with compiled.serving(0):
        served = kernel(*inputs, **settings)
    with compiled.serving(compiled.NEVER):
        plain = kernel(*inputs, **settings)
        exact = kernel(*[None if a is None else a.astype("f8") for a in inputs], **settings)
    for one, other, wanted, asked in zip(served, plain, exact, settings.get("wanted", (True,) * 4), strict=False):
        if asked:
            assert one.dtype == other.dtype
            assert one.shape == other.shape
            scale = max(1, np.abs(wanted).max())
            error, usual = np.abs(one - wanted).max() / scale, np.abs(other - wanted).max() / scale
            assert error <= max(3e-6 if one.dtype == np.float32 else 2e-13, 2 * usual), name
    return served


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_batch_norm(kind):
    """There and back, with statistics of the batch and given ones; what is not wanted is empty."""
    for shape in SHAPES:
        for middle, layout in ((0, "C"), (50, "turned"), (1, "apart"), (1, "fixed")):
            a, g = drawn(shape, kind, middle, layout), drawn(shape, kind, 0, layout)
            w, b, mean = (drawn(shape[1], kind) for _ in range(3))
            variance = RNG.uniform(0.5, 2, shape[1]).astype(kind)
            for weight, bias in ((w, b), (None, None), (w, None), (None, b))[: 4 if layout == "C" else 1]:
                for training in (True, False):
                    found = agree("native_batch_norm", a, weight, bias, mean, variance, training=training, eps=1e-5)
                    some = (ALL, (True, False, False), (False, True, False), (False, False, True))
                    for wanted in some[: 4 if layout == "C" and weight is bias else 1]:
                        back = agree(
                            "native_batch_norm_backward", g, a, *found[1:3], weight, training=training, wanted=wanted
                        )
                        assert [part.size > 0 for part in back] == list(wanted)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_group_norm(kind):
    """There and back, for one group, some, and as many as there are channels."""
    for shape in SHAPES:
        each = int(np.prod(shape[1:]))
        for middle, layout in ((0, "C"), (7, "turned"), (1, "apart"), (1, "fixed")):
            a, g = drawn(shape, kind, middle, layout), drawn(shape, kind, 0, layout)
            w, b = drawn(shape[1], kind), drawn(shape[1], kind)
            for groups in {1, 2, shape[1]} - {each}:
                settings = {"N": shape[0], "C": shape[1], "HxW": each // shape[1], "group": groups}
                for weight, bias in ((w, b), (None, None)):
                    found = agree("native_group_norm", a, weight, bias, eps=1e-5, **settings)
                    for wanted in (ALL, (True, False, False), (False, True, True)):
                        agree("native_group_norm_backward", g, a, *found[1:], weight, wanted=wanted, **settings)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_layer_norm(kind):
    """There and back, with weight and bias and without."""
    for shape, dims in [((3, 5), 1), ((2, 3, 17), 2), ((11, 70), 1), ((2, 9000), 1), ((150, 24), 1), ((150, 3), 1)]:
        sizes = shape[-dims:]
        for layout in ("C", "turned", "apart", "fixed"):
            a, g = drawn(shape, kind, 7, layout), drawn(shape, kind, 0, layout)
            w, b = drawn(sizes, kind), drawn(sizes, kind)
            for weight, bias in ((w, b), (w, None), (None, b), (None, None)):
                found = agree("native_layer_norm", a, weight, bias, normalized_shape=sizes, eps=1e-5)
            for weight in (w, None):
                for wanted in (ALL, (True, False, False), (False, True, False)):
                    settings = {"normalized_shape": sizes, "wanted": wanted}
                    agree("native_layer_norm_backward", g, a, *found[1:], weight, **settings)


@pytest.mark.parametrize("width", [2, 3, 24])
@pytest.mark.parametrize("name", ["native_layer_norm", "native_group_norm"])
def test_narrow_rows_beside_a_large_mean(name, width):
    """Each number is off by roundings of what it is made of: nothing is lost to the mean, whose own rounding is mended.

    Of ``x * weight + bias`` each part is rounded a few times, each time by half a unit of its own size.
    """
    a, w, b = drawn((200, width), "f4", 7), drawn(width, "f4"), drawn(width, "f4")
    settings = {"normalized_shape": (width,)} if "layer" in name else {"N": 200, "C": width, "HxW": 1, "group": 1}
    with compiled.serving(0):
        found = TABLE[name].kernel(a, w, b, eps=1e-5, **settings)[0]
    x = a.astype("f8")
    x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    eps = np.finfo("f4").eps
    assert (np.abs(found - (x * w + b)) <= 6 * eps * (np.abs(x * w) + np.abs(w) * 0.01 + np.abs(b))).all()


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_root_mean_square_norm(kind):
    """One record gives what the operations that it stands for give: values, gradients twice, nodes."""
    for shape, dims in [((3, 5), 1), ((2, 3, 17), 2), ((2, 9000), 1), ((150, 24), 1), ((67, 3), 1)]:
        for layout in ("C", "turned", "apart"):
            a, g, w = drawn(shape, kind, 1, layout), drawn(shape, kind, 0, layout), drawn(shape[-dims:], kind)
            for weight in (w, None):
                found = [_of_root_mean_square(limit, a, weight, g) for limit in (0, compiled.NEVER)]
                for one, other in zip(*found, strict=True):
                    if isinstance(one, list):
                        assert one == other
                    else:
                        bound = (60 if kind == "f4" else 1e3) * np.finfo(kind).eps * np.abs(other).max()
                        np.testing.assert_allclose(one, other, rtol=0, atol=bound)


def _of_root_mean_square(limit, a, weight, grad):
    """Output, node names, first and second gradients."""
    inputs = [glassgrad.from_numpy(v.copy(order="K")).requires_grad_() for v in (a, weight) if v is not None]
    sizes = a.shape[-1:] if weight is None else weight.shape
    with compiled.serving(limit):
        out = glassgrad.rms_norm(inputs[0], sizes, *inputs[1:], eps=0.1)
        first = glassgrad.autograd.grad(out, inputs, glassgrad.from_numpy(grad.copy(order="K")), create_graph=True)
        plain = glassgrad.rms_norm(inputs[0], sizes, *inputs[1:], eps=0.1)
        once = glassgrad.autograd.grad(plain, inputs[-1:], glassgrad.from_numpy(grad.copy(order="K")))
        twice = glassgrad.autograd.grad(sum((v * v).sum() for v in first), inputs)
        names = _names(glassgrad.rms_norm(inputs[0], sizes, *inputs[1:], eps=0.1).grad_fn)
    return [out.detach().numpy(), *[v.detach().numpy() for v in (*first, *once, *twice)], names]


def _names(node):
    return [] if node is None else [node.name(), *[name for n, _ in node.next_functions for name in _names(n)]]


def test_root_mean_square_norm_of_not_a_number_stays_in_its_row():
    a, g, w = drawn((4, 4000), "f4"), drawn((4, 4000), "f4"), drawn(4000, "f4")
    a[1, 7], a[2, 3] = np.nan, np.inf
    usual, found = [_of_root_mean_square(limit, a, w, g) for limit in (compiled.NEVER, 0)]
    for one, other in zip(found[:2], usual[:2], strict=True):  # the output and the gradient of the input
        np.testing.assert_array_equal(np.isnan(one), np.isnan(other))
        assert np.isnan(one[1]).all() and not np.isnan(one[[0, 3]]).any()
        assert np.isnan(one[2]).any() and np.isfinite(one[[0, 3]]).all()


def test_root_mean_square_norm_without_numba():
    """The row's own form in NumPy agrees with the compiled one."""
    a, g, w = drawn((40, 30), "f4"), drawn((40, 30), "f4"), drawn(30, "f4")
    found = []
    for limit in (0, compiled.NEVER):
        with compiled.serving(limit):
            out, roots = TABLE["fused_rms_norm"].kernel([a, w], normalized_shape=(30,), eps=0.1)
            back = TABLE["fused_rms_norm_backward"].kernel([g, a, w, roots], (30,), 0.1, (True, True))
            found.append((out, roots, *back))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


def test_not_a_number_and_infinities_stay_in_their_channel():
    """The other channels are as they were."""
    for shape in ((6, 4), (3, 4, 50)):
        a = drawn(shape, "f4")
        usual = TABLE["native_batch_norm"].kernel(a, training=True, eps=1e-5)[0]
        a[1, 1], a[1, 2] = np.nan, np.inf
        with compiled.serving(0), np.errstate(invalid="ignore"):
            found = TABLE["native_batch_norm"].kernel(a, training=True, eps=1e-5)[0]
        assert np.isnan(found[:, 1]).all()
        assert np.isnan(found[1, 2]).all()
        np.testing.assert_allclose(found[:, ::3], usual[:, ::3], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_batch_norm_of_many_samples(kind):
    """Blocks of samples have sums of their own, the last block is a shorter one; a large mean costs no digits."""
    for shape, middle in (((601, 20, 3), 0), ((530, 70), 50), ((1000, 5, 7), 1)):
        a, g, w, b = drawn(shape, kind, middle), drawn(shape, kind), drawn(shape[1], kind), drawn(shape[1], kind)
        for training in (True, False):
            statistics = drawn(shape[1], kind), RNG.uniform(0.5, 2, shape[1]).astype(kind)
            found = agree("native_batch_norm", a, w, b, *statistics, training=training, eps=1e-5)
            agree("native_batch_norm_backward", g, a, *found[1:3], w, training=training, wanted=ALL)


def test_any_number_of_threads_gives_the_same_bits():
    """A channel, and a row, is computed alike in whatever part it is."""

    def everything(a, g, w):
        groups = {"N": len(a), "C": a.shape[1], "HxW": a[0, 0].size, "group": 4}
        found = TABLE["native_batch_norm"].kernel(a, w, w, training=True, eps=1e-5)
        back = TABLE["native_batch_norm_backward"].kernel(g, a, *found[1:3], w, training=True, wanted=ALL)
        grouped = TABLE["native_group_norm"].kernel(a, w, w, eps=1e-5, **groups)
        by_root = TABLE["fused_rms_norm"].kernel([a, w.repeat(a[0, 0].size)], a.shape[1:], 1e-5)
        tensors = [g, a, w.repeat(a[0, 0].size), by_root[1]]
        back = *back, *by_root, *TABLE["fused_rms_norm_backward"].kernel(tensors, a.shape[1:], 1e-5, (True, True))
        return *found, *back, *grouped, *TABLE["native_group_norm_backward"].kernel(
            g, a, *grouped[1:], w, wanted=ALL, **groups
        )

    before = runtime._set.threads
    for shape in ((33, 52, 15, 15), (1021, 516)):
        given = drawn(shape, "f4", 3), drawn(shape, "f4"), drawn(shape[1], "f4")
        found = []
        try:
            for threads in (1, 2, 3):
                runtime._set.threads = threads
                with compiled.serving(0):
                    found.append([part.tobytes() for part in everything(*given)])
        finally:
            runtime._set.threads = before
        assert found[0] == found[1] == found[2]
