"""Compiled softmax and activations: against NumPy's form of the rows; layouts, threads, extremes."""

import numpy as np
import pytest

pytest.importorskip("numba", reason="compiled kernels need Numba")

from glassgrad.core.row import TABLE  # noqa: E402
from glassgrad.ground import runtime  # noqa: E402
from glassgrad.kernels import compiled  # noqa: E402

RNG = np.random.default_rng(5)
SHAPES = [(3, 5), (2, 3, 17), (1, 1), (4, 70), (9,)]
TOLERANCE = {"f4": {"rtol": 3e-6, "atol": 2e-6}, "f8": {"rtol": 1e-13, "atol": 1e-14}}
UNARY = {
    "sigmoid": (), "silu": (), "mish": (), "logsigmoid": (), "hardswish": (), "softplus": (1.5, 3.0),
    "leaky_relu": (0.1,), "elu": (1.3, 1.1, 0.7), "gelu": ("none",),
}  # fmt: skip
BINARY = {
    "silu_backward": (), "mish_backward": (), "log_sigmoid_backward": (), "hardswish_backward": (),
    "softplus_backward": (1.5, 3.0), "leaky_relu_backward": (0.1,), "elu_backward": (1.3, 1.1, 0.7, False),
    "gelu_backward": ("none",), "threshold_backward": (0.2,), "sigmoid_backward": (), "tanh_backward": (),
}  # fmt: skip


def both(name, *inputs, **settings):
    """What a row's kernel gives compiled, and by NumPy."""
    kernel = TABLE[name].kernel
    with compiled.serving(0):
        served = kernel(*inputs, **settings)
    with compiled.serving(compiled.NEVER):
        return served, kernel(*inputs, **settings)


def agree(name, kind, *inputs, **settings):
    """The compiled form gives what NumPy's gives in float64, to rounding, in the dtype and shape of NumPy's own."""
    served, plain = both(name, *inputs, **settings)
    with compiled.serving(compiled.NEVER):
        exact = TABLE[name].kernel(*[None if a is None else a.astype("f8") for a in inputs], **settings)
    if not isinstance(served, tuple):
        served, plain, exact = (served,), (plain,), (exact,)
    for one, other, wanted in zip(served, plain, exact, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(one, wanted, **TOLERANCE[kind], err_msg=name)


def drawn(shape, kind, layout="C"):
    """Numbers of a normal distribution: contiguous, turned, apart, or not to be written to."""
    a = RNG.normal(0, 2, shape).astype(kind)
    if layout == "turned":
        return np.ascontiguousarray(a.T).T
    if layout == "apart":
        return np.repeat(a, 2, axis=-1)[..., ::2]
    if layout == "fixed":
        a.flags.writeable = False
    return a


LAYOUTS = ["C", "turned", "apart", "fixed"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_softmax(kind, layout):
    """Softmax, its logarithm and their ways back."""
    for shape in SHAPES:
        a, g = drawn(shape, kind, layout), drawn(shape, kind, layout)
        last = len(shape) - 1
        for name in ("softmax", "log_softmax"):
            agree(name, kind, a, dim=last)
            agree(f"{name}_backward", kind, g, both(name, a, dim=last)[1], dim=last)
        agree("softmax", kind, a, dim=0)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_softmax_of_extreme_rows(kind):
    """Rows of minus infinity alone, and with NaN or infinity, are NaN; large numbers do not overflow."""
    inf, nan = np.inf, np.nan
    a = np.array([[-inf, -inf, -inf], [1, nan, 2], [-nan, 0, 0], [3e4, 0, -3e4], [0, -inf, 0], [inf, 0, 1]], kind)
    for name in ("softmax", "log_softmax"):
        with np.errstate(invalid="ignore", divide="ignore"):
            served, plain = both(name, a, dim=1)
        np.testing.assert_allclose(served, plain, **TOLERANCE[kind])
        assert np.isnan(served[[0, 1, 2, 5]]).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_activations(kind, layout):
    """Every activation, and every way back."""
    for shape in ((3, 5), (2, 3, 17), (1, 1)):
        a, g = drawn(shape, kind, layout), drawn(shape, kind, "C")
        for name, settings in UNARY.items():
            agree(name, kind, a, **dict(zip(TABLE[name].settings, settings, strict=True)))
        for name, settings in BINARY.items():
            agree(name, kind, g, a, **dict(zip(TABLE[name].settings, settings, strict=True)))
        agree("gelu", kind, a, approximate="tanh")
        agree("gelu_backward", kind, g, a, approximate="tanh")


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_activations_of_extreme_numbers(kind):
    """NaN stays, large numbers of either sign go where the NumPy form sends them."""
    a = np.array([np.nan, 90, -90, 20.5, -20.5, 0, -0.0, 1e4, -1e4], kind)
    g = np.ones_like(a)
    with np.errstate(all="ignore"):
        for name, settings in UNARY.items():
            agree(name, kind, a, **dict(zip(TABLE[name].settings, settings, strict=True)))
        for name, settings in BINARY.items():
            agree(name, kind, g, a, **dict(zip(TABLE[name].settings, settings, strict=True)))


def test_what_is_not_served():
    """Whole numbers and halves go the old way, with the old errors."""
    with compiled.serving(0):
        with pytest.raises(NotImplementedError):
            TABLE["gelu"].kernel(np.ones(4, "i8"))
        assert TABLE["silu"].kernel(np.ones(4, "f2")).dtype == np.float16
        assert TABLE["softmax"].kernel(np.empty((3, 0), "f4"), dim=1).shape == (3, 0)


def test_any_number_of_threads_gives_the_same_bits():
    """Rows are computed alike in whatever part they are."""
    a, g = drawn((517, 1030), "f4"), drawn((517, 1030), "f4")
    w = drawn((1030,), "f4")

    def everything():
        out = TABLE["softmax"].kernel(a, dim=1)
        normed = TABLE["native_layer_norm"].kernel(a, w, w, normalized_shape=(1030,))
        back = TABLE["native_layer_norm_backward"].kernel(
            g, a, *normed[1:], w, normalized_shape=(1030,), wanted=(True,) * 3
        )
        return out, TABLE["log_softmax_backward"].kernel(g, out, dim=1), *normed, *back, TABLE["gelu"].kernel(a)

    before = runtime._set.threads
    found = []
    try:
        for threads in (1, 2, 3):
            runtime._set.threads = threads
            found.append(everything())
    finally:
        runtime._set.threads = before
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            assert one.tobytes() == other.tobytes()
