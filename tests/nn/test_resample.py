"""Interpolation, grids and shuffles beside torch: layers, random sizes and points, bytes, and the words of refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glassgrad
from tests.agreement import check
from tests.counts import generated
from tests.torch_reference import torch as reference

pytestmark = pytest.mark.torch

LINE, PLANE, CUBE = (2, 3, 5), (2, 4, 6, 5), (1, 2, 3, 4, 5)
LAYERS = [
    ("Upsample", (8,), {}, LINE), ("Upsample", (), {"scale_factor": 2}, PLANE),
    ("Upsample", (), {"scale_factor": (1.5, 2.0, 1.0), "mode": "trilinear", "align_corners": True}, CUBE),
    ("Upsample", ((7, 3),), {"mode": "bicubic", "align_corners": False}, PLANE),
    ("Upsample", (None, 1.7, "linear", False, True), {}, LINE), ("UpsamplingNearest2d", (), {"scale_factor": 3}, PLANE),
    ("UpsamplingNearest2d", (4,), {}, PLANE), ("UpsamplingBilinear2d", ((9, 4),), {}, PLANE),
    ("PixelShuffle", (2,), {}, PLANE), ("PixelShuffle", (2,), {}, (4, 3, 2)),
    ("PixelUnshuffle", (2,), {}, (2, 3, 4, 6)),
    ("ChannelShuffle", (2,), {}, PLANE), ("ChannelShuffle", (4,), {}, (2, 8, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "kwargs", "shape"), LAYERS, ids=lambda part: str(part).replace(" ", ""))
def test_layer(name, args, kwargs, shape):
    def program(torch, show):
        torch.manual_seed(3)
        layer = getattr(torch.nn, name)(*args, **kwargs)
        show("repr", repr(layer))
        show("constants", sorted(layer.__constants__))
        x = torch.randn(*shape, requires_grad=True)
        y = layer(x)
        show("y", y)
        show("evaluated", layer.eval()(x))
        x = x.detach().double().requires_grad_()
        y = layer.train()(x)
        (y * torch.arange(1.0, y.numel() + 1).reshape(y.shape)).sum().backward()
        show("x.grad", x.grad)

    check(program)


def test_graph_and_what_is_saved():
    def program(torch, show):
        F = torch.nn.functional
        line, plane, cube = (torch.ones(1, 4, *(4,) * n, requires_grad=True) for n in (1, 2, 3))
        for x, modes in (
            (line, ["nearest", "nearest-exact", "linear"]),
            (plane, ["nearest", "nearest-exact", "bilinear", "bicubic"]),
            (cube, ["nearest", "nearest-exact", "trilinear"]),
        ):
            for mode in modes:
                y = F.interpolate(x, scale_factor=2.0, mode=mode)
                show.graph(mode, y)
                show.saved(mode, y)
        for mode in ("bilinear", "bicubic", "lanczos"):
            y = F.interpolate(plane, 3, mode=mode, antialias=True)
            show.graph(mode, y)
            show.saved(mode, y)
        grid = torch.zeros(1, 2, 2, 2, requires_grad=True)
        theta = torch.eye(2, 3).reshape(1, 2, 3).requires_grad_()
        for y in (
            F.grid_sample(plane, grid, align_corners=True), F.affine_grid(theta, (1, 2, 3, 3), align_corners=False),
            F.pixel_shuffle(plane, 2), F.pixel_unshuffle(plane, 2), F.channel_shuffle(plane, 2),
        ):  # fmt: skip
            show.graph("graph", y)
            show.saved("saved", y)
        show.error(lambda: F.native_channel_shuffle(plane, 2).sum().backward())

    check(program)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(dtype):
    def program(torch, show):
        F = torch.nn.functional
        torch.manual_seed(0)
        x = torch.randn(1, 4, 4, 6).to(getattr(torch, dtype))
        for mode in ("nearest", "bilinear", "bicubic", "area"):
            show(mode, F.interpolate(x, (6, 3), mode=mode))
        show.error(lambda: F.interpolate(x, 3, mode="bilinear", antialias=True))
        show("shuffled", F.pixel_shuffle(x, 2))
        show("grid", F.grid_sample(x, torch.zeros(1, 2, 3, 2).to(x.dtype), align_corners=False))

    check(program)


def test_bytes():
    """Nearest bytes are torch's; weighted ones may be one apart, for torch weighs them in whole numbers."""
    array = np.random.default_rng(0).integers(0, 256, (2, 3, 9, 8)).astype(np.uint8)
    for mode, apart in (("nearest", 0), ("nearest-exact", 0), ("bilinear", 1), ("bicubic", 1)):
        for antialias in (False, True) if apart else (False,):
            found = [
                engine.nn.functional.interpolate(engine.from_numpy(array), (5, 13), mode=mode, antialias=antialias)
                for engine in (reference, glassgrad)
            ]
            theirs, ours = (made.numpy().astype(int) for made in found)
            assert found[1].dtype is glassgrad.uint8
            assert np.abs(theirs - ours).max() <= apart, (mode, antialias)


# -- random sizes and points -------------------------------------------------------------------------------------------

MODES = {
    1: ["nearest", "nearest-exact", "linear", "area"],
    2: ["nearest", "nearest-exact", "bilinear", "bicubic", "area", "bilinear aa", "bicubic aa", "lanczos aa"],
    3: ["nearest", "nearest-exact", "trilinear", "area"],
}


def both(arrays, call):
    """What a call gives in torch and here: values, and gradients by all arrays, of a weighted sum."""
    found = []
    for engine in (reference, glassgrad):
        inputs = [engine.from_numpy(array.copy()).requires_grad_() for array in arrays]
        out = call(engine.nn.functional, *inputs)
        weights = engine.arange(1.0, out.numel() + 1, dtype=out.dtype).reshape(out.shape)
        grads = engine.autograd.grad((out * weights).sum(), inputs)
        found.append([piece.detach().numpy() for piece in (out, *grads)])
    for theirs, ours in zip(*found, strict=True):
        assert theirs.dtype == ours.dtype
        scale = max(float(np.abs(theirs).max(initial=0)), 1.0)
        tolerance = 2e-5 if theirs.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale)


@generated(150)
@given(st.integers(1, 3), st.sampled_from(["float32", "float64"]), st.data())
def test_random_sizes(dims, dtype, data):
    mode, _, aa = data.draw(st.sampled_from(MODES[dims])).partition(" ")
    least = 2 if aa else 1  # torch filters a column of width 1 by the weights of its first row alone
    sizes = [data.draw(st.integers(1, 9)) for _ in range(dims)]
    corners = data.draw(st.booleans()) if "linear" in mode or mode == "bicubic" else None
    array = np.random.default_rng(0).normal(size=(2, 2, *sizes)).astype(dtype)
    how = {"mode": mode, "align_corners": corners, "antialias": bool(aa)}
    if data.draw(st.booleans()):
        how["size"] = [data.draw(st.integers(least, 17)) for _ in range(dims)]
    else:  # where a factor gives the same size or twice that, torch's weights forward and backward differ
        wanted = [data.draw(st.integers(least, 17).filter(lambda m, n=n: m not in (n, 2 * n))) for n in sizes]
        how["scale_factor"] = [(m + 0.3) / n for m, n in zip(wanted, sizes, strict=True)]
        how["recompute_scale_factor"] = data.draw(st.sampled_from([None, True, False]))
    both([array], lambda F, x: F.interpolate(x, **how))


@generated(150)
@given(
    st.integers(2, 3), st.sampled_from(["bilinear", "nearest", "bicubic"]),
    st.sampled_from(["zeros", "border", "reflection"]), st.booleans(), st.integers(0, 999), st.data(),
)  # fmt: skip
def test_random_points(dims, mode, padding, corners, seed, data):
    if dims == 3 and mode == "bicubic":
        mode = "bilinear"
    rng = np.random.default_rng(seed)
    sizes = [data.draw(st.integers(1, 6)) for _ in range(dims)]
    image = rng.normal(size=(2, 3, *sizes))
    grid = rng.uniform(-2.5, 2.5, (2, *[data.draw(st.integers(1, 4)) for _ in range(dims)], dims))
    both([image, grid], lambda F, x, points: F.grid_sample(x, points, mode, padding, corners))


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_points_far_away(mode, padding):
    rng = np.random.default_rng(0)
    image, grid = rng.normal(size=(1, 2, 5, 4)), rng.uniform(-40, 40, (1, 6, 6, 2))
    for corners in (True, False):
        both([image, grid], lambda F, x, points: F.grid_sample(x, points, mode, padding, corners))


def test_second_derivatives_of_sampling():
    def program(torch, show):
        F = torch.nn.functional
        torch.manual_seed(0)
        for dims, mode in ((2, "bilinear"), (3, "bilinear"), (2, "nearest")):
            x = torch.randn(2, 2, *(4,) * dims, dtype=torch.float64, requires_grad=True)
            grid = (torch.rand(2, *(3,) * dims, dims, dtype=torch.float64) * 2 - 1).requires_grad_()
            y = F.grid_sample(x, grid, mode, align_corners=True)
            first = torch.autograd.grad((y * y).sum(), (x, grid), create_graph=True)
            second = torch.autograd.grad(sum((g * g).sum() for g in first), (x, grid))
            show(f"{dims} {mode}", [*[g.detach() for g in first], *second])

    check(program)


def test_points_that_are_no_numbers_or_far_away():
    def program(torch, show):
        F = torch.nn.functional
        nan, inf = float("nan"), float("inf")
        x = torch.arange(1.0, 13.0).reshape(1, 1, 3, 4)
        grid = torch.tensor([[[[nan, 0.0], [inf, 0.0], [-inf, -inf], [1e20, 0.3], [-1.0, -1.0], [1.0, 1.0]]]])
        for mode in ("bilinear", "nearest"):
            show(mode, F.grid_sample(x, grid, mode, "zeros", True))
        show("border", F.grid_sample(x, grid[:, :, 1:], "bilinear", "border", False))
        infinite = torch.tensor([[[1.0, inf, 2.0, 3.0, 4.0, 5.0]]], requires_grad=True)
        y = F.interpolate(infinite, 12, mode="linear")
        show("infinite", y.detach())
        (y[..., 6:] * torch.tensor([1.0, inf, 1, 1, 1, 1])).sum().backward()
        show("infinite gradient", infinite.grad)

    check(program)


def test_deprecations_and_defaults_warn():
    def program(torch, show):
        F = torch.nn.functional
        x = torch.ones(1, 1, 2, 2)
        show.warnings(lambda: F.upsample(x, 3))
        show.warnings(lambda: F.upsample_nearest(x, 3))
        show.warnings(lambda: F.upsample_bilinear(x, 3))
        show.warnings(lambda: F.grid_sample(x, torch.zeros(1, 2, 2, 2)))
        show.warnings(lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2, 2)))
        show.warnings(lambda: F.affine_grid(torch.ones(1, 2, 3), (1, 1, 1, 2), align_corners=True))
        show.warnings(lambda: F.interpolate(x, 3, mode="bilinear"))

    check(program)


REFUSALS = """
interpolate(ones(2, 3, 8), 2, mode="bilinear")
interpolate(ones(2, 3, 8), 2, mode="cubic")
interpolate(ones(2, 3), 2)
interpolate(ones(2, 3, 8))
interpolate(ones(2, 3, 8), 2, 2)
interpolate(ones(2, 3, 8), 2, align_corners=True)
interpolate(ones(2, 3, 8), (2, 2))
interpolate(ones(2, 3, 8), (2.5,))
interpolate(ones(2, 3, 8), 2.5)
interpolate(ones(2, 3, 8, 8), 2.5, mode="bilinear")
interpolate(ones(2, 3, 8), scale_factor=(2, 2))
interpolate(ones(2, 3, 8, 8), scale_factor="a")
interpolate(ones(2, 3, 8, 8), size="a")
interpolate(ones(2, 3, 8), 4, recompute_scale_factor=True)
interpolate(ones(2, 3, 8), 4, antialias=True)
interpolate(ones(2, 3, 8, 8), 4, mode="lanczos")
interpolate(ones(2, 3, 8, 8), 4, mode="lanczos", align_corners=True, antialias=True)
interpolate(ones(2, 3, 8, 8), 4, mode="trilinear")
interpolate(ones(2, 3, 8, 8, 8), 4, mode="bicubic")
interpolate(ones(2, 3, 8, 8, 8), 4, mode="linear")
interpolate(ones(2, 3, 8), 0)
interpolate(ones(2, 3, 8, 8), (2, 0), mode="bilinear")
interpolate(ones(2, 3, 8, 8, 8), (2, 0, 1), mode="trilinear")
interpolate(ones(2, 3, 8, 8), scale_factor=0.01)
interpolate(ones(2, 0, 8, 8), 2)
interpolate(ones(0, 3, 8, 8), 2)
interpolate(ones(2, 3, 0), 2, mode="linear")
interpolate(ones(2, 3, 8), tensor(3))
interpolate(ones(2, 3, 8), [tensor(3)])
interpolate(ones(2, 3, 8, 8).long(), 4)
interpolate(ones(2, 3, 8, 8).long(), 4, mode="bilinear")
interpolate(ones(2, 3, 8).byte(), 4, mode="linear")
interpolate(ones(2, 3, 8, 8).long(), 4, mode="bicubic")
interpolate(ones(2, 3, 8, 8).long(), 4, mode="bicubic", antialias=True)
interpolate(ones(2, 3, 8, 8), 4, mode="area", align_corners=False)
grid_sample(ones(2, 3, 4, 4), ones(2, 5, 6, 2), mode="x")
grid_sample(ones(2, 3, 4, 4), ones(2, 5, 6, 2), padding_mode="x")
grid_sample(ones(2, 3, 4, 4), ones(2, 5, 6, 3))
grid_sample(ones(2, 3, 4, 4), ones(1, 5, 6, 2))
grid_sample(ones(2, 3, 4), ones(2, 5, 1))
grid_sample(ones(2, 3, 4, 4).double(), ones(2, 5, 6, 2))
grid_sample(ones(2, 3, 4, 0), ones(2, 5, 6, 2))
grid_sample(ones(2, 0, 4, 4), ones(2, 5, 6, 2))
grid_sample(ones(2, 3, 4, 4), ones(2, 0, 6, 2))
grid_sample(ones(2, 3, 4, 4, 4), ones(2, 5, 6, 7, 3), mode="bicubic")
grid_sample(ones(2, 3, 4, 4).long(), ones(2, 5, 6, 2).long())
grid_sample(ones(2, 3, 4, 4), [1])
affine_grid(ones(2, 2, 3).long(), (2, 3, 4, 5))
affine_grid(ones(2, 2, 2), (2, 3, 4, 5))
affine_grid(ones(2, 3, 3), (2, 3, 4))
affine_grid(ones(2, 2, 3), (2, 3, 0, 5))
affine_grid(ones(3, 2, 3), (2, 3, 4, 5))
affine_grid(ones(2, 2, 3), 3)
pixel_shuffle(ones(4, 2), 2)
pixel_shuffle(ones(1, 3, 2, 2), 2)
pixel_shuffle(ones(1, 4, 2, 2), 0)
pixel_shuffle(ones(1, 4, 2, 2), 2.0)
pixel_unshuffle(ones(4, 2), 2)
pixel_unshuffle(ones(1, 3, 3, 2), 2)
pixel_unshuffle(ones(1, 3, 2, 3), 2)
pixel_unshuffle(ones(1, 3, 2, 2), -2)
channel_shuffle(ones(4, 4), 2)
channel_shuffle(ones(4, 4, 4), 3)
channel_shuffle(ones(4, 4, 4), 0)
native_channel_shuffle(ones(4, 4, 4), 3)
"""


@pytest.mark.parametrize("call", REFUSALS.split("\n")[1:-1])
def test_refusals(call):
    def program(torch, show):
        names = {"ones": torch.ones, "tensor": torch.tensor}
        show.error(lambda: eval(f"F.{call}", {"F": torch.nn.functional, **names}))

    check(program)


def test_on_meta():
    F = glassgrad.nn.functional
    x = glassgrad.empty(2, 4, 64, 48, device="meta")
    assert tuple(F.interpolate(x, scale_factor=2, mode="bilinear").shape) == (2, 4, 128, 96)
    assert tuple(F.pixel_shuffle(x, 2).shape) == (2, 1, 128, 96)
    grid = glassgrad.empty(2, 30, 40, 2, device="meta")
    assert tuple(F.grid_sample(x, grid, align_corners=True).shape) == (2, 4, 30, 40)
